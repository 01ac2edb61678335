/* ONNX's text syntax: what parses is printed, which parses to the same model, and encodes to bytes
 * that decode. The checker has its turn on all of them. */
#include <calque/onnx.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(bool condition)
{
    if (!condition)
        abort();
}

typedef struct buffer {
    char  *text;
    size_t size, room;
} buffer;

static bool append(void *user, const char *text, size_t size)
{
    buffer *b = user;

    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->text = realloc(b->text, b->room);
        must(b->text != NULL);
    }
    memcpy(b->text + b->size, text, size);
    b->size += size;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_onnx_model    *m, *again, *decoded;
    cq_onnx_findings *findings;
    buffer            text = { 0 };
    void             *once, *twice;
    size_t            once_size, twice_size;

    if (cq_onnx_model_parse(&m, (const char *)data, size, "fuzz") != CQ_OK)
        return 0;
    must(cq_onnx_model_write_text(m, append, &text) == CQ_OK);
    must(cq_onnx_model_parse(&again, text.text, text.size, "printed") == CQ_OK);
    must(cq_onnx_model_encode(&once, &once_size, m) == CQ_OK);
    must(cq_onnx_model_encode(&twice, &twice_size, again) == CQ_OK);
    must(once_size == twice_size && memcmp(once, twice, once_size) == 0);
    must(cq_onnx_model_decode(&decoded, once, once_size) == CQ_OK);
    must(cq_onnx_model_check(&findings, decoded) == CQ_OK);
    cq_onnx_findings_free(findings);
    cq_onnx_model_free(decoded);
    cq_buffer_free(once);
    cq_buffer_free(twice);
    cq_onnx_model_free(again);
    cq_onnx_model_free(m);
    free(text.text);
    return 0;
}

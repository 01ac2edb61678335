/* The checker on any file that decodes: two runs give the same findings, and every finding has a
 * location and a message. */
#include <calque/onnx.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_onnx_model    *m;
    cq_onnx_findings *once, *twice;

    if (cq_onnx_model_decode(&m, data, size) != CQ_OK)
        return 0;
    must(cq_onnx_model_check(&once, m) == CQ_OK);
    must(cq_onnx_model_check(&twice, m) == CQ_OK);
    must(cq_onnx_findings_count(once) == cq_onnx_findings_count(twice));
    for (size_t i = 0; i < cq_onnx_findings_count(once); i++) {
        const cq_onnx_finding *a = cq_onnx_findings_at(once, i), *b = cq_onnx_findings_at(twice, i);

        must(*a->code && *a->where && *a->what && *a->hint);
        must(strcmp(a->code, b->code) == 0 && strcmp(a->where, b->where) == 0);
    }
    cq_onnx_findings_free(once);
    cq_onnx_findings_free(twice);
    cq_onnx_model_free(m);
    return 0;
}

/* Archives: read, run and exported under tight limits; the exported model can be read. The mutator
 * repairs the checksums of the entries, so that changed pickles and code get past them. */
#include "scratch.h"

#include <calque/script.h>

#include <zlib.h>

enum { MAX_STEPS = 20000, MAX_BYTES = 16 << 20 };

static void export(cq_script *s, const cq_args *args)
{
    cq_onnx_model *m, *again;
    void          *bytes;
    size_t         size;

    if (cq_script_export(&m, s, NULL, args, 0, NULL) != CQ_OK)
        return;
    if (cq_onnx_model_encode(&bytes, &size, m) == CQ_OK) {
        if (cq_onnx_model_decode(&again, bytes, size) != CQ_OK)
            abort();
        cq_onnx_model_free(again);
        cq_buffer_free(bytes);
    }
    cq_onnx_model_free(m);
}

static void silent(void *user, const char *message, const char *where)
{
    (void)user, (void)message, (void)where;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = scratch_write("m.pt", data, size);
    cq_tensor  *x = NULL, *y = NULL;
    cq_args    *args = NULL;
    cq_script  *s;
    size_t      n;

    cq_set_warning_handler(silent, NULL);
    if (cq_script_load_limited(&s, path, MAX_STEPS, MAX_BYTES) != CQ_OK)
        return 0;
    if (cq_tensor_new(&x, CQ_DTYPE_F32, 2, (const int64_t[]){ 2, 3 }, NULL) == CQ_OK &&
        cq_args_new(&args) == CQ_OK && cq_args_add_tensor(args, x) == CQ_OK) {
        if (cq_script_run(s, NULL, args, &y, 1, &n) == CQ_OK)
            cq_tensor_release(y);
        export(s, args);
    }
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(s);
    return 0;
}

/* ---- the mutator ---- */

static uint32_t number(const uint8_t *p, int n)
{
    uint32_t v = 0;

    while (n--)
        v = v << 8 | p[n];
    return v;
}

static void mend(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 46 <= size; at++) {
        const uint32_t packed = number(data + at + 20, 4), header = number(data + at + 42, 4);
        size_t         from;
        uint32_t       sum;

        if (memcmp(data + at, "PK\1\2", 4) != 0 || number(data + at + 10, 2) != 0 ||
            (size_t)header + 30 > size)
            continue;
        from = header + 30u + number(data + header + 26, 2) + number(data + header + 28, 2);
        if (from > size || packed > size - from)
            continue;
        sum = (uint32_t)crc32_z(0, data + from, packed);
        for (int i = 0; i < 4; i++)
            data[at + 16 + (size_t)i] = (uint8_t)(sum >> 8 * i);
    }
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    (void)seed;
    size = LLVMFuzzerMutate(data, size, max_size);
    mend(data, size);
    return size;
}

/* Shape inference on any file that decodes: it fails only in strict mode, and its output decodes
 * again. */
#include <calque/onnx.h>

#include <stdint.h>
#include <stdlib.h>

static void must(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_onnx_model *m, *again = NULL;
    void          *bytes   = NULL;
    size_t         n_bytes = 0;

    if (cq_onnx_model_decode(&m, data, size) != CQ_OK)
        return 0;
    (void)cq_onnx_model_infer(m, CQ_ONNX_INFER_STRICT | CQ_ONNX_INFER_CHECK_TYPES);
    must(cq_onnx_model_infer(m, 0) == CQ_OK);
    if (cq_onnx_model_encode(&bytes, &n_bytes, m) == CQ_OK)
        must(cq_onnx_model_decode(&again, bytes, n_bytes) == CQ_OK);
    cq_buffer_free(bytes);
    cq_onnx_model_free(again);
    cq_onnx_model_free(m);
    return 0;
}

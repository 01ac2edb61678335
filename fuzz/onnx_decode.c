/* ONNX files: a model that decodes is printed, checked, its tensors read, and encoded; the encoding
 * decodes again, and encodes to the same bytes. */
#include "onnx/tensor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void use(const cq_onnx_model *m)
{
    cq_onnx_findings *findings;
    char             *text;

    if (cq_onnx_model_print(&text, m) == CQ_OK)
        cq_buffer_free(text);
    if (cq_onnx_model_check(&findings, m) == CQ_OK)
        cq_onnx_findings_free(findings);
    for (size_t i = 0; i < cq_onnx_model_n_initializers(m); i++) {
        cq_tensor *t;

        if (cq_onnx_model_initializer(&t, NULL, m, i) == CQ_OK && cq_tensor_numel(t))
            (void)cq_tensor_get_f64(t, cq_tensor_numel(t) - 1);
        cq_tensor_release(t);
    }
    for (size_t i = 0; i < cq_onnx_model_n_values(m, CQ_ONNX_INPUTS); i++)
        for (int32_t k = cq_onnx_model_value_rank(m, CQ_ONNX_INPUTS, i); k-- > 0;)
            (void)cq_onnx_model_value_size(m, CQ_ONNX_INPUTS, i, (size_t)k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_onnx_model *m, *again;
    void          *once, *twice;
    size_t         once_size, twice_size;

    if (cq_onnx_model_decode(&m, data, size) != CQ_OK)
        return 0;
    use(m);
    must(cq_onnx_model_encode(&once, &once_size, m) == CQ_OK);
    must(cq_onnx_model_decode(&again, once, once_size) == CQ_OK);
    must(cq_onnx_model_encode(&twice, &twice_size, again) == CQ_OK);
    must(once_size == twice_size && memcmp(once, twice, once_size) == 0);
    cq_buffer_free(once);
    cq_buffer_free(twice);
    cq_onnx_model_free(again);
    cq_onnx_model_free(m);
    return 0;
}

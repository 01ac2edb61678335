/* Two models; the first two bytes are the size of the first. A model does not differ from itself,
 * and the differences are symmetric. */
#include <calque/onnx.h>

#include <stdint.h>
#include <stdlib.h>

static size_t differences(const cq_onnx_model *a, const cq_onnx_model *b)
{
    cq_onnx_findings *f;
    size_t            n;

    if (cq_onnx_model_diff(&f, a, b, 0, 0) != CQ_OK)
        return SIZE_MAX; /* a weight that cannot be read */
    n = cq_onnx_findings_count(f);
    cq_onnx_findings_free(f);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_onnx_model *a = NULL, *b = NULL;
    size_t         first;

    if (size < 2)
        return 0;
    first = data[0] | (size_t)data[1] << 8;
    first = first < size - 2 ? first : size - 2;
    if (cq_onnx_model_decode(&a, data + 2, first) == CQ_OK &&
        cq_onnx_model_decode(&b, data + 2 + first, size - 2 - first) == CQ_OK &&
        (differences(a, b) == 0) != (differences(b, a) == 0))
        abort();
    cq_onnx_model_free(a);
    cq_onnx_model_free(b);
    return 0;
}

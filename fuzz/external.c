/* External data: a model, after two bytes with the number of bytes at the end that are the file
 * "data" beside it. All weights are read. */
#include "scratch.h"

#include <calque/onnx.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t         beside;
    cq_onnx_model *m;

    if (size < 2)
        return 0;
    beside = data[0] | (size_t)data[1] << 8;
    data += 2;
    size -= 2;
    beside = beside < size ? beside : size;
    scratch_write("data", data + size - beside, beside);
    if (cq_onnx_model_load(&m, scratch_write("m.onnx", data, size - beside)) != CQ_OK)
        return 0;
    for (size_t i = 0; i < cq_onnx_model_n_initializers(m); i++) {
        const char *name;
        cq_tensor  *t;

        if (cq_onnx_model_initializer(&t, &name, m, i) != CQ_OK)
            continue;
        if (cq_tensor_has_data(t) && cq_tensor_numel(t) > 0) {
            volatile double last = cq_tensor_get_f64(t, cq_tensor_numel(t) - 1);

            (void)last;
        }
        cq_tensor_release(t);
    }
    cq_onnx_model_free(m);
    return 0;
}

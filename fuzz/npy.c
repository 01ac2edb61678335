/* .npy files: a tensor that was read has all its elements. */
#include "scratch.h"

#include <calque/tensor.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_tensor *t;

    if (cq_tensor_load_npy(&t, scratch_write("x.npy", data, size)) != CQ_OK)
        return 0;
    if (cq_tensor_numel(t) > 0) {
        volatile double last = cq_tensor_get_f64(t, cq_tensor_numel(t) - 1);

        (void)last;
    }
    if (cq_tensor_save_npy(t, scratch_path("y.npy")) != CQ_OK)
        abort();
    cq_tensor_release(t);
    return 0;
}

/* Files of weights: safetensors, zip files and streams of torch.save, of state dicts, checkpoints
 * and modules. A file is refused, or every tensor in it can be read. */
#include "scratch.h"

#include <calque/info.h>
#include <calque/weights.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_tensors(const cq_weights *weights)
{
    for (size_t i = 0; i < cq_weights_count(weights); i++) {
        const cq_tensor *t = cq_weights_tensor(weights, i);

        if (t && cq_tensor_has_data(t) && cq_tensor_numel(t) > 0) {
            volatile double last = cq_tensor_get_f64(t, cq_tensor_numel(t) - 1);

            (void)last;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path    = scratch_write("fuzz.pth", data, size);
    cq_weights *weights = NULL;
    cq_info    *info    = NULL;

    if (cq_weights_open(&weights, path) == CQ_OK)
        read_tensors(weights);
    cq_weights_free(weights);
    if (cq_is_weights_file(path) && cq_state_dict_info(&info, path) == CQ_OK)
        cq_info_free(info);
    return 0;
}

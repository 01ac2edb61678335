/* Files of weights: safetensors, zip files and streams of torch.save, of state dicts, checkpoints
 * and modules. A file is refused, or every tensor in it can be read. A pickled module is built with
 * the classes of torch.nn, and run. */
#include "scratch.h"

#include <calque/info.h>
#include <calque/script.h>
#include <calque/weights.h>

enum { MAX_STEPS = 400000, MAX_BYTES = 64 << 20, MAX_OUTPUTS = 8 };

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

static void silent(void *user, const char *message, const char *where)
{
    (void)user;
    (void)message;
    (void)where;
}

static void run_module(cq_script *script)
{
    const int64_t sizes[]              = { 2, 3, 4, 4 };
    cq_tensor    *t                    = NULL;
    cq_tensor    *outputs[MAX_OUTPUTS] = { 0 };
    cq_args      *args                 = NULL;
    size_t        n                    = 0;

    if (cq_args_new(&args) == CQ_OK && cq_tensor_new(&t, CQ_DTYPE_F32, 4, sizes, NULL) == CQ_OK &&
        cq_args_add_tensor(args, t) == CQ_OK &&
        cq_script_run(script, NULL, args, outputs, MAX_OUTPUTS, &n) == CQ_OK)
        for (size_t i = 0; i < n && i < MAX_OUTPUTS; i++)
            cq_tensor_release(outputs[i]);
    cq_tensor_release(t);
    cq_args_free(args);
}

static void build_module(const char *path)
{
    cq_script *script = NULL;

    if (cq_script_load_limited(&script, path, MAX_STEPS, MAX_BYTES) == CQ_OK &&
        cq_script_is_python(script) && cq_script_make(script, NULL) == CQ_OK)
        run_module(script);
    cq_script_free(script);
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
    if (cq_is_weights_file(path)) {
        cq_set_warning_handler(silent, NULL);
        build_module(path);
    }
    return 0;
}

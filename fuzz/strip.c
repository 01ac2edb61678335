/* Strips a model and fills it again, in files. The result is a model. */
#include "scratch.h"

#include <calque/onnx.h>
#include <calque/testcase.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char      *path = scratch_write("m.onnx", data, size), *out = scratch_path("s.onnx");
    cq_strip_options options;
    cq_onnx_model   *m;

    cq_strip_options_init(&options);
    if (size % 2 == 0 && cq_strip_file(path, out, &options) != CQ_OK)
        return 0;
    if (cq_unstrip(size % 2 ? path : out, scratch_path("u.onnx"), 1) != CQ_OK)
        return 0;
    if (cq_onnx_model_load(&m, scratch_path("u.onnx")) != CQ_OK)
        abort();
    cq_onnx_model_free(m);
    return 0;
}

/* Reads the ONNX models of verbs. */
#include "load.h"
#include "cli.h"

cq_status cli_load_onnx(cq_onnx_model **out, const char *path)
{
    bool      sorted = false;
    cq_status status = cq_onnx_model_load_as(out, path, cq_onnx_form_of(path));

    if (status == CQ_OK)
        status = cq_onnx_model_sort(&sorted, *out);
    if (sorted)
        cli_note("%s has nodes that come before what they read; they were sorted first", path);
    return status;
}

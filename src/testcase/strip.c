/* Removes the data of large tensors, in the format of pytorch-pfn-extras. Unlike there, no field
 * keeps any data. */
#include "testcase/strip.h"

#include "base/pytext.h"
#include "base/sized.h"
#include "onnx/file/external.h"
#include "onnx/tensor.h"

#include <math.h>
#include <stdio.h>

cq_status cq_is_strippable(bool *out, const cq_onnx_tensor *tensor, int64_t threshold)
{
    cq_dtype dtype = cq_dtype_from_onnx(tensor->data_type);
    int64_t  numel;

    CQ_TRY(cq_onnx_tensor_numel(&numel, tensor));
    *out = numel > threshold && numel > 0 && dtype != CQ_DTYPE_NONE &&
           !cq_dtype_is_complex(dtype) && !cq_onnx_is_external(tensor) && !tensor->segment;
    return CQ_OK;
}

/* The bytes in the file are used in place, because weights may be large. */
cq_status cq_onnx_tensor_stats(cq_stats *out, const cq_onnx_model *m, const cq_onnx_tensor *tensor)
{
    cq_dtype   dtype = cq_dtype_from_onnx(tensor->data_type);
    cq_tensor *t, *whole;
    cq_status  status;
    int64_t    numel;
    size_t     size;

    CQ_TRY(cq_onnx_tensor_numel(&numel, tensor));
    CQ_TRY(cq_onnx_tensor_raw_size(&size, tensor));
    if (!tensor->tensor && tensor->raw_data.data && tensor->raw_data.size == size) {
        *out = cq_stats_of(tensor->raw_data.data, dtype, numel);
        return CQ_OK;
    }
    CQ_TRY(cq_onnx_tensor_to_tensor(&t, m, tensor));
    status = cq_tensor_contiguous(&whole, t);
    cq_tensor_release(t);
    CQ_TRY(status);
    *out = cq_stats_of(cq_tensor_data(whole), dtype, numel);
    cq_tensor_release(whole);
    return CQ_OK;
}

/* Python's json writes infinities as words. */
static void add_json_number(cq_str *s, double x)
{
    if (isfinite(x))
        cq_str_add_py_float(s, x);
    else
        cq_str_add(s, isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
}

cq_status cq_strip_tensor(bool *done, cq_onnx_model *m, cq_onnx_tensor *tensor, int64_t threshold)
{
    cq_str   location = { 0 };
    char     length[24];
    cq_stats stats;
    size_t   size;

    CQ_TRY(cq_is_strippable(done, tensor, threshold));
    if (!*done)
        return CQ_OK;
    CQ_TRY(cq_onnx_tensor_stats(&stats, m, tensor));
    CQ_TRY(cq_onnx_tensor_raw_size(&size, tensor));
    cq_str_add(&location, "{\"type\": \"stripped\", \"average\": ");
    add_json_number(&location, stats.mean);
    cq_str_add(&location, ", \"variance\": ");
    add_json_number(&location, stats.variance);
    cq_str_add(&location, "}");
    snprintf(length, sizeof length, "%zu", size);
    if (m->status == CQ_OK)
        m->status = location.status;
    cq_clear_elements(tensor);
    cq_onnx_add_entry(m, &tensor->external_data, "location", cq_str_text(&location));
    cq_onnx_add_entry(m, &tensor->external_data, "length", length);
    cq_str_clear(&location);
    tensor->data_location = CQ_ONNX_LOCATION_EXTERNAL;
    cq_onnx_set_has(tensor, CQ_ONNX_TENSOR_DATA_LOCATION);
    return m->status;
}

static cq_status strip_graph(cq_edit *edit, cq_onnx_model *m, cq_onnx_graph *graph)
{
    const cq_strip_edit *strip = (const cq_strip_edit *)edit;

    for (uint32_t i = 0; i < graph->initializer.n; i++) {
        cq_onnx_tensor *tensor = graph->initializer.items[i];
        cq_onnx_bytes   bytes  = tensor->raw_data;
        bool            done;

        CQ_TRY(cq_strip_tensor(&done, m, tensor, strip->threshold));
        edit->changed |= done;
        if (done && edit->own_file)
            cq_mapping_read(bytes.data, bytes.size);
    }
    return CQ_OK;
}

CQ_API void cq_strip_options_init(cq_strip_options *options)
{
    CQ_NEED_ELSE(options, );
    *options =
        (cq_strip_options){ .struct_size = sizeof *options, .threshold = CQ_STRIP_THRESHOLD };
}

static cq_status edit_of(cq_strip_edit *out, const cq_strip_options *given)
{
    cq_strip_options options;

    cq_strip_options_init(&options);
    CQ_TRY(cq_sized_take(&options, given, "cq_strip_options"));
    *out = (cq_strip_edit){
        .edit      = { .graph =
                      options.flags & CQ_STRIP_RUNNABLE ? cq_strip_graph_runnable : strip_graph,
                       .save_flags = CQ_ONNX_SAVE_AS_IS },
        .threshold = options.threshold,
    };
    return CQ_OK;
}

CQ_API cq_status cq_onnx_model_strip(cq_onnx_model *model, const cq_strip_options *options)
{
    CQ_NEED(model);
    cq_strip_edit strip;

    CQ_TRY(model->status);
    CQ_TRY(edit_of(&strip, options));
    return cq_edit_model(&strip.edit, model);
}

CQ_API cq_status cq_strip_file(const char *path, const char *out, const cq_strip_options *options)
{
    CQ_NEED(path);
    cq_strip_edit strip;

    CQ_TRY(edit_of(&strip, options));
    if (strip.edit.graph == cq_strip_graph_runnable && cq_ends_with(path, ".pb"))
        return cq_fail(CQ_E_ARGUMENT, path, NULL,
                       "a tensor is not a model and cannot be made runnable");
    return cq_edit_file(&strip.edit, path, out ? out : path);
}

/* Walks graphs, reads and writes files. strip.c, runnable.c and unstrip.c change the tensors. */
#include "testcase/edit.h"

#include "base/str.h"
#include "onnx/file/wire.h"
#include "testcase/folder.h"

#include <string.h>

/* The depth of graphs in graphs is bounded by the decoder. */
static cq_status edit_graph(cq_edit *edit, cq_onnx_model *m, cq_onnx_graph *graph)
{
    for (uint32_t i = 0; i < graph->node.n; i++) {
        const cq_onnx_attributes *attributes = &graph->node.items[i]->attribute;

        for (uint32_t k = 0; k < attributes->n; k++)
            if (attributes->items[k]->g)
                CQ_TRY(edit_graph(edit, m, attributes->items[k]->g));
    }
    CQ_TRY(edit->graph(edit, m, graph));
    return m->status;
}

cq_status cq_edit_model(cq_edit *edit, cq_onnx_model *m)
{
    return m->graph ? edit_graph(edit, m, m->graph) : CQ_OK;
}

void cq_clear_elements(cq_onnx_tensor *tensor)
{
    tensor->tensor   = NULL; /* the model keeps its reference */
    tensor->raw_data = (cq_onnx_bytes){ NULL, 0 };
    memset(&tensor->float_data, 0, sizeof tensor->float_data);
    memset(&tensor->int32_data, 0, sizeof tensor->int32_data);
    memset(&tensor->int64_data, 0, sizeof tensor->int64_data);
    memset(&tensor->double_data, 0, sizeof tensor->double_data);
    memset(&tensor->uint64_data, 0, sizeof tensor->uint64_data);
    memset(&tensor->external_data, 0, sizeof tensor->external_data);
}

cq_status cq_write_tensor_message(const char *path, const cq_onnx_tensor *tensor)
{
    cq_onnx_encoding *e;
    cq_out           *out;
    cq_status         status;

    CQ_TRY(cq_onnx_encoding_new(&e, &cq_onnx_tensor_message, tensor, NULL));
    status = cq_out_open(&out, path);
    if (status == CQ_OK) {
        cq_onnx_encoding_write(e, out);
        status = cq_out_commit(out);
    }
    cq_onnx_encoding_free(e);
    return status;
}

static cq_status edit_model_file(cq_edit *edit, const char *path, const char *out)
{
    cq_onnx_save_options options;
    cq_onnx_model       *m;
    cq_status            status;
    bool                 sorted;

    cq_onnx_save_options_init(&options);
    options.flags = edit->save_flags;
    CQ_TRY(cq_onnx_model_load(&m, path));
    CQ_TRY_OR_DONE(cq_onnx_model_sort(&sorted, m));
    CQ_TRY_OR_DONE(cq_edit_model(edit, m));
    status =
        edit->changed || sorted ? cq_onnx_model_save(m, out, &options) : cq_copy_file(path, out);
done:
    cq_onnx_model_free(m);
    return status;
}

static cq_status edit_tensor_file(cq_edit *edit, const char *path, const char *out)
{
    cq_onnx_model  *m    = NULL;
    cq_mapping     *file = NULL;
    cq_onnx_tensor *tensor;
    cq_status       status;

    CQ_TRY_OR_DONE(cq_mapping_open(&file, path));
    CQ_TRY_OR_DONE(cq_onnx_check_not_empty(path, cq_mapping_size(file)));
    CQ_TRY_OR_DONE(cq_onnx_model_new(&m, "file"));
    CQ_TRY_OR_DONE(cq_storage_map(&m->source, file, 0, cq_mapping_size(file)));
    tensor = cq_onnx_alloc(m, sizeof *tensor);
    if (tensor)
        cq_onnx_list_push(m, &m->graph->initializer, tensor);
    CQ_TRY_OR_DONE(m->status);
    CQ_TRY_OR_DONE(cq_onnx_decode(m, &cq_onnx_tensor_message, tensor, cq_mapping_data(file),
                                  cq_mapping_size(file), path));
    CQ_TRY_OR_DONE(cq_edit_model(edit, m));
    status = edit->changed ? cq_write_tensor_message(out, tensor) : cq_copy_file(path, out);
done:
    cq_onnx_model_free(m);
    cq_mapping_release(file);
    return status;
}

cq_status cq_edit_file(cq_edit *edit, const char *path, const char *out)
{
    cq_status status;

    edit->changed  = false;
    edit->own_file = true;
    status         = cq_ends_with(path, ".pb") ? edit_tensor_file(edit, path, out)
                                               : edit_model_file(edit, path, out);
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", path);
}

/* Reads models from files and memory; implements queries of <calque/onnx.h>. */
#include "base/signature.h"
#include "onnx/file/external.h"
#include "onnx/tensor.h"
#include "onnx/file/wire.h"

#include <string.h>

/* Each node looks up the version of its domain, so the number of imports must be small. */
enum { MAX_OPSETS = 256, HEAD_SIZE = 512 };

static cq_status check_opsets(const cq_onnx_model *m, const char *path)
{
    uint32_t most = m->opset_import.n;

    for (uint32_t i = 0; i < m->functions.n; i++)
        if (m->functions.items[i]->opset_import.n > most)
            most = m->functions.items[i]->opset_import.n;
    if (most <= MAX_OPSETS)
        return CQ_OK;
    return cq_fail(CQ_E_FORMAT, path, NULL, "the model imports %u operator sets; at most %d work",
                   most, MAX_OPSETS);
}

/* Replaces the decoder's error by a description of the file, if its format is recognized. */
static cq_status explain(const cq_storage *source, const char *where)
{
    const unsigned char *bytes   = source->data;
    bool                 is_text = true;

    if (cq_check_signature(bytes, source->size, where) != CQ_OK)
        return CQ_E_UNSUPPORTED;
    for (size_t i = 0; i < source->size && i < HEAD_SIZE; i++)
        is_text &= bytes[i] >= ' ' || bytes[i] == '\n' || bytes[i] == '\t' || bytes[i] == '\r';
    if (!is_text)
        return CQ_E_FORMAT;
    return cq_fail(CQ_E_FORMAT, where, "use calque print --parse to read ONNX's text syntax",
                   "the file is text, not an ONNX model");
}

/* Takes ownership of source. */
static cq_status decode(cq_onnx_model **out, cq_storage *source, const char *where)
{
    cq_onnx_model *m;
    cq_status      status = cq_onnx_model_new(&m, NULL);

    if (status != CQ_OK) {
        cq_storage_release(source);
        return status;
    }
    m->source = source;
    status    = cq_onnx_decode(m, &cq_onnx_model_message, m, source->data, source->size, where);
    if (status == CQ_OK)
        status = check_opsets(m, where);
    else if (status == CQ_E_FORMAT)
        status = explain(source, where);
    if (status != CQ_OK) {
        cq_onnx_model_free(m);
        return status;
    }
    *out = m;
    return CQ_OK;
}

/* An empty file is a valid protobuf message without fields, but in practice a failed download. */
cq_status cq_onnx_check_not_empty(const char *path, size_t size)
{
    return size ? CQ_OK : cq_fail_empty(path);
}

CQ_API cq_status cq_onnx_model_load(cq_onnx_model **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_mapping *file;
    cq_storage *source;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_mapping_open(&file, path));
    CQ_TRY_OR_DONE(cq_onnx_check_not_empty(path, cq_mapping_size(file)));
    CQ_TRY_OR_DONE(cq_storage_map(&source, file, 0, cq_mapping_size(file)));
    CQ_TRY_OR_DONE(decode(out, source, path));
    status = cq_onnx_files_new(&(*out)->files, path);
    if (status != CQ_OK) {
        cq_onnx_model_free(*out);
        *out = NULL;
    }
done:
    cq_mapping_release(file);
    return status;
}

CQ_API cq_status cq_onnx_model_decode(cq_onnx_model **out, const void *data, size_t size)
{
    CQ_NEED_OUT(out, (data || !size));
    cq_storage *source;

    *out = NULL;
    CQ_TRY(cq_storage_new(&source, size));
    if (size)
        memcpy(source->data, data, size);
    return decode(out, source, NULL);
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

CQ_API int64_t cq_onnx_model_ir_version(const cq_onnx_model *m)
{
    CQ_NEED_ELSE(m, 0);
    return m->ir_version;
}

static bool is_same_domain(const char *a, const char *b)
{
    a = text_or_empty(a);
    b = text_or_empty(b);
    return strcmp(strcmp(a, "ai.onnx") ? a : "", strcmp(b, "ai.onnx") ? b : "") == 0;
}

CQ_API int64_t cq_onnx_model_opset(const cq_onnx_model *m, const char *domain)
{
    CQ_NEED_ELSE(m, 0);
    for (uint32_t i = 0; i < m->opset_import.n; i++)
        if (is_same_domain(m->opset_import.items[i]->domain, domain))
            return m->opset_import.items[i]->version;
    return 0;
}

CQ_API const char *cq_onnx_model_producer(const cq_onnx_model *m)
{
    CQ_NEED_ELSE(m, NULL);
    return text_or_empty(m->producer_name);
}

CQ_API const char *cq_onnx_model_graph_name(const cq_onnx_model *m)
{
    CQ_NEED_ELSE(m, NULL);
    return text_or_empty(m->graph ? m->graph->name : NULL);
}

static const cq_onnx_value_info *value_at(const cq_onnx_model *m, cq_onnx_side side, size_t index)
{
    return cq_onnx_graph_value(m->graph, side, index);
}

CQ_API size_t cq_onnx_model_n_values(const cq_onnx_model *m, cq_onnx_side side)
{
    CQ_NEED_ELSE(m, 0);
    return cq_onnx_graph_n_values(m->graph, side);
}

CQ_API const char *cq_onnx_model_value_name(const cq_onnx_model *m, cq_onnx_side side, size_t index)
{
    CQ_NEED_ELSE(m, NULL);
    return cq_onnx_value_info_name(value_at(m, side, index));
}

CQ_API cq_dtype cq_onnx_model_value_dtype(const cq_onnx_model *m, cq_onnx_side side, size_t index)
{
    CQ_NEED_ELSE(m, 0);
    return cq_onnx_value_info_dtype(value_at(m, side, index));
}

CQ_API int32_t cq_onnx_model_value_rank(const cq_onnx_model *m, cq_onnx_side side, size_t index)
{
    CQ_NEED_ELSE(m, 0);
    return cq_onnx_value_info_rank(value_at(m, side, index));
}

CQ_API int64_t cq_onnx_model_value_size(const cq_onnx_model *m, cq_onnx_side side, size_t index,
                                        size_t axis)
{
    CQ_NEED_ELSE(m, 0);
    return cq_onnx_value_info_size(value_at(m, side, index), axis);
}

CQ_API const char *cq_onnx_model_value_axis(const cq_onnx_model *m, cq_onnx_side side, size_t index,
                                            size_t axis)
{
    CQ_NEED_ELSE(m, NULL);
    return cq_onnx_value_info_axis(value_at(m, side, index), axis);
}

cq_status cq_onnx_need_graph(const cq_onnx_model *m)
{
    return m->graph ? CQ_OK : cq_fail(CQ_E_INVALID, NULL, NULL, "the model has no graph");
}

CQ_API size_t cq_onnx_model_n_nodes(const cq_onnx_model *m)
{
    CQ_NEED_ELSE(m, 0);
    return m->graph ? m->graph->node.n : 0;
}

static bool nodes_have(cq_onnx_node *const *nodes, size_t n, const char *op_type, int depth)
{
    for (size_t i = 0; i < n && depth < CQ_ONNX_MAX_DEPTH; i++) {
        const cq_onnx_attributes *list = &nodes[i]->attribute;

        if (nodes[i]->op_type && strcmp(nodes[i]->op_type, op_type) == 0 &&
            !*text_or_empty(nodes[i]->domain))
            return true;
        for (size_t k = 0; k < list->n; k++)
            if (list->items[k]->g && nodes_have(list->items[k]->g->node.items,
                                                list->items[k]->g->node.n, op_type, depth + 1))
                return true;
    }
    return false;
}

CQ_API bool cq_onnx_model_has_node(const cq_onnx_model *m, const char *op_type)
{
    bool has = false;

    CQ_NEED_ELSE(m && op_type, false);
    if (m->graph)
        has = nodes_have(m->graph->node.items, m->graph->node.n, op_type, 0);
    for (size_t i = 0; i < m->functions.n && !has; i++)
        has = nodes_have(m->functions.items[i]->node.items, m->functions.items[i]->node.n, op_type,
                         0);
    return has;
}

CQ_API size_t cq_onnx_model_n_initializers(const cq_onnx_model *m)
{
    CQ_NEED_ELSE(m, 0);
    return m->graph ? m->graph->initializer.n : 0;
}

CQ_API bool cq_onnx_model_has_initializer(const cq_onnx_model *m, const char *name)
{
    CQ_NEED_ELSE(m, 0);
    for (size_t i = 0; i < cq_onnx_model_n_initializers(m); i++)
        if (strcmp(text_or_empty(m->graph->initializer.items[i]->name), name) == 0)
            return true;
    return false;
}

CQ_API cq_status cq_onnx_model_initializer(cq_tensor **out, const char **name,
                                           const cq_onnx_model *m, size_t index)
{
    CQ_NEED_OUT(out, m);
    const cq_onnx_tensor *tensor;

    *out = NULL;
    if (index >= cq_onnx_model_n_initializers(m))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "initializer index %zu is out of range for %zu initializers", index,
                       cq_onnx_model_n_initializers(m));
    tensor = m->graph->initializer.items[index];
    if (name)
        *name = text_or_empty(tensor->name);
    return cq_onnx_tensor_to_tensor(out, m, tensor);
}

/* ONNX models. */
#include "base/str.h"
#include "info/info.h"
#include "onnx/model.h"
#include "onnx/tensor.h"

#include <stdio.h>

/* ---- what goes in and out ---- */

static void add_shape(cq_info *info, const cq_onnx_shape *shape)
{
    cq_str s = { 0 };

    for (size_t i = 0; shape && i < shape->dim.n; i++) {
        const cq_onnx_dim *d = shape->dim.items[i];

        cq_str_add(&s, i ? "x" : "");
        if (cq_onnx_has(d, CQ_ONNX_DIM_VALUE))
            cq_str_printf(&s, "%lld", (long long)d->dim_value);
        else
            cq_str_add(&s, d->dim_param && *d->dim_param ? d->dim_param : "?");
    }
    if (shape && !shape->dim.n)
        cq_str_add(&s, "scalar");
    cq_info_add_str(info, &s);
    cq_str_clear(&s);
}

static const char *type_name(const cq_onnx_type *type)
{
    if (!type)
        return "";
    if (type->tensor_type)
        return cq_dtype_name(cq_dtype_from_onnx(type->tensor_type->elem_type));
    return type->sequence_type        ? "sequence"
           : type->map_type           ? "map"
           : type->optional_type      ? "optional"
           : type->sparse_tensor_type ? "sparse tensor"
                                      : "";
}

static bool is_initializer(const cq_map *initializers, const cq_onnx_value_info *v)
{
    return v->name && cq_map_has(initializers, v->name);
}

static void add_values(cq_info *info, const char *table, const cq_onnx_value_infos *values,
                       const cq_map *initializers)
{
    static const char *const columns[] = { "name", "dtype", "shape", NULL };

    cq_info_begin(info, table, columns);
    for (size_t i = 0; i < values->n; i++) {
        const cq_onnx_value_info *v    = values->items[i];
        const cq_onnx_type       *type = v->type;

        if (initializers && is_initializer(initializers, v))
            continue;
        cq_info_add_text(info, v->name);
        cq_info_add_text(info, type_name(type));
        add_shape(info, type && type->tensor_type ? type->tensor_type->shape : NULL);
    }
}

/* ---- weights ---- */

/* Sizes come from a file: a product that is too large for int64 stays at its end. */
static int64_t numel(const cq_onnx_tensor *t)
{
    int64_t n = 1;

    for (size_t i = 0; i < t->dims.n; i++) {
        const int64_t size = t->dims.items[i];

        if (size <= 0)
            return 0;
        n = n > INT64_MAX / size ? INT64_MAX : n * size;
    }
    return n;
}

static int64_t add_up(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void add_initializers(cq_info *info, const cq_onnx_graph *graph, cq_map *names)
{
    int64_t elements = 0, bytes = 0, external = 0;

    for (size_t i = 0; i < graph->initializer.n && info->status == CQ_OK; i++) {
        const cq_onnx_tensor *t    = graph->initializer.items[i];
        const int64_t         n    = numel(t);
        const int64_t         size = (int64_t)cq_dtype_size(cq_dtype_from_onnx(t->data_type));

        elements = add_up(elements, n);
        bytes    = add_up(bytes, size && n > INT64_MAX / size ? INT64_MAX : n * size);
        external += t->external_data.n > 0;
        if (t->name)
            info->status = cq_map_set(names, t->name, (void *)t);
    }
    cq_info_fact_number(info, "initializers", CQ_INFO_COUNT, (int64_t)graph->initializer.n);
    cq_info_fact_number(info, "parameters", CQ_INFO_COUNT, elements);
    cq_info_fact_number(info, "weights", CQ_INFO_BYTES, bytes);
    if (external)
        cq_info_fact_number(info, "initializers in external files", CQ_INFO_COUNT, external);
}

/* ---- operators ---- */

/* "Conv", or "com.microsoft::Gelu"; the name lives in the arena. */
static const char *operator_name(cq_info *info, const cq_onnx_node *node)
{
    const char *op     = node->op_type ? node->op_type : "";
    const char *domain = node->domain ? node->domain : "";

    if (!*domain || strcmp(domain, "ai.onnx") == 0)
        return op;
    return cq_arena_printf(info->arena, "%s::%s", domain, op);
}

static cq_status count_graph(cq_info *info, cq_info_counts *counts, const cq_onnx_graph *graph);

static cq_status count_node(cq_info *info, cq_info_counts *counts, const cq_onnx_node *node)
{
    const char *name = operator_name(info, node);

    if (!name)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_info_count_name(counts, name));
    for (size_t i = 0; i < node->attribute.n; i++) {
        const cq_onnx_attribute *a = node->attribute.items[i];

        if (a->g)
            CQ_TRY(count_graph(info, counts, a->g));
        for (size_t k = 0; k < a->graphs.n; k++)
            CQ_TRY(count_graph(info, counts, a->graphs.items[k]));
    }
    return CQ_OK;
}

/* The depth is limited by the decoder. */
static cq_status count_graph(cq_info *info, cq_info_counts *counts, const cq_onnx_graph *graph)
{
    for (size_t i = 0; i < graph->node.n; i++)
        CQ_TRY(count_node(info, counts, graph->node.items[i]));
    return CQ_OK;
}

static void add_operators(cq_info *info, const cq_onnx_model *m)
{
    cq_info_counts counts = { 0 };
    cq_status      status = count_graph(info, &counts, m->graph);

    for (size_t i = 0; i < m->functions.n && status == CQ_OK; i++)
        for (size_t k = 0; k < m->functions.items[i]->node.n && status == CQ_OK; k++)
            status = count_node(info, &counts, m->functions.items[i]->node.items[k]);
    if (info->status == CQ_OK)
        info->status = status;
    cq_info_add_counts(info, "operators", &counts);
}

/* ---- all of it ---- */

static void add_header(cq_info *info, const cq_onnx_model *m)
{
    cq_str opsets = { 0 };
    char   text[512];

    for (size_t i = 0; i < m->opset_import.n; i++) {
        const cq_onnx_opset *o = m->opset_import.items[i];

        cq_str_printf(&opsets, "%s%s %lld", i ? ", " : "",
                      o->domain && *o->domain ? o->domain : "ai.onnx", (long long)o->version);
    }
    snprintf(text, sizeof text, "%s%s%s", m->producer_name ? m->producer_name : "",
             m->producer_version && *m->producer_version ? " " : "",
             m->producer_version ? m->producer_version : "");
    cq_info_fact(info, "format", "ONNX model");
    cq_info_fact(info, "producer", text);
    cq_info_fact_number(info, "IR version", CQ_INFO_COUNT, m->ir_version);
    cq_info_fact_str(info, "opsets", &opsets);
    cq_info_fact(info, "graph", m->graph->name);
    cq_info_fact_number(info, "nodes", CQ_INFO_COUNT, (int64_t)m->graph->node.n);
    if (m->functions.n)
        cq_info_fact_number(info, "functions", CQ_INFO_COUNT, (int64_t)m->functions.n);
    cq_str_clear(&opsets);
}

static void add_metadata(cq_info *info, const cq_onnx_model *m)
{
    static const char *const columns[] = { "key", "value", NULL };

    if (m->metadata_props.n)
        cq_info_begin(info, "metadata", columns);
    for (size_t i = 0; i < m->metadata_props.n; i++) {
        cq_info_add_text(info, m->metadata_props.items[i]->key);
        cq_info_add_text(info, m->metadata_props.items[i]->value);
    }
}

CQ_API cq_status cq_onnx_model_info(cq_info **out, cq_onnx_model *m)
{
    CQ_NEED_OUT(out, m);
    cq_map    initializers = { 0 };
    double    flops        = 0;
    cq_status counted;

    CQ_TRY(cq_onnx_need_graph(m));
    CQ_TRY(cq_info_new(out));
    add_header(*out, m);
    add_initializers(*out, m->graph, &initializers);
    add_values(*out, "inputs", &m->graph->input, &initializers);
    add_values(*out, "outputs", &m->graph->output, NULL);
    add_operators(*out, m);
    add_metadata(*out, m);
    cq_map_clear(&initializers);
    /* An invalid model has no such number, but other information. */
    counted = (*out)->status == CQ_OK ? cq_onnx_model_count_flops(&flops, m) : CQ_OK;
    if (counted == CQ_E_NO_MEMORY)
        (*out)->status = counted;
    if (counted == CQ_OK && flops > 0 && flops < 9e18)
        cq_info_fact_number(*out, "FLOPs", CQ_INFO_COUNT, (int64_t)flops);
    return cq_info_done(out);
}

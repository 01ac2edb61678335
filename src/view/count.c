/* Counts the FLOPs of the nodes, and the memory of activations while the nodes run one after the
 * other. Dynamic sizes of the inputs have the values of a run, or 1. */
#include "view/view.h"

#include "tensor/dtype.h"

#include <calque/session.h>

#include <inttypes.h>

static bool has_dynamic_sizes(const cq_onnx_graph *g)
{
    for (uint32_t i = 0; i < g->input.n; i++) {
        const cq_onnx_type  *t = g->input.items[i]->type;
        const cq_onnx_shape *s = t && t->tensor_type ? t->tensor_type->shape : NULL;

        for (uint32_t k = 0; s && k < s->dim.n; k++)
            if (!cq_onnx_has(s->dim.items[k], CQ_ONNX_DIM_VALUE))
                return true;
    }
    return false;
}

static double bytes_of(const cq_onnx_type *t)
{
    const cq_onnx_tensor_type *tensor = t ? t->tensor_type : NULL;
    double                     n;

    if (!tensor || !tensor->shape)
        return 0;
    n = (double)cq_dtype_size(cq_dtype_from_onnx(tensor->elem_type));
    for (uint32_t i = 0; i < tensor->shape->dim.n; i++)
        n *= cq_onnx_has(tensor->shape->dim.items[i], CQ_ONNX_DIM_VALUE)
                 ? (double)tensor->shape->dim.items[i]->dim_value
                 : 0;
    return n > 0 ? n : 0;
}

static void note_bytes(cq_view *v, const cq_onnx_value_infos *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const uint32_t x = cq_view_find(v, v->main_graph, list->items[i]->name);

        if (x != CQ_VIEW_NONE && v->values.items[x].weight == CQ_VIEW_NONE)
            v->values.items[x].bytes = bytes_of(list->items[i]->type);
    }
}

static cq_status note_flops(void *user, const cq_onnx_node *node, double flops)
{
    cq_view    *v  = user;
    cq_view_op *op = cq_view_op_of(v, node);

    v->flops += flops;
    if (op)
        op->flops = flops;
    return CQ_OK;
}

/* A value lives from the node that computes it to the last one that reads it. */
static cq_status add_memory(cq_view *v)
{
    const cq_view_graph *g      = &v->graphs.items[v->main_graph];
    double              *freed  = cq_zalloc((g->n_ops + 1) * sizeof *freed);
    double               live   = 0;
    cq_status            status = freed ? CQ_OK : CQ_E_NO_MEMORY;

    for (uint32_t i = 0; i < g->n_ops && status == CQ_OK; i++) {
        const cq_view_op *op = &v->ops.items[g->ops[i]];

        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const cq_view_value *x =
                op->outputs[k] == CQ_VIEW_NONE ? NULL : &v->values.items[op->outputs[k]];

            if (!x)
                continue;
            live += x->bytes;
            freed[x->last_use > i ? x->last_use : i] += x->bytes;
        }
        if (op->node)
            status = cq_vec_push(&v->memory, (cq_view_point){ g->ops[i], live });
        v->peak = live > v->peak ? live : v->peak;
        live -= freed[i];
    }
    cq_free(freed);
    return status;
}

/* Records the names of the dynamic sizes of the inputs and their values: the sizes of the given
 * inputs, or 1. */
static cq_status note_sizes(cq_view *v, cq_onnx_value *const *inputs, size_t n)
{
    const cq_onnx_graph *g     = v->model->graph;
    cq_map               names = { 0 };
    cq_str               s     = { 0 };

    for (uint32_t i = 0; i < g->input.n && s.status == CQ_OK; i++) {
        const cq_tensor     *t     = i < n && inputs[i] ? cq_onnx_value_tensor(inputs[i]) : NULL;
        const cq_onnx_type  *type  = g->input.items[i]->type;
        const cq_onnx_shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;

        for (uint32_t k = 0; shape && k < shape->dim.n; k++) {
            const char *name = shape->dim.items[k]->dim_param;

            if (cq_onnx_has(shape->dim.items[k], CQ_ONNX_DIM_VALUE) || !name || !*name ||
                cq_map_has(&names, name))
                continue;
            cq_str_printf(&s, "%s%s = %" PRId64, s.len ? ", " : "", name,
                          t && k < cq_tensor_rank(t) ? cq_tensor_size(t, k) : 1);
            if (cq_map_set(&names, name, &names) != CQ_OK)
                s.status = CQ_E_NO_MEMORY;
        }
    }
    v->sizes = cq_arena_strdup(v->arena, cq_str_text(&s));
    cq_map_clear(&names);
    if (s.status == CQ_OK && !v->sizes)
        s.status = CQ_E_NO_MEMORY;
    cq_str_clear(&s);
    return v->sizes ? CQ_OK : CQ_E_NO_MEMORY;
}

/* Sets the sizes of the inputs to those of a run. */
static void fix_sizes(cq_onnx_graph *g, cq_onnx_value *const *inputs, size_t n)
{
    for (uint32_t i = 0; i < g->input.n && i < n; i++) {
        const cq_tensor     *t     = inputs[i] ? cq_onnx_value_tensor(inputs[i]) : NULL;
        const cq_onnx_type  *type  = g->input.items[i]->type;
        const cq_onnx_shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;

        for (uint32_t k = 0; t && shape && shape->dim.n == cq_tensor_rank(t) && k < shape->dim.n;
             k++) {
            *shape->dim.items[k] = (cq_onnx_dim){ .dim_value = cq_tensor_size(t, k) };
            cq_onnx_set_has(shape->dim.items[k], CQ_ONNX_DIM_VALUE);
        }
    }
}

cq_status cq_view_count(cq_view *v, const cq_view_options *options)
{
    double    all;
    cq_status status;

    CQ_TRY(note_sizes(v, options ? options->inputs : NULL,
                      options && options->inputs ? options->n_inputs : 0));
    if (options)
        fix_sizes(v->model->graph, options->inputs, options->inputs ? options->n_inputs : 0);
    v->is_fixed = has_dynamic_sizes(v->model->graph);
    status      = cq_onnx_model_count_flops(&all, v->model);
    if (status != CQ_OK) /* an invalid model still has a structure */
        return status == CQ_E_NO_MEMORY ? status : CQ_OK;
    status = cq_onnx_each_flops(v->model, note_flops, v);
    note_bytes(v, &v->model->graph->input);
    note_bytes(v, &v->model->graph->value_info);
    note_bytes(v, &v->model->graph->output);
    CQ_TRY(status);
    CQ_TRY(cq_view_add_formula(v));
    return add_memory(v);
}

/* Converts a float32 model to float64, because finite differences of float32 results are too
 * inaccurate to check derivatives. Inputs that operators accept only as float32, the
 * scales of Resize, are unchanged. */
#include "runtime/gradients.h"

#include "base/map.h"
#include "onnx/tensor.h"

typedef struct widening {
    cq_onnx_model *m;
    cq_map         kept; /* names of values that remain float32 */
} widening;

static void widen_type(cq_onnx_type *type)
{
    if (type && type->tensor_type && type->tensor_type->elem_type == CQ_ONNX_FLOAT)
        type->tensor_type->elem_type = CQ_ONNX_DOUBLE;
}

static cq_status widen_tensor(cq_onnx_model *m, cq_onnx_tensor **io)
{
    cq_tensor *t, *wide = NULL;
    cq_status  status;

    if ((*io)->data_type != CQ_ONNX_FLOAT)
        return CQ_OK;
    CQ_TRY(cq_onnx_tensor_to_tensor(&t, m, *io));
    status = cq_tensor_clone(&wide, t, CQ_DTYPE_F64);
    cq_tensor_release(t);
    if (status == CQ_OK)
        *io = cq_onnx_tensor_new(m, (*io)->name, wide);
    cq_tensor_release(wide);
    return status == CQ_OK ? m->status : status;
}

/* Converts the scalar or list attribute of a Constant, and the default of a ConstantOfShape without
 * a value, to a tensor. */
static cq_status set_value(widening *w, cq_onnx_node *n, cq_onnx_attribute *a, size_t rank,
                           int64_t size, const cq_onnx_f32 *numbers)
{
    cq_tensor *wide;

    CQ_TRY(cq_tensor_new_uninit(&wide, CQ_DTYPE_F64, rank, &size));
    for (int64_t i = 0; i < size; i++)
        ((double *)cq_tensor_data(wide))[i] = (double)numbers[i];
    if (!a) {
        a = cq_onnx_alloc(w->m, sizeof *a);
        if (a)
            cq_onnx_list_push(w->m, &n->attribute, a);
    }
    if (a) {
        *a   = (cq_onnx_attribute){ .name = "value", .type = CQ_ONNX_ATTR_TENSOR };
        a->t = cq_onnx_tensor_new(w->m, NULL, wide);
        cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_TYPE);
    }
    cq_tensor_release(wide);
    return w->m->status;
}

static bool is_dtype(const char *name)
{
    return strcmp(name, "to") == 0 || strcmp(name, "dtype") == 0 ||
           strcmp(name, "output_datatype") == 0;
}

static cq_status widen_graph(widening *w, cq_onnx_graph *g);

static cq_status widen_attribute(widening *w, cq_onnx_node *n, cq_onnx_attribute *a)
{
    const char *name = a->name ? a->name : "";

    if (a->t)
        CQ_TRY(widen_tensor(w->m, &a->t));
    if (a->g)
        CQ_TRY(widen_graph(w, a->g));
    for (size_t i = 0; i < a->graphs.n; i++)
        CQ_TRY(widen_graph(w, a->graphs.items[i]));
    if (is_dtype(name) && a->i == CQ_ONNX_FLOAT)
        a->i = CQ_ONNX_DOUBLE;
    if (strcmp(name, "value_float") == 0)
        return set_value(w, n, a, 0, 1, &(cq_onnx_f32){ a->f });
    if (strcmp(name, "value_floats") == 0)
        return set_value(w, n, a, 1, (int64_t)a->floats.n, a->floats.items);
    return CQ_OK;
}

static cq_status widen_node(widening *w, cq_onnx_node *n)
{
    if (n->output.n && n->output.items[0] && cq_map_has(&w->kept, n->output.items[0]))
        return CQ_OK;
    if (n->op_type && strcmp(n->op_type, "ConstantOfShape") == 0 && !n->attribute.n)
        return set_value(w, n, NULL, 1, 1, &(cq_onnx_f32){ 0 });
    for (size_t i = 0; i < n->attribute.n; i++)
        CQ_TRY(widen_attribute(w, n, n->attribute.items[i]));
    return CQ_OK;
}

/* Keeps the inputs of Resize and Upsample after the first, which are parameters. */
static cq_status keep_scales(widening *w, const cq_onnx_graph *g)
{
    for (size_t i = 0; i < g->node.n; i++) {
        const cq_onnx_node *n  = g->node.items[i];
        const char         *op = n->op_type ? n->op_type : "";

        if (strcmp(op, "Resize") != 0 && strcmp(op, "Upsample") != 0)
            continue;
        for (size_t k = 1; k < n->input.n; k++)
            if (n->input.items[k])
                CQ_TRY(cq_map_set(&w->kept, n->input.items[k], NULL));
    }
    return CQ_OK;
}

/* The decoder has limited the depth. */
static cq_status widen_graph(widening *w, cq_onnx_graph *g)
{
    CQ_TRY(keep_scales(w, g));
    for (size_t i = 0; i < g->initializer.n; i++)
        if (!g->initializer.items[i]->name || !cq_map_has(&w->kept, g->initializer.items[i]->name))
            CQ_TRY(widen_tensor(w->m, &g->initializer.items[i]));
    for (size_t i = 0; i < g->input.n; i++)
        widen_type(g->input.items[i]->type);
    for (size_t i = 0; i < g->output.n; i++)
        widen_type(g->output.items[i]->type);
    g->value_info.n = 0;
    for (size_t i = 0; i < g->node.n; i++)
        CQ_TRY(widen_node(w, g->node.items[i]));
    return CQ_OK;
}

cq_status cq_onnx_model_widen(cq_onnx_model *m)
{
    widening  w      = { .m = m };
    cq_status status = widen_graph(&w, m->graph);

    for (size_t i = 0; i < m->functions.n && status == CQ_OK; i++)
        for (size_t k = 0; k < m->functions.items[i]->node.n && status == CQ_OK; k++)
            status = widen_node(&w, m->functions.items[i]->node.items[k]);
    cq_map_clear(&w.kept);
    return status;
}

/* Counts the floating-point operations of a model: multiplications and additions of its
 * convolutions and matrix products, for the shapes that inference finds. Other operators are
 * negligible and not counted. Bodies of loops and functions are not counted either, because their
 * number of iterations is unknown. */
#include "base/map.h"
#include "onnx/model.h"

#include <string.h>

typedef struct shapes {
    cq_map of; /* name to cq_onnx_shape */
} shapes;

static cq_status note_shapes(shapes *s, const cq_onnx_value_infos *values)
{
    for (uint32_t i = 0; i < values->n; i++) {
        const cq_onnx_value_info *v = values->items[i];

        if (v->name && v->type && v->type->tensor_type && v->type->tensor_type->shape)
            CQ_TRY(cq_map_set(&s->of, v->name, v->type->tensor_type->shape));
    }
    return CQ_OK;
}

/* Records the shapes of initializers. */
static cq_status note_initializers(shapes *s, cq_onnx_model *m)
{
    for (uint32_t i = 0; i < m->graph->initializer.n; i++) {
        const cq_onnx_tensor *t     = m->graph->initializer.items[i];
        cq_onnx_shape        *shape = cq_onnx_alloc(m, sizeof *shape);

        for (uint32_t k = 0; shape && k < t->dims.n; k++) {
            cq_onnx_dim *dim = cq_onnx_alloc(m, sizeof *dim);

            if (!dim)
                break;
            dim->dim_value = t->dims.items[k];
            cq_onnx_set_has(dim, CQ_ONNX_DIM_VALUE);
            cq_onnx_list_push(m, &shape->dim, dim);
        }
        CQ_TRY(m->status);
        if (t->name)
            CQ_TRY(cq_map_set(&s->of, t->name, shape));
    }
    return CQ_OK;
}

static const cq_onnx_shape *shape_of(const shapes *s, const cq_onnx_names *names, uint32_t i)
{
    return i < names->n ? cq_map_get(&s->of, names->items[i]) : NULL;
}

static double product(const cq_onnx_shape *shape, uint32_t from)
{
    double n = 1;

    for (uint32_t i = from; shape && i < shape->dim.n; i++)
        n *= (double)shape->dim.items[i]->dim_value; /* 0 if unknown */
    return shape ? n : 0;
}

static double flops_of(const shapes *s, const cq_onnx_node *node)
{
    const char          *op         = node->op_type ? node->op_type : "";
    const bool           is_qlinear = strncmp(op, "QLinear", 7) == 0; /* x, scale, zero point, w */
    const cq_onnx_shape *x          = shape_of(s, &node->input, 0),
                        *w          = shape_of(s, &node->input, is_qlinear ? 3 : 1);
    const cq_onnx_shape     *y      = shape_of(s, &node->output, 0);
    const cq_onnx_attribute *a;
    uint32_t                 inner;

    if (!x || !w || !y || (node->domain && *node->domain))
        return 0;
    if (is_qlinear)
        op += 7;
    if (strcmp(op, "Conv") == 0 ||
        strcmp(op, "ConvInteger") == 0) /* an output per filter element, as large as the input */
        return 2 * product(y, 0) * product(w, 1);
    if (strcmp(op, "ConvTranspose") == 0)
        return 2 * product(x, 0) * product(w, 1);
    if ((strcmp(op, "MatMul") && strcmp(op, "MatMulInteger") && strcmp(op, "Gemm")) || !x->dim.n)
        return 0;
    a     = cq_onnx_node_attr(node, "transA");
    inner = a && a->i ? 0 : x->dim.n - 1;
    return 2 * product(y, 0) * (double)x->dim.items[inner]->dim_value;
}

cq_status cq_onnx_each_flops(cq_onnx_model *m, cq_onnx_flops_fn fn, void *user)
{
    shapes    s = { 0 };
    cq_status status;

    CQ_TRY_OR_DONE(note_initializers(&s, m));
    CQ_TRY_OR_DONE(note_shapes(&s, &m->graph->input));
    CQ_TRY_OR_DONE(note_shapes(&s, &m->graph->value_info));
    CQ_TRY_OR_DONE(note_shapes(&s, &m->graph->output));
    for (uint32_t i = 0; i < m->graph->node.n; i++)
        CQ_TRY_OR_DONE(fn(user, m->graph->node.items[i], flops_of(&s, m->graph->node.items[i])));
done:
    cq_map_clear(&s.of);
    return status;
}

static cq_status add_up(void *user, const cq_onnx_node *node, double flops)
{
    (void)node;
    *(double *)user += flops;
    return CQ_OK;
}

CQ_API cq_status cq_onnx_model_count_flops(double *out, cq_onnx_model *m)
{
    CQ_NEED(out && m);
    *out = 0;
    if (!m->graph)
        return CQ_OK;
    for (uint32_t i = 0; i < m->graph->input.n; i++) {
        const cq_onnx_type  *type  = m->graph->input.items[i]->type;
        const cq_onnx_shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;

        for (uint32_t k = 0; shape && k < shape->dim.n; k++) {
            cq_onnx_dim *dim = shape->dim.items[k];

            if (cq_onnx_has(dim, CQ_ONNX_DIM_VALUE))
                continue;
            *dim = (cq_onnx_dim){ .dim_value = 1 };
            cq_onnx_set_has(dim, CQ_ONNX_DIM_VALUE);
        }
    }
    m->graph->value_info.n = 0; /* remove shapes that were inferred for other sizes */
    CQ_TRY(cq_onnx_model_infer(m, 0));
    return cq_onnx_each_flops(m, add_up, out);
}

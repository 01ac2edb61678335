/* Nodes that compute a replacement of a weight with the same type, shape, mean and variance. The
 * tensor is a matrix of p rows and q columns,
 *
 *     w[i, j] = shift + scale * sin(A * i + B * j)
 *
 * The sums of such sines over all i and j have closed forms, so scale and shift are derived from
 * the weight's statistics without computing a single element. The operators exist since opset 9 and
 * are unchanged for these inputs: indices come from NonZero, since Range is newer. RandomNormal
 * would be one node, but gives other numbers in each run.
 *
 * Integers are kept: they are indices and shapes, and random ones might not run. */
#include "onnx/tensor.h"
#include "testcase/strip.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* Steps of the angle that are not a simple fraction of a turn, nor of each other. As floats, since
 * the model has them as such. */
#define STEP_ROW    1.61803398875f
#define STEP_COLUMN 1.41421356237f

enum { OPSET_OLDEST = 9 };

/* One weight's worth of nodes. They have no names, and their values short ones: the model is to
 * be small. */
typedef struct recipe {
    cq_onnx_model *m;
    cq_onnx_graph *graph;
    const char    *prefix; /* of values: "strip:7" for the eighth weight */
} recipe;

static const char *value_name(const recipe *r, const char *part)
{
    char *name = cq_arena_printf(r->m->arena, "%s/%s", r->prefix, part);

    if (!name && r->m->status == CQ_OK)
        r->m->status = CQ_E_NO_MEMORY;
    return name ? name : "";
}

/* A node with one output; b may be NULL. */
static cq_onnx_node *node(const recipe *r, const char *op, const char *out, const char *a,
                          const char *b)
{
    cq_onnx_node *n = cq_onnx_graph_add_node(r->m, r->graph, op, NULL, NULL);

    if (a)
        cq_onnx_node_add_input(r->m, n, a);
    if (b)
        cq_onnx_node_add_input(r->m, n, b);
    cq_onnx_node_add_output(r->m, n, out);
    return n;
}

static const char *op(const recipe *r, const char *type, const char *part, const char *a,
                      const char *b)
{
    const char *out = value_name(r, part);

    node(r, type, out, a, b);
    return out;
}

/* A tensor as the attribute of a node. */
static void attach(const recipe *r, cq_onnx_node *n, cq_dtype dtype, size_t rank,
                   const int64_t *sizes, const void *data)
{
    cq_tensor *t      = NULL;
    cq_status  status = cq_tensor_new(&t, dtype, rank, sizes, data);

    if (status == CQ_OK)
        cq_onnx_attr_tensor(r->m, n, "value", t);
    else if (r->m->status == CQ_OK)
        r->m->status = status;
    cq_tensor_release(t);
}

/* Constants are nodes: in old IR versions an initializer would have to be an input. */
static const char *ints(const recipe *r, const char *part, const int64_t *values, int64_t n)
{
    const char *out = value_name(r, part);

    attach(r, node(r, "Constant", out, NULL, NULL), CQ_DTYPE_I64, 1, &n, values);
    return out;
}

static const char *number(const recipe *r, const char *part, double value)
{
    const char *out = value_name(r, part);
    float       f   = (float)value;

    attach(r, node(r, "Constant", out, NULL, NULL), CQ_DTYPE_F32, 0, NULL, &f);
    return out;
}

static const char *cast(const recipe *r, const char *out, const char *x, int32_t to)
{
    cq_onnx_attr_int(r->m, node(r, "Cast", out, x, NULL), "to", to);
    return out;
}

/* [[0, 1, …, n-1]] * step */
static const char *angles(const recipe *r, const char *axis, int64_t n, float step)
{
    recipe        own   = { r->m, r->graph, value_name(r, axis) };
    int64_t       one   = 1;
    const char   *shape = ints(&own, "n", &n, 1), *ones = value_name(&own, "ones"), *at;
    cq_onnx_node *fill = node(&own, "ConstantOfShape", ones, shape, NULL);

    attach(&own, fill, CQ_DTYPE_I64, 1, &one, &one);
    at = op(&own, "NonZero", "at", ones, NULL);
    at = cast(&own, value_name(&own, "index"), at, CQ_ONNX_FLOAT);
    return op(&own, "Mul", "angle", at, number(&own, "step", (double)step));
}

/* Mean of exp(i * step * k) over k < n: a geometric series. */
static double complex mean_phase(int64_t n, double step)
{
    return (1 - cexp(I * step * (double)n)) / (1 - cexp(I * step)) / (double)n;
}

/* The scale and shift for a given mean and variance. sin^2 x = (1 - cos 2x) / 2. */
static void fit(double *scale, double *shift, const cq_stats *want, int64_t p, int64_t q)
{
    double a = (double)STEP_ROW, b = (double)STEP_COLUMN;
    double mean     = cimag(mean_phase(p, a) * mean_phase(q, b));
    double square   = 0.5 - creal(mean_phase(p, 2 * a) * mean_phase(q, 2 * b)) / 2;
    double variance = square - mean * mean;

    *scale = variance > 0 ? sqrt(want->variance / variance) : 0;
    *shift = want->mean - *scale * mean;
}

/* Rows and columns of about the same number: angles stay small, where floats are exact. */
static void split(int64_t *p, int64_t *q, const cq_onnx_tensor *tensor, int64_t numel)
{
    int64_t rows = 1;

    *p = 1;
    *q = numel;
    for (uint32_t i = 0; i < tensor->dims.n; i++) {
        rows *= tensor->dims.items[i];
        if (rows > *p && (rows > numel / rows ? rows : numel / rows) < (*p > *q ? *p : *q)) {
            *p = rows;
            *q = numel / rows;
        }
    }
}

static void add_nodes(const recipe *r, const cq_onnx_tensor *tensor, const cq_stats *stats,
                      int64_t numel)
{
    const char *rows, *columns, *x, *shape;
    double      scale, shift;
    int64_t     p, q;

    split(&p, &q, tensor, numel);
    fit(&scale, &shift, stats, p, q);
    columns = angles(r, "columns", q, STEP_COLUMN);
    rows    = op(r, "Transpose", "rows/turned", angles(r, "rows", p, STEP_ROW), NULL);
    x       = op(r, "Sin", "sine", op(r, "Add", "angle", rows, columns), NULL);
    x       = op(r, "Mul", "scaled", x, number(r, "scale", scale));
    x       = op(r, "Add", "shifted", x, number(r, "shift", shift));
    shape   = ints(r, "shape", tensor->dims.items, tensor->dims.n);
    if (tensor->data_type == CQ_ONNX_FLOAT) {
        node(r, "Reshape", tensor->name, x, shape);
        return;
    }
    x = op(r, "Reshape", "shaped", x, shape);
    cast(r, tensor->name, x, tensor->data_type);
}

/* In old IR versions an initializer is also an input; the result of a node cannot be one. */
static void remove_input(cq_onnx_graph *graph, const char *name)
{
    cq_onnx_value_infos *inputs = &graph->input;
    uint32_t             n      = 0;

    for (uint32_t i = 0; i < inputs->n; i++)
        if (!inputs->items[i]->name || strcmp(inputs->items[i]->name, name) != 0)
            inputs->items[n++] = inputs->items[i];
    inputs->n = n;
}

/* Puts the nodes from the n-th on before the others, whose inputs they make. */
static cq_status move_to_front(cq_onnx_model *m, cq_onnx_graph *graph, uint32_t n)
{
    cq_onnx_node **items = graph->node.items;
    uint32_t       added = graph->node.n - n;
    cq_onnx_node **old   = cq_arena_copy(m->arena, items, n * sizeof *items);

    if (!old)
        return CQ_E_NO_MEMORY;
    if (!n || !added)
        return CQ_OK;
    memmove(items, items + n, added * sizeof *items);
    memcpy(items + added, old, n * sizeof *items);
    return CQ_OK;
}

static cq_status check_opset(const cq_onnx_model *m)
{
    int64_t opset = cq_onnx_model_opset(m, "");

    if (opset >= OPSET_OLDEST)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, NULL, "strip it without --runnable, or export a newer opset",
                   "a runnable model needs opset %d, but this one has %d", OPSET_OLDEST,
                   (int)opset);
}

/* A weight that cannot be made from sines, one with NaN in it, stays. */
static cq_status replace(bool *done, cq_strip_edit *strip, recipe *r, const cq_onnx_tensor *tensor)
{
    cq_stats stats;
    int64_t  numel;

    CQ_TRY(cq_is_strippable(done, tensor, strip->threshold));
    *done &= cq_dtype_is_float(cq_dtype_from_onnx(tensor->data_type)) && tensor->name;
    if (!*done)
        return CQ_OK;
    CQ_TRY(cq_onnx_tensor_stats(&stats, r->m, tensor));
    CQ_TRY(cq_onnx_tensor_numel(&numel, tensor));
    *done = isfinite(stats.mean) && isfinite(stats.variance);
    if (!*done)
        return CQ_OK;
    CQ_TRY(check_opset(r->m));
    r->prefix = cq_arena_printf(r->m->arena, "strip:%zu", strip->n_replaced++);
    if (!r->prefix)
        return CQ_E_NO_MEMORY;
    add_nodes(r, tensor, &stats, numel);
    remove_input(r->graph, tensor->name);
    return r->m->status;
}

cq_status cq_strip_graph_runnable(cq_edit *edit, cq_onnx_model *m, cq_onnx_graph *graph)
{
    uint32_t n_nodes = graph->node.n, n = 0;
    recipe   r = { m, graph, NULL };

    for (uint32_t i = 0; i < graph->initializer.n; i++) {
        cq_onnx_tensor *tensor = graph->initializer.items[i];
        bool            done;

        CQ_TRY(replace(&done, (cq_strip_edit *)edit, &r, tensor));
        edit->changed |= done;
        if (!done)
            graph->initializer.items[n++] = tensor;
    }
    graph->initializer.n = n;
    return move_to_front(m, graph, n_nodes);
}

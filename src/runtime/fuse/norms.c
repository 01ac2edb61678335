/* Fuses decomposed layer normalisation, because ONNX has LayerNormalization only since opset 17: d
 * = x - ReduceMean(x); y = d / Sqrt(ReduceMean(Pow(d, 2)) + epsilon) * weight + bias along the last
 * axis. Nine passes over memory become one. */
#include "runtime/fuse/patterns.h"

#include "runtime/kernels/norm.h"

#include <math.h>

static bool is_mean_of_last_axis(const cq_rt_node_step *s)
{
    cq_rt            rt = { .step = s ? &s->step : NULL };
    const cq_tensor *t;
    cq_rt_ints       axes;

    if (!cq_rt_is_op(s, "ReduceMean") || !s->out[0] || !cq_rt_int(&rt, "keepdims") ||
        cq_rt_attr_ints(&axes, &rt, "axes") != CQ_OK)
        return false;
    if (axes.given)
        return axes.n == 1 && axes.at[0] == -1;
    if (s->step.n_in < 2 || !s->in[1] || !s->in[1]->is_constant ||
        s->in[1]->constant.kind != CQ_VAL_TENSOR)
        return false;
    t = s->in[1]->constant.u.tensor; /* axes are an input since opset 18 */
    return cq_tensor_numel(t) == 1 && cq_tensor_get_i64(t, 0) == -1;
}

/* The steps of a match, beginning with the difference. */
struct norm {
    cq_rt_node_step *mean, *sub, *pow, *var, *eps, *sqrt, *div, *mul, *add;
    uint32_t         weight, bias; /* input indices of mul and add */
    double           epsilon;
};

/* Finds the two readers of the difference: its square and the quotient. */
static bool find_readers(struct norm *n)
{
    const cq_rt_node_value *d = n->sub->out[0];
    double                  two;

    if (!d || d->n_uses != 2 || !d->readers[1])
        return false;
    n->pow = cq_rt_is_op(d->readers[0], "Pow") ? d->readers[0] : d->readers[1];
    n->div = n->pow == d->readers[0] ? d->readers[1] : d->readers[0];
    return cq_rt_is_op(n->pow, "Pow") && n->pow->in[0] == d && n->pow->out[0] &&
           cq_rt_number_of(&two, n->pow, 1) && !(two < 2) && !(two > 2) &&
           cq_rt_is_op(n->div, "Div") && n->div->in[0] == d && n->div->out[0];
}

/* Whether input i is a vector of more than one element; a single element would be broadcast. */
static bool is_vector(const cq_rt_node_step *s, uint32_t i, int64_t *size)
{
    const cq_tensor *t = cq_rt_constant_of(s, i);

    if (!t || t->rank != 1 || cq_size_of(t, 0) < 2 || (*size && cq_size_of(t, 0) != *size))
        return false;
    *size = cq_size_of(t, 0);
    return true;
}

static bool find(struct norm *n, cq_rt_node_step *sub)
{
    int64_t size = 0;

    *n = (struct norm){ .sub = sub };
    if (!cq_rt_is_op(sub, "Sub") || sub->step.n_in != 2 || !sub->in[1])
        return false;
    n->mean = sub->in[1]->maker;
    if (!is_mean_of_last_axis(n->mean) || n->mean->in[0] != sub->in[0] || sub->in[1]->n_uses != 1 ||
        !find_readers(n))
        return false;
    n->var = cq_rt_only_reader(n->pow->out[0], "ReduceMean");
    if (!is_mean_of_last_axis(n->var))
        return false;
    n->eps  = cq_rt_reader_with(&n->epsilon, n->var->out[0], "Add");
    n->sqrt = n->eps ? cq_rt_only_reader(n->eps->out[0], "Sqrt") : NULL;
    if (!n->sqrt || cq_rt_only_reader(n->sqrt->out[0], "Div") != n->div ||
        n->div->in[1] != n->sqrt->out[0])
        return false;
    n->mul = cq_rt_only_reader(n->div->out[0], "Mul");
    n->add = n->mul ? cq_rt_only_reader(n->mul->out[0], "Add") : NULL;
    if (!n->add)
        return false;
    n->weight = cq_rt_place_of(n->mul, n->div->out[0]) == 0;
    n->bias   = cq_rt_place_of(n->add, n->mul->out[0]) == 0;
    return is_vector(n->mul, n->weight, &size) && is_vector(n->add, n->bias, &size);
}

/* Replaces the last step by the fused one. */
static cq_status rewrite(cq_rt_builder *b, const struct norm *n)
{
    cq_rt_layer_norm  *keep = cq_arena_zalloc(b->all->arena, sizeof *keep);
    cq_rt_node_value **in   = cq_arena_array(b->all->arena, 3, sizeof *in);
    cq_rt_node_step *gone[] = { n->mean, n->sub, n->pow, n->var, n->eps, n->sqrt, n->div, n->mul };

    if (!keep || !in)
        return CQ_E_NO_MEMORY;
    keep->epsilon         = n->epsilon;
    in[0]                 = n->sub->in[0];
    in[1]                 = n->mul->in[n->weight];
    in[2]                 = n->add->in[n->bias];
    n->add->in            = in;
    n->add->step.n_in     = 3;
    n->add->step.row      = &cq_rt_row_layer_norm;
    n->add->step.prepared = keep;
    n->add->step.label    = "LayerNormalization";
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        gone[i]->is_gone = true;
    return CQ_OK;
}

cq_status cq_rt_optimize_norms(cq_rt_builder *b)
{
    struct norm n;

    for (size_t i = 0; i < b->steps.n; i++)
        if (find(&n, b->steps.items[i]))
            CQ_TRY(rewrite(b, &n));
    return CQ_OK;
}

/* Elements by index: gathers, scatters, embeddings, sorting, and what runs along a dimension. */
#include "autograd/gradient.h"

/* Elements that are written over have none; with accumulate they are added to. */
static cq_status index_put(cq_grad *g)
{
    cq_ctx *cx      = g->cx;
    cq_val  indices = cq_arg_val(&g->call, "indices");

    if (cq_arg_bool(&g->call, "accumulate")) {
        CQ_TRY(cq_grad_set(g, "self", cq_grad_of(g, 0)));
    } else if (cq_grad_wants(g, "self")) {
        cq_tensor *zeros = CQ_OP(cx, "aten::zeros_like", T(cq_grad_arg(g, "values")));

        CQ_TRY(cq_grad_set(
            g, "self",
            CQ_OP(cx, "aten::index_put", T(cq_grad_of(g, 0)), indices, T(zeros), B(false))));
    }
    if (!cq_grad_wants(g, "values"))
        return cx->status;
    return cq_grad_set(g, "values", CQ_OP(cx, "aten::index.Tensor", T(cq_grad_of(g, 0)), indices));
}

/* By the way of reducing. What the result would be without a single zero among its factors is
 * computed apart, for it cannot be had by division. */
static const struct {
    const char *reduce, *as;
} reductions[] = {
    { "sum", "self: grad; src: gather(grad, dim, index)" },
#define FACTORS(self, src)                                                                         \
    "scatter_reduce(" self ", dim, index, " src ", reduce, include_self=include_self)"
#define N_ZEROS   "gather(scatter_add(zeros_like(self), dim, index, to(src == 0, grad)), dim, index)"
#define LONE_ZERO "logical_and(src == 0, " N_ZEROS " == 1)"
    { "prod",
      "self: grad * " FACTORS(
          "masked_fill(self, self == 0, 1)",
          "src") " /"
                 "masked_fill(self, self == 0, 1);"
                 "src: where(" LONE_ZERO ","
                 "gather(grad * " FACTORS(
                     "self",
                     "masked_fill(src, " LONE_ZERO
                     ", 1)") ", dim, index),"
                             "gather(grad * result, dim, index) / masked_fill(src, src == 0, 1))" },
#define HAS_SELF "full_like(self, include_self)"
#define MANY     "clamp_min(scatter_add(" HAS_SELF ", dim, index, ones_like(src)), 1)"
    { "mean", "self: grad / " MANY "; src: gather(grad / " MANY ", dim, index)" },
#define IS_BEST     "to(self == result, grad)"
#define IS_BEST_SRC "to(src == gather(result, dim, index), grad)"
#define SHARE       "(grad / scatter_add(" IS_BEST ", dim, index, " IS_BEST_SRC "))"
    { "amax",
      "self: " IS_BEST " * " SHARE "; src: " IS_BEST_SRC " * gather(" SHARE ", dim, index)" },
    { "amin",
      "self: " IS_BEST " * " SHARE "; src: " IS_BEST_SRC " * gather(" SHARE ", dim, index)" },
};

static cq_status scatter_reduce(cq_grad *g)
{
    const char *reduce = cq_arg_str(&g->call, "reduce", "");
    bool        alone  = !cq_arg_bool(&g->call, "include_self");

    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].reduce, reduce) == 0)
            CQ_TRY(cq_grad_formula(g, NULL, reductions[i].as));
    for (size_t i = 0; i < g->n_slots && alone; i++) /* what is written over has none */
        if (g->slots[i].arg == 0 && g->slots[i].gradient)
            g->slots[i].gradient =
                CQ_OP(g->cx, "aten::scatter.value", T(g->slots[i].gradient),
                      cq_arg_val(&g->call, "dim"), cq_arg_val(&g->call, "index"), I(0));
    return g->cx->status;
}

/* Rows of the weight are summed over the places where they were looked up. */
static cq_status embedding(cq_grad *g)
{
    cq_ctx    *cx     = g->cx;
    cq_tensor *weight = cq_grad_arg(g, "weight"), *at = cq_grad_arg(g, "indices"), *rows, *zeros;
    int64_t    padding = cq_arg_i64(&g->call, "padding_idx"), n = cq_tensor_numel(at);

    at   = CQ_OP(cx, "aten::reshape", T(at), cq_i64s(cx, &n, 1));
    rows = CQ_OP(cx, "aten::reshape", T(cq_grad_of(g, 0)),
                 cq_i64s(cx, (int64_t[]){ n, weight->sizes[1].value }, 2));
    if (cq_arg_bool(&g->call, "scale_grad_by_freq")) {
        cq_tensor *many = CQ_OP(cx, "aten::bincount", T(at), CQ_NONE, I(weight->sizes[0].value));

        many = CQ_OP(cx, "aten::index_select", T(many), I(0), T(at));
        rows =
            CQ_OP(cx, "aten::div.Tensor", T(rows), T(CQ_OP(cx, "aten::unsqueeze", T(many), I(1))));
    }
    if (padding >= 0) {
        cq_tensor *is_padding = CQ_OP(cx, "aten::eq.Scalar", T(at), I(padding));

        rows = CQ_OP(cx, "aten::masked_fill.Scalar", T(rows),
                     T(CQ_OP(cx, "aten::unsqueeze", T(is_padding), I(1))), I(0));
    }
    zeros = CQ_OP(cx, "aten::zeros_like", T(weight));
    return cq_grad_set(g, "weight", CQ_OP(cx, "aten::index_add", T(zeros), I(0), T(at), T(rows)));
}

/* ---- along a dimension ---- */

/* Each element's part in all products after it. Division does it fast; where an element is zero,
 * its part is the product of the others, found one place after the other. */
static cq_status cumprod(cq_grad *g)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *grad = cq_grad_of(g, 0), *sum = NULL, *x, *zero;
    int        dim = cq_arg_dim(&g->call, "dim", self->rank);

    zero = CQ_OP(cx, "aten::any", T(CQ_OP(cx, "aten::eq.Scalar", T(self), I(0))));
    CQ_TRY(cx->status);
    if (!cq_tensor_get_i64(zero, 0))
        return cq_grad_formula(g, NULL,
                               "self: flip(cumsum(flip(grad * result, [dim]), dim), [dim]) / self");
    for (int64_t i = 0; i < self->sizes[dim].value && cx->status == CQ_OK; i++) {
        cq_tensor *one = CQ_OP(cx, "aten::select.int", T(grad), I(dim), I(i));
        cq_tensor *part;

        one  = CQ_OP(cx, "aten::ones_like", T(one), DTYPE(self->dtype));
        x    = CQ_OP(cx, "aten::select_scatter", T(self), T(one), I(dim), I(i));
        x    = CQ_OP(cx, "aten::cumprod", T(x), I(dim));
        x    = CQ_OP(cx, "aten::mul.Tensor", T(x), T(grad));
        x    = CQ_OP(cx, "aten::slice.Tensor", T(x), I(dim), I(i));
        part = CQ_OP(cx, "aten::sum.dim_IntList", T(x), I(dim));
        sum  = CQ_OP(cx, "aten::select_scatter", T(sum ? sum : grad), T(part), I(dim), I(i));
    }
    return cq_grad_set(g, "self", sum);
}

/* exp(x) times what all later results have of it, by logarithms so that nothing overflows: once for
 * gradients above zero, once for those below. */
#define PART(sign)                                                                                 \
    "exp(flip(logcumsumexp(flip(where(" sign "grad > 0, log(" sign "grad), -(1 / 0)) - result,"    \
    "[dim]), dim), [dim]) + self)"

const cq_gradient cq_gradients_index[] = {
    { "aten::index.Tensor", .as = "self: index_put(zeros_like(self), indices, grad, True)" },
    { "aten::index.Tensor_hacked_twin",
      .as = "self: index_put(zeros_like(self), indices, grad, True)" },
    { "aten::index_put", .fn = index_put },
    { "aten::index_put.hacked_twin", .fn = index_put },
    { "aten::_index_put_impl", .fn = index_put },
    { "aten::index_select", .as = "self: index_add(zeros_like(self), dim, index, grad)" },
    { "aten::index_fill.int_Scalar", .as = "self: index_fill(grad, dim, index, 0)" },
    { "aten::index_fill.int_Tensor", .as =
                                         "self: index_fill(grad, dim, index, 0);"
                                         "value: sum(index_select(grad, dim, _unique(index)[0]))" },
    { "aten::index_add", .as = "self: grad; source: index_select(grad, dim, index) * alpha" },
    { "aten::index_copy", .as = "self: index_fill(grad, dim, index, 0);"
                                "source: index_select(grad, dim, index)" },
    { "aten::gather", .as = "self: scatter_add(zeros_like(self), dim, index, grad)" },
    { "aten::scatter.value", .as = "self: scatter(grad, dim, index, 0)" },
    { "aten::scatter.src",
      .as = "self: scatter(grad, dim, index, 0); src: gather(grad, dim, index)" },
    { "aten::scatter_add", .as = "self: grad; src: gather(grad, dim, index)" },
    { "aten::scatter_reduce.two", .fn = scatter_reduce },
    { "aten::take", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_select", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_scatter", .kind = CQ_GRADIENT_MOVE },
    { "aten::embedding", .fn = embedding },
    { 0 },
};

const cq_gradient cq_gradients_sort[] = {
    { "aten::sort", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::sort.stable", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::topk", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::cummax", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::cummin", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::cumsum", .as = "self: flip(cumsum(flip(grad, [dim]), dim), [dim])" },
    { "aten::cumprod", .fn = cumprod },
    { "aten::logcumsumexp", .as = "self: " PART("") " - " PART("-") },
    { 0 },
};

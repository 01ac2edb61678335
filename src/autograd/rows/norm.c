/* Normalisations. With x^ = (x - mean) * rstd over some axes and d^ the gradient of x^, that of x
 * is rstd * (d^ - mean(d^) - x^ * mean(d^ * x^)); where the statistics are given, rstd * d^. */
#include "autograd/gradient.h"

typedef struct norm {
    cq_tensor *x;          /* in a shape where axes say what is normalised together */
    cq_val     axes;       /* None: the statistics are given */
    cq_tensor *mean, *var; /* then these, in a shape that fits x */
    cq_tensor *params;     /* x's own sizes, with 1 where weight and bias do not vary */
    cq_tensor *hat, *rstd;
} norm;

static cq_tensor *op2(cq_ctx *cx, const char *op, cq_tensor *a, cq_tensor *b)
{
    return CQ_OP(cx, op, TENSOR(a), TENSOR(b));
}

#define MUL(a, b) op2(cx, "aten::mul.Tensor", a, b)
#define SUB(a, b) op2(cx, "aten::sub.Tensor", a, b)

static cq_tensor *mean_of(cq_ctx *cx, const norm *n, cq_tensor *t)
{
    return CQ_OP(cx, "aten::mean.dim", TENSOR(t), n->axes, BOOL(true));
}

static cq_tensor *in_shape_of(cq_ctx *cx, cq_tensor *t, const cq_tensor *like)
{
    return t ? CQ_OP(cx, "aten::reshape", TENSOR(t), cq_sizes_of(cx, like)) : NULL;
}

static void normalise(cq_grad *g, norm *n)
{
    cq_ctx *cx = g->cx;

    if (n->axes.kind != CQ_VAL_NONE) {
        n->mean = mean_of(cx, n, n->x);
        n->hat  = SUB(n->x, n->mean);
        n->var  = mean_of(cx, n, MUL(n->hat, n->hat));
    } else {
        n->hat = SUB(n->x, n->mean);
    }
    n->rstd = CQ_OP(cx, "aten::add.Scalar", TENSOR(n->var), cq_arg_val(&g->call, "eps"));
    n->rstd = CQ_OP(cx, "aten::rsqrt", TENSOR(n->rstd));
    n->hat  = MUL(n->hat, n->rstd);
}

static cq_tensor *grad_of_x(cq_ctx *cx, const norm *n, cq_tensor *d)
{
    if (n->axes.kind != CQ_VAL_NONE) {
        cq_tensor *along = MUL(n->hat, mean_of(cx, n, MUL(d, n->hat)));

        d = SUB(SUB(d, mean_of(cx, n, d)), along);
    }
    return MUL(d, n->rstd);
}

/* The statistics may be results too: d mean = 1 / m, d rstd = -rstd^2 * x^ / m. */
static cq_tensor *add_statistics(cq_grad *g, const norm *n, cq_tensor *t)
{
    cq_ctx    *cx = g->cx;
    cq_tensor *of_mean, *of_rstd;
    double     m = (double)cq_tensor_numel(n->x) / (double)cq_tensor_numel(n->rstd);

    if (g->n_results < 3 || (!g->of_results[1] && !g->of_results[2]) || g->row->first_only)
        return t;
    of_mean = in_shape_of(cx, cq_grad_of(g, 1), n->rstd);
    of_rstd = in_shape_of(cx, cq_grad_of(g, 2), n->rstd);
    of_rstd = MUL(MUL(of_rstd, n->hat), MUL(n->rstd, n->rstd));
    of_mean = CQ_OP(cx, "aten::div.Scalar", TENSOR(SUB(of_mean, of_rstd)), FLOAT(m));
    return op2(cx, "aten::add.Tensor", t, of_mean);
}

/* n has x, axes or statistics, and params. */
static cq_status finish(cq_grad *g, norm *n)
{
    cq_ctx    *cx    = g->cx;
    cq_tensor *input = cq_grad_arg(g, "input"), *grad = cq_grad_of(g, 0), *d, *t;
    cq_tensor *weight = cq_grad_arg(g, "weight");

    /* What is left after the means are taken off may be little: float32 has too few digits. */
    n->x = CQ_OP(cx, "aten::to.dtype", TENSOR(n->x), DTYPE(CQ_DTYPE_F64));
    grad = d = CQ_OP(cx, "aten::to.dtype", TENSOR(grad), DTYPE(CQ_DTYPE_F64));
    normalise(g, n);
    CQ_TRY(cx->status);
    if (cq_grad_wants(g, "weight")) {
        t = cq_sum_to(cx, MUL(grad, in_shape_of(cx, n->hat, input)), n->params);
        CQ_TRY(cq_grad_set(g, "weight", in_shape_of(cx, t, weight)));
    }
    if (cq_grad_wants(g, "bias")) {
        t = cq_sum_to(cx, grad, n->params);
        CQ_TRY(cq_grad_set(g, "bias", in_shape_of(cx, t, cq_grad_arg(g, "bias"))));
    }
    if (!cq_grad_wants(g, "input") || cx->status != CQ_OK)
        return cx->status;
    if (weight)
        d = MUL(grad, in_shape_of(cx, weight, n->params));
    t = add_statistics(g, n, grad_of_x(cx, n, in_shape_of(cx, d, n->x)));
    return cq_grad_set(g, "input", in_shape_of(cx, t, input));
}

/* A tensor whose sizes are those of x along the axes from first to end, and 1 elsewhere. */
static cq_tensor *shape_like(cq_ctx *cx, const cq_tensor *x, size_t first, size_t end)
{
    int64_t sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < x->rank; i++)
        sizes[i] = i >= first && i < end ? x->sizes[i].value : 1;
    return CQ_OP(cx, "aten::empty.memory_format", cq_i64s(cx, sizes, x->rank), DTYPE(x->dtype));
}

enum { AS_TOLD, IN_TRAINING, OUT_OF_TRAINING }; /* variants of batch norm */

static cq_status batch_norm(cq_grad *g)
{
    cq_ctx *cx = g->cx;
    norm    n  = { .x = cq_grad_arg(g, "input") };
    int64_t axes[CQ_MAX_RANK];
    size_t  n_axes = 0;

    n.params = shape_like(cx, n.x, 1, 2);
    CQ_TRY(cx->status);
    if (g->row->variant == AS_TOLD ? cq_arg_bool(&g->call, "training")
                                   : g->row->variant == IN_TRAINING) {
        for (size_t i = 0; i < n.x->rank; i++)
            if (i != 1)
                axes[n_axes++] = (int64_t)i;
        n.axes = cq_i64s(cx, axes, n_axes);
    } else {
        n.mean = in_shape_of(cx, cq_grad_arg(g, "running_mean"), n.params);
        n.var  = in_shape_of(cx, cq_grad_arg(g, "running_var"), n.params);
    }
    return finish(g, &n);
}

static cq_status layer_norm(cq_grad *g)
{
    norm    n = { .x = cq_grad_arg(g, "input") };
    int64_t sizes[CQ_MAX_RANK], axes[CQ_MAX_RANK];
    size_t  n_axes = cq_arg_i64s(&g->call, "normalized_shape", sizes, CQ_MAX_RANK);

    for (size_t i = 0; i < n_axes; i++)
        axes[i] = (int64_t)(n.x->rank - n_axes + i);
    n.axes   = cq_i64s(g->cx, axes, n_axes);
    n.params = shape_like(g->cx, n.x, n.x->rank - n_axes, n.x->rank);
    CQ_TRY(g->cx->status);
    return finish(g, &n);
}

static cq_status group_norm(cq_grad *g)
{
    cq_ctx    *cx       = g->cx;
    cq_tensor *input    = cq_grad_arg(g, "input");
    bool       inner    = cq_schema_find(g->call.op->schema, "group") >= 0;
    int64_t    batch    = input->sizes[0].value;
    int64_t    sizes[3] = { batch, cq_arg_i64(&g->call, inner ? "group" : "num_groups"), -1 };
    norm       n        = { .axes = cq_i64s(cx, (int64_t[]){ 2 }, 1) };

    n.x      = CQ_OP(cx, "aten::reshape", TENSOR(input), cq_i64s(cx, sizes, 3));
    n.params = shape_like(cx, input, 1, 2);
    CQ_TRY(cx->status);
    return finish(g, &n);
}

const cq_gradient cq_gradients_norm[] = {
    { "aten::_scaled_dot_product_flash_attention_for_cpu", .like = cq_op_compose,
      .first_only = true },
    { "aten::batch_norm", .fn = batch_norm },
    { "aten::native_batch_norm", .fn = batch_norm, .first_only = true },
    { "aten::_native_batch_norm_legit", .fn = batch_norm, .first_only = true },
    { "aten::_native_batch_norm_legit.no_stats", .fn = batch_norm, .first_only = true },
    { "aten::_native_batch_norm_legit_functional", .fn = batch_norm, .first_only = true },
    { "aten::_batch_norm_with_update", .fn = batch_norm, .first_only = true,
      .variant = IN_TRAINING },
    { "aten::_batch_norm_with_update_functional", .fn = batch_norm, .first_only = true,
      .variant = IN_TRAINING },
    { "aten::_native_batch_norm_legit_no_training", .fn = batch_norm, .first_only = true,
      .variant = OUT_OF_TRAINING },
    { "aten::_batch_norm_no_update", .fn = batch_norm, .first_only = true,
      .variant = OUT_OF_TRAINING },
    { "aten::layer_norm", .fn = layer_norm },
    { "aten::native_layer_norm", .fn = layer_norm, .first_only = true },
    { "aten::group_norm", .fn = group_norm },
    { "aten::native_group_norm", .fn = group_norm },
    { 0 },
};

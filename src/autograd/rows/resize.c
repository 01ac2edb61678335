/* Resizing and sampling images. */
#include "aten/resize.h"
#include "autograd/gradient.h"

/* ---- upsample ---- */

/* What an axis of n pixels becomes is linear in them: the weights, [n, new size], are what the
 * kernel makes of a single pixel that is 1, once for each. */
static cq_tensor *weights_of(cq_grad *g, const cq_upsample *u, size_t axis, int64_t n,
                             int64_t n_out, cq_dtype dtype)
{
    cq_ctx    *cx  = g->cx;
    cq_tensor *one = CQ_OP(cx, "aten::eye", INT(n), DTYPE(dtype)), *out;

    one = CQ_OP(cx, "aten::unsqueeze", TENSOR(one), INT(0));
    out = CQ_OP(cx, "aten::empty.memory_format", cq_i64s(cx, (int64_t[]){ 1, n, n_out }, 3),
                DTYPE(dtype));
    if (cx->status == CQ_OK)
        cq_ctx_fail(cx, cq_kernel_upsample(out, one, u->mode, u->align_corners, &u->scales[axis]));
    return CQ_OP(cx, "aten::select.int", TENSOR(out), INT(0), INT(0));
}

static cq_status upsample(cq_grad *g)
{
    cq_ctx     *cx   = g->cx;
    cq_tensor  *self = g->call.args[0].u.tensor, *t = cq_grad_of(g, 0), *w;
    cq_upsample u;

    CQ_TRY(cq_grad_need_data(g));
    cq_upsample_read(&g->call, &u);
    for (size_t i = 2; i < self->rank && cx->status == CQ_OK; i++) {
        w = weights_of(g, &u, i - 2, self->sizes[i].value, t->sizes[i].value, t->dtype);
        t = CQ_OP(cx, "aten::transpose.int", TENSOR(t), INT((int64_t)i), INT(-1));
        t = CQ_OP(cx, "aten::matmul", TENSOR(t), TENSOR(CQ_OP(cx, "aten::t", TENSOR(w))));
        t = CQ_OP(cx, "aten::transpose.int", TENSOR(t), INT((int64_t)i), INT(-1));
    }
    return cq_grad_set(g, g->call.op->schema->args[0].name, t);
}

/* ---- grid_sampler, as the operators that it consists of ---- */

enum { MAX_AXES = 3, MAX_TAPS = 4 };

typedef struct sampler {
    cq_ctx    *cx;
    cq_tensor *pixels;       /* [batch, channels, all pixels] */
    cq_tensor *at[MAX_AXES]; /* [batch, places], in pixels */
    int64_t    size[MAX_AXES];
    size_t     n;
    int64_t    mode, padding;
    bool       align;

    /* What an axis takes: whole pixels, whether they are inside, and their weights. */
    cq_tensor *pixel[MAX_AXES][MAX_TAPS], *inside[MAX_AXES][MAX_TAPS], *weight[MAX_AXES][MAX_TAPS];
    int        n_taps;
} sampler;

#define OP1(op, a)    CQ_OP(s->cx, "aten::" op, TENSOR(a))
#define OP2(op, a, b) CQ_OP(s->cx, "aten::" op ".Tensor", TENSOR(a), TENSOR(b))
#define OPN(op, a, b) CQ_OP(s->cx, "aten::" op ".Scalar", TENSOR(a), FLOAT(b))

/* Positions in -1 … 1 become those in pixels. */
static cq_tensor *in_pixels(const sampler *s, cq_tensor *t, double size)
{
    t = OPN("add", t, 1);
    if (s->align)
        return OPN("mul", t, (size - 1) / 2);
    return OPN("div", OPN("sub", OPN("mul", t, size), 1), 2);
}

/* Back and forth between low and high, half pixels apart from the ends if corners are not meant. */
static cq_tensor *reflected(const sampler *s, cq_tensor *t, double size)
{
    double     low = s->align ? 0 : -0.5, span = s->align ? size - 1 : size;
    cq_tensor *times, *rest, *odd;

    if (span <= 0)
        return CQ_OP(s->cx, "aten::zeros_like", TENSOR(t));
    t     = OP1("abs", OPN("sub", t, low));
    times = OP1("floor", OPN("div", t, span));
    rest  = CQ_OP(s->cx, "aten::fmod.Scalar", TENSOR(t), FLOAT(span));
    odd   = CQ_OP(s->cx, "aten::remainder.Scalar", TENSOR(times), FLOAT(2));
    odd   = CQ_OP(s->cx, "aten::eq.Scalar", TENSOR(odd), FLOAT(1));
    t     = CQ_OP(s->cx, "aten::rsub.Scalar", TENSOR(rest), FLOAT(span));
    return OPN("add", CQ_OP(s->cx, "aten::where.self", TENSOR(odd), TENSOR(t), TENSOR(rest)), low);
}

/* Where a position outside of the image is taken from. */
static cq_tensor *padded(const sampler *s, cq_tensor *t, double size)
{
    if (s->padding == 2)
        t = reflected(s, t, size);
    return s->padding ? CQ_OP(s->cx, "aten::clamp", TENSOR(t), FLOAT(0), FLOAT(size - 1)) : t;
}

static void set_tap(sampler *s, size_t axis, int tap, cq_tensor *pixel, cq_tensor *weight)
{
    double     last = (double)s->size[axis] - 1;
    cq_tensor *low  = CQ_OP(s->cx, "aten::ge.Scalar", TENSOR(pixel), FLOAT(0));
    cq_tensor *high = CQ_OP(s->cx, "aten::le.Scalar", TENSOR(pixel), FLOAT(last));

    s->inside[axis][tap] = CQ_OP(s->cx, "aten::logical_and", TENSOR(low), TENSOR(high));
    s->pixel[axis][tap]  = CQ_OP(s->cx, "aten::clamp", TENSOR(pixel), FLOAT(0), FLOAT(last));
    s->weight[axis][tap] = weight;
}

/* The cubic through four pixels at x from the tap, 0 … 1 (near) or 1 … 2 (far). */
static cq_tensor *cubic(const sampler *s, cq_tensor *x, bool far)
{
    const double a = -0.75;
    cq_tensor   *t;

    if (far) {
        t = OPN("sub", OPN("mul", x, a), 5 * a);
        t = OPN("add", OP2("mul", t, x), 8 * a);
        return OPN("sub", OP2("mul", t, x), 4 * a);
    }
    t = OPN("sub", OPN("mul", x, a + 2), a + 3);
    return OPN("add", OP2("mul", OP2("mul", t, x), x), 1);
}

static void take_axis(sampler *s, size_t axis)
{
    double     size = (double)s->size[axis];
    cq_tensor *at   = in_pixels(s, s->at[axis], size), *first, *rest;

    if (s->mode != 2)
        at = padded(s, at, size);
    if (s->mode == 1) {
        at = CQ_OP(s->cx, "aten::detach", TENSOR(OP1("round", at)));
        set_tap(s, axis, 0, at, CQ_OP(s->cx, "aten::ones_like", TENSOR(at)));
        return;
    }
    first = CQ_OP(s->cx, "aten::detach", TENSOR(OP1("floor", at)));
    rest  = OP2("sub", at, first);
    if (s->mode == 0) {
        set_tap(s, axis, 0, first, CQ_OP(s->cx, "aten::rsub.Scalar", TENSOR(rest), FLOAT(1)));
        set_tap(s, axis, 1, OPN("add", first, 1), rest);
        return;
    }
    for (int i = 0; i < 4; i++) {
        cq_tensor *x = i < 2 ? OPN("add", rest, 1 - i)
                             : CQ_OP(s->cx, "aten::rsub.Scalar", TENSOR(rest), FLOAT(i - 1));

        set_tap(s, axis, i, padded(s, OPN("add", first, i - 1), size),
                cubic(s, x, i == 0 || i == 3));
    }
}

/* The pixels of one combination of taps, times their weights; nothing where one is outside. */
static cq_tensor *take(const sampler *s, const int *taps)
{
    cq_tensor *index = s->pixel[0][taps[0]], *weight = s->weight[0][taps[0]];
    cq_tensor *inside   = s->inside[0][taps[0]], *t;
    int64_t    sizes[3] = { s->pixels->sizes[0].value, s->pixels->sizes[1].value, -1 };

    for (size_t i = 1; i < s->n; i++) {
        index  = OP2("add", OPN("mul", index, (double)s->size[i]), s->pixel[i][taps[i]]);
        weight = OP2("mul", weight, s->weight[i][taps[i]]);
        inside = CQ_OP(s->cx, "aten::logical_and", TENSOR(inside), TENSOR(s->inside[i][taps[i]]));
    }
    weight = CQ_OP(s->cx, "aten::where.ScalarOther", TENSOR(inside), TENSOR(weight), FLOAT(0));
    index  = CQ_OP(s->cx, "aten::to.dtype", TENSOR(index), DTYPE(CQ_DTYPE_I64));
    index  = CQ_OP(s->cx, "aten::unsqueeze", TENSOR(index), INT(1));
    index  = CQ_OP(s->cx, "aten::expand", TENSOR(index), cq_i64s(s->cx, sizes, 3));
    t      = CQ_OP(s->cx, "aten::gather", TENSOR(s->pixels), INT(2), TENSOR(index));
    return OP2("mul", t, CQ_OP(s->cx, "aten::unsqueeze", TENSOR(weight), INT(1)));
}

static void read_grid(sampler *s, cq_tensor *input, cq_tensor *grid)
{
    int64_t sizes[3] = { input->sizes[0].value, input->sizes[1].value, -1 };

    s->pixels = CQ_OP(s->cx, "aten::reshape", TENSOR(input), cq_i64s(s->cx, sizes, 3));
    for (size_t i = 0; i < s->n; i++) {
        cq_tensor *t =
            CQ_OP(s->cx, "aten::select.int", TENSOR(grid), INT(-1), INT((int64_t)(s->n - 1 - i)));

        s->size[i] = input->sizes[i + 2].value;
        s->at[i]   = CQ_OP(s->cx, "aten::reshape", TENSOR(t),
                           cq_i64s(s->cx, (int64_t[]){ sizes[0], -1 }, 2));
    }
}

static cq_status grid_sampler(cq_opcall *c)
{
    cq_tensor *input = cq_arg_tensor(c, "input"), *grid = cq_arg_tensor(c, "grid"), *sum = NULL;
    int64_t    mode           = cq_arg_i64(c, "interpolation_mode"), sizes[CQ_MAX_RANK];
    sampler    s              = { .cx      = c->cx,
                                  .n       = input->rank - 2,
                                  .mode    = mode,
                                  .padding = cq_arg_i64(c, "padding_mode"),
                                  .align   = cq_arg_bool(c, "align_corners"),
                                  .n_taps  = mode == 0   ? 2
                                             : mode == 1 ? 1
                                                         : 4 };
    int        taps[MAX_AXES] = { 0 };
    size_t     i;

    read_grid(&s, input, grid);
    for (i = 0; i < s.n && c->cx->status == CQ_OK; i++)
        take_axis(&s, i);
    while (c->cx->status == CQ_OK) {
        cq_tensor *t = take(&s, taps);

        sum = sum ? CQ_OP(c->cx, "aten::add.Tensor", TENSOR(sum), TENSOR(t)) : t;
        for (i = 0; i < s.n && ++taps[i] == s.n_taps; i++)
            taps[i] = 0;
        if (i == s.n)
            break;
    }
    CQ_TRY(c->cx->status);
    sizes[0] = input->sizes[0].value;
    sizes[1] = input->sizes[1].value;
    for (i = 0; i < s.n; i++)
        sizes[i + 2] = grid->sizes[i + 1].value;
    cq_result_set_tensor(
        c, 0, CQ_OP(c->cx, "aten::reshape", TENSOR(sum), cq_i64s(c->cx, sizes, input->rank)));
    return c->cx->status;
}

/* Positions are those under the identity, with a 1 behind them, times theta. */
static cq_status affine_grid(cq_grad *g)
{
    cq_ctx    *cx    = g->cx;
    cq_tensor *theta = cq_grad_arg(g, "theta"), *grad = cq_grad_of(g, 0), *at[2], *base;
    int64_t    n = theta->sizes[1].value, flat[3] = { theta->sizes[0].value, -1, n };

    base = CQ_OP(cx, "aten::eye.m", INT(n), INT(n + 1), DTYPE(theta->dtype));
    base = CQ_OP(cx, "aten::expand", TENSOR(base), cq_sizes_of(cx, theta));
    base = CQ_OP(cx, "aten::affine_grid_generator", TENSOR(base), g->call.args[1], g->call.args[2]);
    at[0] = CQ_OP(cx, "aten::reshape", TENSOR(base), cq_i64s(cx, flat, 3));
    base  = CQ_OP(cx, "aten::slice.Tensor", TENSOR(at[0]), INT(2), INT(0), INT(1));
    at[1] = CQ_OP(cx, "aten::ones_like", TENSOR(base));
    base  = CQ_OP(cx, "aten::cat", cq_tensors(cx, at, 2), INT(2));
    grad  = CQ_OP(cx, "aten::reshape", TENSOR(grad), cq_i64s(cx, flat, 3));
    grad  = CQ_OP(cx, "aten::transpose.int", TENSOR(grad), INT(1), INT(2));
    return cq_grad_set(g, "theta", CQ_OP(cx, "aten::bmm", TENSOR(grad), TENSOR(base)));
}

#define UPSAMPLE(name)                                                                             \
    { "aten::" name, .fn = upsample },                                                             \
    {                                                                                              \
        "aten::" name ".vec", .fn = upsample                                                       \
    }

const cq_gradient cq_gradients_resize[] = {
    UPSAMPLE("upsample_nearest1d"),
    UPSAMPLE("upsample_nearest2d"),
    UPSAMPLE("upsample_nearest3d"),
    UPSAMPLE("_upsample_nearest_exact1d"),
    UPSAMPLE("_upsample_nearest_exact2d"),
    UPSAMPLE("_upsample_nearest_exact3d"),
    UPSAMPLE("upsample_linear1d"),
    UPSAMPLE("upsample_bilinear2d"),
    UPSAMPLE("upsample_trilinear3d"),
    UPSAMPLE("upsample_bicubic2d"),
    UPSAMPLE("_upsample_bilinear2d_aa"),
    UPSAMPLE("_upsample_bicubic2d_aa"),
    { "aten::grid_sampler", .like = grid_sampler },
    { "aten::grid_sampler_2d", .like = grid_sampler },
    { "aten::grid_sampler_3d", .like = grid_sampler },
    { "aten::affine_grid_generator", .fn = affine_grid },
    { 0 },
};

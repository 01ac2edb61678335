/* Convolutions and poolings. The gradients of a convolution are convolutions; every pooling has a
 * kernel for its gradient, and another form in a graph: the gradient of a maximum is scattered to
 * its index, that of a mean is a transposed convolution. */
#include "aten/ops/conv.h"
#include "aten/ops/pool.h"
#include "autograd/gradient.h"
#include "kernel/conv/conv.h"

/* A tensor of t's sizes and dtype with a batch axis; flat receives the form without it. */
static cq_tensor *new_like(cq_grad *g, const cq_tensor *t, size_t n, cq_tensor **flat)
{
    *flat = CQ_OP(g->cx, "aten::empty.memory_format", cq_sizes_of(g->cx, t), DTYPE(t->dtype));
    return cq_with_batch(&g->call, *flat, n);
}

/* The window's numbers, one for each axis. */
static cq_val per_axis(cq_grad *g, const cq_conv *v, const int64_t *numbers)
{
    return cq_i64s(g->cx, numbers, v->n);
}

/* t cut to the sizes of like along its last axes. */
static cq_tensor *cut(cq_grad *g, cq_tensor *t, const cq_tensor *like, size_t n)
{
    for (size_t i = like->rank - n; t && i < like->rank; i++)
        if (!cq_int_same(t->sizes[i], like->sizes[i]))
            t = CQ_OP(g->cx, "aten::slice.Tensor", TENSOR(t), INT((int64_t)i), INT(0),
                      SIZE(like->sizes[i]));
    return t;
}

/* The gradient by the input of a convolution is a transposed convolution, and vice versa. The
 * number of pixels after the last window is not known for a dynamic size: all possible ones are
 * computed, and the surplus is cut off. */
static cq_tensor *by_input(cq_grad *g, const cq_conv *v, cq_tensor *grad)
{
    size_t  lead                 = v->x->rank - v->n;
    int64_t more[CQ_MAX_SPATIAL] = { 0 };

    for (size_t i = 0; i < v->n && !v->transposed; i++) {
        cq_int size = cq_conv_transposed_size(&g->call, v, i, grad->sizes[lead + i]);
        cq_int rest = cq_size_sub(&g->call, v->x->sizes[lead + i], size);

        more[i] = rest.expr ? v->window.stride[i] - 1 : rest.value > 0 ? rest.value : 0;
    }
    grad = CQ_OP(g->cx, "aten::convolution", TENSOR(grad), TENSOR(v->w), TENSOR(NULL),
                 per_axis(g, v, v->window.stride), per_axis(g, v, v->window.padding),
                 per_axis(g, v, v->window.dilation), BOOL(!v->transposed), per_axis(g, v, more),
                 INT(v->groups));
    return cut(g, grad, v->x, v->n);
}

/* The gradient of the weight, by a kernel on the input and the gradients of its windows. */
static cq_tensor *weight_of_data(cq_grad *g, const cq_conv *v, cq_tensor *image, cq_tensor *windows)
{
    cq_tensor *flat, *out = new_like(g, v->w, v->n, &flat);

    if (g->cx->status == CQ_OK)
        cq_ctx_fail(g->cx, cq_kernel_conv_grad_weight(out, image, windows, &v->window, v->groups));
    return flat;
}

/* Regroups the first axes of t, [batch, groups * channels, …]: the axes in `first` become the first
 * axis, those in `second` the next. */
static cq_tensor *regroup(cq_grad *g, const cq_conv *v, cq_tensor *t, const int64_t *order,
                          size_t n_first)
{
    int64_t axes[CQ_MAX_RANK];
    cq_int  parts[CQ_MAX_RANK] = { t->sizes[0], cq_i(v->groups),
                                   cq_size_floordiv(&g->call, t->sizes[1], cq_i(v->groups)) };
    cq_int  sizes[CQ_MAX_RANK] = { cq_i(1), cq_i(1) };

    for (size_t i = 0; i < 3; i++) {
        size_t to = i >= n_first;

        axes[i]   = order[i];
        sizes[to] = cq_size_mul(&g->call, sizes[to], parts[order[i]]);
    }
    for (size_t i = 0; i < v->n; i++) {
        axes[i + 3]  = (int64_t)i + 3;
        parts[i + 3] = sizes[i + 2] = t->sizes[i + 2];
    }
    t = CQ_OP(g->cx, "aten::reshape", TENSOR(t), cq_ints(g->cx, parts, v->n + 3));
    t = CQ_OP(g->cx, "aten::permute", TENSOR(t), cq_i64s(g->cx, axes, v->n + 3));
    return CQ_OP(g->cx, "aten::reshape", TENSOR(t), cq_ints(g->cx, sizes, v->n + 2));
}

/* The same as a convolution: the gradients of the windows are the kernel, summed over the batch,
 * which replaces the channels; stride and dilation are swapped. */
static cq_tensor *weight_in_graph(cq_grad *g, const cq_conv *v, cq_tensor *image,
                                  cq_tensor *windows)
{
    enum { BATCH, GROUP, CHANNEL };
    int64_t    none[CQ_MAX_SPATIAL] = { 0 }, behind[2 * CQ_MAX_SPATIAL] = { 0 };
    cq_tensor *t;

    for (size_t i = 0; i < v->n; i++) /* lists of pads begin with the last axis */
        behind[2 * (v->n - 1 - i) + 1] = v->after[i] - v->window.padding[i];
    image = CQ_OP(g->cx, "aten::constant_pad_nd", TENSOR(image), cq_i64s(g->cx, behind, 2 * v->n),
                  INT(0));
    if (g->cx->status != CQ_OK)
        return NULL;
    image   = regroup(g, v, image, (int64_t[]){ CHANNEL, GROUP, BATCH }, 1);
    windows = regroup(g, v, windows, (int64_t[]){ GROUP, CHANNEL, BATCH }, 2);
    t       = CQ_OP(g->cx, "aten::convolution", TENSOR(image), TENSOR(windows), TENSOR(NULL),
                    per_axis(g, v, v->window.dilation), per_axis(g, v, v->window.padding),
                    per_axis(g, v, v->window.stride), BOOL(false), per_axis(g, v, none), INT(v->groups));
    t       = CQ_OP(g->cx, "aten::transpose.int", TENSOR(t), INT(0), INT(1));
    return cut(g, t, v->w, v->n);
}

static cq_status conv(cq_grad *g)
{
    cq_conv    v;
    cq_tensor *x, *grad;

    CQ_TRY(cq_conv_read(&g->call, &v));
    x    = cq_with_batch(&g->call, v.x, v.n);
    grad = cq_with_batch(&g->call, cq_grad_of(g, 0), v.n);
    CQ_TRY(g->cx->status);
    if (cq_grad_wants(g, "input"))
        CQ_TRY(cq_grad_set(g, "input", by_input(g, &v, cq_grad_of(g, 0))));
    if (cq_grad_wants(g, "weight"))
        CQ_TRY(cq_grad_set(g, "weight",
                           (g->call.real ? weight_of_data : weight_in_graph)(
                               g, &v, v.transposed ? grad : x, v.transposed ? x : grad)));
    if (cq_grad_wants(g, "bias")) {
        int64_t axes[CQ_MAX_RANK] = { 0 };

        for (size_t i = 0; i < v.n; i++)
            axes[i + 1] = (int64_t)i + 2;
        CQ_TRY(cq_grad_set(
            g, "bias",
            CQ_OP(g->cx, "aten::sum.dim_IntList", TENSOR(grad), cq_i64s(g->cx, axes, v.n + 1))));
    }
    return g->cx->status;
}

/* ---- pools ---- */

enum { WITH_INDICES = 1, ADAPTIVE = 2 };

/* The index of each maximum, if the call did not return it. */
static cq_status indices_of(cq_grad *g, cq_tensor *x, size_t n, cq_tensor **out)
{
    cq_tensor *again, *values, *flat, *result = cq_grad_result(g, 0);
    cq_pool    p;

    if (g->row->variant & WITH_INDICES) {
        *out = cq_with_batch(&g->call, cq_grad_result(g, 1), n);
        return g->cx->status;
    }
    CQ_TRY(cq_pool_read(&g->call, &p));
    values = new_like(g, result, n, &flat);
    again =
        CQ_OP(g->cx, "aten::empty.memory_format", cq_sizes_of(g->cx, result), DTYPE(CQ_DTYPE_I64));
    *out = cq_with_batch(&g->call, again, n);
    CQ_TRY(g->cx->status);
    return cq_kernel_max_pool(values, *out, x, &p.window);
}

static cq_status max_pool(cq_grad *g)
{
    cq_tensor *self = cq_grad_arg(g, "self"), *out, *flat, *indices = NULL, *x, *grad;
    size_t     n = cq_pool_axes(&g->call);

    x    = cq_with_batch(&g->call, self, n);
    grad = cq_with_batch(&g->call, cq_grad_of(g, 0), n);
    out  = new_like(g, self, n, &flat);
    CQ_TRY(g->cx->status);
    CQ_TRY(indices_of(g, x, n, &indices));
    CQ_TRY(cq_kernel_max_pool_grad(out, grad, indices));
    return cq_grad_set(g, "self", flat);
}

static cq_val window_of(cq_grad *g, const cq_pool *p, const int64_t *numbers)
{
    return cq_i64s(g->cx, numbers, p->n);
}

/* The inverse of the divisor of each window: a number if it is the same for all, otherwise the mean
 * of ones over their sum. */
static cq_tensor *weigh(cq_grad *g, const cq_pool *p, cq_tensor *grad)
{
    const cq_avg_pool options = cq_pool_options(&g->call);
    const char       *op      = p->n == 2 ? "aten::avg_pool2d" : "aten::avg_pool3d";
    bool              padded  = false;
    int64_t           by      = 1;
    cq_tensor        *ones, *mean, *sum;

    for (size_t i = 0; i < p->n; i++) {
        padded |= p->window.padding[i] != 0;
        by *= p->window.kernel[i];
    }
    if (options.divisor || (!p->ceil_mode && (options.count_include_pad || !padded)))
        return CQ_OP(g->cx, "aten::div.Scalar", TENSOR(grad),
                     INT(options.divisor ? options.divisor : by));
    if (p->n == 1) {
        cq_ctx_fail(g->cx, cq_grad_need_data(g));
        return NULL;
    }
    ones = CQ_OP(g->cx, "aten::ones_like", TENSOR(p->x));
    mean = CQ_OP(g->cx, op, TENSOR(ones), window_of(g, p, p->window.kernel),
                 window_of(g, p, p->window.stride), window_of(g, p, p->window.padding),
                 BOOL(p->ceil_mode), BOOL(options.count_include_pad));
    sum  = CQ_OP(g->cx, op, TENSOR(ones), window_of(g, p, p->window.kernel),
                 window_of(g, p, p->window.stride), window_of(g, p, p->window.padding),
                 BOOL(p->ceil_mode), BOOL(options.count_include_pad), INT(1));
    grad = CQ_OP(g->cx, "aten::mul.Tensor", TENSOR(grad), TENSOR(mean));
    return CQ_OP(g->cx, "aten::div.Tensor", TENSOR(grad), TENSOR(sum));
}

/* Merges all leading axes into a batch of feature maps with one channel. */
static cq_tensor *one_channel(cq_grad *g, cq_tensor *t, size_t n)
{
    if (t && t->rank > n + 1)
        t = CQ_OP(g->cx, "aten::flatten.using_ints", TENSOR(t), INT(0),
                  INT((int64_t)(t->rank - n) - 1));
    return CQ_OP(g->cx, "aten::unsqueeze", TENSOR(t), INT(1));
}

static cq_status avg_pool_in_graph(cq_grad *g)
{
    int64_t    sizes[CQ_MAX_SPATIAL + 2] = { 1, 1 };
    cq_tensor *self                      = cq_grad_arg(g, "self"), *t;
    cq_conv    v                         = { .groups = 1 };
    cq_pool    p;

    CQ_TRY(cq_pool_read(&g->call, &p));
    for (size_t i = 0; i < p.n; i++) {
        sizes[i + 2] = p.window.kernel[i];
        v.after[i]   = p.window.padding[i];
    }
    v.n      = p.n;
    v.window = p.window;
    v.x      = one_channel(g, self, p.n);
    v.w      = CQ_OP(g->cx, "aten::ones", cq_i64s(g->cx, sizes, p.n + 2), DTYPE(self->dtype));
    t        = one_channel(g, weigh(g, &p, cq_grad_of(g, 0)), p.n);
    CQ_TRY(g->cx->status);
    t = by_input(g, &v, t);
    return cq_grad_set(g, "self",
                       CQ_OP(g->cx, "aten::reshape", TENSOR(t), cq_sizes_of(g->cx, self)));
}

static cq_status avg_pool(cq_grad *g)
{
    cq_tensor  *self = cq_grad_arg(g, "self"), *out, *flat, *grad;
    size_t      n    = cq_pool_axes(&g->call);
    cq_avg_pool options;
    cq_pool     p;

    if (!g->call.real)
        return avg_pool_in_graph(g);
    grad = cq_with_batch(&g->call, cq_grad_of(g, 0), n);
    out  = new_like(g, self, n, &flat);
    CQ_TRY(g->cx->status);
    if (g->row->variant & ADAPTIVE) {
        CQ_TRY(cq_kernel_adaptive_avg_pool_grad(out, grad));
    } else {
        CQ_TRY(cq_pool_read(&g->call, &p));
        options = cq_pool_options(&g->call);
        CQ_TRY(cq_kernel_avg_pool_grad(out, grad, &p.window, &options));
    }
    return cq_grad_set(g, "self", flat);
}

const cq_gradient cq_gradients_conv[] = {
    { "aten::conv1d", .fn = conv },
    { "aten::conv1d.padding", .fn = conv },
    { "aten::conv2d", .fn = conv },
    { "aten::conv2d.padding", .fn = conv },
    { "aten::conv3d", .fn = conv },
    { "aten::conv3d.padding", .fn = conv },
    { "aten::conv_transpose1d", .fn = conv },
    { "aten::conv_transpose2d.input", .fn = conv },
    { "aten::conv_transpose3d.input", .fn = conv },
    { "aten::convolution", .fn = conv },
    { "aten::_convolution.deprecated", .fn = conv },
    { "aten::_convolution", .fn = conv },
    { "aten::_convolution_mode", .fn = conv },
    { 0 },
};

const cq_gradient cq_gradients_pool[] = {
    { "aten::max_pool1d", .fn = max_pool },
    { "aten::max_pool2d", .fn = max_pool },
    { "aten::max_pool3d", .fn = max_pool },
    { "aten::max_pool1d_with_indices", .fn = max_pool, .variant = WITH_INDICES },
    { "aten::max_pool2d_with_indices", .fn = max_pool, .variant = WITH_INDICES },
    { "aten::max_pool3d_with_indices", .fn = max_pool, .variant = WITH_INDICES },
    { "aten::adaptive_max_pool1d", .fn = max_pool, .variant = WITH_INDICES },
    { "aten::adaptive_max_pool2d", .fn = max_pool, .variant = WITH_INDICES },
    { "aten::adaptive_max_pool3d", .fn = max_pool, .variant = WITH_INDICES },
    { "aten::avg_pool1d", .fn = avg_pool },
    { "aten::avg_pool2d", .fn = avg_pool },
    { "aten::avg_pool3d", .fn = avg_pool },
    { "aten::adaptive_avg_pool1d", .fn = avg_pool, .variant = ADAPTIVE },
    { "aten::adaptive_avg_pool2d", .fn = avg_pool, .variant = ADAPTIVE },
    { "aten::adaptive_avg_pool3d", .fn = avg_pool, .variant = ADAPTIVE },
    { "aten::_adaptive_avg_pool2d", .fn = avg_pool, .variant = ADAPTIVE },
    { "aten::_adaptive_avg_pool3d", .fn = avg_pool, .variant = ADAPTIVE },
    { "aten::max_unpool2d", .kind = CQ_GRADIENT_MOVE },
    { "aten::max_unpool3d", .kind = CQ_GRADIENT_MOVE },
    { 0 },
};

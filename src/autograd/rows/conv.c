/* Convolutions and pools. Their gradients are kernels: a convolution's by its input is a transposed
 * one and the other way round, and every pool has its own. */
#include "aten/conv.h"
#include "aten/pool.h"
#include "autograd/gradient.h"
#include "kernel/conv.h"

/* A tensor of t's sizes and dtype, with a batch axis, and in flat as it is without. */
static cq_tensor *new_like(cq_grad *g, const cq_tensor *t, size_t n, cq_tensor **flat)
{
    *flat = CQ_OP(g->cx, "aten::empty.memory_format", cq_sizes_of(g->cx, t), DTYPE(t->dtype));
    return cq_with_batch(&g->call, *flat, n);
}

static cq_status conv(cq_grad *g)
{
    cq_conv    v;
    cq_tensor *x, *grad, *out, *flat;
    cq_status  status = CQ_OK;

    CQ_TRY(cq_grad_need_data(g));
    CQ_TRY(cq_conv_read(&g->call, &v));
    x    = cq_with_batch(&g->call, v.x, v.n);
    grad = cq_with_batch(&g->call, cq_grad_of(g, 0), v.n);
    CQ_TRY(g->cx->status);
    if (cq_grad_wants(g, "input")) {
        out = new_like(g, v.x, v.n, &flat);
        CQ_TRY(g->cx->status);
        CQ_TRY((v.transposed ? cq_kernel_conv : cq_kernel_conv_transpose)(out, grad, v.w, NULL,
                                                                          &v.window, v.groups));
        CQ_TRY(cq_grad_set(g, "input", flat));
    }
    if (cq_grad_wants(g, "weight")) {
        out = new_like(g, v.w, v.n, &flat);
        CQ_TRY(g->cx->status);
        CQ_TRY(cq_kernel_conv_grad_weight(out, v.transposed ? grad : x, v.transposed ? x : grad,
                                          &v.window, v.groups));
        CQ_TRY(cq_grad_set(g, "weight", flat));
    }
    if (cq_grad_wants(g, "bias")) {
        int64_t axes[CQ_MAX_RANK] = { 0 };

        for (size_t i = 0; i < v.n; i++)
            axes[i + 1] = (int64_t)i + 2;
        status = cq_grad_set(
            g, "bias",
            CQ_OP(g->cx, "aten::sum.dim_IntList", TENSOR(grad), cq_i64s(g->cx, axes, v.n + 1)));
    }
    return status;
}

/* ---- pools ---- */

enum { WITH_INDICES = 1, ADAPTIVE = 2 };

/* Where each maximum was found, if the call did not say. */
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

    CQ_TRY(cq_grad_need_data(g));
    x    = cq_with_batch(&g->call, self, n);
    grad = cq_with_batch(&g->call, cq_grad_of(g, 0), n);
    out  = new_like(g, self, n, &flat);
    CQ_TRY(g->cx->status);
    CQ_TRY(indices_of(g, x, n, &indices));
    CQ_TRY(cq_kernel_max_pool_grad(out, grad, indices));
    return cq_grad_set(g, "self", flat);
}

static cq_status avg_pool(cq_grad *g)
{
    cq_tensor  *self = cq_grad_arg(g, "self"), *out, *flat, *grad;
    size_t      n    = cq_pool_axes(&g->call);
    cq_avg_pool options;
    cq_pool     p;

    CQ_TRY(cq_grad_need_data(g));
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
    { "aten::im2col",
      .as = "self: col2im(grad, self.shape[-2:], kernel_size, dilation, padding, stride)" },
    { "aten::col2im", .as = "self: im2col(grad, kernel_size, dilation, padding, stride)" },
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

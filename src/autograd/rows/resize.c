/* Resizing and sampling images. */
#include "aten/ops/resize.h"
#include "autograd/gradient.h"

/* Resizing an axis of n pixels is linear: the weights, [n, new size], are the kernel's results for
 * unit vectors. */
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
    { 0 },
};

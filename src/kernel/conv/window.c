/* Windows: sizes, bounds and walking. No element is touched here. */
#include "kernel/conv/window.h"

#include "kernel/operand.h"

static int64_t or_1(int64_t n)
{
    return n ? n : 1;
}

cq_status cq_slide_init(cq_slide *s, const cq_window *w, const cq_tensor *in, const cq_tensor *out,
                        const cq_tensor *kernel)
{
    int64_t step = 1;

    if (in->rank < 3 || in->rank > 2 + CQ_MAX_SPATIAL || out->rank != in->rank ||
        (kernel && kernel->rank != in->rank))
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "expected feature maps of rank 3 to %d, got %u and %u", 2 + CQ_MAX_SPATIAL,
                       in->rank, out->rank);
    s->n_dims   = (int)in->rank - 2;
    s->in_plane = s->out_plane = s->taps = 1;
    for (int i = s->n_dims; i-- > 0;) {
        s->in[i]       = cq_size_of(in, (size_t)i + 2);
        s->out[i]      = cq_size_of(out, (size_t)i + 2);
        s->kernel[i]   = kernel ? cq_size_of(kernel, (size_t)i + 2) : or_1(w->kernel[i]);
        s->stride[i]   = or_1(w->stride[i]);
        s->dilation[i] = or_1(w->dilation[i]);
        s->padding[i]  = w->padding[i];
        s->in_step[i]  = step;
        step *= s->in[i];
        s->out_plane *= s->out[i];
        s->taps *= s->kernel[i];
        if (s->stride[i] < 1 || s->dilation[i] < 1 || s->kernel[i] < 0 ||
            s->stride[i] > CQ_WINDOW_MAX || s->dilation[i] > CQ_WINDOW_MAX ||
            s->padding[i] > CQ_WINDOW_MAX || s->padding[i] < -CQ_WINDOW_MAX)
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                           "kernel %lld, stride %lld and dilation %lld must be positive, and with "
                           "padding %lld at most %d",
                           (long long)s->kernel[i], (long long)s->stride[i],
                           (long long)s->dilation[i], (long long)s->padding[i], CQ_WINDOW_MAX);
    }
    s->in_plane = step;
    return CQ_OK;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t cq_window_positions(int64_t in, int64_t kernel, int64_t stride, int64_t padding_before,
                            int64_t padding_after, int64_t dilation, bool ceil_mode)
{
    int64_t room = in + padding_before + padding_after - dilation * (kernel - 1) - 1;
    int64_t n    = floor_div(room + (ceil_mode ? stride - 1 : 0), stride) + 1;

    /* The last window must begin inside the image or its padding in front. */
    if (ceil_mode && (n - 1) * stride >= in + padding_before)
        n--;
    return n;
}

void cq_slide_inside(const cq_slide *s, int axis, int64_t offset, int64_t *lo, int64_t *hi)
{
    int64_t shift = offset - s->padding[axis], stride = s->stride[axis];

    *lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    *hi = floor_div(s->in[axis] - shift - 1, stride) + 1;
    if (*hi > s->out[axis])
        *hi = s->out[axis];
    if (*lo > s->out[axis])
        *lo = s->out[axis];
    if (*hi < *lo)
        *hi = *lo;
}

void cq_grid_at(int64_t *at, int n_dims, const int64_t *sizes, int64_t index)
{
    for (int i = n_dims; i-- > 0;) {
        at[i] = index % sizes[i];
        index /= sizes[i];
    }
}

bool cq_grid_next(int64_t *at, int n_dims, const int64_t *sizes)
{
    for (int i = n_dims; i-- > 0;) {
        if (++at[i] < sizes[i])
            return true;
        at[i] = 0;
    }
    return false;
}

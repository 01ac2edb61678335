/* Windows on images, and images with and without a batch axis. */
#include "aten/ops/image.h"

cq_int cq_positions(cq_opcall *c, cq_int in, cq_int kernel, int64_t stride, int64_t before,
                    int64_t after, int64_t dilation, bool ceil_mode)
{
    cq_symbols *symbols = c->cx->symbols;
    cq_int      reach =
        cq_size_add(c, cq_size_mul(c, cq_i(dilation), cq_size_sub(c, kernel, cq_i(1))), cq_i(1));
    cq_int room = cq_size_sub(c, cq_size_add(c, in, cq_i(before + after)), reach);
    cq_int positions;

    if (ceil_mode)
        room = cq_size_add(c, room, cq_i(stride - 1));
    positions = cq_size_add(c, cq_size_floordiv(c, room, cq_i(stride)), cq_i(1));
    if (ceil_mode) {
        /* The last window start p * stride must be less than in + before. */
        cq_int last = cq_size_floordiv(c, cq_size_add(c, in, cq_i(before - 1)), cq_i(stride));

        positions = cq_int_min(symbols, positions, cq_size_add(c, last, cq_i(1)));
    }
    if (positions.value < 1)
        cq_ctx_fail(c->cx, cq_call_fail(c, CQ_E_TYPE,
                                        "a window of %lld exceeds the size %lld with padding %lld",
                                        (long long)reach.value, (long long)in.value,
                                        (long long)(before + after)));
    return positions;
}

cq_status cq_need_image(const cq_opcall *c, const cq_tensor *x, size_t n)
{
    if (x->rank == n + 2 || x->rank == n + 1)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE,
                        "expected an input of %zu dimensions, or %zu with a batch, got %u", n + 1,
                        n + 2, x->rank);
}

cq_tensor *cq_with_batch(cq_opcall *c, cq_tensor *x, size_t n)
{
    cq_int     sizes[CQ_MAX_RANK];
    int64_t    strides[CQ_MAX_RANK];
    cq_tensor *view = NULL;
    cq_status  status;

    if (!x || x->rank == n + 2)
        return x;
    sizes[0]   = cq_i(1);
    strides[0] = 0;
    memcpy(sizes + 1, x->sizes, x->rank * sizeof *sizes);
    memcpy(strides + 1, x->strides, x->rank * sizeof *strides);
    status = cq_tensor_new_view(&view, x, x->dtype, x->rank + 1, sizes, strides, x->offset);
    if (status != CQ_OK) {
        cq_ctx_fail(c->cx, status);
        return NULL;
    }
    return cq_ctx_own_tensor(c->cx, view);
}

void cq_arg_window(const cq_opcall *c, const char *name, int64_t *out, size_t n, int64_t least,
                   const int64_t *otherwise)
{
    cq_arg_i64_n(c, name, out, n, otherwise);
    for (size_t i = 0; i < n; i++)
        if (out[i] < least || out[i] > CQ_WINDOW_MAX) {
            cq_ctx_fail(c->cx,
                        cq_call_fail(c, CQ_E_ARGUMENT, "expected \"%s\" from %lld to %d, got %lld",
                                     name, (long long)least, CQ_WINDOW_MAX, (long long)out[i]));
            out[i] = least; /* values computed before the check must not overflow */
        }
}

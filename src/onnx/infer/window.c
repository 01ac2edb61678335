/* Reads the attributes of sliding windows and counts their positions. */
#include "onnx/infer/window.h"

/* Reads an attribute of n numbers; the default is n times the same number. */
static cq_status read_ints(int64_t *out, const cq_rule *r, const char *name, size_t n,
                           int64_t otherwise)
{
    const cq_onnx_ints *ints = cq_rule_ints(r, name);

    if (ints && ints->n != n && ints->n != 0)
        return cq_rule_fail(r, "%s has %u numbers instead of %zu", name, ints->n, n);
    for (size_t i = 0; i < n; i++) {
        out[i] = ints && ints->n ? ints->items[i] : otherwise;
        if (out[i] < 0 ? otherwise != 0 : out[i] == 0 && otherwise == 1)
            return cq_rule_fail(r, "%s has the number %lld", name, (long long)out[i]);
        if (out[i] > INT32_MAX || out[i] < -INT32_MAX)
            return cq_rule_fail(r, "%s has the number %lld", name, (long long)out[i]);
    }
    return CQ_OK;
}

static cq_status read_kernel(cq_infer_window *w, const cq_rule *r, size_t n, const cq_itype *weight)
{
    int64_t kernel[CQ_WINDOW_MAX_AXES];

    if (cq_rule_ints(r, "kernel_shape")) {
        CQ_TRY(read_ints(kernel, r, "kernel_shape", n, 1));
        for (size_t i = 0; i < n; i++)
            w->kernel[i] = cq_dim_of(kernel[i]);
        return CQ_OK;
    }
    for (size_t i = 0; i < n; i++)
        w->kernel[i] =
            weight && weight->rank >= n ? weight->dims[weight->rank - n + i] : cq_dim_unknown();
    return CQ_OK;
}

cq_status cq_window_read(cq_infer_window *w, const cq_rule *r, size_t n, const cq_itype *weight)
{
    int64_t pads[2 * CQ_WINDOW_MAX_AXES];

    if (n > CQ_WINDOW_MAX_AXES)
        return cq_rule_fail(r, "%zu spatial axes are more than %d", n, CQ_WINDOW_MAX_AXES);
    w->n = n;
    CQ_TRY(read_kernel(w, r, n, weight));
    CQ_TRY(read_ints(w->stride, r, "strides", n, 1));
    CQ_TRY(read_ints(w->dilation, r, "dilations", n, 1));
    CQ_TRY(read_ints(pads, r, "pads", 2 * n, 0));
    w->is_same = cq_rule_text_is(r, "auto_pad", "SAME_UPPER") ||
                 cq_rule_text_is(r, "auto_pad", "SAME_LOWER");
    w->is_ceil = cq_rule_int(r, "ceil_mode", 0) != 0;
    for (size_t i = 0; i < n; i++) {
        bool none = cq_rule_text_is(r, "auto_pad", "VALID");

        w->before[i] = none ? 0 : pads[i];
        w->after[i]  = none ? 0 : pads[n + i];
    }
    return CQ_OK;
}

cq_dim cq_window_count(const cq_rule *r, const cq_infer_window *w, size_t i, cq_dim size)
{
    cq_dim reach, room, stride = cq_dim_of(w->stride[i]), n;

    if (w->is_same)
        return cq_dim_ceildiv(r, size, w->stride[i]);
    /* The extent of a kernel: (kernel - 1) * dilation + 1. */
    reach = cq_dim_mul(r, cq_dim_sub(r, w->kernel[i], cq_dim_of(1)), cq_dim_of(w->dilation[i]));
    room  = cq_dim_add(r, size, cq_dim_of(w->before[i] + w->after[i] - 1));
    room  = cq_dim_sub(r, room, reach);
    n     = w->is_ceil ? cq_dim_ceildiv(r, room, w->stride[i]) : cq_dim_floordiv(r, room, stride);
    n     = cq_dim_add(r, n, cq_dim_of(1));
    /* A window that would begin in the padding at the end is omitted. */
    if (w->is_ceil && cq_dim_is_plain(n) && cq_dim_is_plain(size) &&
        (n.size.value - 1) * w->stride[i] >= size.size.value + w->before[i])
        n.size.value--;
    if (w->is_ceil && !cq_dim_is_plain(n) && w->after[i] > 0 && w->stride[i] > 1)
        return cq_dim_unknown(); /* this depends on the size */
    return n;
}

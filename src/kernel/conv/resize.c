/* Resizing axis by axis, the last one first. Tables are filled in the precision that PyTorch
 * computes source positions in, float for float images: with float scales some positions round to
 * another integer than with exact scales. */
#include "kernel/conv/resize.h"

#include "base/thread.h"
#include "kernel/operand.h"

#include <math.h>

#define T        float
#define FN(name) name##_f32
#include "kernel/resize_type.inc"

#define T        double
#define FN(name) name##_f64
#include "kernel/resize_type.inc"

cq_status cq_resize_axis_init(cq_resize_axis *a, int64_t n_out, int64_t n_taps, bool is_copy)
{
    int64_t n;

    *a = (cq_resize_axis){ .n_out = n_out, .n_taps = n_taps };
    if (__builtin_mul_overflow(n_out, n_taps, &n))
        return cq_no_memory();
    a->index = cq_alloc_array((size_t)n, sizeof *a->index);
    if (a->index && !is_copy)
        a->weight = cq_alloc_array((size_t)n, sizeof *a->weight);
    if (a->index && (is_copy || a->weight))
        return CQ_OK;
    cq_resize_axis_clear(a);
    return CQ_E_NO_MEMORY;
}

void cq_resize_axis_clear(cq_resize_axis *a)
{
    cq_free(a->index);
    cq_free(a->weight);
    *a = (cq_resize_axis){ 0 };
}

/* --- passes --------------------------------------------------------------------------- */

struct resize_pass {
    const cq_resize_axis *axis;
    const char           *x;
    char                 *out;
    int64_t               n, inner, size; /* size: bytes of an element */
    void (*weigh)(void *out, const void *x, const cq_resize_axis *a, int64_t n, int64_t inner,
                  int64_t o);
};

static cq_status pass_block(void *user, int64_t o)
{
    const struct resize_pass *p     = user;
    int64_t                   bytes = p->inner * p->size;

    if (p->weigh)
        p->weigh(p->out, p->x, p->axis, p->n, p->inner, o);
    else
        for (int64_t i = 0; i < p->axis->n_out; i++)
            memcpy(p->out + (o * p->axis->n_out + i) * bytes,
                   p->x + (o * p->n + p->axis->index[i]) * bytes, (size_t)bytes);
    return CQ_OK;
}

static cq_status check_axes(const cq_tensor *out, const cq_tensor *x, const cq_resize_axis *axes,
                            bool *is_copy)
{
    *is_copy = true;
    for (size_t i = 0; i < x->rank; i++) {
        const cq_resize_axis *a = &axes[i];
        int64_t               n = a->n_taps ? a->n_out : cq_size_of(x, i);

        if (n != cq_size_of(out, i))
            return cq_fail(CQ_E_TYPE, "resize", NULL,
                           "axis %zu of the result has %lld elements, expected %lld", i,
                           (long long)cq_size_of(out, i), (long long)n);
        for (int64_t j = 0; j < a->n_out * a->n_taps; j++)
            if (a->index[j] < 0 || a->index[j] >= cq_size_of(x, i))
                return cq_fail(CQ_E_ARGUMENT, "resize", NULL,
                               "position %lld is out of range for axis %zu with %lld elements",
                               (long long)a->index[j], i, (long long)cq_size_of(x, i));
        *is_copy = *is_copy && !a->weight;
    }
    return CQ_OK;
}

/* One axis of an image [outer, n, inner] of which later axes have their new size already. */
static cq_status run_axis(char *out, const char *x, const cq_tensor *old, const cq_tensor *shape,
                          const cq_resize_axis *a, size_t axis, cq_dtype dtype)
{
    struct resize_pass p = { .axis  = a,
                             .x     = x,
                             .out   = out,
                             .n     = cq_size_of(old, axis),
                             .inner = cq_sizes_product(shape, axis + 1, shape->rank),
                             .size  = (int64_t)cq_dtype_size(dtype) };

    if (a->weight && dtype == CQ_DTYPE_F64)
        p.weigh = p.inner == 1 ? weigh_elements_f64 : weigh_rows_f64;
    else if (a->weight)
        p.weigh = p.inner == 1 ? weigh_elements_f32 : weigh_rows_f32;
    return cq_parallel_for(cq_sizes_product(old, 0, axis), pass_block, &p);
}

/* Passes alternate between buffers; the last one writes to out. */
static cq_status run_axes(char *out, const char *x, const cq_tensor *old, const cq_tensor *shape,
                          const cq_resize_axis *axes, cq_dtype dtype)
{
    size_t    size = cq_dtype_size(dtype), left = 0;
    char     *buffer = NULL;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < old->rank; i++)
        left += axes[i].n_taps != 0;
    if (left == 0)
        memcpy(out, x, (size_t)cq_tensor_numel(old) * size);
    for (size_t i = old->rank; i-- > 0 && left > 0 && status == CQ_OK;) {
        int64_t n = cq_sizes_product(old, 0, i) * cq_sizes_product(shape, i, shape->rank);
        char   *to;

        if (axes[i].n_taps == 0)
            continue;
        to     = --left == 0 ? out : cq_alloc_aligned((size_t)n * size);
        status = to ? run_axis(to, x, old, shape, &axes[i], i, dtype) : CQ_E_NO_MEMORY;
        cq_free_aligned(buffer);
        buffer = left ? to : NULL;
        x      = to;
    }
    cq_free_aligned(buffer);
    return status;
}

cq_status cq_kernel_resize(cq_tensor *out, const cq_tensor *x, const cq_resize_axis *axes)
{
    cq_operands s = { 0 };
    const char *px;
    char       *po;
    bool        is_copy;

    CQ_TRY(check_axes(out, x, axes, &is_copy));
    s.compute = is_copy ? x->dtype : x->dtype == CQ_DTYPE_F64 ? CQ_DTYPE_F64 : CQ_DTYPE_F32;
    px        = cq_operands_in(&s, x);
    po        = cq_operands_out(&s, out);
    if (s.status == CQ_OK && cq_tensor_numel(out) > 0)
        s.status = run_axes(po, px, x, out, axes, s.compute);
    return cq_operands_close(&s);
}

/* --- PyTorch's tables ------------------------------------------------------------------ */

struct axis_spec {
    int64_t        in, out;
    cq_resize_mode mode;
    bool           align_corners, is_double;
    double         scale; /* the user's, or 0 */
};

/* Rounds as the precision of positions does. */
static double narrow(const struct axis_spec *s, double v)
{
    return s->is_double ? v : (double)(float)v;
}

static double step_of(const struct axis_spec *s)
{
    if (s->align_corners)
        return s->out > 1 ? narrow(s, (double)(s->in - 1) / (double)(s->out - 1)) : 0;
    if (s->scale > 0)
        return narrow(s, 1 / s->scale);
    return narrow(s, (double)s->in / (double)s->out);
}

/* The position on the old axis of index i of the new one. */
static double position(const struct axis_spec *s, int64_t i)
{
    double step = step_of(s);

    if (s->align_corners)
        return narrow(s, step * (double)i);
    return narrow(s, narrow(s, step * narrow(s, (double)i + 0.5)) - 0.5);
}

static int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static cq_status fill_nearest(cq_resize_axis *a, const struct axis_spec *s)
{
    double step = step_of(s);

    CQ_TRY(cq_resize_axis_init(a, s->out, 1, true));
    for (int64_t i = 0; i < s->out; i++) {
        double at = s->mode == CQ_RESIZE_NEAREST ? narrow(s, step * (double)i)
                                                 : narrow(s, fmax(position(s, i), 0) + 0.5);

        a->index[i] = clamp((int64_t)floorf((float)at), s->in);
    }
    return CQ_OK;
}

static cq_status fill_linear(cq_resize_axis *a, const struct axis_spec *s)
{
    CQ_TRY(cq_resize_axis_init(a, s->out, 2, false));
    for (int64_t i = 0; i < s->out; i++) {
        double  at    = s->in == s->out ? (double)i : fmax(position(s, i), 0);
        int64_t first = clamp((int64_t)at, s->in);
        double  rest  = fmin(fmax(narrow(s, at - (double)first), 0), 1);

        a->index[2 * i]      = first;
        a->index[2 * i + 1]  = clamp(first + 1, s->in);
        a->weight[2 * i]     = narrow(s, 1 - rest);
        a->weight[2 * i + 1] = rest;
    }
    return CQ_OK;
}

/* The cubic convolution kernel at distance x. */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static cq_status fill_cubic(cq_resize_axis *a, const struct axis_spec *s)
{
    CQ_TRY(cq_resize_axis_init(a, s->out, 4, false));
    for (int64_t i = 0; i < s->out; i++) {
        double  at    = position(s, i);
        int64_t first = (int64_t)floor(at);
        double  rest  = narrow(s, at - (double)first);

        for (int t = 0; t < 4; t++) {
            a->index[4 * i + t]  = clamp(first + t - 1, s->in);
            a->weight[4 * i + t] = cubic(rest + 1 - t, -0.75);
        }
    }
    return CQ_OK;
}

/* When shrinking by step, the filter is wider by the same factor, so no old pixel is skipped. Its
 * cubic differs from the one above, as in PyTorch. */
static cq_status fill_antialias(cq_resize_axis *a, const struct axis_spec *s)
{
    double  step = step_of(s), wide = step > 1 ? step : 1;
    bool    is_cubic = s->mode == CQ_RESIZE_CUBIC_ANTIALIAS;
    double  reach    = (is_cubic ? 2 : 1) * wide;
    int64_t taps     = (int64_t)ceil(reach) * 2 + 1;

    taps = taps > s->in ? s->in : taps;
    CQ_TRY(cq_resize_axis_init(a, s->out, taps, false));
    for (int64_t i = 0; i < s->out; i++) {
        double  center = step * ((double)i + 0.5), sum = 0;
        int64_t from = (int64_t)fmax(center - reach + 0.5, 0);
        int64_t to   = (int64_t)fmin(center + reach + 0.5, (double)s->in);

        for (int64_t t = 0; t < taps; t++) {
            double x = ((double)(from + t) - center + 0.5) / wide, *w = &a->weight[i * taps + t];

            *w = is_cubic ? cubic(x, -0.5) : fmax(1 - fabs(x), 0);
            *w = from + t < to ? *w : 0;
            sum += *w;
            a->index[i * taps + t] = clamp(from + t, s->in);
        }
        for (int64_t t = 0; t < taps && sum != 0; t++)
            a->weight[i * taps + t] /= sum;
    }
    return CQ_OK;
}

cq_status cq_kernel_upsample(cq_tensor *out, const cq_tensor *x, cq_resize_mode mode,
                             bool align_corners, const double *scales)
{
    static cq_status (*const fill[])(cq_resize_axis *, const struct axis_spec *) = {
        fill_nearest, fill_nearest, fill_linear, fill_cubic, fill_antialias, fill_antialias,
    };
    cq_resize_axis axes[CQ_MAX_RANK] = { { 0 } };
    cq_status      status            = CQ_OK;

    if (cq_tensor_numel(out) == 0)
        return CQ_OK;
    for (size_t i = 2; i < x->rank && status == CQ_OK; i++) {
        struct axis_spec s = { cq_size_of(x, i),
                               cq_size_of(out, i),
                               mode,
                               align_corners && mode != CQ_RESIZE_NEAREST &&
                                   mode != CQ_RESIZE_NEAREST_EXACT,
                               x->dtype == CQ_DTYPE_F64,
                               scales ? scales[i - 2] : 0 };

        if (s.in == 0)
            status = cq_fail(CQ_E_ARGUMENT, "upsample", NULL, "axis %zu of the image is empty", i);
        else
            status = fill[mode](&axes[i], &s);
    }
    if (status == CQ_OK)
        status = cq_kernel_resize(out, x, axes);
    for (size_t i = 2; i < x->rank; i++)
        cq_resize_axis_clear(&axes[i]);
    return status;
}

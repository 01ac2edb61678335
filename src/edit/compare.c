/* Differences of two results. Tolerances are relative to each number, with a floor relative to the
 * largest number of the tensor, because cancellation keeps the rounding errors of the summands. */
#include "edit/proof.h"

#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 16 };

#define FEW         1e-4 /* share of float elements that may be off … */
#define FEW_LARGEST 1e-3 /* … by no more than this, of the largest number */
#define LOSSY_SHARE 0.05 /* share of indices that may differ after a change that rounds */
#define LOSSY_FEW   0.01 /* share of float elements that such a change may put off … */
#define LOSSY_MORE  3    /* … by this many times the tolerance: the tail of many roundings */
#define STEP        0.02 /* of the largest number: a step of 8 bits */
#define STEP_SHARE  0.25 /* share of elements that may be a step off in a quantized model */
#define STEPS       0.1  /* relative error of a quantized model: steps add up in many layers */

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_shape(const cq_tensor *a, const cq_tensor *b)
{
    bool same = cq_tensor_rank(a) == cq_tensor_rank(b);

    for (size_t i = 0; same && i < cq_tensor_rank(a); i++)
        same = cq_tensor_size(a, i) == cq_tensor_size(b, i);
    return same;
}

static double largest_of(const cq_tensor *t)
{
    double largest = 0;

    for (int64_t i = 0; i < cq_tensor_numel(t); i++) {
        const double f = fabs(cq_tensor_get_f64(t, i));

        largest = isfinite(f) && f > largest ? f : largest;
    }
    return largest;
}

/* A rounding error of the element type is not a difference. */
static double epsilon_of(cq_dtype d)
{
    return d == CQ_DTYPE_F16 ? 0x1p-9 : d == CQ_DTYPE_BF16 ? 0x1p-6 : 0;
}

typedef struct counts {
    int64_t n_off;
    double  largest_off;
    double  squares_off, squares; /* sums of squared differences and wanted numbers */
} counts;

static bool is_accepted(const counts *c, int64_t n, double scale, bool is_float,
                        const cq_tolerance *t)
{
    const double share = n ? (double)c->n_off / (double)n : 0;

    if (!c->n_off)
        return true;
    if (!is_float)
        return t->is_lossy ? share <= LOSSY_SHARE || c->n_off <= 1
                           : t->is_quantized && share <= STEP_SHARE && c->largest_off <= 1;
    if (n >= 100 && c->largest_off <= FEW_LARGEST * scale &&
        (double)c->n_off <= fmax(1, FEW * (double)n))
        return true;
    if (t->is_lossy && share <= LOSSY_FEW && c->largest_off <= LOSSY_MORE * t->atol * scale)
        return true;
    return t->is_quantized && ((share <= STEP_SHARE && c->largest_off <= STEP * scale) ||
                               c->squares_off <= STEPS * STEPS * c->squares);
}

static void compare_tensors(cq_difference *out, const cq_tensor *got, const cq_tensor *want,
                            const cq_tolerance *t)
{
    const cq_dtype d = cq_tensor_dtype(got), e = cq_tensor_dtype(want);
    const bool     is_float = cq_dtype_is_float(e);
    const double   eps      = fmax(epsilon_of(d), epsilon_of(e));
    const double   scale    = is_float ? largest_of(want) : 0;
    const double   rtol     = is_float ? fmax(t->rtol, eps) : 0;
    const double   floor    = is_float ? fmax(1e-7, fmax(t->atol, eps / 4) * scale) : 0;
    counts         c        = { 0 };

    if (d != e && !(t->is_lossy && cq_dtype_is_float(d) && is_float))
        snprintf(out->why, sizeof out->why, "its type is %s instead of %s", cq_dtype_name(d),
                 cq_dtype_name(e));
    else if (!same_shape(got, want))
        snprintf(out->why, sizeof out->why, "its shape differs");
    if (*out->why) {
        out->is_equal = false;
        return;
    }
    out->n += cq_tensor_numel(want);
    for (int64_t i = 0; i < cq_tensor_numel(want); i++) {
        const double g = cq_tensor_get_f64(got, i), w = cq_tensor_get_f64(want, i);
        const double diff = is_same(g, w) ? 0 : fabs(g - w);

        if (diff > out->largest)
            out->largest = diff;
        c.squares_off += isfinite(w) || diff != 0 ? diff * diff : 0;
        c.squares += isfinite(w) ? w * w : 0;
        if (diff == 0 || diff <= rtol * fabs(w) + floor)
            continue;
        c.n_off++;
        c.largest_off = fmax(c.largest_off, isnan(diff) ? INFINITY : diff);
    }
    out->n_off += c.n_off;
    out->is_equal &= is_accepted(&c, cq_tensor_numel(want), scale, is_float, t);
}

static bool same_strings(const cq_onnx_value *a, const cq_onnx_value *b)
{
    bool same = cq_onnx_value_count(a) == cq_onnx_value_count(b) &&
                cq_onnx_value_rank(a) == cq_onnx_value_rank(b);

    for (size_t i = 0; same && i < cq_onnx_value_rank(a); i++)
        same = cq_onnx_value_size(a, i) == cq_onnx_value_size(b, i);
    for (size_t i = 0; same && i < cq_onnx_value_count(a); i++) {
        size_t      n, k;
        const char *s = cq_onnx_value_string(a, i, &n), *u = cq_onnx_value_string(b, i, &k);

        same = n == k && memcmp(s, u, n) == 0;
    }
    return same;
}

static void compare(cq_difference *out, const cq_onnx_value *got, const cq_onnx_value *want,
                    const cq_tolerance *t, int depth)
{
    const cq_onnx_kind_of_value kind = cq_onnx_value_kind(want);

    if (depth > MAX_DEPTH || cq_onnx_value_kind(got) != kind)
        snprintf(out->why, sizeof out->why, "it is a value of another kind");
    else if (kind == CQ_ONNX_VALUE_TENSOR) {
        compare_tensors(out, cq_onnx_value_tensor(got), cq_onnx_value_tensor(want), t);
        return;
    } else if (kind == CQ_ONNX_VALUE_STRINGS && !same_strings(got, want))
        snprintf(out->why, sizeof out->why, "its strings differ");
    else if (kind == CQ_ONNX_VALUE_STRINGS || kind == CQ_ONNX_VALUE_NONE)
        return;
    else if (cq_onnx_value_count(got) != cq_onnx_value_count(want))
        snprintf(out->why, sizeof out->why, "it has %zu items instead of %zu",
                 cq_onnx_value_count(got), cq_onnx_value_count(want));
    if (*out->why)
        out->is_equal = false;
    for (size_t i = 0; !*out->why && i < cq_onnx_value_count(want); i++) {
        cq_onnx_value *a = NULL, *b = NULL;

        if (cq_onnx_value_item(&a, got, i) == CQ_OK && cq_onnx_value_item(&b, want, i) == CQ_OK)
            compare(out, a, b, t, depth + 1);
        else
            out->is_equal = false;
        cq_onnx_value_release(a);
        cq_onnx_value_release(b);
    }
}

void cq_compare_values(cq_difference *out, const cq_onnx_value *got, const cq_onnx_value *want,
                       const cq_tolerance *tolerance)
{
    *out = (cq_difference){ .is_equal = true };
    compare(out, got, want, tolerance, 0);
}

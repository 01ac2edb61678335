/* Tolerances follow ONNX's own runners: relative to each number, with a floor relative to the
 * largest number of the tensor, because cancellation keeps the rounding errors of the summands. If
 * kernels sum in another order, one number in many thousands exceeds any such bound, and an 8-bit
 * number may be rounded differently; a wrong operator differs everywhere. Differences of one 8-bit
 * step add up over layers: after the 20 layers of a ResNet-18, ONNX Runtime differs by one step in
 * 18 % of the elements if it computes in floats, and in none if it computes in integers. Rounding
 * down instead of to nearest changes half of them, and by more steps with each layer. */
#include "judge.h"

#include <float.h>
#include <math.h>

#define RTOL        1e-3
#define FLOOR       2e-5 /* relative to the largest number */
#define ATOL        1e-7
#define FEW         1e-4 /* fraction of elements that may exceed the tolerance, … */
#define FEW_LARGEST 1e-3 /* … by at most this, relative to the largest number */
#define STEP_SHARE  0.25 /* fraction of elements that may differ by one 8-bit step */
#define STEP                                                                                       \
    0.02          /* of the largest number, if there are no quantization parameters to             \
                   * give the step */
#define MUCH 1e-2 /* a difference that rounding cannot explain */

bool cli_is_right(cli_verdict v)
{
    return v == CLI_EQUAL || v == CLI_FEW_ROUND || v == CLI_FEW_STEPS;
}

static bool has_same_shape(const cq_tensor *a, const cq_tensor *b)
{
    bool same = cq_tensor_dtype(a) == cq_tensor_dtype(b) && cq_tensor_rank(a) == cq_tensor_rank(b);

    for (size_t i = 0; same && i < cq_tensor_rank(a); i++)
        same = cq_tensor_size(a, i) == cq_tensor_size(b, i);
    return same;
}

static bool is_float(cq_dtype d)
{
    return d == CQ_DTYPE_F16 || d == CQ_DTYPE_BF16 || d == CQ_DTYPE_F32 || d == CQ_DTYPE_F64;
}

static bool is_byte(cq_dtype d)
{
    return d == CQ_DTYPE_I8 || d == CQ_DTYPE_U8;
}

/* Whether both are equal or not finite, so that no tolerance applies. */
static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The largest number, and the smallest nonzero distance between sorted neighbours, which in
 * quantized data is at least a step. */
static double measure(const cq_tensor *t, double *step)
{
    double largest = 0;

    *step = 0;
    for (int64_t i = 0; i < cq_tensor_numel(t); i++) {
        const double f = cq_tensor_get_f64(t, i);
        const double d = i ? fabs(f - cq_tensor_get_f64(t, i - 1)) : 0;

        if (isfinite(f) && fabs(f) > largest)
            largest = fabs(f);
        if (d > 0 && isfinite(d) && (*step == 0 || d < *step))
            *step = d;
    }
    return largest;
}

typedef struct limits {
    double relative, floor;
    double step;           /* allowed for a few elements; 0: none */
    double few, few_share; /* the same for data that is not quantized */
} limits;

static limits limits_of(const cq_tensor *wanted, bool is_quantized, double *scale)
{
    const cq_dtype d    = cq_tensor_dtype(wanted);
    const double   half = d == CQ_DTYPE_F16 ? 0x1p-9 : d == CQ_DTYPE_BF16 ? 0x1p-6 : 0;
    double         step;
    limits         l = { 0 };

    *scale = measure(wanted, &step);
    if (is_byte(d))
        l.step = 1;
    if (!is_float(d))
        return l;
    l.relative = half > RTOL ? half : RTOL;
    l.floor    = fmax(ATOL, fmax(FLOOR, half / 4) * *scale);
    if (is_quantized)
        l.step = fmax(1.01 * step, STEP * *scale);
    l.few       = FEW_LARGEST * *scale;
    l.few_share = FEW;
    return l;
}

/* A fraction counts as at least one element, unless that is all of them. */
static bool are_few(int64_t n_off, int64_t n, double share)
{
    return (double)n_off <= fmax(share * (double)n, n >= 100 ? 1 : 0);
}

static cli_verdict decide(const cli_judgement *j, const limits *l, double largest_off)
{
    if (!j->n_off)
        return CLI_EQUAL;
    if (largest_off <= l->few && are_few(j->n_off, j->n, l->few_share))
        return CLI_FEW_ROUND;
    if (l->step > 0 && largest_off <= l->step)
        return are_few(j->n_off, j->n, STEP_SHARE) ? CLI_FEW_STEPS : CLI_STEPS;
    return l->relative > 0 && largest_off <= MUCH * j->scale ? CLI_ROUNDING : CLI_DIFFERENT;
}

cli_judgement cli_judge(const cq_tensor *got, const cq_tensor *wanted, bool is_quantized)
{
    cli_judgement j           = { .n = cq_tensor_numel(wanted) };
    double        largest_off = 0;
    limits        l;

    if (!has_same_shape(got, wanted)) {
        j.verdict = CLI_SHAPES;
        return j;
    }
    l = limits_of(wanted, is_quantized, &j.scale);
    for (int64_t i = 0; i < j.n; i++) {
        const double g = cq_tensor_get_f64(got, i), w = cq_tensor_get_f64(wanted, i);
        const double d = is_same(g, w) ? 0 : fabs(g - w);

        if (d > j.largest)
            j.largest = d;
        if (d == 0 || d <= l.relative * fabs(w) + l.floor) /* never of nan */
            continue;
        j.n_off++;
        if (!(d <= largest_off))
            largest_off = isnan(d) ? DBL_MAX : d;
    }
    j.verdict = decide(&j, &l, largest_off);
    return j;
}

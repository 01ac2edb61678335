/* Ranges of activations: extremes, percentiles, and the least divergence. */
#include "quantize/range.h"

#include "base/alloc.h"
#include "tensor/convert.h"

#include <math.h>
#include <string.h>

enum { BINS = CQ_RANGE_BINS, LEAST_EXPONENT = -160 };

cq_status cq_range_init(cq_range *r, bool has_histogram)
{
    *r = (cq_range){ .exponent = LEAST_EXPONENT };
    if (has_histogram)
        r->bins = cq_zalloc(2 * BINS * sizeof *r->bins);
    return has_histogram && !r->bins ? CQ_E_NO_MEMORY : CQ_OK;
}

void cq_range_clear(cq_range *r)
{
    cq_free(r->bins);
    r->bins = NULL;
}

/* Bins i of the two signs begin at BINS + i and end at BINS - 1 - i. */
static void merge_pairs(cq_range *r)
{
    for (int i = 0; i < BINS; i++) {
        const bool is_inside = i < BINS / 2;

        r->bins[BINS + i] = is_inside ? r->bins[BINS + 2 * i] + r->bins[BINS + 2 * i + 1] : 0;
        r->bins[BINS - 1 - i] =
            is_inside ? r->bins[BINS - 1 - 2 * i] + r->bins[BINS - 2 - 2 * i] : 0;
    }
    r->exponent++;
}

/* Widens bins until a number fits. Empty bins need no merging. */
static void make_fit(cq_range *r, double largest)
{
    int exponent;

    frexp(largest, &exponent); /* largest < 2^exponent */
    exponent -= 11;            /* BINS = 2^11 */
    if (r->exponent == LEAST_EXPONENT)
        r->exponent = exponent > LEAST_EXPONENT ? exponent : LEAST_EXPONENT + 1;
    while (r->exponent < exponent)
        merge_pairs(r);
}

static void add_run(cq_range *r, const float *x, int64_t n)
{
    double low = r->low, high = r->high;

    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            low  = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
            r->n++;
        }
    r->low  = low;
    r->high = high;
    if (!r->bins || (low == 0 && high == 0))
        return;
    make_fit(r, fmax(high, -low));
    const double inverse = ldexp(1, -r->exponent);

    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            r->bins[BINS + (int)floor(x[i] * inverse)]++;
}

cq_status cq_range_add(cq_range *r, const cq_tensor *t)
{
    enum { AT_ONCE = 4096 };
    cq_tensor *copy = NULL;
    float      x[AT_ONCE];

    if (!cq_tensor_is_contiguous(t)) {
        CQ_TRY(cq_tensor_clone(&copy, t, CQ_DTYPE_NONE));
        t = copy;
    }
    const size_t size = cq_dtype_size(cq_tensor_dtype(t));

    for (int64_t at = 0, n = cq_tensor_numel(t), k; at < n; at += k) {
        k = n - at < AT_ONCE ? n - at : AT_ONCE;
        cq_load_of(cq_tensor_dtype(t), CQ_WIDE_F32)(x, cq_tensor_bytes(t) + at * (int64_t)size,
                                                    (int64_t)size, k);
        add_run(r, x, k);
    }
    cq_tensor_release(copy);
    return CQ_OK;
}

/* ---- percentile ---- */

/* The end of the range on one side, outside of which the share lies. */
static double quantile(const cq_range *r, double share, int sign)
{
    const double allowed = share * (double)r->n, width = ldexp(1, r->exponent);
    double       outside = 0;

    for (int i = BINS - 1; i >= 0; i--) {
        outside += (double)r->bins[sign > 0 ? BINS + i : BINS - 1 - i];
        if (outside > allowed)
            return (i + 1) * width;
    }
    return 0;
}

/* ---- entropy ---- */

/* The divergence of a histogram of magnitudes from its first n bins in `levels` steps; numbers
 * beyond them are clipped into the last bin. Counts of few samples differ from bin to bin by
 * chance, which would look like a reason to clip: the expected share of that is subtracted. */
static double divergence(const double *magnitude, int n_used, int n, int levels)
{
    double clipped = 0, total = 0, result = 0, chance = 0;

    for (int i = n; i < n_used; i++)
        clipped += magnitude[i];
    for (int i = 0; i < n_used; i++)
        total += magnitude[i];
    for (int l = 0; l < levels; l++) {
        const int from = (int)((int64_t)l * n / levels), to = (int)((int64_t)(l + 1) * n / levels);
        double    sum  = 0;
        int       used = 0;

        for (int i = from; i < to; i++) {
            sum += magnitude[i];
            used += magnitude[i] > 0 || (i == n - 1 && clipped > 0);
        }
        chance += used > 1 ? used - 1 : 0;
        for (int i = from; i < to; i++) {
            const double p = magnitude[i] + (i == n - 1 ? clipped : 0);

            /* A level that only clipped numbers use gets a small share. */
            if (p > 0)
                result += p / total * log(p / fmax(sum / used, total * 1e-9));
        }
    }
    return result - chance / (2 * total);
}

/* The magnitude beyond which numbers are clipped. */
static double least_divergence(const cq_range *r, int levels)
{
    double magnitude[BINS], best = INFINITY;
    int    n_used = 0, chosen;

    for (int i = 0; i < BINS; i++) {
        magnitude[i] = (double)r->bins[BINS + i] + (double)r->bins[BINS - 1 - i];
        if (magnitude[i] > 0)
            n_used = i + 1;
    }
    magnitude[0] = 0; /* zeros are exact in any range, and would hide the rest */
    chosen       = n_used;
    for (int n = levels; n <= n_used; n += n_used > 512 ? 8 : 1) {
        const double d = divergence(magnitude, n_used, n, levels);

        if (d < best) {
            best   = d;
            chosen = n;
        }
    }
    return chosen * ldexp(1, r->exponent);
}

void cq_range_choose(const cq_range *r, const cq_quantize_options *o, double *low, double *high)
{
    *low  = r->low;
    *high = r->high;
    if (!r->bins || !r->n || r->low == r->high)
        return;
    if (o->method == CQ_CALIBRATION_PERCENTILE) {
        const double share = (1 - o->percentile / 100) * (r->low < 0 && r->high > 0 ? 0.5 : 1);

        *low  = fmax(r->low, -quantile(r, share, -1));
        *high = fmin(r->high, quantile(r, share, 1));
    } else if (o->method == CQ_CALIBRATION_ENTROPY) {
        const double limit = least_divergence(r, r->low < 0 && r->high > 0 ? 128 : 256);

        *low  = fmax(r->low, -limit);
        *high = fmin(r->high, limit);
    }
}

/* Nothing here calls libm but for sqrt (which IEEE makes exact), because the last bit of
 * other functions differs between C libraries. */
#include "tensor/random.h"

#include <math.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* ---- the generator ---- */

static void philox(uint32_t out[4], uint64_t counter, uint64_t key)
{
    uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);

    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;

        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void cq_random_seed(cq_random *r, uint64_t seed)
{
    *r = (cq_random){ .seed = seed, .used = 4 };
}

uint32_t cq_random_u32(cq_random *r)
{
    if (r->used == 4) {
        philox(r->block, r->counter++, r->seed);
        r->used = 0;
    }
    return r->block[r->used++];
}

uint64_t cq_random_u64(cq_random *r)
{
    uint64_t high = cq_random_u32(r);

    return high << 32 | cq_random_u32(r);
}

float cq_random_f32(cq_random *r)
{
    return (float)(cq_random_u32(r) >> 8) * 0x1p-24f;
}

double cq_random_f64(cq_random *r)
{
    return (double)(cq_random_u64(r) >> 11) * 0x1p-53;
}

int64_t cq_random_below(cq_random *r, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low, limit, x;

    if (high <= low)
        return low;
    limit = UINT64_MAX - UINT64_MAX % span; /* a multiple of span: no value is favoured */
    do
        x = cq_random_u64(r);
    while (x >= limit);
    return (int64_t)((uint64_t)low + x % span);
}

void cq_random_permutation(cq_random *r, int64_t *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = cq_random_below(r, 0, i + 1), swap = out[i];

        out[i] = out[k];
        out[k] = swap;
    }
}

/* ---- the normal distribution, by its inverse ---- */

/* ln x for x in (0, 1), to about 1e-15: 2 atanh((m-1)/(m+1)) of the mantissa. */
static double ln(double x)
{
    int    e;
    double m = frexp(x, &e), z, z2, sum;

    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    z   = (m - 1) / (m + 1);
    z2  = z * z;
    sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * z2 + 1.0 / k;
    return 2 * z * sum + e * 0.69314718055994531;
}

static double horner(const double *c, int n, double x)
{
    double sum = c[n - 1];

    for (int i = n - 2; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* The normal quantile by rational approximations (Wichura's AS 241, 16 digits). */
static double quantile(double p)
{
    static const double a[] = { 3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
                                13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                                33430.575583588128105, 2509.0809287301226727 };
    static const double b[] = { 1.0,
                                42.313330701600911252,
                                687.18700749205790830,
                                5394.1960214247511077,
                                21213.794301586595867,
                                39307.895800092710610,
                                28729.085735721942674,
                                5226.4952788528545610 };
    static const double c[] = { 1.42343711074968357734,   4.63033784615654529590,
                                5.76949722146069140550,   3.64784832476320460504,
                                1.27045825245236838258,   0.241780725177450611770,
                                0.0227238449892691845833, 7.74545014278341407640e-4 };
    static const double d[] = { 1.0,
                                2.05319162663775882187,
                                1.67638483018380384940,
                                0.689767334985100004550,
                                0.148103976427480074590,
                                0.0151986665636164571966,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9 };
    static const double e[] = { 6.65790464350110377720,    5.46378491116411436990,
                                1.78482653991729133580,    0.296560571828504891230,
                                0.0265321895265761230930,  1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7 };
    static const double f[] = { 1.0,
                                0.599832206555887937690,
                                0.136929880922735805310,
                                0.0148753612908506148525,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15 };
    double              q   = p - 0.5, r, x;

    if (fabs(q) <= 0.425) {
        r = 0.180625 - q * q;
        return q * horner(a, 8, r) / horner(b, 8, r);
    }
    r = sqrt(-ln(q < 0 ? p : 1 - p));
    x = r <= 5 ? horner(c, 8, r - 1.6) / horner(d, 8, r - 1.6)
               : horner(e, 8, r - 5) / horner(f, 8, r - 5);
    return q < 0 ? -x : x;
}

double cq_random_normal(cq_random *r)
{
    /* In the middle of one of 2^52 equal intervals, so never 0 or 1. */
    return quantile(((double)(cq_random_u64(r) >> 12) + 0.5) * 0x1p-52);
}

/* ---- tensors ---- */

typedef double (*draw)(cq_random *r, double a, double b);

enum { PIECE = 1 << 16 }; /* elements that have a buffer at a time */

/* float32 and float64 that are contiguous are filled in place, other tensors through a buffer. */
static cq_status fill_whole(cq_random *r, cq_tensor *t, draw next, double a, double b)
{
    cq_tensor *buffer = NULL, *target = t;
    int64_t    n      = cq_tensor_numel(t), sizes[CQ_MAX_RANK];
    cq_status  status = CQ_OK;
    bool       direct =
        cq_tensor_is_contiguous(t) && (t->dtype == CQ_DTYPE_F32 || t->dtype == CQ_DTYPE_F64);

    if (!direct) {
        for (size_t i = 0; i < t->rank; i++)
            sizes[i] = t->sizes[i].value;
        CQ_TRY(cq_tensor_new_uninit(&buffer, CQ_DTYPE_F64, t->rank, sizes));
        target = buffer;
    }
    if (target->dtype == CQ_DTYPE_F32)
        for (int64_t i = 0; i < n; i++)
            ((float *)cq_tensor_bytes(target))[i] = (float)next(r, a, b);
    else
        for (int64_t i = 0; i < n; i++)
            ((double *)cq_tensor_bytes(target))[i] = next(r, a, b);
    if (buffer)
        status = cq_tensor_copy_into(t, buffer);
    cq_tensor_release(buffer);
    return status;
}

/* A tensor of bools would need a buffer of eight times its size. */
static cq_status fill(cq_random *r, cq_tensor *t, draw next, double a, double b)
{
    const int64_t n = cq_tensor_numel(t), stride = 1;

    if (n <= PIECE || !cq_tensor_is_contiguous(t))
        return fill_whole(r, t, next, a, b);
    for (int64_t i = 0; i < n; i += PIECE) {
        const cq_int size = { .value = n - i < PIECE ? n - i : PIECE };
        cq_tensor   *piece;
        cq_status    status;

        CQ_TRY(cq_tensor_new_view(&piece, t, t->dtype, 1, &size, &stride, t->offset + i));
        status = fill_whole(r, piece, next, a, b);
        cq_tensor_release(piece);
        CQ_TRY(status);
    }
    return CQ_OK;
}

static double uniform(cq_random *r, double low, double high)
{
    return low + (high - low) * (double)cq_random_f32(r);
}

static double uniform64(cq_random *r, double low, double high)
{
    return low + (high - low) * cq_random_f64(r);
}

static double normal(cq_random *r, double mean, double deviation)
{
    return mean + deviation * cq_random_normal(r);
}

static double bernoulli(cq_random *r, double p, double unused)
{
    (void)unused;
    return cq_random_f64(r) < p;
}

static double integer(cq_random *r, double low, double high)
{
    return (double)cq_random_below(r, (int64_t)low, (int64_t)high);
}

cq_status cq_random_fill_uniform(cq_random *r, cq_tensor *t, double low, double high)
{
    return fill(r, t, t->dtype == CQ_DTYPE_F64 ? uniform64 : uniform, low, high);
}

cq_status cq_random_fill_normal(cq_random *r, cq_tensor *t, double mean, double deviation)
{
    return fill(r, t, normal, mean, deviation);
}

cq_status cq_random_fill_bernoulli(cq_random *r, cq_tensor *t, double p)
{
    return fill(r, t, bernoulli, p, 0);
}

cq_status cq_random_fill_integers(cq_random *r, cq_tensor *t, int64_t low, int64_t high)
{
    return fill(r, t, integer, (double)low, (double)high);
}

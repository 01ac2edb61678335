/* The generator of Matsumoto and Nishimura, and PyTorch's distributions of its words.
 *
 * PyTorch computes normal float32 numbers with AVX2: a logarithm, sine and cosine by the
 * polynomials of the Cephes library, in which the compiler fuses multiplications and additions. The
 * fused operations are written out here, so every processor gives the same bits. */
#include "kernel/mersenne.h"

#include <math.h>
#include <string.h>

enum { SHIFT = 397 };

/* Inlined into functions for wider instruction sets. */
#define INLINE static inline __attribute__((always_inline))

void cq_mersenne_seed(cq_mersenne *m, uint64_t seed)
{
    m->state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < CQ_MERSENNE_WORDS; i++)
        m->state[i] = 1812433253u * (m->state[i - 1] ^ (m->state[i - 1] >> 30)) + i;
    m->at         = CQ_MERSENNE_WORDS;
    m->has_normal = false;
}

static uint32_t twisted(uint32_t high, uint32_t low)
{
    return (((high & 0x80000000u) | (low & 0x7fffffffu)) >> 1) ^ ((low & 1u) ? 0x9908b0dfu : 0);
}

static void refill(cq_mersenne *m)
{
    uint32_t *s = m->state;

    for (int i = 0; i < CQ_MERSENNE_WORDS - SHIFT; i++)
        s[i] = s[i + SHIFT] ^ twisted(s[i], s[i + 1]);
    for (int i = CQ_MERSENNE_WORDS - SHIFT; i < CQ_MERSENNE_WORDS - 1; i++)
        s[i] = s[i + SHIFT - CQ_MERSENNE_WORDS] ^ twisted(s[i], s[i + 1]);
    s[CQ_MERSENNE_WORDS - 1] = s[SHIFT - 1] ^ twisted(s[CQ_MERSENNE_WORDS - 1], s[0]);
    m->at                    = 0;
}

static uint32_t tempered(uint32_t y)
{
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint32_t cq_mersenne_u32(cq_mersenne *m)
{
    if (m->at == CQ_MERSENNE_WORDS)
        refill(m);
    return tempered(m->state[m->at++]);
}

/* The next words, n of them. */
static void next_words(cq_mersenne *m, uint32_t *to, int64_t n)
{
    while (n) {
        const int64_t left = CQ_MERSENNE_WORDS - m->at, k = n < left ? n : left;

        for (int64_t i = 0; i < k; i++)
            to[i] = tempered(m->state[m->at + i]);
        m->at += (uint32_t)k;
        to += k;
        n -= k;
        if (n)
            refill(m);
    }
}

void cq_mersenne_skip(cq_mersenne *m, uint64_t words)
{
    while (words > CQ_MERSENNE_WORDS - m->at) {
        words -= CQ_MERSENNE_WORDS - m->at;
        refill(m);
    }
    m->at += (uint32_t)words;
}

/* ---- uniform ---- */

float cq_mersenne_f32(cq_mersenne *m, float a, float b)
{
    const float x = (float)(cq_mersenne_u32(m) & 0xffffffu) * 0x1p-24f;

    return fmaf(x, b - a, a);
}

double cq_mersenne_f64(cq_mersenne *m, double a, double b)
{
    const uint64_t high = cq_mersenne_u32(m), word = high << 32 | cq_mersenne_u32(m);
    const double   x = (double)(word & (((uint64_t)1 << 53) - 1)) * 0x1p-53;

    return fma(x, b - a, a);
}

/* ---- normal ---- */

double cq_mersenne_normal(cq_mersenne *m)
{
    const double two_pi = 2 * 3.14159265358979323846;
    double       u1, u2, r;

    if (m->has_normal) {
        m->has_normal = false;
        return m->normal;
    }
    u1            = cq_mersenne_f64(m, 0, 1);
    u2            = cq_mersenne_f64(m, 0, 1);
    r             = sqrt(-2.0 * log1p(-u2));
    m->normal     = r * sin(two_pi * u1);
    m->has_normal = true;
    return r * cos(two_pi * u1);
}

INLINE uint32_t bits_of(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

INLINE float of_bits(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

INLINE float polynomial(float x, const float *c, int n)
{
    float y = c[0];

    for (int i = 1; i < n; i++)
        y = fmaf(y, x, c[i]);
    return y;
}

INLINE float cephes_log(float x)
{
    static const float c[] = { 7.0376836292E-2f,  -1.1514610310E-1f, 1.1676998740E-1f,
                               -1.2420140846E-1f, 1.4249322787E-1f,  -1.6668057665E-1f,
                               2.0000714765E-1f,  -2.4999993993E-1f, 3.3333331174E-1f };
    float              e, y, z;

    x = x > of_bits(0x00800000) ? x : of_bits(0x00800000);
    e = (float)((int)(bits_of(x) >> 23) - 126);
    x = of_bits((bits_of(x) & 0x807fffffu) | 0x3f000000u); /* in [0.5, 1) */
    if (x < 0.707106781186547524f) {
        e -= 1;
        x = (x - 1) + x;
    } else {
        x -= 1;
    }
    z = x * x;
    y = polynomial(x, c, 9) * x;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = fmaf(-z, 0.5f, y);
    return fmaf(e, 0.693359375f, x + y);
}

INLINE void cephes_sincos(float x, float *sine, float *cosine)
{
    static const float cos_c[] = { 2.443315711809948E-005f, -1.388731625493765E-003f,
                                   4.166664568298827E-002f };
    static const float sin_c[] = { -1.9515295891E-4f, 8.3321608736E-3f, -1.6666654611E-1f };
    const int          octant  = ((int)(x * 1.27323954473516f) + 1) & ~1;
    const float        y       = (float)octant;
    float              z, a, b;

    x = fmaf(y, -0.78515625f, x);
    x = fmaf(y, -2.4187564849853515625e-4f, x);
    x = fmaf(y, -3.77489497744594108e-8f, x);
    z = x * x;
    a = polynomial(z, cos_c, 3) * z;
    a = fmaf(a, z, -(z * 0.5f)) + 1;
    b = fmaf(polynomial(z, sin_c, 3) * z, x, x);

    *sine   = octant & 2 ? a : b;
    *cosine = octant & 2 ? b : a;
    if (octant & 4)
        *sine = -*sine;
    if ((octant + 2) & 4)
        *cosine = -*cosine;
}

/* 8 pairs of uniform numbers become 8 pairs of normal ones. */
INLINE void box_muller_f32(const float *u, float mean, float deviation, float *to)
{
    for (int i = 0; i < 8; i++) {
        const float r     = sqrtf(-2.0f * cephes_log(1 - u[i]));
        const float theta = 6.28318530717958647692f * u[i + 8];
        float       sine, cosine;

        cephes_sincos(theta, &sine, &cosine);
        to[i]     = fmaf(r * cosine, deviation, mean);
        to[i + 8] = fmaf(r * sine, deviation, mean);
    }
}

INLINE void scale_words(const uint32_t *words, float a, float b, float *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = fmaf((float)(int32_t)(words[i] & 0xffffffu) * 0x1p-24f, b - a, a);
}

INLINE void normals_of_words(const uint32_t *words, float mean, float deviation, float *to,
                             int64_t n)
{
    float u[CQ_MERSENNE_BLOCK];

    for (int64_t i = 0; i < n; i += CQ_MERSENNE_BLOCK) {
        scale_words(words + i, 0, 1, u, CQ_MERSENNE_BLOCK);
        box_muller_f32(u, mean, deviation, to + i);
    }
}

/* Without a fused instruction each fmaf is a function call. */
#if defined(__x86_64__)
#define WITH_FMA __attribute__((target("avx2,fma")))

static bool has_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define WITH_FMA

static bool has_fma(void)
{
    return false;
}
#endif

WITH_FMA static void scale_words_fma(const uint32_t *words, float a, float b, float *to, int64_t n)
{
    scale_words(words, a, b, to, n);
}

WITH_FMA static void normals_of_words_fma(const uint32_t *words, float mean, float deviation,
                                          float *to, int64_t n)
{
    normals_of_words(words, mean, deviation, to, n);
}

enum { MANY = 1024 };

void cq_mersenne_fill_f32(cq_mersenne *m, float a, float b, float *to, int64_t n)
{
    const bool fma_is_fast = has_fma();
    uint32_t   words[MANY];

    for (int64_t i = 0; i < n; i += MANY) {
        const int64_t k = n - i < MANY ? n - i : MANY;

        next_words(m, words, k);
        (fma_is_fast ? scale_words_fma : scale_words)(words, a, b, to + i, k);
    }
}

void cq_mersenne_fill_normals_f32(cq_mersenne *m, float mean, float deviation, float *to, int64_t n)
{
    const bool fma_is_fast = has_fma();
    uint32_t   words[MANY];

    for (int64_t i = 0; i < n; i += MANY) {
        const int64_t k = n - i < MANY ? n - i : MANY;

        next_words(m, words, k);
        (fma_is_fast ? normals_of_words_fma : normals_of_words)(words, mean, deviation, to + i, k);
    }
}

static void box_muller_f64(const double *u, double mean, double deviation, double *to)
{
    for (int i = 0; i < 8; i++) {
        const double r     = sqrt(-2.0 * log(1 - u[i]));
        const double theta = 2.0 * 3.14159265358979323846 * u[i + 8];

        to[i]     = fma(r * cos(theta), deviation, mean);
        to[i + 8] = fma(r * sin(theta), deviation, mean);
    }
}

void cq_mersenne_normals_f32(cq_mersenne *m, int64_t n, float mean, float deviation, double *to)
{
    float made[CQ_MERSENNE_BLOCK];

    cq_mersenne_fill_normals_f32(m, mean, deviation, made, CQ_MERSENNE_BLOCK);
    for (int i = 0; i < CQ_MERSENNE_BLOCK; i++)
        to[i] = made[i];
    if (n >= 2 * CQ_MERSENNE_BLOCK || n == CQ_MERSENNE_BLOCK)
        return;
    cq_mersenne_skip(
        m, (uint64_t)(n - CQ_MERSENNE_BLOCK)); /* numbers that PyTorch draws and discards */
    cq_mersenne_fill_normals_f32(m, mean, deviation, made, CQ_MERSENNE_BLOCK);
    for (int i = 0; i < CQ_MERSENNE_BLOCK; i++)
        to[n - CQ_MERSENNE_BLOCK + i] = made[i];
}

void cq_mersenne_normals_f64(cq_mersenne *m, int64_t n, double mean, double deviation, double *to)
{
    double u[CQ_MERSENNE_BLOCK];

    for (int i = 0; i < CQ_MERSENNE_BLOCK; i++)
        u[i] = cq_mersenne_f64(m, 0, 1);
    box_muller_f64(u, mean, deviation, to);
    if (n >= 2 * CQ_MERSENNE_BLOCK || n == CQ_MERSENNE_BLOCK)
        return;
    cq_mersenne_skip(m, 2 * (uint64_t)(n - CQ_MERSENNE_BLOCK));
    for (int i = 0; i < CQ_MERSENNE_BLOCK; i++)
        u[i] = cq_mersenne_f64(m, 0, 1);
    box_muller_f64(u, mean, deviation, to + n - CQ_MERSENNE_BLOCK);
}

/* ---- the inverse of the error function: a rational start, two steps of Newton's method ---- */

static float newton(float x, float y)
{
    const float slope = 1.1283791670955126f * expf(-x * x);

    return x - (erff(x) - y) / slope;
}

float cq_mersenne_erfinv(float y)
{
    static const float a[]  = { -0.140543331f, 0.914624893f, -1.645349621f, 0.886226899f };
    static const float b[]  = { 0.012229801f, -0.329097515f, 1.442710462f, -2.118377725f, 1 };
    static const float c[]  = { 1.641345311f, 3.429567803f, -1.624906493f, -1.970840454f };
    static const float d[]  = { 1.637067800f, 3.543889200f, 1 };
    const float        size = fabsf(y);
    float              x, z;

    if (size >= 1)
        return size > 1 ? NAN : copysignf(INFINITY, y);
    if (size <= 0.7f) {
        z = y * y;
        x = y * polynomial(z, a, 4) / polynomial(z, b, 5);
    } else {
        z = sqrtf(-logf((1 - size) / 2));
        x = copysignf(polynomial(z, c, 4), y) / polynomial(z, d, 3);
    }
    return newton(newton(x, y), y);
}

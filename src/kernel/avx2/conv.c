/* Depthwise convolution for CPUs with AVX2: a run of places of one output row, all taps of
 * a place summed in registers. The portable twin is in kernel/conv_type.inc. */
#include "kernel/conv_types.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Elements 0, 2, … 14 of 16. */
static __m256 load_even(const float *p)
{
    __m256 a = _mm256_loadu_ps(p), b = _mm256_loadu_ps(p + 7); /* b: 7 to 14, no further */
    __m256 e = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 2, 0));

    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(e), _MM_SHUFFLE(3, 1, 2, 0)));
}

static void run_of_32(float *out, const float *x, const float *w, const int64_t *at, int64_t n_taps,
                      __m256 bias)
{
    __m256 s0 = bias, s1 = bias, s2 = bias, s3 = bias;

    for (int64_t t = 0; t < n_taps; t++) {
        const float *p = x + at[t];
        __m256       v = _mm256_broadcast_ss(w + t);

        s0 = _mm256_fmadd_ps(v, _mm256_loadu_ps(p), s0);
        s1 = _mm256_fmadd_ps(v, _mm256_loadu_ps(p + 8), s1);
        s2 = _mm256_fmadd_ps(v, _mm256_loadu_ps(p + 16), s2);
        s3 = _mm256_fmadd_ps(v, _mm256_loadu_ps(p + 24), s3);
    }
    _mm256_storeu_ps(out, s0);
    _mm256_storeu_ps(out + 8, s1);
    _mm256_storeu_ps(out + 16, s2);
    _mm256_storeu_ps(out + 24, s3);
}

static void run_of_8(float *out, const float *x, int64_t step, const float *w, const int64_t *at,
                     int64_t n_taps, __m256 bias)
{
    __m256 s = bias;

    for (int64_t t = 0; t < n_taps; t++) {
        const float *p = x + at[t];

        s = _mm256_fmadd_ps(_mm256_broadcast_ss(w + t),
                            step == 1 ? _mm256_loadu_ps(p) : load_even(p), s);
    }
    _mm256_storeu_ps(out, s);
}

void cq_avx2_taps_f32(void *out, int64_t n, const void *x, int64_t step, const void *w,
                      const int64_t *at, int64_t n_taps, const void *bias)
{
    const float *px = x, *pw = w;
    float       *po = out, b = bias ? *(const float *)bias : 0;
    __m256       vb = _mm256_set1_ps(b);
    int64_t      i  = 0;

    if (step == 1)
        for (; i + 32 <= n; i += 32)
            run_of_32(po + i, px + i, pw, at, n_taps, vb);
    if (step <= 2)
        for (; i + 8 <= n; i += 8)
            run_of_8(po + i, px + i * step, step, pw, at, n_taps, vb);
    if (step <= 2 && i < n) { /* reads on behind the row, and keeps what belongs to it */
        float some[8];

        run_of_8(some, px + i * step, step, pw, at, n_taps, vb);
        memcpy(po + i, some, (size_t)(n - i) * sizeof(float));
        return;
    }
    for (; i < n; i++) {
        float sum = b;

        for (int64_t t = 0; t < n_taps; t++)
            sum = __builtin_fmaf(pw[t], px[at[t] + i * step], sum);
        po[i] = sum;
    }
}

#else
typedef int cq_no_avx2_here; /* a translation unit must not be empty */
#endif

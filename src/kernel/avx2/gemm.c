/* The inner kernels of gemm for CPUs with AVX2 and FMA. Their portable twins, which say
 * what they compute, are in kernel/gemm_type.inc.
 *
 * A tile is 6 rows by 2 vectors: 12 sums, 2 vectors of B and 1 of A fill 15 of the 16
 * registers. Every sum has a name of its own: in an array gcc keeps them in memory. */
#include "kernel/gemm_types.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define T            float
#define V            __m256
#define LANES        8
#define OP(name)     _mm256_##name##_ps
#define BROADCAST(p) _mm256_broadcast_ss(p)
#define NAME         cq_avx2_tile_f32
#include "kernel/avx2/gemm_tile.inc"

#define T            double
#define V            __m256d
#define LANES        4
#define OP(name)     _mm256_##name##_pd
#define BROADCAST(p) _mm256_broadcast_sd(p)
#define NAME         cq_avx2_tile_f64
#include "kernel/avx2/gemm_tile.inc"

static float sum_of(__m256 v)
{
    __m128 h = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    h = _mm_add_ps(h, _mm_movehl_ps(h, h));
    return _mm_cvtss_f32(_mm_add_ss(h, _mm_shuffle_ps(h, h, 1)));
}

/* Weights come from memory once; four rows at a time keep four streams going. */
static void dots4(float *y, const float *x, const float *w, int64_t ldw, int64_t k)
{
    const float *w0 = w, *w1 = w + ldw, *w2 = w + 2 * ldw, *w3 = w + 3 * ldw;
    __m256       s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    __m256       t0 = s0, t1 = s0, t2 = s0, t3 = s0;
    int64_t      i = 0;

    for (; i + 16 <= k; i += 16) {
        __m256 x0 = _mm256_loadu_ps(x + i), x1 = _mm256_loadu_ps(x + i + 8);

        _mm_prefetch((const char *)(w0 + i) + 1024, _MM_HINT_T0);
        _mm_prefetch((const char *)(w1 + i) + 1024, _MM_HINT_T0);
        _mm_prefetch((const char *)(w2 + i) + 1024, _MM_HINT_T0);
        _mm_prefetch((const char *)(w3 + i) + 1024, _MM_HINT_T0);
        s0 = _mm256_fmadd_ps(x0, _mm256_loadu_ps(w0 + i), s0);
        s1 = _mm256_fmadd_ps(x0, _mm256_loadu_ps(w1 + i), s1);
        s2 = _mm256_fmadd_ps(x0, _mm256_loadu_ps(w2 + i), s2);
        s3 = _mm256_fmadd_ps(x0, _mm256_loadu_ps(w3 + i), s3);
        t0 = _mm256_fmadd_ps(x1, _mm256_loadu_ps(w0 + i + 8), t0);
        t1 = _mm256_fmadd_ps(x1, _mm256_loadu_ps(w1 + i + 8), t1);
        t2 = _mm256_fmadd_ps(x1, _mm256_loadu_ps(w2 + i + 8), t2);
        t3 = _mm256_fmadd_ps(x1, _mm256_loadu_ps(w3 + i + 8), t3);
    }
    y[0] = sum_of(_mm256_add_ps(s0, t0));
    y[1] = sum_of(_mm256_add_ps(s1, t1));
    y[2] = sum_of(_mm256_add_ps(s2, t2));
    y[3] = sum_of(_mm256_add_ps(s3, t3));
    for (; i < k; i++) {
        y[0] += x[i] * w0[i];
        y[1] += x[i] * w1[i];
        y[2] += x[i] * w2[i];
        y[3] += x[i] * w3[i];
    }
}

/* A row is summed in the same order alone and among four, so that a block's place does
 * not show in its result. */
static float dot1(const float *x, const float *w, int64_t k)
{
    __m256  s = _mm256_setzero_ps(), t = s;
    int64_t i = 0;
    float   y;

    for (; i + 16 <= k; i += 16) {
        s = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(w + i), s);
        t = _mm256_fmadd_ps(_mm256_loadu_ps(x + i + 8), _mm256_loadu_ps(w + i + 8), t);
    }
    y = sum_of(_mm256_add_ps(s, t));
    for (; i < k; i++)
        y += x[i] * w[i];
    return y;
}

void cq_avx2_dots_f32(void *y, const void *x, const void *w, int64_t ldw, int64_t n, int64_t k)
{
    const float *pw = w;
    float       *py = y;
    int64_t      i  = 0;

    for (; i + 4 <= n; i += 4)
        dots4(py + i, x, pw + i * ldw, ldw, k);
    for (; i < n; i++)
        py[i] = dot1(x, pw + i * ldw, k);
}

void cq_avx2_sums_f32(void *y, const void *x, int64_t x_step, const void *w, int64_t ldw, int64_t n,
                      int64_t k)
{
    const float *px = x, *pw = w;
    float       *py = y;
    int64_t      j  = 0;

    for (; j + 32 <= n; j += 32) {
        __m256 s0 = _mm256_loadu_ps(py + j), s1 = _mm256_loadu_ps(py + j + 8);
        __m256 s2 = _mm256_loadu_ps(py + j + 16), s3 = _mm256_loadu_ps(py + j + 24);

        for (int64_t i = 0; i < k; i++) {
            const float *row = pw + i * ldw + j;
            __m256       v   = _mm256_broadcast_ss(px + i * x_step);

            s0 = _mm256_fmadd_ps(v, _mm256_loadu_ps(row), s0);
            s1 = _mm256_fmadd_ps(v, _mm256_loadu_ps(row + 8), s1);
            s2 = _mm256_fmadd_ps(v, _mm256_loadu_ps(row + 16), s2);
            s3 = _mm256_fmadd_ps(v, _mm256_loadu_ps(row + 24), s3);
        }
        _mm256_storeu_ps(py + j, s0);
        _mm256_storeu_ps(py + j + 8, s1);
        _mm256_storeu_ps(py + j + 16, s2);
        _mm256_storeu_ps(py + j + 24, s3);
    }
    for (int64_t i = 0; i < k && j < n; i++)
        for (int64_t l = j; l < n; l++)
            py[l] += px[i * x_step] * pw[i * ldw + l];
}

#else
typedef int cq_no_avx2_here; /* a translation unit must not be empty */
#endif

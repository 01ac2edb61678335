/* The inner loops of blocked kernels for CPUs with AVX2 and FMA. */
#include "kernel/blocked_core.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

typedef __m256 V8;
typedef float  V8U __attribute__((vector_size(32), aligned(4), may_alias));

#define SPREAD(x)      _mm256_set1_ps(x)
#define FMA(a, b, c)   _mm256_fmadd_ps(a, b, c)
#define AT_LEAST(l, x) _mm256_max_ps(l, x)
#define AT_MOST(h, x)  _mm256_min_ps(h, x)
/* NaN wins: where a is NaN, max gives b. */
#define LARGER(a, b) _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q))
#define HAS_NAN(x)   _mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q))
#define ADD_EXPONENT(p, t)                                                                         \
    _mm256_castsi256_ps(                                                                           \
        _mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(t), 23)))
#define PREFETCH(p) _mm_prefetch((const char *)(p), _MM_HINT_T1)
#define CORE        cq_core_avx2
#include "kernel/blocked_core.inc"

#else
typedef int cq_no_avx2_here; /* a translation unit must not be empty */
#endif

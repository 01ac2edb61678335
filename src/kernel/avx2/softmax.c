/* Softmax for CPUs with AVX2: the same source, compiled for them. */
#include "kernel/softmax_rows.h"

#if defined(__x86_64__)
#include "kernel/vmath.h"

#include <immintrin.h>

#define T            float
#define EXP          cq_expf
#define FN(name)     name##_avx2
#define LARGER(a, b) _mm256_max_ps(a, b)
#include "kernel/softmax.inc"

cq_softmax_fn *const cq_softmax_avx2[2] = { softmax_avx2, log_softmax_avx2 };

#else
typedef int cq_no_avx2_here; /* a translation unit must not be empty */
#endif

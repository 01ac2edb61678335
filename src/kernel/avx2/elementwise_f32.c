/* The twin of kernel/elementwise_f32.c, compiled for AVX2. It has no code of its own, and
 * gives the same numbers: products and sums are not contracted. */
#if defined(__x86_64__)
#include "kernel/vmath.h"

#define T       float
#define M(name) name##f
#define V(name) cq_##name##f
#define H(f)    f##_f32
#define F(id)   id##_f32
#define TABLE   cq_ew_f32_avx2
#include "kernel/elementwise_real.inc"
#else
typedef int cq_nothing_here; /* a file must not be empty */
#endif

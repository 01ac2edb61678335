/* Element-wise arithmetic in float; the operations are in elementwise_real.def. */
#include "kernel/vmath.h"

#define T       float
#define M(name) name##f
#define V(name) cq_##name##f
#define H(f)    f##_f32
#define F(id)   id##_f32
#define TABLE   cq_ew_f32
#include "kernel/elementwise_real.inc"

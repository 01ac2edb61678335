/* Element-wise arithmetic in float; the operations are in elementwise_real.def. All instruction
 * sets give the same numbers: products and sums are not contracted here. */
#include "kernel/isa.h"
#include "kernel/vmath.h"

extern const cq_ew_row CQ_OF_ISA(ew)[CQ_EW_COUNT];

#define T       float
#define M(name) name##f
#define V(name) cq_##name##f
#define H(f)    f##_f32
#define F(id)   id##_f32
#define TABLE   CQ_OF_ISA(ew)
#include "kernel/elementwise_real.inc"

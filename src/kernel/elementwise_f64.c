/* Element-wise arithmetic in double; the operations are in elementwise_real.def. */
#define T       double
#define M(name) name
#define H(f)    f##_f64
#define F(id)   id##_f64
#define TABLE   cq_ew_f64
#include "kernel/elementwise_real.inc"

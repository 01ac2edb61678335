/* Element-wise arithmetic in int64_t; the operations are in elementwise_int.def. */
#define T           int64_t
#define NEGATIVE(x) ((x) < 0)
#define H(f)        f##_i64
#define F(id)       id##_i64
#define TABLE       cq_ew_i64
#include "kernel/elementwise_int.inc"

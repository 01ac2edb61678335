/* Element-wise arithmetic in uint64_t; the operations are in elementwise_int.def. */
#define T           uint64_t
#define NEGATIVE(x) 0
#define H(f)        f##_u64
#define F(id)       id##_u64
#define TABLE       cq_ew_u64
#include "kernel/elementwise_int.inc"

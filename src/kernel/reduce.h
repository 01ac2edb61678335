/* Reductions over any dimensions, and scans along one: extremes with their indices, running sums,
 * softmax.
 *
 * Outputs are allocated by the caller. The output keeps either all reduced dimensions, with size 1,
 * or none; both are accepted. Floats are summed in double. */
#ifndef CQ_KERNEL_REDUCE_H
#define CQ_KERNEL_REDUCE_H

#include "kernel/elementwise.h"

typedef enum cq_reduce_op {
    CQ_REDUCE_SUM,
    CQ_REDUCE_PROD,
    CQ_REDUCE_MEAN,
    CQ_REDUCE_AMAX, /* NaN is the extreme */
    CQ_REDUCE_AMIN,
    CQ_REDUCE_ANY,
    CQ_REDUCE_ALL,
    CQ_REDUCE_COUNT_NONZERO,
    CQ_REDUCE_VAR, /* param a: correction */
    CQ_REDUCE_STD,
    CQ_REDUCE_LOGSUMEXP,
    CQ_REDUCE_LOG_SUM,
    CQ_REDUCE_SUM_SQUARE,
    CQ_REDUCE_NORM, /* param a: the order; 0 counts, infinities take extremes */
    CQ_REDUCE_COUNT
} cq_reduce_op;

#define CQ_ALL_DIMS UINT64_MAX

/* Bit i of dims is set if dimension i is reduced; if no bit is set, every element is its own
 * result. Integers are added and multiplied in 64 bits unless out is of floats. */
cq_status cq_kernel_reduce(cq_tensor *out, cq_reduce_op op, const cq_params *params,
                           const cq_tensor *x, uint64_t dims);

/* The greatest (or least) element along dim, and its index; either output may be NULL. The first of
 * equal elements counts, or the last if `last` is set; the first NaN wins. dim < 0: of the whole
 * tensor in row-major order, and outputs have one element. */
typedef struct cq_extreme {
    bool least, last;
} cq_extreme;
cq_status cq_extreme_of(cq_tensor *values, cq_tensor *indices, const cq_extreme *which,
                        const cq_tensor *x, int64_t dim);

/* Running sum or product along dim. exclusive leaves out the element itself; reverse runs
 * from the end. flags may be 0. */
enum { CQ_SCAN_EXCLUSIVE = 1, CQ_SCAN_REVERSE = 2 };
cq_status cq_kernel_cumsum(cq_tensor *out, const cq_tensor *x, uint32_t dim, int flags);
cq_status cq_kernel_cumprod(cq_tensor *out, const cq_tensor *x, uint32_t dim, int flags);

/* Running extremes and their indices; of equal ones the latest. */
cq_status cq_kernel_cummax(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim);
cq_status cq_kernel_cummin(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim);

/* Along dim; out is of floats and may be x. */
cq_status cq_kernel_softmax(cq_tensor *out, const cq_tensor *x, uint32_t dim);
cq_status cq_kernel_log_softmax(cq_tensor *out, const cq_tensor *x, uint32_t dim);

#endif

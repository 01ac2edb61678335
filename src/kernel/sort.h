/* Sorting and operations that need an order. NaN is greater than every number, as in PyTorch; zeros
 * of both signs are equal; false is less than true. indices are int64 (or any integers): the index
 * of each element along dim. Outputs are preallocated, in x's dtype; values and indices may be
 * NULL. */
#ifndef CQ_KERNEL_SORT_H
#define CQ_KERNEL_SORT_H

#include "tensor/tensor.h"

/* Along dim. Equal elements keep their order, also when descending. */
cq_status cq_kernel_sort(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim,
                         bool descending);

/* The k greatest (or least) along dim, best first; k is the outputs' size there. Equal elements are
 * ordered by index. */
cq_status cq_kernel_topk(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim,
                         bool largest);

/* The k-th least along dim, from 1. The outputs' size in dim is 1. */
cq_status cq_kernel_kthvalue(cq_tensor *values, cq_tensor *indices, const cq_tensor *x,
                             uint32_t dim, int64_t k);

/* The lower median along dim; NaN if an element is NaN, unless NaNs are skipped (then NaN only if
 * all elements are NaN). */
cq_status cq_kernel_median(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim,
                           bool skip_nan);

/* Where each of x would be inserted in sorted: before its equals, or after them if right.
 * sorted has rank 1, or x's leading dimensions. out is of integers. */
cq_status cq_kernel_searchsorted(cq_tensor *out, const cq_tensor *sorted, const cq_tensor *x,
                                 bool right);

/* The distinct elements of x, sorted. With dim < 0 x counts as one row; otherwise slices along dim
 * are compared as a whole. indices has the index in values of each slice, in x's shape if dim < 0;
 * counts the number of occurrences; firsts the first index. All are new tensors; the last three may
 * be NULL. consecutive only merges adjacent equal slices and does not sort. */
cq_status cq_kernel_unique(cq_tensor **values, cq_tensor **indices, cq_tensor **counts,
                           cq_tensor **firsts, const cq_tensor *x, int64_t dim, bool consecutive);

#endif

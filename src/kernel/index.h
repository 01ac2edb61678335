/* Reads and writes elements of tensors at indices given by other tensors.
 *
 * Indices are integers of any dtype; -1 is the last element. An index out of bounds fails with
 * CQ_E_ARGUMENT. Elements of any dtype are copied unchanged: outputs have the dtype of their source
 * unless noted. Outputs whose size depends on the data are new tensors, returned through out. */
#ifndef CQ_KERNEL_INDEX_H
#define CQ_KERNEL_INDEX_H

#include "tensor/tensor.h"

/* How an element is written. Arithmetic is that of the dtype, one write after the other in
 * row-major order. */
typedef enum cq_combine {
    CQ_COMBINE_SET,
    CQ_COMBINE_ADD,
    CQ_COMBINE_MUL,
    CQ_COMBINE_MIN,
    CQ_COMBINE_MAX,
    CQ_COMBINE_MEAN
} cq_combine;

/* out[i][j] = x[index[i][j]][j] for dim 0; out has the shape of index. */
cq_status cq_kernel_gather(cq_tensor *out, const cq_tensor *x, uint32_t dim,
                           const cq_tensor *index);

/* out[index[i][j]][j] = src[i][j] for dim 0, combined; src may be a tensor of rank 0. Unless
 * with_self, elements of out that are written to do not count themselves. */
cq_status cq_kernel_scatter(cq_tensor *out, uint32_t dim, const cq_tensor *index,
                            const cq_tensor *src, cq_combine how, bool with_self);

/* The slices of x along dim that index selects. In out, index's dimensions replace dim. index may
 * have any rank, so this is also embedding (dim 0) and ONNX's Gather. */
cq_status cq_kernel_index_select(cq_tensor *out, const cq_tensor *x, uint32_t dim,
                                 const cq_tensor *index);

/* Combines the slices of out along dim selected by index, of rank 1, with the slices of src. src is
 * broadcast, so a tensor of rank 0 fills them. */
cq_status cq_kernel_index_write(cq_tensor *out, uint32_t dim, const cq_tensor *index,
                                const cq_tensor *src, cq_combine how);

/* The elements of x at linear indices in row-major order. */
cq_status cq_kernel_take(cq_tensor *out, const cq_tensor *x, const cq_tensor *index);

/* x[a, :, b] with index tensors a and b, as in PyTorch: they are broadcast together, and bool (and
 * uint8) ones mean the indices of their true elements. A plan has the result's shape and the
 * offsets.
 *
 *     cq_index_plan plan;
 *     CQ_TRY(cq_index_plan_init(&plan, x, indices, n));   // indices[i] may be NULL: all
 *     ... a tensor of plan.rank, plan.sizes ...
 *     status = cq_kernel_index_get(out, x, &plan);
 *     cq_index_plan_clear(&plan); */
typedef struct cq_index_plan {
    uint32_t   rank, first, n_dims; /* index dimensions are [first, first + n_dims) */
    cq_int     sizes[CQ_MAX_RANK];  /* of the result */
    uint32_t   from[CQ_MAX_RANK];   /* x's dimension of each other one */
    cq_tensor *offsets;             /* in elements of x, over the index dimensions */
} cq_index_plan;

cq_status cq_index_plan_init(cq_index_plan *plan, const cq_tensor *x,
                             const cq_tensor *const *indices, size_t n);
void      cq_index_plan_clear(cq_index_plan *plan);
cq_status cq_kernel_index_get(cq_tensor *out, const cq_tensor *x, const cq_index_plan *plan);
/* x[...] = values, or += with CQ_COMBINE_ADD; values are broadcast to the plan's sizes. The
 * plan was made for x. */
cq_status cq_kernel_index_put(cq_tensor *x, const cq_index_plan *plan, const cq_tensor *values,
                              cq_combine how);

/* ONNX's GatherND and ScatterND: the last dimension of index holds tuples that name
 * positions in x's dimensions after the first batch_dims. */
cq_status cq_kernel_gather_nd(cq_tensor *out, const cq_tensor *x, const cq_tensor *index,
                              uint32_t batch_dims);
cq_status cq_kernel_scatter_nd(cq_tensor *out, const cq_tensor *index, const cq_tensor *src,
                               cq_combine how);

/* How many elements are not zero; and rows of their indices: int64[n, rank]. */
cq_status cq_kernel_count_true(int64_t *n, const cq_tensor *x);
cq_status cq_kernel_nonzero(cq_tensor **out, const cq_tensor *x);

/* The elements of x where mask is true, both broadcast, in a row. */
cq_status cq_kernel_masked_select(cq_tensor **out, const cq_tensor *x, const cq_tensor *mask);

/* Where mask (broadcast to out) is true, the elements of src one after the other. */
cq_status cq_kernel_masked_scatter(cq_tensor *out, const cq_tensor *mask, const cq_tensor *src);

/* 0 repeats[0] times, 1 repeats[1] times, ...: the index for cq_kernel_index_select. */
cq_status cq_kernel_repeat_index(cq_tensor **out, const cq_tensor *repeats);

/* How often each number occurs, or the sum of its weights; at least min_length of them. */
cq_status cq_kernel_bincount(cq_tensor **out, const cq_tensor *x, const cq_tensor *weights,
                             int64_t min_length);

#endif

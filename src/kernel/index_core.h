/* The common part of all forms of indexing. Indices become offsets and are checked; then a walk
 * reads or writes an element or a row at base plus offset. */
#ifndef CQ_KERNEL_INDEX_CORE_H
#define CQ_KERNEL_INDEX_CORE_H

#include "kernel/index.h"
#include "tensor/walk.h"

/* A tensor of zeros in the shape of t. */
cq_status cq_new_like(cq_tensor **out, cq_dtype dtype, const cq_tensor *t);

/* Adds stride times index, broadcast, to offsets, which are int64 and dense. index must lie
 * within [-size, size); dim is for the message. */
cq_status cq_add_offsets(cq_tensor *offsets, const cq_tensor *index, uint32_t dim, int64_t size,
                         int64_t stride);

/* Offsets of index along dimension dim of x, in elements, in the shape of index. */
cq_status cq_offsets_along(cq_tensor **out, const cq_tensor *index, const cq_tensor *x,
                           uint32_t dim);

/* The loops. w has three operands and is not started: values, x without the indexed
 * dimensions, offsets in elements of x. Elements are of size bytes. */
void cq_read_at_offsets(cq_walk *w, int64_t size);
void cq_write_at_offsets(cq_walk *w, cq_dtype dtype, cq_combine how);

/* Checks that src can be written into out, and that t has the shape of the selection. */
cq_status cq_check_write(const cq_tensor *out, const cq_tensor *src, cq_combine how);
cq_status cq_check_selected(const cq_tensor *t, uint32_t rank, const cq_int *sizes);

#endif

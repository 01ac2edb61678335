/* The tensors of a run. A workspace counts the bytes that are in use, refuses to go over its
 * limit, and keeps blocks that were let go for the next tensor of that size, in this run or
 * in a later one. It lives as long as any of its tensors. */
#ifndef CQ_RUNTIME_MEMORY_H
#define CQ_RUNTIME_MEMORY_H

#include "tensor/tensor.h"

typedef struct cq_rt_workspace cq_rt_workspace;

cq_status cq_rt_workspace_new(cq_rt_workspace **out, uint64_t limit); /* 0: no limit */
void      cq_rt_workspace_release(cq_rt_workspace *w);                /* NULL is fine */

/* A contiguous tensor with elements that are not set. Negative sizes and such that overflow
 * are refused. */
cq_status cq_rt_workspace_tensor(cq_tensor **out, cq_rt_workspace *w, cq_dtype dtype, size_t rank,
                                 const int64_t *sizes);

#endif

/* The tensors of a run. A workspace counts the bytes in use and enforces a limit.
 *
 * It records the allocations and releases of a run (a placing). A later run on inputs of the same
 * shapes makes the same requests step by step: its tensors are then in one arena, at offsets
 * computed from their lifetimes (layout.h). Requests that differ from the record, because sizes
 * depend on data or a branch is taken, and outputs, get separate blocks. The record is only a hint:
 * memory that is still in use is never assigned again. Released blocks are kept for the next tensor
 * of that size.
 *
 * A workspace belongs to one run at a time, and lives as long as any of its tensors. */
#ifndef CQ_RUNTIME_PLAN_MEMORY_H
#define CQ_RUNTIME_PLAN_MEMORY_H

#include "base/vec.h"
#include "runtime/plan/layout.h"
#include "tensor/tensor.h"

/* The allocations of a run and, after the layout, their offsets. */
typedef struct cq_rt_placing {
    CQ_VEC(cq_rt_span)
    spans; /* in the order of allocation; blocks that outlive the run have no end */
    CQ_VEC(uint32_t) first; /* index of the first span of each step, and the number of spans */
    uint64_t total;         /* UINT64_MAX until the layout is computed */
} cq_rt_placing;

cq_status cq_rt_placing_lay_out(cq_rt_placing *p); /* computes the layout on the first call */
void      cq_rt_placing_free(cq_rt_placing *p);    /* accepts NULL */

typedef struct cq_rt_workspace cq_rt_workspace;

cq_status cq_rt_workspace_new(cq_rt_workspace **out, uint64_t limit);    /* 0: unlimited */
void      cq_rt_workspace_set_limit(cq_rt_workspace *w, uint64_t limit); /* only between runs */
void      cq_rt_workspace_release(cq_rt_workspace *w);                   /* accepts NULL */

/* Begins a run that follows the finished layout in placing, which must stay valid until the end.
 * NULL starts recording. Without this call, requests are neither placed nor recorded. */
cq_status cq_rt_workspace_begin(cq_rt_workspace *w, const cq_rt_placing *placing);

/* Declares that the following requests belong to that step of the model's graph. */
cq_status cq_rt_workspace_step(cq_rt_workspace *w, uint32_t step);

/* Ends a run. *written is the record, owned by the caller, or NULL. Returns the peak number of
 * bytes in use. */
uint64_t cq_rt_workspace_end(cq_rt_workspace *w, cq_rt_placing **written);

/* Allocates a contiguous tensor with uninitialized elements. Negative sizes and overflows are
 * errors. */
cq_status cq_rt_workspace_tensor(cq_tensor **out, cq_rt_workspace *w, cq_dtype dtype, size_t rank,
                                 const int64_t *sizes);

/* Whether the memory of a tensor comes from a workspace and is not shared. */
bool cq_rt_workspace_is_only_owner(const cq_tensor *t);

/* Called when a weight has been packed: if it is mapped from a file, its pages need not stay in
 * memory. */
void cq_rt_was_packed(const cq_tensor *weight);

#endif

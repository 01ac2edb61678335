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

/* The allocations of a run and, once they are laid out, their offsets. */
typedef struct cq_rt_placing {
    CQ_VEC(cq_rt_span)
    spans; /* in the order of allocation; a block that outlives the run has no end */
    CQ_VEC(uint32_t) first; /* of each step: its first span; one more for the end */
    uint64_t total;         /* UINT64_MAX: not laid out yet */
} cq_rt_placing;

cq_status cq_rt_placing_lay_out(cq_rt_placing *p); /* once; later calls do nothing */
void      cq_rt_placing_free(cq_rt_placing *p);    /* NULL is fine */

typedef struct cq_rt_workspace cq_rt_workspace;

cq_status cq_rt_workspace_new(cq_rt_workspace **out, uint64_t limit);    /* 0: no limit */
void      cq_rt_workspace_set_limit(cq_rt_workspace *w, uint64_t limit); /* between runs */
void      cq_rt_workspace_release(cq_rt_workspace *w);                   /* NULL is fine */

/* Begins a run. placing is a finished layout that the run follows; it must stay valid until the
 * end. NULL records a new one. Without this call requests are neither placed nor recorded. */
cq_status cq_rt_workspace_begin(cq_rt_workspace *w, const cq_rt_placing *placing);

/* The following requests belong to that step of the model's graph. */
cq_status cq_rt_workspace_step(cq_rt_workspace *w, uint32_t step);

/* Ends a run. *written is the record, owned by the caller; NULL if there is none. Returns the peak
 * number of bytes in use. */
uint64_t cq_rt_workspace_end(cq_rt_workspace *w, cq_rt_placing **written);

/* A contiguous tensor with uninitialized elements. Negative sizes and overflows are errors. */
cq_status cq_rt_workspace_tensor(cq_tensor **out, cq_rt_workspace *w, cq_dtype dtype, size_t rank,
                                 const int64_t *sizes);

/* Whether the memory of a tensor comes from a workspace and is not shared. */
bool cq_rt_workspace_is_only_owner(const cq_tensor *t);

/* A weight has been packed: if it is mapped from a file, its pages need not stay in memory. */
void cq_rt_was_packed(const cq_tensor *weight);

#endif

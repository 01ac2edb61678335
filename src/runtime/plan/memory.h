/* The tensors of a run. A workspace counts the bytes that are in use and refuses to go over its
 * limit.
 *
 * It writes down what a run asks for and when it lets it go (a placing). A later run on inputs of
 * the same shapes asks for the same again, step by step: its tensors then lie in one arena, at
 * places that were worked out from when each is needed (layout.h). What comes differently than it
 * was written down, since sizes depend on numbers or a branch goes the other way, or what leaves
 * the run with its outputs, has a block of its own; the plan is never trusted to be right, since a
 * place that is still taken is not given out again. Blocks that were let go are kept for the next
 * tensor of that size.
 *
 * A workspace belongs to one run at a time, and lives as long as any of its tensors. */
#ifndef CQ_RUNTIME_PLAN_MEMORY_H
#define CQ_RUNTIME_PLAN_MEMORY_H

#include "base/vec.h"
#include "runtime/plan/layout.h"
#include "tensor/tensor.h"

/* What a run asked for, and, once it is laid out, where that lies. */
typedef struct cq_rt_placing {
    CQ_VEC(cq_rt_span) spans; /* as they were asked for; one that outlived the run has no end */
    CQ_VEC(uint32_t) first;   /* of each step: its first span; one more for the end */
    uint64_t total;           /* UINT64_MAX: not laid out yet */
} cq_rt_placing;

cq_status cq_rt_placing_lay_out(cq_rt_placing *p); /* once; later calls do nothing */
void      cq_rt_placing_free(cq_rt_placing *p);    /* NULL is fine */

typedef struct cq_rt_workspace cq_rt_workspace;

cq_status cq_rt_workspace_new(cq_rt_workspace **out, uint64_t limit);    /* 0: no limit */
void      cq_rt_workspace_set_limit(cq_rt_workspace *w, uint64_t limit); /* between runs */
void      cq_rt_workspace_release(cq_rt_workspace *w);                   /* NULL is fine */

/* A run begins: with a placing that is laid out and stays until its end, or, if that is NULL,
 * writing one down. Without these calls there is neither. */
cq_status cq_rt_workspace_begin(cq_rt_workspace *w, const cq_rt_placing *placing);

/* What follows belongs to that step of the model's graph. */
cq_status cq_rt_workspace_step(cq_rt_workspace *w, uint32_t step);

/* The run is over. *written is what was written down, the caller's; NULL if nothing was. Returns
 * the most bytes that were in use at once. */
uint64_t cq_rt_workspace_end(cq_rt_workspace *w, cq_rt_placing **written);

/* A contiguous tensor with elements that are not set. Negative sizes and such that overflow
 * are refused. */
cq_status cq_rt_workspace_tensor(cq_tensor **out, cq_rt_workspace *w, cq_dtype dtype, size_t rank,
                                 const int64_t *sizes);

/* Whether the memory of a tensor comes from a workspace, and nobody else sees it. */
bool cq_rt_workspace_is_only_owner(const cq_tensor *t);

/* A weight has been packed: if it lies in a file, its pages need not stay in memory. */
void cq_rt_was_packed(const cq_tensor *weight);

#endif

/* Several element-wise operations on float32 as one pass over memory: all of them on one block
 * of elements that stays in the first-level cache, then on the next. The operations are those of
 * elementwise.h, with the same numbers, for the instruction set in use.
 *
 *     cq_chain c = { 0 };
 *     int      x = cq_chain_operand(&c, tensor), y = cq_chain_operand(&c, other);
 *
 *     cq_chain_op(&c, CQ_EW_MUL, NULL, (int[]){ x, cq_chain_op(&c, CQ_EW_TANH, NULL, &y) });
 *     CQ_TRY(cq_chain_run(out, &c));
 *
 * The result is that of the last operation. Operands are broadcast to out's shape. */
#ifndef CQ_KERNEL_CHAIN_H
#define CQ_KERNEL_CHAIN_H

#include "kernel/elementwise.h"
#include "tensor/walk.h"

enum { CQ_CHAIN_OPS = 24, CQ_CHAIN_OPERANDS = CQ_WALK_OPERANDS };

typedef struct cq_chain_step {
    cq_ew_op  op;
    cq_params params;
    int       in[3]; /* operands; and CQ_CHAIN_OPERANDS + i: the result of step i */
} cq_chain_step;

typedef struct cq_chain {
    int              n_operands, n_steps;
    const cq_tensor *operands[CQ_CHAIN_OPERANDS];
    cq_chain_step    steps[CQ_CHAIN_OPS];
} cq_chain;

/* Whether the operation can be a step: its result is float32. */
bool cq_chain_has(cq_ew_op op);

/* Adds an operand, float32 or bool (read as 0 and 1), and returns its index; a tensor that was
 * added before keeps its index. -1: too many operands. */
int cq_chain_operand(cq_chain *c, const cq_tensor *t);

/* Adds a step and returns the index of its result. NULL params have the defaults of
 * elementwise.h. */
int cq_chain_op(cq_chain *c, cq_ew_op op, const cq_params *params, const int *in);

/* out is contiguous float32. It may be an operand of the same shape, but must not overlap one
 * partially. */
cq_status cq_chain_run(cq_tensor *out, const cq_chain *c);

#endif

/* Sizes as torch.export writes them: "2*s0 + 1", or what sympy calls srepr,
 * "Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))". */
#ifndef CQ_PT2_EXPR_H
#define CQ_PT2_EXPR_H

#include "tensor/expr.h"

typedef struct cq_pt2_env {
    cq_symbols *table;

    /* What a symbol stands for; false: it is not known. */
    bool (*symbol)(void *user, const char *name, cq_int *out);
    void *user;
} cq_pt2_env;

/* False for what is not an expression, or none that a cq_int can be (a float, a condition, a
 * function that is not known). */
bool cq_pt2_expr(const char *text, const cq_pt2_env *env, cq_int *out);

/* The name if the expression is one symbol alone, into buffer; else NULL. */
const char *cq_pt2_lone_symbol(const char *text, char *buffer, size_t size);

#endif

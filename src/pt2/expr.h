/* Sizes as torch.export writes them: "2*s0 + 1", or what sympy calls srepr,
 * "Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))". */
#ifndef CQ_PT2_EXPR_H
#define CQ_PT2_EXPR_H

#include "tensor/expr.h"

typedef struct cq_pt2_env {
    cq_symbols *table;

    /* The value of a symbol; false: unknown. */
    bool (*symbol)(void *user, const char *name, cq_int *out);
    void *user;
} cq_pt2_env;

/* False if the text is not an expression, or cannot be a cq_int (a float, a condition, an unknown
 * function). */
bool cq_pt2_expr(const char *text, const cq_pt2_env *env, cq_int *out);

/* The name if the expression is one symbol alone, into buffer; else NULL. */
const char *cq_pt2_lone_symbol(const char *text, char *buffer, size_t size);

#endif

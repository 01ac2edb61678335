/* Symbolic integers: sizes that are not known until the model runs.
 *
 * An expression is a polynomial in atoms: symbols (`batch`), and quotients, remainders, minima and
 * maxima that do not simplify. Expressions have one canonical form and are interned in a table, so
 * two equal ones are the same pointer, and a size that cancels out (`4*n // 4`, `n - n`) becomes
 * simple again.
 *
 * Every cq_int has its value on the example in addition to its expression. */
#ifndef CQ_TENSOR_EXPR_H
#define CQ_TENSOR_EXPR_H

#include "base/arena.h"
#include "base/map.h"

#include <calque/tensor.h>

typedef enum cq_atom_kind {
    CQ_ATOM_SYMBOL,
    CQ_ATOM_FLOORDIV, /* rounds down, as Python's // */
    CQ_ATOM_MOD,      /* the sign of the divisor, as Python's % */
    CQ_ATOM_MIN,
    CQ_ATOM_MAX,
    CQ_ATOM_MUL, /* a product or sum past the limits below, kept whole */
    CQ_ATOM_ADD
} cq_atom_kind;

typedef struct cq_atom {
    cq_atom_kind kind;
    const char  *text; /* canonical, unique in its table */
    cq_int       a, b; /* operands, of all but symbols */
    int64_t      example;
    bool         is_natural; /* surely not negative */
    int          depth;      /* 0 of a symbol, else one more than that of its operands */

    /* The symbols it is made of, each once. Operations share their operands, so that a walk down
     * to the symbols would take twice as long with each. */
    const struct cq_atom *const *symbols;
    size_t                       n_symbols;
    unsigned                     mark; /* of a symbol: the last walk that met it */

    /* Where a running model finds a symbol: the size of a graph value along axis, or,
     * with axis -1, the value itself (a scalar int64 tensor). In an ONNX model that is edited it
     * is the size of a named input. */
    struct cq_value *origin;
    const char      *input;
    int              axis;
} cq_atom;

enum {
    CQ_EXPR_MAX_DEGREE = 6,
    CQ_EXPR_MAX_TERMS  = 32,
    CQ_EXPR_MAX_DEPTH  = 1000, /* operations inside of each other that are not polynomials */
    CQ_EXPR_MAX_TEXT   = 100,  /* of an operation; a longer one is called `size_0` */

    CQ_EXPR_MAX_SYMBOLS = 1000 /* of an operation */
};

typedef struct cq_term {
    int64_t        factor;
    int            n_atoms; /* 0: the constant term, always last */
    const cq_atom *atoms[CQ_EXPR_MAX_DEGREE];
} cq_term;

struct cq_expr {
    const char *text; /* "2*batch+1" */
    size_t      n_terms;
    cq_term     terms[];
};

typedef struct cq_symbols {
    cq_arena *arena; /* borrowed; lives as long as the tensors that use the symbols */
    cq_map    exprs, atoms;
    unsigned  n_fresh, n_long, mark;
    bool      guesses; /* some symbols have an example that is only a guess */
    cq_status status;  /* of the first failure: results are plain numbers from then on; whoever made
                          the table asks for it in the end, by cq_symbols_check */
} cq_symbols;

void      cq_symbols_init(cq_symbols *table, cq_arena *arena);
void      cq_symbols_clear(cq_symbols *table);
cq_status cq_symbols_check(const cq_symbols *table); /* the first failure, and why */

/* A new symbol, or the one of that name. prefix NULL: a fresh name, `s0`. */
cq_int cq_symbol(cq_symbols *table, const char *name, int64_t example, struct cq_value *origin,
                 int axis);
cq_int cq_symbol_of_input(cq_symbols *table, const char *name, int64_t example, const char *input,
                          int axis);
cq_int cq_symbol_fresh(cq_symbols *table, const char *prefix, int64_t example,
                       struct cq_value *origin, int axis);

/* Arithmetic. table may be NULL when both are plain. Division by a plain 0 gives 0. */
cq_int cq_int_add(cq_symbols *table, cq_int a, cq_int b);
cq_int cq_int_sub(cq_symbols *table, cq_int a, cq_int b);
cq_int cq_int_mul(cq_symbols *table, cq_int a, cq_int b);
cq_int cq_int_floordiv(cq_symbols *table, cq_int a, cq_int b);
cq_int cq_int_mod(cq_symbols *table, cq_int a, cq_int b);
cq_int cq_int_min(cq_symbols *table, cq_int a, cq_int b);
cq_int cq_int_max(cq_symbols *table, cq_int a, cq_int b);

static inline bool cq_int_is_plain(cq_int a)
{
    return a.expr == NULL;
}

static inline bool cq_int_is(cq_int a, int64_t value)
{
    return a.expr == NULL && a.value == value;
}

/* Surely equal: the same number or the same expression. */
static inline bool cq_int_same(cq_int a, cq_int b)
{
    return a.expr == b.expr && (a.expr || a.value == b.value);
}

/* How deep its operations are in each other; 0 of a number or a symbol. */
int cq_int_depth(cq_int a);

/* The expression if it is one symbol alone, else NULL. */
const cq_atom *cq_int_symbol(cq_int a);

/* Whether no symbol is in both. */
bool cq_int_independent(cq_int a, cq_int b);

/* Surely not negative: made of sizes, without subtractions. */
bool cq_int_is_natural(cq_int a);

/* "3" or "2*batch+1"; buffer of at least 24 bytes is used for plain numbers. */
const char *cq_int_text(cq_int a, char *buffer);

#endif

/* Builtin functions of Python and TorchScript that are not tensor operators, or that have another
 * meaning for numbers, lists, dicts and strings. Each file has a table of them. */
#ifndef CQ_SCRIPT_BUILTINS_BUILTIN_H
#define CQ_SCRIPT_BUILTINS_BUILTIN_H

#include "script/call.h"

/* Several rows may have one name. The first row that does not decline is used. A row is tried only
 * if the call matches its signature: the argument must have the type of its parameter, if any
 * ("sequence" is a list of data-dependent length); parameters with a ? are optional; a signature
 * that ends in ... accepts further arguments. fn reads all arguments by position, including keyword
 * arguments. */
typedef struct cq_builtin {
    const char *signature; /* "pop(list self, idx?)"; the name is without "aten::" or "prim::" */
    cq_status (*fn)(cq_fncall *c);

    bool of_all_lists; /* accepts lists of data-dependent length too */

    /* Distinguishes rows that share one function. */
    int         how;
    const char *op; /* the operator that computes it on tensors */
    cq_int (*ints)(cq_symbols *symbols, cq_int a, cq_int b);
    double (*reals)(double a, double b);
    double (*real)(double);
    int (*letter)(int);
} cq_builtin;

extern const cq_builtin cq_builtins_of_sequences[]; /* the only rows that accept lists of
                                                     * data-dependent length */
extern const cq_builtin cq_builtins_sequence[];
extern const cq_builtin cq_builtins_number[];
extern const cq_builtin cq_builtins_compare[];
extern const cq_builtin cq_builtins_math[];
extern const cq_builtin cq_builtins_item[];  /* access without iterating over the whole list */
extern const cq_builtin cq_builtins_entry[]; /* the same for dicts */
extern const cq_builtin cq_builtins_list[];
extern const cq_builtin cq_builtins_dict[];
extern const cq_builtin cq_builtins_text[];
extern const cq_builtin cq_builtins_tensor[];
extern const cq_builtin cq_builtins_python[];
extern const cq_builtin cq_builtins_marks[];   /* functions of the namespace "calque::" */
extern const cq_builtin cq_builtins_objects[]; /* of Python source; tried before all others */
extern const cq_builtin cq_builtins_iteration[], cq_builtins_values[]; /* of Python source; tried
                                                                        * before all others */
extern const cq_builtin cq_builtins_natives[]; /* of lib/torch and lib/python; tried before all
                                                * others */
extern const cq_builtin cq_builtins_random[];  /* of model source */

bool cq_builtin_exists(const char *name); /* whether any row has that name */

/* An optional argument; None if it is omitted. */
static inline cq_val cq_builtin_arg(const cq_fncall *c, size_t i)
{
    return i < c->n ? c->args[i] : CQ_NONE;
}

/* Fails because a dict lacks the key: a KeyError. */
cq_status cq_builtin_no_key(cq_eval *ev, const char *function, cq_val key);

/* A dict key; fails if the value is data-dependent. */
cq_status cq_builtin_key(cq_eval *ev, cq_val *key);

/* The same for a key of dict: one that is equal by its class's == is replaced by that of dict. */
cq_status cq_builtin_key_of(cq_eval *ev, const cq_dict *dict, cq_val *key);

cq_status cq_builtin_open_text(const char *what); /* fails */
cq_status cq_builtin_text(cq_eval *ev, const char *text, size_t len, cq_val *out);

static inline bool cq_val_is_object(cq_val v)
{
    return v.kind == CQ_VAL_OBJECT;
}

static inline bool cq_val_is_number(cq_val v)
{
    return v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_BOOL ||
           v.kind == CQ_VAL_COMPLEX;
}

/* A data-dependent number, or a size. */
static inline bool cq_val_is_symbolic(cq_val v)
{
    return (v.kind == CQ_VAL_INT && v.u.i.expr) || (v.kind == CQ_VAL_FLOAT && v.u.f.origin) ||
           (v.kind == CQ_VAL_BOOL && v.u.b.origin);
}

/* Whether any (or all) of these numbers equals its partner, as a condition of the graph. step 0:
 * all numbers have the same partner. */
cq_status cq_builtin_any_equal(cq_eval *ev, const cq_val *a, const cq_val *b, size_t step, size_t n,
                               bool all, cq_val *out);

/* A builtin that does nothing and returns None. */
cq_status cq_builtin_return_none(cq_fncall *c);

/* Converts an index among n items; fails if it is out of range. */
cq_status cq_builtin_position(cq_eval *ev, cq_val index, size_t n, size_t *out);

/* start:stop:step of n items, with Python's rules; each may be None. */
typedef struct cq_bounds {
    int64_t start, stop, step;
} cq_bounds;
cq_status cq_builtin_bounds(cq_eval *ev, const cq_val v[3], size_t n, cq_bounds *out);

/* Whether the items are one-element tensors or data-dependent numbers, which must be compared in
 * the graph; and the sort of such items. */
bool      cq_builtin_is_order_of_tensors(const cq_list *list);
cq_status cq_builtin_sort_tensors(cq_fncall *c, cq_list *list, bool reverse);

/* Whether a and b are equal; *known is false if that depends on a symbol. */
cq_status cq_builtin_equal(cq_eval *ev, cq_val a, cq_val b, bool *known, bool *equal);

/* Calls the operator on 0-d tensors and returns its result as a data-dependent number. */
cq_status cq_builtin_by_tensors(cq_fncall *c, const char *op, cq_val_kind kind);

/* Records that the tensor holds that integer, which may be a symbolic size, so that reading the
 * element returns the size again. */
cq_status cq_builtin_set_known(cq_tensor *t, cq_int i);

/* Reads the element of a tensor as a data-dependent int, float or bool. */
cq_status cq_builtin_number_of(cq_eval *ev, cq_tensor *t, cq_val_kind kind, cq_val *out);

#endif

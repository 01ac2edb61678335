/* Symbolic sizes as graph values. A symbol is read off where it comes from (Shape of a
 * value, one element of it); an expression is arithmetic on those. Each is computed once
 * per block: a block sees what its surrounding blocks have computed before it. */
#include "export/exporter.h"

#include <stdio.h>

/* Atoms and expressions are interned: each is its address. */
static void write_key(char key[64], const cq_block *block, const void *what)
{
    snprintf(key, 64, "%p %p", (const void *)block, what);
}

static cq_value *remembered(cq_sym *s, const void *what)
{
    char key[64];

    for (cq_block *b = s->block; b; b = b->owner ? b->owner->block : NULL) {
        cq_value *v;

        write_key(key, b, what);
        v = cq_map_get(&s->ex->sizes, key);
        if (v)
            return v;
    }
    return NULL;
}

static cq_value *remember(cq_sym *s, const void *what, cq_value *v)
{
    char key[64];

    write_key(key, s->block, what);
    if (v)
        cq_sym_fail(s, cq_map_set(&s->ex->sizes, key, v));
    return v;
}

static cq_value *typed(cq_sym *s, cq_value *v)
{
    cq_sym_set_type(s, v, CQ_DTYPE_I64, 0, NULL);
    return v;
}

static cq_value *of_symbol(cq_sym *s, const cq_atom *atom)
{
    const cq_value *origin = atom->origin;
    cq_value       *v;

    if (!origin) {
        cq_sym_no(s, 0, "no value of the graph has the size %s", atom->text);
        return NULL;
    }
    v = cq_sym_value(s, origin);
    if (!v)
        return NULL;
    if (atom->axis < 0)
        return cq_sym_cast(s, v, CQ_DTYPE_I64);
    return typed(s,
                 cq_sym_op(s, "Gather", CQ_IN(cq_sym_shape(s, v), cq_sym_const_i64(s, atom->axis)),
                           CQ_ATTR(cq_attr_i("axis", 0))));
}

static cq_value *binary(cq_sym *s, const char *op, cq_value *a, cq_value *b)
{
    return typed(s, cq_sym_op(s, op, CQ_IN(a, b), CQ_NO_ATTR));
}

static bool is_of_naturals(const cq_atom *atom)
{
    return cq_int_is_natural(atom->a) && cq_int_is_natural(atom->b);
}

/* Floor division in doubles, which are exact far beyond any size: there is no Mod before opset
 * 10. */
static cq_value *floored(cq_sym *s, cq_value *a, cq_value *b)
{
    cq_value *v =
        cq_sym_op(s, "Div", CQ_IN(cq_sym_cast(s, a, CQ_DTYPE_F64), cq_sym_cast(s, b, CQ_DTYPE_F64)),
                  CQ_NO_ATTR);

    v = cq_sym_op(s, "Floor", CQ_IN(v), CQ_NO_ATTR);
    cq_sym_set_type(s, v, CQ_DTYPE_F64, 0, NULL);
    return cq_sym_cast(s, v, CQ_DTYPE_I64);
}

static cq_value *remainder_of(cq_sym *s, const cq_atom *atom, cq_value *a, cq_value *b)
{
    cq_value *many;

    if (cq_sym_opset(s) >= 10) /* Mod has the sign of the divisor, as Python's */
        return binary(s, "Mod", a, b);
    /* ONNX Runtime rewrites 1 / b * b as b / b, for integers too. */
    many =
        is_of_naturals(atom) && !cq_int_is(atom->a, 1) ? binary(s, "Div", a, b) : floored(s, a, b);
    return binary(s, "Sub", a, binary(s, "Mul", many, b));
}

/* ONNX's integer division truncates. Sizes are not negative, so this rounds down; for numbers that
 * may be negative, the remainder is subtracted first. */
static cq_value *quotient(cq_sym *s, const cq_atom *atom, cq_value *a, cq_value *b)
{
    if (is_of_naturals(atom))
        return binary(s, "Div", a, b);
    if (cq_sym_opset(s) < 10)
        return floored(s, a, b);
    return binary(s, "Div", binary(s, "Sub", a, remainder_of(s, atom, a, b)), b);
}

static cq_value *of_atom(cq_sym *s, const cq_atom *atom)
{
    cq_value *v = remembered(s, atom), *a, *b;

    if (v || s->status != CQ_OK)
        return v;
    if (atom->kind == CQ_ATOM_SYMBOL)
        return remember(s, atom, of_symbol(s, atom));
    a = cq_sym_of_int(s, atom->a);
    b = cq_sym_of_int(s, atom->b);
    switch (atom->kind) {
    case CQ_ATOM_FLOORDIV: v = quotient(s, atom, a, b); break;
    case CQ_ATOM_MOD: v = remainder_of(s, atom, a, b); break;
    case CQ_ATOM_MIN:
    case CQ_ATOM_MAX: /* Min and Max take int64 since opset 12 */
        if (cq_sym_opset(s) >= 12) {
            v = binary(s, atom->kind == CQ_ATOM_MIN ? "Min" : "Max", a, b);
        } else {
            cq_value *less = cq_sym_opset(s) >= 9
                                 ? cq_sym_op(s, "Less", CQ_IN(a, b), CQ_NO_ATTR)
                                 : cq_sym_op(s, "Less",
                                             CQ_IN(cq_sym_cast(s, a, CQ_DTYPE_F32),
                                                   cq_sym_cast(s, b, CQ_DTYPE_F32)),
                                             CQ_NO_ATTR);

            if (!cq_sym_since(s, 9, "the minimum of two sizes requires opset 9"))
                return NULL;
            v = typed(s, cq_sym_op(s, "Where",
                                   atom->kind == CQ_ATOM_MIN ? (cq_value *[]){ less, a, b }
                                                             : (cq_value *[]){ less, b, a },
                                   3, CQ_NO_ATTR));
        }
        break;
    case CQ_ATOM_MUL: v = binary(s, "Mul", a, b); break;
    case CQ_ATOM_ADD: v = binary(s, "Add", a, b); break;
    case CQ_ATOM_SYMBOL: break;
    }
    return remember(s, atom, v);
}

static cq_value *of_term(cq_sym *s, const cq_term *t)
{
    cq_value *v = t->n_atoms ? of_atom(s, t->atoms[0]) : cq_sym_const_i64(s, t->factor);

    for (int i = 1; i < t->n_atoms; i++)
        v = binary(s, "Mul", v, of_atom(s, t->atoms[i]));
    if (t->n_atoms && t->factor != 1)
        v = binary(s, "Mul", v, cq_sym_const_i64(s, t->factor));
    return v;
}

cq_value *cq_sym_of_int(cq_sym *s, cq_int i)
{
    cq_value *v;

    if (s->status != CQ_OK)
        return NULL;
    if (!i.expr)
        return cq_sym_const_i64(s, i.value);
    v = remembered(s, i.expr);
    if (v)
        return v;
    for (size_t t = 0; t < i.expr->n_terms; t++) {
        cq_value *term = of_term(s, &i.expr->terms[t]);

        v = t ? binary(s, "Add", v, term) : term;
    }
    return remember(s, i.expr, v);
}

cq_value *cq_sym_of_int_1d(cq_sym *s, cq_int i)
{
    int64_t zero = 0;

    return i.expr ? cq_sym_unsqueeze(s, cq_sym_of_int(s, i), &zero, 1)
                  : cq_sym_const_i64s(s, &i.value, 1);
}

cq_value *cq_sym_of_ints(cq_sym *s, const cq_int *items, size_t n)
{
    cq_value *pieces[CQ_MAX_RANK];
    int64_t   run[CQ_MAX_RANK];
    size_t    n_pieces = 0, n_run = 0;

    if (n > CQ_MAX_RANK) {
        cq_sym_no(s, 0, "a list of %zu sizes exceeds the limit", n);
        return NULL;
    }
    for (size_t i = 0; i <= n && s->status == CQ_OK; i++) {
        if (i < n && !items[i].expr) {
            run[n_run++] = items[i].value;
            continue;
        }
        if (n_run || n == 0)
            pieces[n_pieces++] = cq_sym_const_i64s(s, run, n_run);
        n_run = 0;
        if (i < n)
            pieces[n_pieces++] = cq_sym_of_int_1d(s, items[i]);
    }
    if (s->status != CQ_OK)
        return NULL;
    return n_pieces == 1 ? pieces[0] : cq_sym_concat(s, pieces, n_pieces, 0);
}

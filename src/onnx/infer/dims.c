/* Arithmetic with sizes, and the rules for broadcasting and unifying shapes. A size that the
 * symbols do not determine is unknown; it is never guessed. */
#include "onnx/infer/rule.h"

#include <string.h>

typedef cq_int (*int_op)(cq_symbols *, cq_int, cq_int);

bool cq_int_is_long(cq_int a)
{
    return a.expr && (strnlen(a.expr->text, CQ_ONNX_INFER_MAX_TEXT + 1) > CQ_ONNX_INFER_MAX_TEXT ||
                      cq_int_depth(a) > CQ_EXPR_MAX_DEPTH / 2);
}

static bool atom_is_size(const cq_atom *atom)
{
    if (atom->kind == CQ_ATOM_SYMBOL)
        return true;
    if (atom->kind == CQ_ATOM_MAX && (cq_int_is_size(atom->a) || cq_int_is_size(atom->b)))
        return true;
    return cq_int_is_size(atom->a) && cq_int_is_size(atom->b);
}

bool cq_int_is_size(cq_int a)
{
    if (!a.expr)
        return a.value >= 0;
    if (cq_int_is_long(a)) /* this also limits the depth of expressions */
        return false;
    for (size_t i = 0; i < a.expr->n_terms; i++) {
        if (a.expr->terms[i].factor < 0)
            return false;
        for (int k = 0; k < a.expr->terms[i].n_atoms; k++)
            if (!atom_is_size(a.expr->terms[i].atoms[k]))
                return false;
    }
    return true;
}

static cq_dim combine(const cq_rule *r, int_op op, cq_dim a, cq_dim b)
{
    if (!a.known || !b.known || cq_int_is_long(a.size) || cq_int_is_long(b.size))
        return cq_dim_unknown();
    return (cq_dim){ true, op(r->symbols, a.size, b.size) };
}

cq_dim cq_dim_add(const cq_rule *r, cq_dim a, cq_dim b)
{
    return combine(r, cq_int_add, a, b);
}

cq_dim cq_dim_sub(const cq_rule *r, cq_dim a, cq_dim b)
{
    return combine(r, cq_int_sub, a, b);
}

cq_dim cq_dim_min(const cq_rule *r, cq_dim a, cq_dim b)
{
    return combine(r, cq_int_min, a, b);
}

cq_dim cq_dim_max(const cq_rule *r, cq_dim a, cq_dim b)
{
    return combine(r, cq_int_max, a, b);
}

cq_dim cq_dim_mul(const cq_rule *r, cq_dim a, cq_dim b)
{
    return cq_dim_is(a, 0) || cq_dim_is(b, 0) ? cq_dim_of(0) : combine(r, cq_int_mul, a, b);
}

cq_dim cq_dim_floordiv(const cq_rule *r, cq_dim a, cq_dim b)
{
    return cq_dim_is(b, 0) ? cq_dim_unknown() : combine(r, cq_int_floordiv, a, b);
}

cq_dim cq_dim_ceildiv(const cq_rule *r, cq_dim a, int64_t b)
{
    return cq_dim_floordiv(r, cq_dim_add(r, a, cq_dim_of(b - 1)), cq_dim_of(b));
}

cq_dim cq_dims_product(const cq_rule *r, const cq_dim *dims, size_t n)
{
    cq_dim product = cq_dim_of(1);

    for (size_t i = 0; i < n; i++)
        product = cq_dim_mul(r, product, dims[i]);
    return product;
}

int64_t cq_dims_numel(const cq_dim *dims, size_t rank)
{
    int64_t n = 1;

    for (size_t i = 0; i < rank; i++)
        if (!cq_dim_is_plain(dims[i]) || dims[i].size.value < 0 ||
            __builtin_mul_overflow(n, dims[i].size.value, &n))
            return -1;
    return n;
}

cq_status cq_dim_unify(cq_dim *out, const cq_rule *r, cq_dim a, cq_dim b)
{
    if (cq_dim_is_plain(a) && cq_dim_is_plain(b) && a.size.value != b.size.value)
        return cq_rule_fail(r, "sizes %lld and %lld must be equal", (long long)a.size.value,
                            (long long)b.size.value);
    *out = !a.known || (cq_dim_is_plain(b) && a.size.expr) ? b : a;
    return CQ_OK;
}

static cq_status broadcast_dim(cq_dim *out, const cq_rule *r, cq_dim a, cq_dim b)
{
    if (cq_dim_same(a, b) || cq_dim_is(b, 1))
        *out = a;
    else if (cq_dim_is(a, 1))
        *out = b;
    else if (cq_dim_is_plain(a) && cq_dim_is_plain(b))
        return cq_rule_fail(r, "sizes %lld and %lld cannot be broadcast together",
                            (long long)a.size.value, (long long)b.size.value);
    else if (cq_dim_is_plain(a)) /* not 1, so the other size is equal or 1 */
        *out = a;
    else if (cq_dim_is_plain(b))
        *out = b;
    else
        *out = cq_dim_unknown();
    return CQ_OK;
}

cq_status cq_shape_broadcast(cq_rule *r, cq_shape *into, const cq_dim *dims, size_t rank)
{
    if (rank > into->rank) {
        size_t more = rank - into->rank;

        memmove(into->dims + more, into->dims, into->rank * sizeof *into->dims);
        for (size_t i = 0; i < more; i++)
            into->dims[i] = cq_dim_of(1);
        into->rank = rank;
    }
    for (size_t i = 0; i < rank; i++) {
        cq_dim *d = &into->dims[into->rank - rank + i];

        CQ_TRY(broadcast_dim(d, r, *d, dims[i]));
    }
    return CQ_OK;
}

void cq_shape_of(cq_shape *out, const cq_itype *type)
{
    out->rank = type->rank;
    if (type->rank)
        memcpy(out->dims, type->dims, type->rank * sizeof *out->dims);
}

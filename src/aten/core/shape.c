/* Rules that many operators share: broadcasting, type promotion, results like self. */
#include "aten/core/ctx.h"

cq_int cq_size_add(const cq_opcall *c, cq_int a, cq_int b)
{
    return cq_int_add(c->cx->symbols, a, b);
}

cq_int cq_size_sub(const cq_opcall *c, cq_int a, cq_int b)
{
    return cq_int_sub(c->cx->symbols, a, b);
}

cq_int cq_size_mul(const cq_opcall *c, cq_int a, cq_int b)
{
    return cq_int_mul(c->cx->symbols, a, b);
}

cq_int cq_size_floordiv(const cq_opcall *c, cq_int a, cq_int b)
{
    return cq_int_floordiv(c->cx->symbols, a, b);
}

cq_int cq_unknown_size(const cq_opcall *c, int64_t example)
{
    return c->cx->symbols ? cq_symbol_fresh(c->cx->symbols, "n", example, NULL, 0) : cq_i(example);
}

bool cq_size_is_dont_care(const cq_opcall *c, cq_int size)
{
    return c->cx->untaken && size.expr;
}

/* The larger of two dynamic sizes that have no symbol in common, and that may both be 1 in another
 * run. The operands are in a fixed order, so that the same two sizes give the same expression. */
static cq_int larger(const cq_opcall *c, cq_int a, cq_int b)
{
    return strcmp(a.expr->text, b.expr->text) < 0 ? cq_int_max(c->cx->symbols, a, b)
                                                  : cq_int_max(c->cx->symbols, b, a);
}

/* Whether an expression is a maximum that larger made of another one. */
static bool is_larger_of(const cq_opcall *c, cq_int a, cq_int b)
{
    return a.expr && b.expr && !cq_int_same(a, b) &&
           cq_int_same(cq_int_max(c->cx->symbols, a, b), a);
}

/* Broadcasts two sizes. Two dynamic sizes with a common symbol are assumed to be equal if they are
 * equal on the example: h and 2*(h//2) of a skip connection. Without one, either may be 1 in
 * another run. In a branch that the example does not take, its values mean nothing: a size that is
 * not a symbol, or has elements, counts. */
static bool meet(const cq_opcall *c, cq_int *out, cq_int a, cq_int b)
{
    if (a.value != b.value && (cq_size_is_dont_care(c, a) || cq_size_is_dont_care(c, b)) &&
        !cq_int_is(a, 1) && !cq_int_is(b, 1)) {
        *out = !a.expr ? a : !b.expr || b.value > a.value ? b : a;
    } else if (cq_int_is(a, 1)) {
        *out = b;
    } else if (cq_int_is(b, 1)) {
        *out = a;
    } else if (a.expr && b.expr && c->cx->symbols && cq_int_independent(a, b) &&
               (a.value == b.value || a.value == 1 || b.value == 1)) {
        *out = larger(c, a, b);
    } else if (a.value == b.value) {
        *out = is_larger_of(c, b, a) ? b
               : a.expr && !b.expr   ? b
                                     : a; /* the number is the stronger statement */
    } else if (a.expr && a.value == 1) {
        *out = b;
    } else if (b.expr && b.value == 1) {
        *out = a;
    } else {
        return false;
    }
    return true;
}

cq_status cq_broadcast(cq_opcall *c, size_t *rank, cq_int *out, size_t rank_a, const cq_int *a,
                       size_t rank_b, const cq_int *b)
{
    size_t n = rank_a > rank_b ? rank_a : rank_b;

    for (size_t i = 0; i < n; i++) {
        cq_int x = i < n - rank_a ? cq_i(1) : a[i - (n - rank_a)];
        cq_int y = i < n - rank_b ? cq_i(1) : b[i - (n - rank_b)];

        if (!meet(c, &out[i], x, y))
            return cq_call_fail(c, CQ_E_TYPE,
                                "sizes %lld and %lld of dimension %zu do not broadcast",
                                (long long)x.value, (long long)y.value, i);
    }
    *rank = n;
    return CQ_OK;
}

cq_dtype cq_default_float(cq_dtype given)
{
    return given ? given : CQ_DTYPE_F32;
}

cq_dtype cq_float_of(const cq_ctx *cx, cq_dtype d)
{
    return cq_dtype_is_float(d) || cq_dtype_is_complex(d) ? d : cq_default_float(cx->default_float);
}

/* Categories of dtypes, in the order of promotion between classes of operands. */
static int category(cq_dtype d)
{
    return d == CQ_DTYPE_NONE       ? -1
           : d == CQ_DTYPE_BOOL     ? 0
           : cq_dtype_is_integer(d) ? 1
           : cq_dtype_is_float(d)   ? 2
                                    : 3;
}

static cq_dtype combine(cq_dtype higher, cq_dtype lower)
{
    if (category(higher) >= category(lower))
        return higher;
    /* A complex number beside real tensors keeps their precision. */
    if (category(lower) == 3 && category(higher) == 2)
        return higher == CQ_DTYPE_F64 ? CQ_DTYPE_C128 : CQ_DTYPE_C64;
    return cq_dtype_promote(higher, lower);
}

cq_dtype cq_result_type(cq_dtype number, const cq_val *vals, size_t n)
{
    cq_dtype dims = CQ_DTYPE_NONE, zero = CQ_DTYPE_NONE, plain = CQ_DTYPE_NONE;

    for (size_t i = 0; i < n; i++) {
        cq_dtype *of = &plain;
        cq_dtype  d  = CQ_DTYPE_NONE;

        switch (vals[i].kind) {
        case CQ_VAL_TENSOR:
            d  = vals[i].u.tensor->dtype;
            of = vals[i].u.tensor->rank ? &dims : &zero;
            break;
        case CQ_VAL_INT: d = CQ_DTYPE_I64; break;
        case CQ_VAL_FLOAT: d = cq_default_float(number); break;
        case CQ_VAL_BOOL: d = CQ_DTYPE_BOOL; break;
        case CQ_VAL_COMPLEX: d = CQ_DTYPE_C64; break;
        default: continue;
        }
        *of = cq_dtype_promote(*of, d);
    }
    return combine(combine(dims, zero), plain);
}

cq_status cq_shape_of_self(cq_opcall *c)
{
    cq_tensor *self = c->args[0].u.tensor;

    return cq_result_like(c, 0, self, self->dtype);
}

cq_status cq_shape_of_self_in_float(cq_opcall *c)
{
    cq_tensor *self = c->args[0].u.tensor;

    return cq_result_like(c, 0, self, cq_float_of(c->cx, self->dtype));
}

cq_status cq_shape_of_self_in_bool(cq_opcall *c)
{
    return cq_result_like(c, 0, c->args[0].u.tensor, CQ_DTYPE_BOOL);
}

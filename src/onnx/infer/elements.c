/* Arithmetic with elements of small tensors. */
#include "onnx/infer/elements.h"

#include <math.h>

static const cq_ielem unknown = { .kind = CQ_INUM_UNKNOWN };

cq_ielem cq_ielem_int(cq_int value)
{
    return (cq_ielem){ .kind = CQ_INUM_INT, .i = value };
}

cq_ielem cq_ielem_of_dim(cq_dim d)
{
    return d.known ? cq_ielem_int(d.size) : unknown;
}

cq_dim cq_dim_of_ielem(cq_ielem e)
{
    return e.kind == CQ_INUM_INT ? (cq_dim){ true, e.i } : cq_dim_unknown();
}

static bool is_float(int32_t elem)
{
    return elem == CQ_ONNX_FLOAT || elem == CQ_ONNX_DOUBLE || elem == CQ_ONNX_FLOAT16 ||
           elem == CQ_ONNX_BFLOAT16;
}

/* A floating-point result, rounded to the type of the output. float16 and bfloat16 are ignored: no
 * exporter computes sizes in them. */
static cq_ielem real(const cq_rule *r, double x)
{
    int32_t elem = r->outputs[0].elem;

    if (elem == CQ_ONNX_FLOAT)
        x = (double)(float)x;
    else if (elem != CQ_ONNX_DOUBLE)
        return unknown;
    if (x == floor(x) && fabs(x) <= 9007199254740992.0)
        return cq_ielem_int(cq_i((int64_t)x));
    return (cq_ielem){ .kind = CQ_INUM_REAL, .r = x };
}

static bool is_plain(cq_ielem a)
{
    return a.kind == CQ_INUM_REAL || (a.kind == CQ_INUM_INT && !a.i.expr);
}

static double number(cq_ielem a)
{
    return a.kind == CQ_INUM_INT ? (double)a.i.value : a.r;
}

static bool is_int(cq_ielem a)
{
    return a.kind == CQ_INUM_INT && !cq_int_is_long(a.i);
}

static bool both_ints(cq_ielem a, cq_ielem b)
{
    return is_int(a) && is_int(b);
}

/* Floating-point arithmetic needs plain numbers on both sides. */
static bool both_plain(cq_ielem a, cq_ielem b)
{
    return is_plain(a) && is_plain(b);
}

/* ---- unary operators ---- */

cq_ielem cq_ielem_cast(const cq_rule *r, cq_ielem a)
{
    int32_t to = r->outputs[0].elem;

    if (a.kind == CQ_INUM_UNKNOWN || is_float(to))
        return a.kind == CQ_INUM_REAL ? real(r, a.r) : a;
    if (to == CQ_ONNX_BOOL) {
        if (!is_plain(a))
            return unknown;
        return cq_ielem_int(cq_i(number(a) != 0));
    }
    if (to != CQ_ONNX_INT64 && to != CQ_ONNX_INT32)
        return unknown;
    if (a.kind == CQ_INUM_REAL)
        return fabs(a.r) < 2147483648.0 ? cq_ielem_int(cq_i((int64_t)a.r)) : unknown;
    if (to == CQ_ONNX_INT32 && !a.i.expr && a.i.value != (int32_t)a.i.value)
        return unknown;
    return a;
}

cq_ielem cq_ielem_neg(const cq_rule *r, cq_ielem a)
{
    if (is_int(a))
        return cq_ielem_int(cq_int_mul(r->symbols, a.i, cq_i(-1)));
    return a.kind == CQ_INUM_REAL ? real(r, -a.r) : unknown;
}

cq_ielem cq_ielem_abs(const cq_rule *r, cq_ielem a)
{
    if (!is_plain(a))
        return unknown;
    return number(a) < 0 ? cq_ielem_neg(r, a) : a;
}

static cq_ielem rounded(const cq_rule *r, cq_ielem a, double (*fn)(double))
{
    return a.kind == CQ_INUM_REAL ? real(r, fn(a.r)) : a;
}

cq_ielem cq_ielem_floor(const cq_rule *r, cq_ielem a)
{
    return rounded(r, a, floor);
}

cq_ielem cq_ielem_ceil(const cq_rule *r, cq_ielem a)
{
    return rounded(r, a, ceil);
}

cq_ielem cq_ielem_round(const cq_rule *r, cq_ielem a)
{
    return rounded(r, a, nearbyint); /* rounds ties to even, the default mode of a program */
}

cq_ielem cq_ielem_sqrt(const cq_rule *r, cq_ielem a)
{
    return is_plain(a) && number(a) >= 0 ? real(r, sqrt(number(a))) : unknown;
}

cq_ielem cq_ielem_not(const cq_rule *r, cq_ielem a)
{
    (void)r;
    return is_plain(a) ? cq_ielem_int(cq_i(number(a) == 0)) : unknown;
}

/* ---- binary operators ---- */

cq_ielem cq_ielem_add(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    if (both_ints(a, b))
        return cq_ielem_int(cq_int_add(r->symbols, a.i, b.i));
    return both_plain(a, b) ? real(r, number(a) + number(b)) : unknown;
}

cq_ielem cq_ielem_sub(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    if (both_ints(a, b))
        return cq_ielem_int(cq_int_sub(r->symbols, a.i, b.i));
    return both_plain(a, b) ? real(r, number(a) - number(b)) : unknown;
}

cq_ielem cq_ielem_mul(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    if (both_ints(a, b))
        return cq_ielem_int(cq_int_mul(r->symbols, a.i, b.i));
    return both_plain(a, b) ? real(r, number(a) * number(b)) : unknown;
}

/* Integer division truncates. A symbolic dividend is assumed to be a size, which is not negative,
 * so rounding down gives the same; for floats the quotient must be an integer. */
static cq_ielem divide_ints(const cq_rule *r, cq_int a, cq_int b)
{
    if (!a.expr && !b.expr) {
        if (b.value == 0 || (b.value == -1 && a.value == INT64_MIN))
            return unknown;
        if (is_float(r->outputs[0].elem))
            return real(r, (double)a.value / (double)b.value);
        return cq_ielem_int(cq_i(a.value / b.value));
    }
    if (!b.expr && b.value <= 0)
        return unknown;
    if (is_float(r->outputs[0].elem) && !cq_int_is(cq_int_mod(r->symbols, a, b), 0))
        return unknown;
    return cq_ielem_int(cq_int_floordiv(r->symbols, a, b));
}

cq_ielem cq_ielem_div(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    if (both_ints(a, b))
        return divide_ints(r, a.i, b.i);
    return both_plain(a, b) && number(b) != 0 ? real(r, number(a) / number(b)) : unknown;
}

/* By default the sign of the result is that of the divisor; with fmod it is that of the
 * dividend. */
cq_ielem cq_ielem_mod(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    if (!both_ints(a, b) || cq_int_is(b.i, 0))
        return unknown;
    if (cq_rule_int(r, "fmod", 0) && (a.i.expr || b.i.expr || a.i.value < 0 || b.i.value < 0))
        return unknown;
    return cq_ielem_int(cq_int_mod(r->symbols, a.i, b.i));
}

cq_ielem cq_ielem_min(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    if (both_ints(a, b))
        return cq_ielem_int(cq_int_min(r->symbols, a.i, b.i));
    return both_plain(a, b) ? (number(a) < number(b) ? a : b) : unknown;
}

cq_ielem cq_ielem_max(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    if (both_ints(a, b))
        return cq_ielem_int(cq_int_max(r->symbols, a.i, b.i));
    return both_plain(a, b) ? (number(a) > number(b) ? a : b) : unknown;
}

/* ---- comparisons, whose results are 1 and 0 ---- */

/* Determines the sign of a - b, if possible. 0 means equality. A difference that is a sum of sizes
 * with positive factors is not negative, which does not decide whether it is zero. */
static bool compare(const cq_rule *r, cq_ielem a, cq_ielem b, int *sign)
{
    cq_int difference;

    if (both_ints(a, b)) {
        difference = cq_int_sub(r->symbols, a.i, b.i);
        *sign      = (difference.value > 0) - (difference.value < 0);
        return !difference.expr;
    }
    if (!both_plain(a, b))
        return false;
    *sign = (number(a) > number(b)) - (number(a) < number(b));
    return true;
}

#define COMPARISON(name, condition)                                                                \
    cq_ielem cq_ielem_##name(const cq_rule *r, cq_ielem a, cq_ielem b)                             \
    {                                                                                              \
        int sign;                                                                                  \
                                                                                                   \
        return compare(r, a, b, &sign) ? cq_ielem_int(cq_i(condition)) : unknown;                  \
    }

COMPARISON(less, sign < 0)
COMPARISON(less_equal, sign <= 0)
COMPARISON(greater, sign > 0)
COMPARISON(greater_equal, sign >= 0)

/* A size is never negative, so `shape == -1`, which exporters emit, is false. */
cq_ielem cq_ielem_equal(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    int sign;

    if (compare(r, a, b, &sign))
        return cq_ielem_int(cq_i(sign == 0));
    if (both_ints(a, b) && ((cq_int_is_size(a.i) && !b.i.expr && b.i.value < 0) ||
                            (cq_int_is_size(b.i) && !a.i.expr && a.i.value < 0)))
        return cq_ielem_int(cq_i(0));
    return unknown;
}

cq_ielem cq_ielem_and(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    (void)r;
    return both_plain(a, b) ? cq_ielem_int(cq_i(number(a) != 0 && number(b) != 0)) : unknown;
}

cq_ielem cq_ielem_or(const cq_rule *r, cq_ielem a, cq_ielem b)
{
    (void)r;
    return both_plain(a, b) ? cq_ielem_int(cq_i(number(a) != 0 || number(b) != 0)) : unknown;
}

/* ---- application to tensors ---- */

cq_status cq_rule_map1(cq_rule *r, cq_ielem_fn1 fn)
{
    const cq_idata *x = cq_rule_data(r, 0);
    cq_idata       *y = x ? cq_rule_new_data(r, 0, (int64_t)x->n) : NULL;

    for (size_t i = 0; y && i < x->n; i++)
        y->items[i] = fn(r, x->items[i]);
    return CQ_OK;
}

/* The index in an input of element i of out, to which the input is broadcast. */
static size_t broadcast_index(const cq_itype *out, const cq_itype *x, size_t i)
{
    size_t index = 0, stride = 1;

    for (size_t back = 1; back <= out->rank; back++) {
        size_t size = (size_t)out->dims[out->rank - back].size.value;
        size_t at   = size ? i % size : 0;

        i = size ? i / size : 0;
        if (back > x->rank)
            continue;
        if (!cq_dim_is(x->dims[x->rank - back], 1)) {
            index += at * stride;
            stride *= size;
        }
    }
    return index;
}

/* Whether input i has as many elements as its shape requires, and the shape is plain. */
static bool is_usable(cq_rule *r, size_t i)
{
    const cq_itype *x = cq_rule_shaped(r, i);
    const cq_idata *d = cq_rule_data(r, i);

    return x && d && cq_dims_numel(x->dims, x->rank) == (int64_t)d->n;
}

/* Allocates the output's elements if every input has elements. */
static cq_idata *begin(cq_rule *r)
{
    const cq_itype *out = &r->outputs[0];

    if (!r->n_inputs || !out->has_rank || cq_dims_numel(out->dims, out->rank) < 0)
        return NULL;
    for (size_t i = 0; i < r->n_inputs; i++)
        if (!is_usable(r, i))
            return NULL;
    return cq_rule_new_data(r, 0, cq_dims_numel(out->dims, out->rank));
}

static cq_ielem element(cq_rule *r, size_t input, size_t i)
{
    return r->inputs[input]
        ->data->items[broadcast_index(&r->outputs[0], &r->inputs[input]->type, i)];
}

cq_status cq_rule_fold(cq_rule *r, cq_ielem_fn2 fn)
{
    cq_idata *y = begin(r);

    for (size_t i = 0; y && i < y->n; i++) {
        y->items[i] = element(r, 0, i);
        for (size_t k = 1; k < r->n_inputs; k++)
            y->items[i] = fn(r, y->items[i], element(r, k, i));
    }
    return CQ_OK;
}

cq_status cq_rule_where_data(cq_rule *r)
{
    cq_idata *y = r->n_inputs == 3 ? begin(r) : NULL;

    for (size_t i = 0; y && i < y->n; i++) {
        cq_ielem c = element(r, 0, i);

        if (is_plain(c))
            y->items[i] = element(r, number(c) != 0 ? 1 : 2, i);
    }
    return CQ_OK;
}

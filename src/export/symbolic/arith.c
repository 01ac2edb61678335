/* Arithmetic that ONNX lacks, or supports only for some dtypes or newer opsets. */
#include "export/symbolic/arith.h"
#include "export/exporter.h"

#include <math.h>

/* ---- choosing ---- */

static bool all_plain(const cq_value *v)
{
    if (!v || v->type.kind != CQ_TYPE_TENSOR || v->type.rank < 0)
        return v && v->type.kind != CQ_TYPE_TENSOR && v->type.kind != CQ_TYPE_UNKNOWN;
    for (int i = 0; i < v->type.rank; i++)
        if (v->type.sizes[i].expr)
            return false;
    return true;
}

static int rank_of(const cq_value *v)
{
    return v->type.kind == CQ_TYPE_TENSOR ? v->type.rank : 0;
}

/* The size of v at axis of a broadcast result of rank. */
static int64_t size_at(const cq_value *v, int axis, int rank)
{
    int i = axis - (rank - rank_of(v));

    return i < 0 ? 1 : v->type.sizes[i].value;
}

/* For each element of a result of these sizes, its index in the flattened v. */
static cq_value *sources(cq_sym *s, const cq_value *v, int rank, const int64_t *sizes,
                         int64_t first)
{
    cq_tensor *t = NULL;
    cq_value  *out;
    int64_t    n, *at;

    if (s->status != CQ_OK ||
        cq_sym_fail(s, cq_tensor_new(&t, CQ_DTYPE_I64, (size_t)rank, sizes, NULL)))
        return NULL;
    n  = cq_tensor_numel(t);
    at = cq_tensor_data(t);
    for (int64_t i = 0; i < n; i++) {
        int64_t left = i, step = 1;

        at[i] = first;
        for (int axis = rank - 1; axis >= 0; axis--) {
            int64_t size = size_at(v, axis, rank);

            at[i] += size > 1 ? left % sizes[axis] * step : 0;
            left /= sizes[axis];
            step *= size;
        }
    }
    out = cq_sym_const(s, t);
    cq_tensor_release(t);
    return out;
}

static int64_t numel_of(const cq_value *v)
{
    int64_t n = 1;

    for (int i = 0; i < rank_of(v); i++)
        n *= v->type.sizes[i].value;
    return n;
}

enum { MAX_SOURCES = 1 << 20 };

/* Before opset 9 there is no Where, and arithmetic would make NaN of an unselected infinity. Both
 * operands are concatenated, and an index selects each element. */
static cq_value *where_by_index(cq_sym *s, cq_value *condition, cq_value *x, cq_value *y)
{
    int64_t   sizes[CQ_MAX_RANK], n = 1;
    int       rank  = 0;
    cq_value *of[3] = { condition, x, y }, *from_x, *from_y, *at;

    for (int k = 0; k < 3; k++) {
        if (!all_plain(of[k])) {
            cq_sym_no(s, 9, "a choice between tensors of dynamic sizes requires opset 9");
            return NULL;
        }
        rank = rank_of(of[k]) > rank ? rank_of(of[k]) : rank;
    }
    for (int axis = 0; axis < rank; axis++) {
        sizes[axis] = 1;
        for (int k = 0; k < 3; k++)
            if (size_at(of[k], axis, rank) != 1)
                sizes[axis] = size_at(of[k], axis, rank);
        n *= sizes[axis];
    }
    if (n > MAX_SOURCES) {
        cq_sym_no(s, 9, "a choice between large tensors requires opset 9");
        return NULL;
    }
    from_x = sources(s, x, rank, sizes, 0);
    from_y = sources(s, y, rank, sizes, numel_of(x));
    at     = CQ_2("Mul", cq_sym_cast(s, condition, CQ_DTYPE_I64), CQ_2("Sub", from_x, from_y));
    at     = CQ_2("Add", at, from_y);
    x      = cq_sym_reshape_i64(s, x, (int64_t[]){ -1 }, 1);
    y      = cq_sym_reshape_i64(s, y, (int64_t[]){ -1 }, 1);
    x      = cq_sym_op(s, "Concat", CQ_IN(x, y), CQ_ATTR(cq_attr_i("axis", 0)));
    return cq_sym_op(s, "Gather", CQ_IN(x, at), CQ_ATTR(cq_attr_i("axis", 0)));
}

cq_value *cq_sym_where(cq_sym *s, cq_value *condition, cq_value *x, cq_value *y)
{
    cq_dtype  dtype = cq_sym_dtype(s, x), used;
    cq_value *out, *in[3];

    if (s->status != CQ_OK)
        return NULL;
    condition = cq_sym_cast(s, condition, CQ_DTYPE_BOOL);
    if (cq_sym_opset(s) < 9) {
        in[0] = condition;
        in[1] = x;
        in[2] = y;
        out   = where_by_index(s, condition, x, y);
        cq_sym_set_broadcast(s, out, dtype, in, 3);
        return out;
    }
    used  = cq_sym_fit(s, "Where", dtype);
    in[0] = condition;
    in[1] = cq_sym_cast(s, x, used);
    in[2] = cq_sym_cast(s, y, used);
    out   = cq_sym_op(s, "Where", in, 3, CQ_NO_ATTR);
    cq_sym_set_broadcast(s, out, used, in, 3);
    return cq_sym_cast(s, out, dtype);
}

/* Max and Min broadcast since opset 8; before it, the smaller operand is expanded by adding
 * zeros. */
cq_value *cq_sym_larger(cq_sym *s, cq_value *x, cq_value *y, bool smaller)
{
    const char *op    = smaller ? "Min" : "Max";
    cq_type     want  = cq_sym_result_type(s, 0);
    cq_tensor  *zeros = NULL;
    int64_t     sizes[CQ_MAX_RANK];
    cq_value   *zero;

    if (s->status != CQ_OK)
        return NULL;
    if (cq_sym_opset(s) >= 8 || (x->type.rank == y->type.rank && all_plain(x) && all_plain(y) &&
                                 numel_of(x) == numel_of(y)))
        return CQ_2(op, x, y);
    for (int i = 0; i < want.rank; i++) {
        sizes[i] = want.sizes[i].value;
        if (want.sizes[i].expr) {
            cq_sym_no(s, 8, "%s with broadcasting requires opset 8", op);
            return NULL;
        }
    }
    cq_sym_fail(s, cq_tensor_new(&zeros, cq_sym_dtype(s, x), (size_t)want.rank, sizes, NULL));
    zero = cq_sym_const(s, zeros);
    cq_tensor_release(zeros);
    return CQ_2(op, CQ_2("Add", x, zero), CQ_2("Add", y, zero));
}

/* ONNX Runtime takes the largest finite number for a bound that is left out, so floats get
 * both. Until opset 10 bounds are attributes: they must be fixed, and in order. */
cq_value *cq_sym_bounded(cq_sym *s, cq_value *x, cq_value *low, cq_value *high)
{
    bool       real  = cq_dtype_is_float(cq_sym_dtype(s, x));
    cq_value  *least = low || !real ? low : cq_sym_num(s, x, -INFINITY);
    cq_value  *most  = high || !real ? high : cq_sym_num(s, x, INFINITY);
    cq_tensor *l = cq_sym_data(least), *h = cq_sym_data(most);

    if (cq_sym_fits(s, "Clip", cq_sym_dtype(s, x)) &&
        (cq_sym_opset(s) >= 11 || (l && h && cq_tensor_get_f64(l, 0) <= cq_tensor_get_f64(h, 0))))
        return cq_sym_clip(s, x, least, most);
    if (low)
        x = cq_sym_larger(s, x, low, false);
    return high ? cq_sym_larger(s, x, high, true) : x;
}

/* ---- comparing ---- */

static bool is_real(cq_sym *s, const cq_value *x)
{
    return cq_dtype_is_float(cq_sym_dtype(s, x));
}

/* Every number is below 1 or above 0; NaN is neither. */
static cq_value *is_number(cq_sym *s, cq_value *x)
{
    return CQ_2("Or", CQ_2("Less", x, cq_sym_num(s, x, 1)),
                CQ_2("Greater", x, cq_sym_num(s, x, 0)));
}

cq_value *cq_sym_is_nan(cq_sym *s, cq_value *x)
{
    if (!is_real(s, x))
        return CQ_1("Not", CQ_2("Equal", x, x));
    return cq_sym_opset(s) >= 9 ? CQ_1("IsNaN", x) : CQ_1("Not", is_number(s, x));
}

/* Until opset 10 Equal is for integers: floats are equal if neither is less, nor NaN. */
cq_value *cq_sym_equal(cq_sym *s, cq_value *x, cq_value *y)
{
    cq_value *out;

    if (!is_real(s, x) || cq_sym_opset(s) >= 11)
        return CQ_2("Equal", x, y);
    out = CQ_1("Not", CQ_2("Or", CQ_2("Less", x, y), CQ_2("Greater", x, y)));
    if (!cq_sym_data(x))
        out = CQ_2("And", out, is_number(s, x));
    if (!cq_sym_data(y))
        out = CQ_2("And", out, is_number(s, y));
    return out;
}

cq_value *cq_sym_at_most(cq_sym *s, cq_value *x, cq_value *y)
{
    if (cq_sym_opset(s) >= 12)
        return CQ_2("LessOrEqual", x, y);
    if (!is_real(s, x))
        return CQ_1("Not", CQ_2("Greater", x, y));
    return CQ_2("Or", CQ_2("Less", x, y), cq_sym_equal(s, x, y));
}

/* 1 / -0 is -inf. */
cq_value *cq_sym_is_negative(cq_sym *s, cq_value *x)
{
    cq_value *less = CQ_2("Less", x, cq_sym_num(s, x, 0));

    if (!is_real(s, x))
        return less;
    return CQ_2("Or", less, CQ_2("Less", CQ_1("Reciprocal", x), cq_sym_num(s, x, 0)));
}

/* ---- rounding and dividing ---- */

cq_value *cq_sym_sign(cq_sym *s, cq_value *x)
{
    cq_dtype  dtype = cq_sym_dtype(s, x);
    cq_value *zero  = cq_sym_num(s, x, 0);

    if (cq_sym_opset(s) >= 9)
        return CQ_1("Sign", x);
    return CQ_2("Sub", cq_sym_cast(s, CQ_2("Greater", x, zero), dtype),
                cq_sym_cast(s, CQ_2("Less", x, zero), dtype));
}

cq_value *cq_sym_trunc(cq_sym *s, cq_value *x)
{
    if (!is_real(s, x))
        return x;
    return CQ_2("Mul", cq_sym_sign(s, x), CQ_1("Floor", CQ_1("Abs", x)));
}

/* Composed before opset 11: rounds up if the fraction is above a half, or is a half and the integer
 * part odd. */
cq_value *cq_sym_round(cq_sym *s, cq_value *x)
{
    cq_dtype  dtype = cq_sym_dtype(s, x);
    cq_value *below, *rest, *half, *odd, *up;

    if (!is_real(s, x))
        return x;
    if (cq_sym_opset(s) >= 11)
        return CQ_1("Round", x);
    half  = cq_sym_num(s, x, 0.5);
    below = CQ_1("Floor", x);
    rest  = CQ_2("Sub", x, below);
    odd   = CQ_2("Mul", below, half);
    odd   = CQ_2("Greater", CQ_2("Sub", odd, CQ_1("Floor", odd)), cq_sym_num(s, x, 0.25));
    up    = CQ_2("And", CQ_1("Not", CQ_2("Less", rest, half)), odd);
    up    = CQ_2("Or", up, CQ_2("Greater", rest, half));
    return CQ_2("Add", below, cq_sym_cast(s, up, dtype));
}

static bool is_positive_constant(const cq_value *y)
{
    cq_tensor *t        = cq_sym_data(y);
    bool       positive = t && cq_tensor_numel(t) <= 64;

    for (int64_t i = 0; positive && i < cq_tensor_numel(t); i++)
        positive = cq_tensor_get_f64(t, i) > 0;
    return positive;
}

/* Whether a remainder with the sign of x has another sign than y, and is not 0. */
static cq_value *other_sign(cq_sym *s, cq_value *rest, cq_value *y)
{
    cq_value *zero = cq_sym_num(s, rest, 0), *below = CQ_2("Less", rest, zero);

    if (is_positive_constant(y))
        return below;
    below = CQ_2("Xor", below, CQ_2("Less", y, zero));
    return CQ_2("And", below, CQ_1("Not", cq_sym_equal(s, rest, zero)));
}

cq_value *cq_sym_fmod(cq_sym *s, cq_value *x, cq_value *y)
{
    cq_value *rest;

    if (cq_sym_opset(s) >= 10)
        return cq_sym_apply(s, "Mod", CQ_IN(x, y), CQ_ATTR(cq_attr_i("fmod", 1)));
    rest = CQ_2("Div", x, y); /* integer division truncates already */
    rest = CQ_2("Sub", x, CQ_2("Mul", cq_sym_trunc(s, rest), y));
    if (!is_real(s, x) || cq_sym_data(y))
        return rest;
    /* 0 * inf is NaN, yet nothing is taken from x. */
    return cq_sym_where(s, cq_sym_equal(s, CQ_1("Abs", y), cq_sym_num(s, y, INFINITY)), x, rest);
}

cq_value *cq_sym_remainder(cq_sym *s, cq_value *x, cq_value *y)
{
    cq_value *rest;

    if (!is_real(s, x) && cq_sym_opset(s) >= 10)
        return CQ_2("Mod", x, y);
    if (is_positive_constant(y) && cq_sym_opset(s) < 10)
        return CQ_2("Sub", x, CQ_2("Mul", cq_sym_floor_divide(s, x, y), y));
    rest = cq_sym_fmod(s, x, y);
    if (!is_real(s, x)) /* before opset 9 there is no Where; integers have no infinity */
        return CQ_2("Add", rest,
                    CQ_2("Mul", y, cq_sym_cast(s, other_sign(s, rest, y), cq_sym_dtype(s, y))));
    return cq_sym_where(s, other_sign(s, rest, y), CQ_2("Add", rest, y), rest);
}

/* Rounding x / y could reach the next integer; the remainder cannot, so it decides. Before there is
 * one, doubles do: the quotient of two floats is not so near to an integer. */
static cq_value *floor_divide_real(cq_sym *s, cq_value *x, cq_value *y)
{
    const cq_dtype dtype = cq_sym_dtype(s, x);
    cq_value      *plain, *rest, *quotient;

    if (cq_sym_opset(s) < 10) {
        x = cq_sym_cast(s, x, CQ_DTYPE_F64);
        y = cq_sym_cast(s, y, CQ_DTYPE_F64);
        return cq_sym_cast(s, CQ_1("Floor", CQ_2("Div", x, y)), dtype);
    }
    plain    = CQ_2("Div", x, y);
    rest     = cq_sym_fmod(s, x, y);
    quotient = CQ_2("Div", CQ_2("Sub", x, rest), y);
    quotient = CQ_1("Floor", CQ_2("Add", quotient, cq_sym_num(s, x, 0.5)));
    quotient = CQ_2("Sub", quotient, cq_sym_cast(s, other_sign(s, rest, y), cq_sym_dtype(s, x)));
    if (is_positive_constant(y))
        return quotient;
    return cq_sym_where(s, cq_sym_equal(s, y, cq_sym_num(s, y, 0)), plain, quotient);
}

cq_value *cq_sym_floor_divide(cq_sym *s, cq_value *x, cq_value *y)
{
    cq_dtype  dtype = cq_sym_dtype(s, x);
    cq_value *quotient, *rest;

    if (is_real(s, x))
        return floor_divide_real(s, x, y);
    quotient = CQ_2("Div", x, y);
    if (!cq_dtype_is_signed(dtype))
        return quotient;
    rest = CQ_2("Sub", x, CQ_2("Mul", quotient, y));
    return CQ_2("Sub", quotient, cq_sym_cast(s, other_sign(s, rest, y), dtype));
}

/* Which dtypes element-wise ONNX operators take, and arithmetic that works around it. */
#include "export/exporter.h"
#include "export/arith.h"

#include <math.h>

#define BIT(d)    (1u << CQ_DTYPE_##d)
#define BOOL      BIT(BOOL)
#define SINGLE    BIT(F32)
#define REAL      (BIT(F16) | BIT(F32) | BIT(F64)) /* not bfloat16, see computed */
#define HALF_REAL (BIT(F16) | BIT(F32))
#define INTS      (BIT(U8) | BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define WIDE      (BIT(I32) | BIT(I64))

/* What both the ONNX standard and the CPU kernels of ONNX Runtime take, from an opset on. The
 * kernels were asked one by one. truth: the result is bool. */
static const struct takes {
    const char *op;
    int         arity, since;
    uint32_t    dtypes;
    bool        truth;
} table[] = {
    { "Abs", 1, 7, REAL | INTS, false },
    { "Neg", 1, 7, REAL | (INTS & ~BIT(U8)), false },
    { "Sqrt", 1, 7, REAL, false },
    { "Exp", 1, 7, REAL, false },
    { "Log", 1, 7, REAL, false },
    { "Sin", 1, 7, REAL, false },
    { "Cos", 1, 7, REAL, false },
    { "Tan", 1, 7, HALF_REAL, false },
    { "Asin", 1, 7, HALF_REAL, false },
    { "Acos", 1, 7, HALF_REAL, false },
    { "Atan", 1, 7, HALF_REAL, false },
    { "Tanh", 1, 7, REAL, false },
    { "Sigmoid", 1, 7, REAL, false },
    { "Sinh", 1, 9, HALF_REAL, false },
    { "Cosh", 1, 9, HALF_REAL, false },
    { "Asinh", 1, 9, HALF_REAL, false },
    { "Acosh", 1, 9, HALF_REAL, false },
    { "Atanh", 1, 9, HALF_REAL, false },
    { "Erf", 1, 9, HALF_REAL, false },
    { "Floor", 1, 7, REAL, false },
    { "Ceil", 1, 7, REAL, false },
    { "Round", 1, 11, REAL, false },
    { "Sign", 1, 9, REAL | INTS, false },
    { "Reciprocal", 1, 7, REAL, false },
    { "Relu", 1, 7, REAL, false },
    { "Relu", 1, 14, REAL | BIT(I8) | BIT(I32), false },
    { "LeakyRelu", 1, 7, HALF_REAL, false },
    { "LeakyRelu", 1, 16, REAL, false },
    { "Elu", 1, 7, HALF_REAL, false },
    { "Selu", 1, 7, HALF_REAL, false },
    { "Celu", 1, 12, SINGLE, false },
    { "HardSigmoid", 1, 7, HALF_REAL, false },
    { "HardSwish", 1, 14, HALF_REAL, false },
    { "Softplus", 1, 7, HALF_REAL, false },
    { "Softsign", 1, 7, HALF_REAL, false },
    { "Shrink", 1, 9, REAL | INTS, false },
    { "Trilu", 1, 14, REAL | WIDE | BOOL, false },
    { "Clip", 1, 7, HALF_REAL, false },
    { "Clip", 1, 12, REAL | WIDE | BIT(U8) | BIT(I8), false },
    { "Add", 2, 7, REAL | WIDE, false },
    { "Add", 2, 14, REAL | INTS, false },
    { "Sub", 2, 7, REAL | WIDE, false },
    { "Sub", 2, 14, REAL | INTS, false },
    { "Mul", 2, 7, REAL | WIDE, false },
    { "Mul", 2, 14, REAL | INTS, false },
    { "Div", 2, 7, REAL | WIDE, false },
    { "Div", 2, 14, REAL | INTS, false },
    { "Pow", 2, 7, REAL, false },
    { "Pow", 2, 12, REAL | WIDE, false },
    { "Min", 2, 7, HALF_REAL, false },
    { "Min", 2, 8, REAL, false },
    { "Min", 2, 12, REAL | WIDE | BIT(U8) | BIT(I8), false },
    { "Max", 2, 7, HALF_REAL, false },
    { "Max", 2, 8, REAL, false },
    { "Max", 2, 12, REAL | WIDE | BIT(U8) | BIT(I8), false },
    { "PRelu", 2, 7, HALF_REAL, false },
    { "PRelu", 2, 16, REAL | WIDE, false },
    { "Mod", 2, 10, REAL | INTS, false },
    { "Where", 2, 9, REAL | WIDE | BIT(U8), false },
    { "Equal", 2, 7, BOOL | WIDE, true },
    { "Equal", 2, 11, BOOL | INTS | REAL, true },
    { "Greater", 2, 7, REAL, true },
    { "Greater", 2, 9, REAL | INTS, true },
    { "Less", 2, 7, REAL, true },
    { "Less", 2, 9, REAL | INTS, true },
    { "GreaterOrEqual", 2, 12, REAL | INTS, true },
    { "LessOrEqual", 2, 12, REAL | INTS, true },
    { "IsNaN", 1, 9, REAL, true },
    { "IsInf", 1, 10, BIT(F32) | BIT(F64), true },
    { "And", 2, 7, BOOL, true },
    { "Or", 2, 7, BOOL, true },
    { "Xor", 2, 7, BOOL, true },
    { "Not", 1, 7, BOOL, true },
};

/* Where to go with a dtype that is not taken, best first. */
static const cq_dtype wider[CQ_DTYPE_COUNT][4] = {
    [CQ_DTYPE_BOOL] = { CQ_DTYPE_I32, CQ_DTYPE_I64, CQ_DTYPE_F32, CQ_DTYPE_F64 },
    [CQ_DTYPE_U8]   = { CQ_DTYPE_I32, CQ_DTYPE_I64, CQ_DTYPE_F32, CQ_DTYPE_F64 },
    [CQ_DTYPE_I8]   = { CQ_DTYPE_I32, CQ_DTYPE_I64, CQ_DTYPE_F32, CQ_DTYPE_F64 },
    [CQ_DTYPE_I16]  = { CQ_DTYPE_I32, CQ_DTYPE_I64, CQ_DTYPE_F32, CQ_DTYPE_F64 },
    [CQ_DTYPE_I32]  = { CQ_DTYPE_I64, CQ_DTYPE_F64, CQ_DTYPE_F32 },
    [CQ_DTYPE_I64]  = { CQ_DTYPE_F64, CQ_DTYPE_F32 },
    [CQ_DTYPE_F16]  = { CQ_DTYPE_F32, CQ_DTYPE_F64 },
    [CQ_DTYPE_BF16] = { CQ_DTYPE_F32, CQ_DTYPE_F64 },
    [CQ_DTYPE_F64]  = { CQ_DTYPE_F32 },
    [CQ_DTYPE_F32]  = { CQ_DTYPE_F64 },
};

static const struct takes *find(const char *op, int opset)
{
    const struct takes *best = NULL;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].op, op) == 0 && (table[i].since <= opset || !best))
            best = &table[i];
    return best;
}

int cq_sym_arity(const char *op)
{
    const struct takes *t = find(op, CQ_OPSET_NEWEST);

    return t ? t->arity : 0;
}

bool cq_sym_fits(const cq_sym *s, const char *op, cq_dtype d)
{
    const struct takes *t = find(op, cq_sym_opset(s));

    return t && t->since <= cq_sym_opset(s) && (t->dtypes >> d & 1);
}

cq_dtype cq_sym_fit(const cq_sym *s, const char *op, cq_dtype d)
{
    const struct takes *t = find(op, cq_sym_opset(s));

    if (!t || (t->dtypes >> d & 1))
        return d;
    for (size_t i = 0; i < 4 && wider[d][i] != CQ_DTYPE_NONE; i++)
        if (t->dtypes >> wider[d][i] & 1)
            return wider[d][i];
    return t->dtypes == BOOL ? CQ_DTYPE_BOOL : d;
}

/* What two sizes broadcast to; false if that cannot be told. */
static bool meet(cq_int *out, cq_int a, cq_int b)
{
    if (cq_int_is(a, 1))
        *out = b;
    else if (cq_int_is(b, 1) || cq_int_same(a, b) || (!a.expr && b.expr && a.value == b.value))
        *out = a;
    else if (a.expr && !b.expr && a.value == b.value)
        *out = b;
    else
        return false;
    return true;
}

/* Gives out the dtype and, as far as those of its operands are known, the sizes. */
static void set_type(cq_sym *s, cq_value *out, cq_dtype dtype, cq_value *const *in, size_t n)
{
    cq_int sizes[CQ_MAX_RANK];
    int    rank  = 0;
    bool   known = out != NULL;

    for (size_t k = 0; k < n && known; k++) {
        known = in[k] && in[k]->type.kind == CQ_TYPE_TENSOR && in[k]->type.rank >= 0;
        rank  = known && in[k]->type.rank > rank ? in[k]->type.rank : rank;
    }
    for (int i = 0; i < rank; i++)
        sizes[i] = cq_i(1);
    for (size_t k = 0; k < n && known; k++)
        for (int i = 0; i < in[k]->type.rank && known; i++) {
            cq_int *size = &sizes[rank - in[k]->type.rank + i];

            known = meet(size, *size, in[k]->type.sizes[i]);
        }
    if (known)
        cq_sym_set_type(s, out, dtype, (size_t)rank, sizes);
    else
        cq_sym_set_dtype(s, out, dtype);
}

cq_value *cq_sym_apply(cq_sym *s, const char *op, cq_value *const *in, size_t n_in,
                       const cq_attr *attrs, size_t n_attrs)
{
    const struct takes *t       = find(op, cq_sym_opset(s));
    cq_value           *cast[2] = { NULL, NULL }, *out;
    cq_dtype            given, used;

    if (s->status != CQ_OK)
        return NULL;
    if (t && t->since > cq_sym_opset(s)) {
        cq_sym_no(s, t->since, "%s came with opset %d", op, t->since);
        return NULL;
    }
    given = cq_sym_dtype(s, in[0]);
    used  = cq_sym_fit(s, op, given);
    for (size_t i = 0; i < n_in && i < 2; i++)
        cast[i] = cq_sym_cast(s, in[i], used);
    out = cq_sym_op(s, op, cast, n_in, attrs, n_attrs);
    set_type(s, out, t && t->truth ? CQ_DTYPE_BOOL : used, cast, n_in);
    return t && t->truth ? out : cq_sym_cast(s, out, given);
}

/* ---- operands ---- */

/* There are hardly any kernels for bfloat16, so all of a symbolic is done in float32, and
 * only its result is rounded. */
static cq_dtype computed(cq_dtype d)
{
    return d == CQ_DTYPE_BF16 ? CQ_DTYPE_F32 : d;
}

cq_value *cq_sym_operand(cq_sym *s, const char *arg)
{
    return cq_sym_in_as(s, arg, computed(cq_sym_result_type(s, 0).dtype));
}

cq_value *cq_sym_num(cq_sym *s, const cq_value *like, double value)
{
    return cq_sym_const_f64(s, cq_sym_dtype(s, like), value);
}

/* What cq_result_type looks at of an operand: its kind, dtype and rank. */
static cq_val val_of(const cq_operand *o, cq_tensor *stand_in)
{
    switch (o->kind) {
    case CQ_OPERAND_INT: return cq_val_of_i64(0);
    case CQ_OPERAND_FLOAT: return cq_val_of_f64(0);
    case CQ_OPERAND_BOOL: return cq_val_of_bool(false);
    case CQ_OPERAND_VALUE: {
        cq_type type = o->u.value->type;

        if (type.kind == CQ_TYPE_INT)
            return cq_val_of_i64(0);
        if (type.kind == CQ_TYPE_FLOAT)
            return cq_val_of_f64(0);
        if (type.kind == CQ_TYPE_BOOL)
            return cq_val_of_bool(false);
        stand_in->dtype = type.dtype;
        stand_in->rank  = type.rank != 0;
        return cq_val_of_tensor(stand_in);
    }
    default: return CQ_NONE;
    }
}

void cq_sym_promoted(cq_sym *s, cq_value **a, cq_value **b)
{
    const cq_schema *schema = s->op->schema;
    size_t           n      = b && schema->n_args > 1 ? 2 : 1;
    cq_tensor        stand_in[2];
    cq_val           vals[2];
    cq_dtype         dtype;

    for (size_t i = 0; i < n; i++)
        vals[i] = val_of(&s->node->inputs[i], &stand_in[i]);
    dtype = computed(cq_result_type(vals, n));
    *a    = cq_sym_in_as(s, schema->args[0].name, dtype);
    if (b)
        *b = cq_sym_in_as(s, schema->args[1].name, dtype);
}

cq_status cq_sym_elementwise(cq_sym *s, const char *op)
{
    bool      truth = find(op, CQ_OPSET_NEWEST)->truth;
    size_t    n     = (size_t)cq_sym_arity(op);
    cq_value *in[2] = { NULL, NULL };

    if (truth) {
        cq_sym_promoted(s, &in[0], n > 1 ? &in[1] : NULL);
        /* Logic on numbers asks whether they are not zero. */
        for (size_t i = 0; i < n && find(op, CQ_OPSET_NEWEST)->dtypes == BOOL; i++)
            in[i] = cq_sym_cast(s, in[i], CQ_DTYPE_BOOL);
    } else {
        for (size_t i = 0; i < n; i++)
            in[i] = cq_sym_operand(s, s->op->schema->args[i].name);
    }
    return cq_sym_done(s, cq_sym_apply(s, op, in, n, CQ_NO_ATTR));
}

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

/* Where in the flattened v each element of a result of these sizes comes from. */
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

/* Before opset 9 there is no Where, and arithmetic would make NaN of an infinity that is not
 * chosen. Both operands are laid end to end, and an index says where each element is. */
static cq_value *where_by_index(cq_sym *s, cq_value *condition, cq_value *x, cq_value *y)
{
    int64_t   sizes[CQ_MAX_RANK], n = 1;
    int       rank  = 0;
    cq_value *of[3] = { condition, x, y }, *from_x, *from_y, *at;

    for (int k = 0; k < 3; k++) {
        if (!all_plain(of[k])) {
            cq_sym_no(s, 9, "a choice between tensors of dynamic sizes needs opset 9");
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
        cq_sym_no(s, 9, "a choice between so large tensors needs opset 9");
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
        set_type(s, out, dtype, in, 3);
        return out;
    }
    used  = cq_sym_fit(s, "Where", dtype);
    in[0] = condition;
    in[1] = cq_sym_cast(s, x, used);
    in[2] = cq_sym_cast(s, y, used);
    out   = cq_sym_op(s, "Where", in, 3, CQ_NO_ATTR);
    set_type(s, out, used, in, 3);
    return cq_sym_cast(s, out, dtype);
}

/* Max and Min broadcast since opset 8; before it, what is smaller is spread by adding zeros. */
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
            cq_sym_no(s, 8, "%s of tensors that broadcast needs opset 8", op);
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

/* By hand before opset 11: up if the fraction is above a half, or a half beside an odd one. */
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
    rest = CQ_2("Div", x, y); /* of integers it is cut already */
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
    if (!is_real(s, x)) /* there is no Where before opset 9, but no infinity either */
        return CQ_2("Add", rest,
                    CQ_2("Mul", y, cq_sym_cast(s, other_sign(s, rest, y), cq_sym_dtype(s, y))));
    return cq_sym_where(s, other_sign(s, rest, y), CQ_2("Add", rest, y), rest);
}

/* Rounding x / y could reach the next integer; the remainder cannot, so it decides. */
static cq_value *floor_divide_real(cq_sym *s, cq_value *x, cq_value *y)
{
    cq_value *plain = CQ_2("Div", x, y), *rest, *quotient;

    if (cq_sym_opset(s) < 10)
        return CQ_1("Floor", plain);
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

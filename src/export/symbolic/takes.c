/* The dtypes that element-wise ONNX operators accept, and the casts around unsupported ones.
 * arith.c builds on it. */
#include "export/exporter.h"
#include "export/symbolic/arith.h"

#define BIT(d)    (1u << CQ_DTYPE_##d)
#define BOOLS     BIT(BOOL)
#define SINGLE    BIT(F32)
#define REAL      (BIT(F16) | BIT(F32) | BIT(F64)) /* without bfloat16, see computed() */
#define HALF_REAL (BIT(F16) | BIT(F32))
#define INTS      (BIT(U8) | BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define WIDE      (BIT(I32) | BIT(I64))

/* The dtypes that both the ONNX standard and the CPU kernels of ONNX Runtime accept, from an opset
 * on. The kernels were tested one by one. truth: the result is bool. Sorted by name, then by opset,
 * for binary search. */
static const struct takes {
    const char *op;
    int         arity, since;
    uint32_t    dtypes;
    bool        truth;
} table[] = {
    { "Abs", 1, 7, REAL | INTS, false },
    { "Acos", 1, 7, HALF_REAL, false },
    { "Acosh", 1, 9, HALF_REAL, false },
    { "Add", 2, 7, REAL | WIDE, false },
    { "Add", 2, 14, REAL | INTS, false },
    { "And", 2, 7, BOOLS, true },
    { "Asin", 1, 7, HALF_REAL, false },
    { "Asinh", 1, 9, HALF_REAL, false },
    { "Atan", 1, 7, HALF_REAL, false },
    { "Atanh", 1, 9, HALF_REAL, false },
    { "Ceil", 1, 7, REAL, false },
    { "Celu", 1, 12, SINGLE, false },
    { "Clip", 1, 7, HALF_REAL, false },
    { "Clip", 1, 12, REAL | WIDE | BIT(U8) | BIT(I8), false },
    { "Cos", 1, 7, REAL, false },
    { "Cosh", 1, 9, HALF_REAL, false },
    { "Div", 2, 7, REAL | WIDE, false },
    { "Div", 2, 14, REAL | INTS, false },
    { "Elu", 1, 7, HALF_REAL, false },
    { "Equal", 2, 7, BOOLS | WIDE, true },
    { "Equal", 2, 11, BOOLS | INTS | REAL, true },
    { "Erf", 1, 9, HALF_REAL, false },
    { "Exp", 1, 7, REAL, false },
    { "Floor", 1, 7, REAL, false },
    { "Greater", 2, 7, REAL, true },
    { "Greater", 2, 9, REAL | INTS, true },
    { "GreaterOrEqual", 2, 12, REAL | INTS, true },
    { "HardSigmoid", 1, 7, HALF_REAL, false },
    { "HardSwish", 1, 14, HALF_REAL, false },
    { "IsInf", 1, 10, BIT(F32) | BIT(F64), true },
    { "IsNaN", 1, 9, REAL, true },
    { "LeakyRelu", 1, 7, HALF_REAL, false },
    { "Less", 2, 7, REAL, true },
    { "Less", 2, 9, REAL | INTS, true },
    { "LessOrEqual", 2, 12, REAL | INTS, true },
    { "Log", 1, 7, REAL, false },
    { "Max", 2, 7, HALF_REAL, false },
    { "Max", 2, 8, REAL, false },
    { "Max", 2, 12, REAL | WIDE | BIT(U8) | BIT(I8), false },
    { "Min", 2, 7, HALF_REAL, false },
    { "Min", 2, 8, REAL, false },
    { "Min", 2, 12, REAL | WIDE | BIT(U8) | BIT(I8), false },
    { "Mod", 2, 10, REAL | INTS, false },
    { "Mul", 2, 7, REAL | WIDE, false },
    { "Mul", 2, 14, REAL | INTS, false },
    { "Neg", 1, 7, REAL | (INTS & ~BIT(U8)), false },
    { "Not", 1, 7, BOOLS, true },
    { "Or", 2, 7, BOOLS, true },
    { "PRelu", 2, 7, HALF_REAL, false },
    { "Pow", 2, 7, REAL, false },
    { "Pow", 2, 12, REAL | WIDE, false },
    { "Reciprocal", 1, 7, REAL, false },
    { "Relu", 1, 7, REAL, false },
    { "Relu", 1, 14, REAL | BIT(I8) | BIT(I32), false },
    { "Round", 1, 11, REAL, false },
    { "Selu", 1, 7, HALF_REAL, false },
    { "Shrink", 1, 9, REAL | INTS, false },
    { "Sigmoid", 1, 7, REAL, false },
    { "Sign", 1, 9, REAL | INTS, false },
    { "Sin", 1, 7, REAL, false },
    { "Sinh", 1, 9, HALF_REAL, false },
    { "Softplus", 1, 7, HALF_REAL, false },
    { "Softsign", 1, 7, HALF_REAL, false },
    { "Sqrt", 1, 7, REAL, false },
    { "Sub", 2, 7, REAL | WIDE, false },
    { "Sub", 2, 14, REAL | INTS, false },
    { "Tan", 1, 7, HALF_REAL, false },
    { "Tanh", 1, 7, REAL, false },
    { "Trilu", 1, 14, REAL | WIDE | BOOLS, false },
    { "Where", 2, 9, REAL | WIDE | BIT(U8), false },
    { "Xor", 2, 7, BOOLS, true },
};

/* Replacements for a dtype that is not accepted, best first. */
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
    size_t low = 0, high = sizeof table / sizeof *table;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(table[middle].op, op) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof table / sizeof *table || strcmp(table[low].op, op) != 0)
        return NULL;
    while (low + 1 < sizeof table / sizeof *table && table[low + 1].since <= opset &&
           strcmp(table[low + 1].op, op) == 0)
        low++;
    return &table[low];
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
    return t->dtypes == BOOLS ? CQ_DTYPE_BOOL : d;
}

/* The broadcast of two sizes; false if it is unknown. */
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

void cq_sym_set_broadcast(cq_sym *s, cq_value *out, cq_dtype dtype, cq_value *const *in, size_t n)
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

/* The first opset at which the operator accepts float64; 0 if there is none. */
static int first_of_doubles(const char *op)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].op, op) == 0 && (table[i].dtypes & BIT(F64)))
            return table[i].since;
    return 0;
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
        cq_sym_no(s, t->since, "%s requires opset %d", op, t->since);
        return NULL;
    }
    given = cq_sym_dtype(s, in[0]);
    if (given == CQ_DTYPE_NONE) /* the result of a user's operator */
        return cq_sym_op(s, op, in, n_in, attrs, n_attrs);
    used = cq_sym_fit(s, op, given);
    if (given == CQ_DTYPE_F64 && used == CQ_DTYPE_F32) {
        cq_sym_no(s, first_of_doubles(op), "ONNX Runtime computes %s of float64 only in float32",
                  op);
        return NULL;
    }
    for (size_t i = 0; i < n_in && i < 2; i++)
        cast[i] = cq_sym_cast(s, in[i], used);
    out = cq_sym_op(s, op, cast, n_in, attrs, n_attrs);
    cq_sym_set_broadcast(s, out, t && t->truth ? CQ_DTYPE_BOOL : used, cast, n_in);
    return t && t->truth ? out : cq_sym_cast(s, out, given);
}

/* ---- operands ---- */

/* Few kernels support bfloat16, so a symbolic function computes in float32 and only its result is
 * rounded. */
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

/* The part of an operand that cq_result_type reads: its kind, dtype and rank. */
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

static cq_dtype promoted(const cq_sym *s, size_t n)
{
    cq_tensor stand_in[2];
    cq_val    vals[2];

    for (size_t i = 0; i < n; i++)
        vals[i] = val_of(&s->node->inputs[i], &stand_in[i]);
    return computed(cq_result_type(s->node->block->graph->default_float, vals, n));
}

cq_dtype cq_sym_operand_dtype(const cq_sym *s)
{
    cq_dtype dtype = cq_sym_result_type(s, 0).dtype;
    size_t   n     = s->node->n_inputs;

    return dtype == CQ_DTYPE_BOOL && n ? promoted(s, n > 1 ? 2 : 1) : computed(dtype);
}

void cq_sym_promoted(cq_sym *s, cq_value **a, cq_value **b)
{
    const cq_schema *schema = s->op->schema;
    cq_dtype         dtype  = promoted(s, b && schema->n_args > 1 ? 2 : 1);

    *a = cq_sym_in_as(s, schema->args[0].name, dtype);
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
        /* Logic on numbers tests whether they are not zero. */
        for (size_t i = 0; i < n && find(op, CQ_OPSET_NEWEST)->dtypes == BOOLS; i++)
            in[i] = cq_sym_cast(s, in[i], CQ_DTYPE_BOOL);
    } else {
        for (size_t i = 0; i < n; i++)
            in[i] = cq_sym_operand(s, s->op->schema->args[i].name);
    }
    return cq_sym_done(s, cq_sym_apply(s, op, in, n, CQ_NO_ATTR));
}

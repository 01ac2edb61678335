/* Helpers for symbolic functions of several families. */
#include "export/symbolic/common.h"

bool cq_sym_has_arg(const cq_sym *s, const char *arg)
{
    return s->op && cq_schema_find(s->op->schema, arg) >= 0;
}

cq_value *cq_sym_unary(cq_sym *s, const char *op, cq_value *x)
{
    cq_value *v = cq_sym_op(s, op, CQ_IN(x), CQ_NO_ATTR);

    if (v && x)
        v->type = x->type;
    return v;
}

static bool same_shape(const cq_type *a, const cq_type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!cq_int_same(a->sizes[i], b->sizes[i]))
            return false;
    return true;
}

cq_value *cq_sym_binary(cq_sym *s, const char *op, cq_value *a, cq_value *b)
{
    cq_value *v = cq_sym_op(s, op, CQ_IN(a, b), CQ_NO_ATTR);
    bool      known;

    if (!v || !a || !b || a->type.kind != CQ_TYPE_TENSOR)
        return v;
    known = a->type.rank >= 0 && b->type.kind == CQ_TYPE_TENSOR && b->type.rank >= 0;
    if (known && (b->type.rank == 0 || same_shape(&a->type, &b->type)))
        v->type = a->type;
    else if (known && a->type.rank == 0)
        v->type = b->type;
    cq_sym_set_dtype(s, v, a->type.dtype);
    return v;
}

cq_value *cq_sym_filled(cq_sym *s, cq_dtype dtype, cq_int n, double value)
{
    cq_tensor *t    = NULL;
    cq_value  *v    = cq_sym_const_f64(s, dtype, value);
    int64_t    size = n.value;
    cq_status  status;

    if (s->status != CQ_OK)
        return NULL;
    if (n.expr)
        return cq_sym_expand(s, v, &n, 1);
    status = cq_tensor_new(&t, CQ_DTYPE_F64, 1, &size, NULL);
    for (int64_t i = 0; status == CQ_OK && i < size; i++)
        ((double *)cq_tensor_data(t))[i] = value;
    if (status == CQ_OK && dtype != CQ_DTYPE_F64) {
        cq_tensor *wide = t;

        status = cq_tensor_clone(&t, wide, dtype);
        cq_tensor_release(wide);
    }
    if (status == CQ_OK)
        v = cq_sym_const(s, t);
    else
        cq_sym_fail(s, status);
    cq_tensor_release(t);
    return v;
}

cq_value *cq_sym_widen(cq_sym *s, cq_value *x)
{
    cq_dtype d = cq_sym_dtype(s, x);

    return d == CQ_DTYPE_F16 || d == CQ_DTYPE_BF16 ? cq_sym_cast(s, x, CQ_DTYPE_F32) : x;
}

cq_value *cq_sym_in_float(cq_sym *s, const char *arg)
{
    cq_value *x = cq_sym_in(s, arg);

    return x && cq_sym_dtype(s, x) == CQ_DTYPE_BF16 ? cq_sym_cast(s, x, CQ_DTYPE_F32) : x;
}

cq_value *cq_sym_only_float(cq_sym *s, cq_value *x)
{
    if (x && !cq_dtype_is_float(cq_sym_dtype(s, x)))
        cq_sym_no(s, 0, "ONNX supports only floats, got %s", cq_dtype_name(cq_sym_dtype(s, x)));
    return x;
}

cq_value *cq_sym_only_small_float(cq_sym *s, cq_value *x)
{
    if (cq_sym_dtype(s, x) == CQ_DTYPE_F64)
        cq_sym_no(s, 0, "ONNX Runtime has no kernel for float64");
    return cq_sym_only_float(s, x);
}

cq_value *cq_sym_computable(cq_sym *s, cq_value *x, int ints)
{
    cq_dtype d = cq_sym_dtype(s, x);

    if (d == CQ_DTYPE_BF16)
        return cq_sym_cast(s, x, CQ_DTYPE_F32);
    if (cq_dtype_is_float(d) || cq_dtype_is_complex(d))
        return x;
    if (cq_sym_opset(s) < ints)
        return cq_sym_cast(s, x, CQ_DTYPE_F64);
    return d == CQ_DTYPE_I32 ? x : cq_sym_cast(s, x, CQ_DTYPE_I64);
}

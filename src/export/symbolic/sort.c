/* Order along a dimension and running sums, for lib/onnx/sort.py. */
#include "export/symbolic/arith.h"
#include "export/symbolic/positions.h"

/* The dtype that TopK is given for elements of d; NONE if order would suffer. */
static cq_dtype orderable(const cq_sym *s, cq_dtype d)
{
    bool floats_only = cq_sym_opset(s) < 11;

    switch (d) {
    case CQ_DTYPE_F32:
    case CQ_DTYPE_F64: return d;
    case CQ_DTYPE_F16:
    case CQ_DTYPE_BF16: return CQ_DTYPE_F32;
    case CQ_DTYPE_I64: return floats_only ? CQ_DTYPE_NONE : d;
    default: return floats_only ? CQ_DTYPE_F64 : CQ_DTYPE_I32;
    }
}

void cq_sym_sorted(cq_sym *s, cq_value *x, cq_int k, int axis, bool largest, cq_value *out[2])
{
    cq_dtype own = cq_sym_dtype(s, x), with = orderable(s, own);

    if (with == CQ_DTYPE_NONE)
        cq_sym_no(s, 11, "integers of 64 bits can be ordered since opset 11");
    if (s->status != CQ_OK)
        return;
    if (cq_int_is(k, 0)) {
        out[0] = cq_sym_slice(s, x, axis, k, k, 1);
        out[1] = cq_sym_cast(s, out[0], CQ_DTYPE_I64);
        return;
    }
    cq_sym_topk(s, cq_sym_cast(s, x, with), k, axis, largest, out);
    out[0] = cq_sym_cast(s, out[0], own);
}

cq_value *cq_sym_summable(cq_sym *s, cq_value *x)
{
    cq_dtype d = cq_sym_dtype(s, x);

    return cq_sym_cast(s, x,
                       d == CQ_DTYPE_F16 || d == CQ_DTYPE_BF16 ? CQ_DTYPE_F32
                       : d == CQ_DTYPE_F32 || d == CQ_DTYPE_F64 || d == CQ_DTYPE_I32 ||
                               d == CQ_DTYPE_I64
                           ? d
                           : CQ_DTYPE_I64);
}

/* Without CumSum: a product with a triangular matrix. */
static cq_value *cumsum_by_product(cq_sym *s, cq_value *x, int axis)
{
    int       last = cq_sym_rank(s, x) - 1;
    int64_t   one = 1, perm[2] = { 1, 0 };
    cq_value *i, *table, *v;

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)) &&
        !cq_sym_since(s, 9, "products of integers need opset 9"))
        return NULL;
    x     = cq_sym_swap_dims(s, x, axis, last);
    i     = cq_sym_iota(s, cq_sym_size(s, x, last));
    i     = cq_sym_opset(s) < 9 ? cq_sym_cast(s, i, CQ_DTYPE_F32) : i; /* Greater is of floats */
    table = CQ_1("Not", CQ_2("Greater", i, cq_sym_unsqueeze(s, i, &one, 1)));
    table = cq_sym_transpose(s, table, perm, 2);
    v     = cq_sym_op2(s, "MatMul", x, cq_sym_cast(s, table, cq_sym_dtype(s, x)));
    cq_sym_set_type_of(v, x);
    return cq_sym_swap_dims(s, v, axis, last);
}

cq_value *cq_sym_cumsum(cq_sym *s, cq_value *x, int axis)
{
    return cq_sym_opset(s) < 11 ? cumsum_by_product(s, x, axis)
                                : cq_sym_op2(s, "CumSum", x, cq_sym_const_i64(s, axis));
}

/* Running sums, for the form of CumSum before opset 11. */
#include "export/symbolic/arith.h"
#include "export/symbolic/positions.h"

/* Without CumSum: a product with a triangular matrix. */
static cq_value *cumsum_by_product(cq_sym *s, cq_value *x, int axis)
{
    int       last = cq_sym_rank(s, x) - 1;
    int64_t   one = 1, perm[2] = { 1, 0 };
    cq_value *i, *table, *v;

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)) &&
        !cq_sym_since(s, 9, "products of integers require opset 9"))
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

/* Softmax and its logarithm. */
#include "export/arith.h"
#include "export/symbolic/common.h"

#include <math.h>

/* self as floats that ONNX has. */
static cq_value *input(cq_sym *s)
{
    cq_dtype want = cq_sym_result_type(s, 0).dtype;

    return cq_sym_cast(s, cq_sym_in(s, "self"), want == CQ_DTYPE_BF16 ? CQ_DTYPE_F32 : want);
}

/* Until opset 12 it flattened x to a matrix at axis; since 13 it works on axis alone. They
 * agree on the last axis, so dim is moved there and back. */
static cq_value *along(cq_sym *s, const char *op, cq_value *x)
{
    int     rank = cq_sym_rank(s, x), dim = cq_sym_dim(s, "dim", rank);
    bool    move = cq_sym_opset(s) < 13 && rank > 0;
    int64_t zero = 0;

    if (rank == 0)
        x = cq_sym_unsqueeze(s, x, &zero, 1);
    if (move)
        x = cq_sym_swap_dims(s, x, dim, rank - 1);
    x = cq_sym_op(s, op, CQ_IN(x), CQ_ATTR(cq_attr_i("axis", move ? rank - 1 : dim)));
    if (move)
        x = cq_sym_swap_dims(s, x, dim, rank - 1);
    return rank == 0 ? cq_sym_squeeze(s, x, &zero, 1) : x;
}

static cq_status softmax(cq_sym *s)
{
    return cq_sym_done(s, along(s, "Softmax", input(s)));
}

static cq_status log_softmax(cq_sym *s)
{
    return cq_sym_done(s, along(s, "LogSoftmax", input(s)));
}

/* What is -inf throughout has -inf as its greatest, and as its sum: the greatest alone may be so
 * beside NaN, which ONNX Runtime passes over. */
static cq_value *nowhere(cq_sym *s, cq_value *x)
{
    cq_value *none = cq_sym_const_f64(s, cq_sym_dtype(s, x), -INFINITY), *greatest, *sum;
    int       rank = cq_sym_rank(s, x);
    int64_t   dim  = cq_sym_dim(s, "dim", rank);

    if (!rank)
        return cq_sym_equal(s, x, none);
    greatest = cq_sym_equal(s, cq_sym_reduce(s, "ReduceMax", x, &dim, 1, true), none);
    sum      = cq_sym_equal(s, cq_sym_reduce(s, "ReduceSum", x, &dim, 1, true), none);
    return cq_sym_binary(s, "And", greatest, sum);
}

static cq_status safe_softmax(cq_sym *s)
{
    cq_value *x = input(s), *hidden = nowhere(s, x), *y = along(s, "Softmax", x);

    return cq_sym_done(s, cq_sym_where(s, hidden, cq_sym_num(s, x, 0), y));
}

const cq_symbolic cq_symbolics_softmax[] = {
    { "aten::softmax.int", 7, .fn = softmax },
    { "aten::log_softmax.int", 7, .fn = log_softmax },
    { "aten::_safe_softmax", 7, .fn = safe_softmax },
    { 0 },
};

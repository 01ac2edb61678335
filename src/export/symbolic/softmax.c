/* Softmax and its logarithm. */
#include "export/symbolic/common.h"

/* Until opset 12 it flattened x to a matrix at axis; since 13 it works on axis alone. They
 * agree on the last axis, so dim is moved there and back. */
static cq_status along(cq_sym *s, const char *op)
{
    cq_dtype  want = cq_sym_result_type(s, 0).dtype;
    cq_value *x = cq_sym_cast(s, cq_sym_in(s, "self"), want == CQ_DTYPE_BF16 ? CQ_DTYPE_F32 : want);
    int       rank = cq_sym_rank(s, x), dim = cq_sym_dim(s, "dim", rank);
    bool      move = cq_sym_opset(s) < 13 && rank > 0;
    int64_t   zero = 0;

    if (rank == 0)
        x = cq_sym_unsqueeze(s, x, &zero, 1);
    if (move)
        x = cq_sym_swap_dims(s, x, dim, rank - 1);
    x = cq_sym_op(s, op, CQ_IN(x), CQ_ATTR(cq_attr_i("axis", move ? rank - 1 : dim)));
    if (move)
        x = cq_sym_swap_dims(s, x, dim, rank - 1);
    return cq_sym_done(s, rank == 0 ? cq_sym_squeeze(s, x, &zero, 1) : x);
}

static cq_status softmax(cq_sym *s)
{
    return along(s, "Softmax");
}

static cq_status log_softmax(cq_sym *s)
{
    return along(s, "LogSoftmax");
}

const cq_symbolic cq_symbolics_softmax[] = {
    { "aten::softmax.int", 7, .fn = softmax },
    { "aten::log_softmax.int", 7, .fn = log_softmax },
    { 0 },
};

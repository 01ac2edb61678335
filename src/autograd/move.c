/* Gradients of operators whose results are elements of an argument at other indices, and possibly
 * zeros: padding, repetition, scatter, windows. The operator is run on the linear indices; its
 * result has the source index of each gradient. */
#include "autograd/gradient.h"

/* 1, 2, 3 … in the sizes and strides of t, in float64, which every such operator accepts and which
 * is exact. Strides matter to as_strided. Zero is not an index. */
static cq_tensor *numbered(cq_ctx *cx, const cq_tensor *t)
{
    int64_t    n = cq_tensor_numel(t), extent = 1;
    cq_tensor *numbers, *base;

    numbers = CQ_OP(cx, "aten::arange.start", INT(1), INT(n + 1), DTYPE(CQ_DTYPE_F64));
    numbers = CQ_OP(cx, "aten::reshape", TENSOR(numbers), cq_sizes_of(cx, t));
    if (cx->status != CQ_OK || cq_tensor_is_contiguous(t))
        return numbers;
    for (size_t i = 0; i < t->rank; i++)
        extent += (t->sizes[i].value - 1) * t->strides[i];
    base = CQ_OP(cx, "aten::zeros", cq_i64s(cx, &extent, 1), DTYPE(CQ_DTYPE_F64));
    base = CQ_OP(cx, "aten::as_strided", TENSOR(base), cq_sizes_of(cx, t),
                 cq_i64s(cx, t->strides, t->rank), INT(0));
    CQ_OP(cx, "aten::copy_", TENSOR(base), TENSOR(numbers));
    return base;
}

/* The argument for the index run: indices for the tensor in question, zeros for other float tensors
 * and for fill values. */
static cq_val argument(cq_grad *g, size_t i, const cq_tensor *moved)
{
    cq_val v = g->call.args[i];

    if (v.kind == CQ_VAL_TENSOR && v.u.tensor == moved)
        return TENSOR(numbered(g->cx, moved));
    if (v.kind == CQ_VAL_TENSOR && cq_dtype_is_float(v.u.tensor->dtype))
        return TENSOR(CQ_OP(g->cx, "aten::zeros_like", TENSOR(v.u.tensor), DTYPE(CQ_DTYPE_F64)));
    if (strcmp(g->call.op->schema->args[i].name, "padding_value") == 0)
        return INT(0);
    return v;
}

static cq_tensor *flat(cq_ctx *cx, cq_tensor *t)
{
    return t ? CQ_OP(cx, "aten::reshape", TENSOR(t), cq_i64s(cx, &(int64_t){ -1 }, 1)) : NULL;
}

cq_tensor *cq_grad_moved(cq_grad *g, const cq_tensor *arg)
{
    cq_ctx      *cx = g->cx;
    const cq_op *op = g->call.op;
    cq_val       args[CQ_MAX_ARGS], result = CQ_NONE;
    cq_tensor   *grad = cq_grad_of(g, 0), *sums, *to;
    int64_t      n    = cq_tensor_numel(arg) + 1;

    for (size_t i = 0; i < op->schema->n_args && cx->status == CQ_OK; i++)
        args[i] = argument(g, i, arg);
    if (cx->status != CQ_OK || cq_op_call(cx, op, args, op->schema->n_args, &result, 1) != CQ_OK)
        return NULL;
    to   = CQ_OP(cx, "aten::to.dtype", TENSOR(flat(cx, result.u.tensor)), DTYPE(CQ_DTYPE_I64));
    sums = CQ_OP(cx, "aten::zeros", cq_i64s(cx, &n, 1), DTYPE(grad->dtype));
    sums = CQ_OP(cx, "aten::index_add", TENSOR(sums), INT(0), TENSOR(to), TENSOR(flat(cx, grad)));
    sums = CQ_OP(cx, "aten::slice.Tensor", TENSOR(sums), INT(0), INT(1));
    return CQ_OP(cx, "aten::reshape", TENSOR(sums), cq_sizes_of(cx, arg));
}

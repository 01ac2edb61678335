/* Products of matrices. */
#include "autograd/gradient.h"

/* A matrix or a stack of them: a vector becomes a row (on the left) or a column. */
static cq_tensor *as_matrix(cq_ctx *cx, cq_tensor *t, int64_t dim)
{
    return t->rank == 1 ? CQ_OP(cx, "aten::unsqueeze", T(t), I(dim)) : t;
}

static cq_tensor *transposed(cq_ctx *cx, cq_tensor *t)
{
    return CQ_OP(cx, "aten::transpose.int", T(t), I(-2), I(-1));
}

/* a's product with b had the gradient grad: those of a and b. Stacks that were broadcast are summed
 * by cq_grad_set, once the vectors among them are vectors again. */
static cq_status matmul(cq_grad *g)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *other = cq_grad_arg(g, "other");
    cq_tensor *a = as_matrix(cx, self, 0), *b = as_matrix(cx, other, 1), *d = cq_grad_of(g, 0);

    if (cx->status == CQ_OK && other->rank == 1)
        d = CQ_OP(cx, "aten::unsqueeze", T(d), I(-1));
    if (cx->status == CQ_OK && self->rank == 1)
        d = CQ_OP(cx, "aten::unsqueeze", T(d), I(-2));
    if (cx->status == CQ_OK && cq_grad_wants(g, "self")) {
        cq_tensor *x = CQ_OP(cx, "aten::matmul", T(d), T(transposed(cx, b)));

        if (x && self->rank == 1)
            x = CQ_OP(cx, "aten::squeeze.dim", T(x), I(-2));
        CQ_TRY(cq_grad_set(g, "self", x));
    }
    if (cx->status == CQ_OK && cq_grad_wants(g, "other")) {
        cq_tensor *x = CQ_OP(cx, "aten::matmul", T(transposed(cx, a)), T(d));

        if (x && other->rank == 1)
            x = CQ_OP(cx, "aten::squeeze.dim", T(x), I(-1));
        CQ_TRY(cq_grad_set(g, "other", x));
    }
    return cx->status;
}

/* The rows of t, whatever stacks they lie in. */
static cq_tensor *rows_of(cq_ctx *cx, cq_tensor *t)
{
    int64_t sizes[2] = { -1, t->sizes[t->rank - 1].value };

    if (cq_tensor_numel(t) == 0) {
        sizes[0] = 1;
        for (size_t i = 0; i + 1 < t->rank; i++)
            sizes[0] *= t->sizes[i].value;
    }
    return CQ_OP(cx, "aten::reshape", T(t), cq_i64s(cx, sizes, 2));
}

static cq_status linear(cq_grad *g)
{
    cq_ctx    *cx    = g->cx;
    cq_tensor *input = cq_grad_arg(g, "input"), *weight = cq_grad_arg(g, "weight");
    cq_tensor *d = cq_grad_of(g, 0), *rows;

    if (weight->rank == 1) /* one result, without a dimension of its own */
        return cq_grad_formula(g, NULL,
                               "input: unsqueeze(grad, -1) * weight;"
                               "weight: unsqueeze(grad, -1) * input; bias: grad");
    if (cq_grad_wants(g, "input"))
        CQ_TRY(cq_grad_set(g, "input", CQ_OP(cx, "aten::matmul", T(d), T(weight))));
    if (cq_grad_wants(g, "weight")) {
        rows = CQ_OP(cx, "aten::t", T(rows_of(cx, d)));
        CQ_TRY(cq_grad_set(g, "weight", CQ_OP(cx, "aten::mm", T(rows), T(rows_of(cx, input)))));
    }
    return cq_grad_wants(g, "bias") ? cq_grad_set(g, "bias", d) : cx->status;
}

const cq_gradient cq_gradients_linalg[] = {
    { "aten::mm", .as = "self: mm(grad, t(mat2)); mat2: mm(t(self), grad)" },
    { "aten::bmm", .as = "self: bmm(grad, transpose(mat2, 1, 2));"
                         "mat2: bmm(transpose(self, 1, 2), grad)" },
    { "aten::mv", .as = "self: outer(grad, vec); vec: mv(t(self), grad)" },
    { "aten::dot", .as = "self: grad * tensor; tensor: grad * self" },
    { "aten::matmul", .fn = matmul },
    { "aten::addmm", .as = "self: grad * beta; mat1: mm(grad, t(mat2)) * alpha;"
                           "mat2: mm(t(mat1), grad) * alpha" },
    { "aten::baddbmm", .as =
                           "self: grad * beta; batch1: bmm(grad, transpose(batch2, 1, 2)) * alpha;"
                           "batch2: bmm(transpose(batch1, 1, 2), grad) * alpha" },
    { "aten::linear", .fn = linear },
    { 0 },
};

/* Products of matrices. */
#include "autograd/gradient.h"

const cq_gradient cq_gradients_linalg[] = {
    { "aten::mm", .as = "self: mm(grad, t(mat2)); mat2: mm(t(self), grad)" },
    { "aten::bmm", .as = "self: bmm(grad, transpose(mat2, 1, 2));"
                         "mat2: bmm(transpose(self, 1, 2), grad)" },
    { "aten::mv", .as = "self: outer(grad, vec); vec: mv(t(self), grad)" },
    { "aten::dot", .as = "self: grad * tensor; tensor: grad * self" },
    /* A vector is a row on the left, a column on the right. Stacks that were broadcast are summed
     * by cq_grad_set, once the vectors among them are vectors again. */
    { "aten::matmul", .as = "a = self.unsqueeze(0) if self.ndim == 1 else self\n"
                            "b = other.unsqueeze(1) if other.ndim == 1 else other\n"
                            "d = grad.unsqueeze(-1) if other.ndim == 1 else grad\n"
                            "d = d.unsqueeze(-2) if self.ndim == 1 else d\n"
                            "if self.ndim == 1: self: (d @ b.transpose(-2, -1)).squeeze(-2)\n"
                            "else: self: d @ b.transpose(-2, -1)\n"
                            "if other.ndim == 1: other: (a.transpose(-2, -1) @ d).squeeze(-1)\n"
                            "else: other: a.transpose(-2, -1) @ d" },
    { "aten::addmm", .as = "self: grad * beta; mat1: mm(grad, t(mat2)) * alpha;"
                           "mat2: mm(t(mat1), grad) * alpha" },
    { "aten::baddbmm", .as =
                           "self: grad * beta; batch1: bmm(grad, transpose(batch2, 1, 2)) * alpha;"
                           "batch2: bmm(transpose(batch1, 1, 2), grad) * alpha" },
    /* A weight of one dimension gives one result, without a dimension of its own. */
    { "aten::linear",
      .as = "if weight.ndim == 1: input: grad.unsqueeze(-1) * weight; weight: grad.unsqueeze(-1) * "
            "input\n"
            "else: input: grad @ weight; weight: mm(as_rows(grad).t(), as_rows(input))\n"
            "bias: grad" },
    /* The gradient of a product by rows is one by rows and one by sums, and so on. */
    { "aten::_grouped_mm", .as = "self: _grouped_mm(grad, transpose(mat2, -2, -1), offs);"
                                 "mat2: _grouped_mm(transpose(self, -2, -1), grad, offs)" },
    { "transformers::grouped_mm_fallback",
      .as = "input: _grouped_mm(grad, transpose(weight, -2, -1), offs);"
            "weight: _grouped_mm(transpose(input, -2, -1), grad, offs)" },
    { 0 },
};

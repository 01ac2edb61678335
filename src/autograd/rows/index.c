/* Elements by index: gathers, scatters, embeddings, sorting, and what runs along a dimension. */
#include "autograd/gradient.h"

/* Elements that are written over have none; with accumulate they are added to. */
#define INDEX_PUT                                                                                  \
    "self: grad if accumulate else index_put(grad, indices, zeros_like(values), False)\n"          \
    "values: index(grad, indices)"

/* ---- along a dimension ---- */

/* exp(x) times what all later results have of it, by logarithms so that nothing overflows: once for
 * gradients above zero, once for those below. */
#define PART(sign)                                                                                 \
    "exp(flip(logcumsumexp(flip(where(" sign "grad > 0, log(" sign "grad), -(1 / 0)) - result,"    \
    "[dim]), dim), [dim]) + self)"

const cq_gradient cq_gradients_index[] = {
    { "aten::index.Tensor", .as = "self: index_put(zeros_like(self), indices, grad, True)" },
    { "aten::index.Tensor_hacked_twin",
      .as = "self: index_put(zeros_like(self), indices, grad, True)" },
    { "aten::index_put", .as = INDEX_PUT },
    { "aten::index_put.hacked_twin", .as = INDEX_PUT },
    { "aten::_index_put_impl", .as = INDEX_PUT },
    { "aten::index_select", .as = "self: index_add(zeros_like(self), dim, index, grad)" },
    { "aten::index_fill.int_Scalar", .as = "self: index_fill(grad, dim, index, 0)" },
    { "aten::index_fill.int_Tensor", .as =
                                         "self: index_fill(grad, dim, index, 0);"
                                         "value: sum(index_select(grad, dim, _unique(index)[0]))" },
    { "aten::index_add", .as = "self: grad; source: index_select(grad, dim, index) * alpha" },
    { "aten::index_copy", .as = "self: index_fill(grad, dim, index, 0);"
                                "source: index_select(grad, dim, index)" },
    { "aten::gather", .as = "self: scatter_add(zeros_like(self), dim, index, grad)" },
    { "aten::scatter.value", .as = "self: scatter(grad, dim, index, 0)" },
    { "aten::scatter.src",
      .as = "self: scatter(grad, dim, index, 0); src: gather(grad, dim, index)" },
    { "aten::scatter_add", .as = "self: grad; src: gather(grad, dim, index)" },
    /* What the result would be without a single zero among its factors is computed apart, for it
     * cannot be had by division. What is written over has no gradient. */
    { "aten::scatter_reduce.two",
      .as = "if reduce == 'sum': of_self = grad; of_src = gather(grad, dim, index)\n"
            "elif reduce == 'prod': "
            "ones = masked_fill(self, self == 0, 1); "
            "zeros = gather(scatter_add(zeros_like(self), dim, index, to(src == 0, grad)), dim, "
            "index); "
            "lone = logical_and(src == 0, zeros == 1); "
            "factors = scatter_reduce(ones, dim, index, src, reduce, include_self=include_self); "
            "of_self = grad * factors / ones; "
            "factors = scatter_reduce(self, dim, index, masked_fill(src, lone, 1), reduce, "
            "include_self=include_self); "
            "of_src = where(lone, gather(grad * factors, dim, index), "
            "gather(grad * result, dim, index) / masked_fill(src, src == 0, 1))\n"
            "elif reduce == 'mean': "
            "n = clamp_min(scatter_add(full_like(self, include_self), dim, index, ones_like(src)), "
            "1); "
            "of_self = grad / n; "
            "of_src = gather(of_self, dim, index)\n"
            "else: "
            "best = to(self == result, grad); "
            "of_src = to(src == gather(result, dim, index), grad); "
            "share = grad / scatter_add(best, dim, index, of_src); "
            "of_self = best * share; "
            "of_src = of_src * gather(share, dim, index)\n"
            "self: of_self if include_self else scatter(of_self, dim, index, 0)\n"
            "src: of_src" },
    { "aten::take", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_select", .kind = CQ_GRADIENT_MOVE },
    { "aten::masked_scatter", .kind = CQ_GRADIENT_MOVE },
    /* Rows of the weight are summed over the places where they were looked up. */
    { "aten::embedding",
      .as = "at = indices.reshape([-1])\n"
            "rows = grad.reshape([at.numel(), weight.shape[1]])\n"
            "if scale_grad_by_freq: "
            "rows = rows / bincount(at, None, weight.shape[0]).index_select(0, at).unsqueeze(1)\n"
            "if padding_idx >= 0: rows = rows.masked_fill((at == padding_idx).unsqueeze(1), 0)\n"
            "weight: index_add(zeros_like(weight), 0, at, rows)" },
    { 0 },
};

const cq_gradient cq_gradients_sort[] = {
    { "aten::sort", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::sort.stable", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::topk", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::cummax", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::cummin", .as = "self: scatter_add(zeros_like(self), dim, result1, grad)" },
    { "aten::cumsum", .as = "self: flip(cumsum(flip(grad, [dim]), dim), [dim])" },
    /* Each element's part in all products after it. Division does it fast; where an element is
     * zero, its part is the product of the others, found one place after the other. */
    { "aten::cumprod",
      .as = "zero = bool(any(self == 0))\n"
            "part = grad\n"
            "for i in range(self.shape[dim] if zero and self.ndim > 0 else 0): "
            "one = ones_like(select(grad, dim, i), dtype=self.dtype); "
            "x = cumprod(select_scatter(self, one, dim, i), dim) * grad; "
            "part = select_scatter(part, x.slice(dim, i).sum(dim), dim, i)\n"
            "self: part if zero else flip(cumsum(flip(grad * result, [dim]), dim), [dim]) / self" },
    { "aten::logcumsumexp", .as = "self: " PART("") " - " PART("-") },
    { 0 },
};

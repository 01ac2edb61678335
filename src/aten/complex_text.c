/* What operators do to complex numbers, as bodies in terms of others (body.h). What moves elements
 * or works on pairs as they are is in complex.c. */
#include "aten/body.h"
#include "aten/complex.h"

#include <stdlib.h>

#define EACH(op, rest) "complex(" op "(real(self)" rest "), " op "(imag(self)" rest "))"
#define TURNED         "complex(-imag(self), real(self))" /* times i */

/* (x + iy)(u + iv), each product a convolution; bias has one number for a channel. */
#define CONVOLVED(op, rest, ones)                                                                  \
    "x = real(input); y = imag(input); u = real(weight); v = imag(weight)\n"                       \
    "z = complex(" op "(x, u, None, " rest ") - " op "(y, v, None, " rest "), " op                 \
    "(x, v, None, " rest ") + " op "(y, u, None, " rest "))\n"                                     \
    "return z if bias is None else z + bias.reshape([-1, " ones "])"
#define AHEAD "stride, padding, dilation, groups"
#define BACK  "stride, padding, output_padding, groups, dilation"

#define CONJUGATE "complex(real(self), -imag(self))"

/* (x + iy)(u + iv), of matrices. */
#define PRODUCT(op, other)                                                                         \
    "assert self.is_complex() and " other ".is_complex(),"                                         \
    " 'both matrices should be of one dtype'\n"                                                    \
    "x = real(self); y = imag(self); u = real(" other "); v = imag(" other ")\n"                   \
    "return complex(" op "(x, u) - " op "(y, v), " op "(x, v) + " op "(y, u))"

/* a + alpha b, or a - alpha b, each part for itself. */
#define SUM(op)                                                                                    \
    "if is_complex(alpha): raise NotImplementedError('a complex alpha')\n"                         \
    "if both_complex(self, other): return from_pairs(" op                                          \
    "(view_as_real(self), view_as_real(other), alpha=alpha))\n"                                    \
    "t = dtype_of_parts(self, other)\n"                                                            \
    "x = " op "(real_part(self, t), real_part(other, t), alpha=alpha)\n"                           \
    "y = " op "(imag_part(self, t), imag_part(other, t), alpha=alpha)\n"                           \
    "return complex_of(x, y)"
#define PRODUCTS                                                                                   \
    "if not is_complex(self): return times_real(other, self)\n"                                    \
    "if not is_complex(other): return times_real(self, other)\n"                                   \
    "t = dtype_of_parts(self, other)\n"                                                            \
    "return product(real_part(self, t), imag_part(self, t), real_part(other, t), "                 \
    "imag_part(other, t))"
/* a / b = a conj(b) / |b|^2 */
#define QUOTIENT                                                                                   \
    "if not is_complex(other): return from_pairs(view_as_real(self) / beside_pairs(other))\n"      \
    "t = dtype_of_parts(self, other)\n"                                                            \
    "x = real_part(self, t); y = imag_part(self, t)\n"                                             \
    "u = real_part(other, t); v = imag_part(other, t); square = u * u + v * v\n"                   \
    "return from_pairs(view_as_real(product(x, y, u, -v)) / beside_pairs(square))"
/* The dtype is that of the numbers. */
#define REDUCED(op, dims, keep)                                                                    \
    "if dtype is not None and dtype != self.dtype: "                                               \
    "raise NotImplementedError('complex numbers in another dtype')\n"                              \
    "if self.ndim == 0: return self\n"                                                             \
    "return from_pairs(" op "(view_as_real(self), " dims ", " keep "))"
#define SOME_DIMS                                                                                  \
    "wrap_dims(dim, self.ndim) if dim is not None and len(dim) > 0 else range(self.ndim)"
#define ALL_DIMS "range(self.ndim)"

static const struct text_rule {
    const char *op, *text;
} rules[] = {
    /* in order of their names */
    { "aten::_conj", CONJUGATE },
    { "aten::_conj_physical", CONJUGATE },
    { "aten::_pad_circular", EACH("_pad_circular", ", pad") },
    { "aten::abs", "x = real(self); y = imag(self)\nreturn sqrt(x * x + y * y)" },
    { "aten::acos", "math.pi / 2 - asin(self)" },
    { "aten::acosh", "log(self + sqrt(self + 1) * sqrt(self - 1))" },
    { "aten::add.Scalar", SUM("add.Tensor") },
    { "aten::add.Tensor", SUM("add.Tensor") },
    { "aten::addcdiv", "self + tensor1 / tensor2 * value" },
    { "aten::addcmul", "self + tensor1 * tensor2 * value" },
    { "aten::addmm", "self * beta + mm(mat1, mat2) * alpha" },
    { "aten::all", "all(truth(self))" },
    { "aten::all.dim", "all(truth(self), dim, keepdim)" },
    { "aten::angle", "atan2(imag(self), real(self))" },
    { "aten::any", "any(truth(self))" },
    { "aten::any.dim", "any(truth(self), dim, keepdim)" },
    { "aten::argwhere", "argwhere(truth(self))" },
    { "aten::asin", "y = asinh(" TURNED ")\nreturn complex(imag(y), -real(y))" },
    { "aten::asinh", "log(self + sqrt(self * self + 1))" },
    { "aten::atan", "y = atanh(" TURNED ")\nreturn complex(imag(y), -real(y))" },
    { "aten::atanh", "(log(self + 1) - log(1 - self)) * 0.5" },
    { "aten::baddbmm", "self * beta + bmm(batch1, batch2) * alpha" },
    { "aten::bmm", PRODUCT("bmm", "mat2") },
    { "aten::conj", CONJUGATE },
    { "aten::conj_physical", CONJUGATE },
    { "aten::constant_pad_nd",
      "complex(constant_pad_nd(real(self), pad, value), constant_pad_nd(imag(self), pad, 0))" },
    { "aten::conv1d", CONVOLVED("conv1d", AHEAD, "1") },
    { "aten::conv2d", CONVOLVED("conv2d", AHEAD, "1, 1") },
    { "aten::conv3d", CONVOLVED("conv3d", AHEAD, "1, 1, 1") },
    { "aten::conv_transpose1d", CONVOLVED("conv_transpose1d", BACK, "1") },
    { "aten::conv_transpose2d.input", CONVOLVED("conv_transpose2d.input", BACK, "1, 1") },
    { "aten::conv_transpose3d.input", CONVOLVED("conv_transpose3d.input", BACK, "1, 1, 1") },
    { "aten::cos", "x = real(self); y = imag(self)\n"
                   "return complex(cos(x) * cosh(y), -(sin(x) * sinh(y)))" },
    { "aten::cosh", "x = real(self); y = imag(self)\n"
                    "return complex(cosh(x) * cos(y), sinh(x) * sin(y))" },
    { "aten::count_nonzero", "count_nonzero(truth(self))" },
    { "aten::count_nonzero.dim_IntList", "count_nonzero(truth(self), dim)" },
    { "aten::cumprod",
      "d = wrap_dim(dim, self.ndim)\n"
      "if self.ndim == 0: return self\n"
      "y = self.select(d, 0); all = [y]\n"
      "for i in range(1, int(self.shape[d])): y = y * self.select(d, i); all = all + [y]\n"
      "return stack(all, d)" },
    { "aten::diag", EACH("diag", ", diagonal") },
    { "aten::diag_embed", EACH("diag_embed", ", offset, dim1, dim2") },
    { "aten::div.Scalar", QUOTIENT },
    { "aten::div.Tensor", QUOTIENT },
    { "aten::dot", "sum(self * tensor)" },
    { "aten::eq.Tensor", "a = as_complex(self); b = as_complex(other)\n"
                         "return logical_and(real(a) == real(b), imag(a) == imag(b))" },
    { "aten::exp", "size = exp(real(self)); turn = imag(self)\n"
                   "return complex(size * cos(turn), size * sin(turn))" },
    { "aten::exp2", "exp(self * 0.6931471805599453)" },
    { "aten::expm1", "exp(self) - 1" },
    { "aten::gather", EACH("gather", ", dim, index") },
    { "aten::im2col", EACH("im2col", ", kernel_size, dilation, padding, stride") },
    { "aten::imag", "view_as_real(self).select(-1, 1)" },
    { "aten::index_add", "complex(index_add(real(self), dim, index, real(source), alpha=alpha),"
                         " index_add(imag(self), dim, index, imag(source), alpha=alpha))" },
    { "aten::index_copy", "complex(index_copy(real(self), dim, index, real(source)), "
                          "index_copy(imag(self), dim, index, imag(source)))" },
    { "aten::index_put", "complex(index_put(real(self), indices, real(values), accumulate), "
                         "index_put(imag(self), indices, imag(values), accumulate))" },
    { "aten::isfinite", "logical_and(isfinite(real(self)), isfinite(imag(self)))" },
    { "aten::isinf", "logical_or(isinf(real(self)), isinf(imag(self)))" },
    { "aten::isnan", "logical_or(isnan(real(self)), isnan(imag(self)))" },
    { "aten::isreal", "imag(self) == 0" },
    { "aten::lerp.Scalar", "self + (end - self) * weight" },
    { "aten::linalg_vecdot", "sum(conj(x) * y, [dim])" },
    { "aten::linalg_vector_norm", "linalg_vector_norm(abs(self), ord, dim, keepdim)" },
    { "aten::linear",
      "y = matmul(input, weight.transpose(0, 1))\nreturn y if bias is None else y + bias" },
    { "aten::log", "complex(log(abs(self)), angle(self))" },
    { "aten::log10", "log(self) * 0.4342944819032518" },
    { "aten::log1p", "log(self + 1)" },
    { "aten::log2", "log(self) * 1.4426950408889634" },
    { "aten::logaddexp", "log(exp(self) + exp(other))" },
    { "aten::logical_and", "logical_and(truth(self), truth(other))" },
    { "aten::logical_not", "logical_not(truth(self))" },
    { "aten::logical_or", "logical_or(truth(self), truth(other))" },
    { "aten::logical_xor", "logical_xor(truth(self), truth(other))" },
    { "aten::logsumexp", "m = amax(real(self), dim, True)\n"
                         "y = log(sum(exp(self - m), dim, keepdim))\n"
                         "return y + (m if keepdim else amax(real(self), dim, False))" },
    { "aten::masked_fill.Scalar", "complex(masked_fill(real(self), mask, value),"
                                  " masked_fill(imag(self), mask, 0))" },
    { "aten::masked_scatter", "complex(masked_scatter(real(self), mask, real(source)), "
                              "masked_scatter(imag(self), mask, imag(source)))" },
    { "aten::masked_select", EACH("masked_select", ", mask") },
    { "aten::matmul", PRODUCT("matmul", "other") },
    { "aten::mean", REDUCED("mean.dim", ALL_DIMS, "False") },
    { "aten::mean.dim", REDUCED("mean.dim", SOME_DIMS, "keepdim") },
    { "aten::mm", PRODUCT("mm", "mat2") },
    { "aten::mul.Scalar", PRODUCTS },
    { "aten::mul.Tensor", PRODUCTS },
    { "aten::mv", "matmul(self, vec)" },
    { "aten::ne.Tensor", "a = as_complex(self); b = as_complex(other)\n"
                         "return logical_or(real(a) != real(b), imag(a) != imag(b))" },
    { "aten::new_ones", "complex(new_ones(real(self), size), new_zeros(real(self), size))" },
    { "aten::new_zeros", "complex(new_zeros(real(self), size), new_zeros(real(self), size))" },
    { "aten::nonzero", "nonzero(truth(self))" },
    { "aten::nonzero_static", "nonzero_static(truth(self), size=size, fill_value=fill_value)" },
    { "aten::ones_like", "complex(ones_like(real(self)), zeros_like(real(self)))" },
    { "aten::pow.Scalar", "exp(exponent * log(complex(full_like(real(exponent), self),"
                          " zeros_like(real(exponent)))))" },
    { "aten::pow.Tensor_Tensor", "exp(log(as_complex(self)) * exponent)" },
    { "aten::prod", "y = self.reshape([-1]); z = y.select(0, 0)\n"
                    "for i in range(1, int(y.shape[0])): z = z * y.select(0, i)\n"
                    "return z" },
    { "aten::prod.dim_int", "d = wrap_dim(dim, self.ndim); y = self.select(d, 0)\n"
                            "for i in range(1, int(self.shape[d])): y = y * self.select(d, i)\n"
                            "return y.unsqueeze(d) if keepdim else y" },
    { "aten::put", "complex(put(real(self), index, real(source), accumulate), put(imag(self), "
                   "index, imag(source), accumulate))" },
    { "aten::real", "view_as_real(self).select(-1, 0)" },
    { "aten::reciprocal", "x = real(self); y = imag(self); t = x * x + y * y\n"
                          "return complex(x / t, -(y / t))" },
    { "aten::reflection_pad1d", EACH("reflection_pad1d", ", padding") },
    { "aten::reflection_pad2d", EACH("reflection_pad2d", ", padding") },
    { "aten::reflection_pad3d", EACH("reflection_pad3d", ", padding") },
    { "aten::replication_pad1d", EACH("replication_pad1d", ", padding") },
    { "aten::replication_pad2d", EACH("replication_pad2d", ", padding") },
    { "aten::replication_pad3d", EACH("replication_pad3d", ", padding") },
    { "aten::rsqrt", "reciprocal(sqrt(self))" },
    { "aten::rsub.Scalar", "self * -alpha + other" },
    { "aten::rsub.Tensor", "other - self * alpha" },
    { "aten::scatter.src", "complex(scatter(real(self), dim, index, real(src)), "
                           "scatter(imag(self), dim, index, imag(src)))" },
    { "aten::scatter_add", "complex(scatter_add(real(self), dim, index, real(src)),"
                           " scatter_add(imag(self), dim, index, imag(src)))" },
    { "aten::sgn", "a = abs(self)\nreturn self / a.masked_fill(a == 0, 1.)" },
    { "aten::sigmoid", "reciprocal(exp(-self) + 1)" },
    { "aten::silu", "self / (exp(-self) + 1)" },
    { "aten::sin", "x = real(self); y = imag(self)\n"
                   "return complex(sin(x) * cosh(y), cos(x) * sinh(y))" },
    { "aten::sinh", "x = real(self); y = imag(self)\n"
                    "return complex(sinh(x) * cos(y), cosh(x) * sin(y))" },
    { "aten::sqrt", "polar(sqrt(abs(self)), angle(self) / 2)" },
    { "aten::square", "self * self" },
    { "aten::std", "sqrt(var(real(self), unbiased) + var(imag(self), unbiased))" },
    { "aten::std.correction",
      "sqrt(var.correction(real(self), dim, correction=correction, keepdim=keepdim) + "
      "var.correction(imag(self), dim, correction=correction, keepdim=keepdim))" },
    { "aten::std.dim", "sqrt(var.dim(real(self), dim, unbiased, keepdim) + var.dim(imag(self), "
                       "dim, unbiased, keepdim))" },
    { "aten::std_mean",
      "return sqrt(var(real(self), unbiased) + var(imag(self), unbiased)), mean(self)" },
    { "aten::std_mean.correction",
      "return sqrt(var.correction(real(self), dim, correction=correction, keepdim=keepdim) + "
      "var.correction(imag(self), dim, correction=correction, keepdim=keepdim)), mean(self, dim, "
      "keepdim)" },
    { "aten::std_mean.dim",
      "return sqrt(var.dim(real(self), dim, unbiased, keepdim) + var.dim(imag(self), dim, "
      "unbiased, keepdim)), mean(self, dim, keepdim)" },
    { "aten::sub.Scalar", SUM("sub.Tensor") },
    { "aten::sub.Tensor", SUM("sub.Tensor") },
    { "aten::sum", REDUCED("sum.dim_IntList", ALL_DIMS, "False") },
    { "aten::sum.dim_IntList", REDUCED("sum.dim_IntList", SOME_DIMS, "keepdim") },
    { "aten::t", "transpose(self, 0, 1) if self.ndim == 2 else self" },
    { "aten::take", EACH("take", ", index") },
    { "aten::tan", "sin(self) / cos(self)" },
    { "aten::tanh", "sinh(self) / cosh(self)" },
    { "aten::to.dtype", /* Among each other: the other precision. To real numbers: the real part, as
                           in PyTorch. */
      "if not dtype.is_complex: return real(self).to(dtype)\n"
      "if dtype == self.dtype: return self\n"
      "if self.is_complex(): return from_pairs(view_as_real(self).to(part_dtype(dtype)))\n"
      "x = self.to(part_dtype(dtype))\n"
      "return complex_of(x, zeros_like(x))" },
    { "aten::trace", EACH("trace", "") },
    { "aten::tril", EACH("tril", ", diagonal") },
    { "aten::triu", EACH("triu", ", diagonal") },
    { "aten::unfold",
      "pairs = view_as_real(self).unfold(wrap_dim(dimension, self.ndim), size, step)\n"
      "return view_as_complex(pairs.transpose(-1, -2))" },
    { "aten::var", "var(real(self), unbiased) + var(imag(self), unbiased)" },
    { "aten::var.correction",
      "var.correction(real(self), dim, correction=correction, keepdim=keepdim) + "
      "var.correction(imag(self), dim, correction=correction, keepdim=keepdim)" },
    { "aten::var.dim",
      "var.dim(real(self), dim, unbiased, keepdim) + var.dim(imag(self), dim, unbiased, keepdim)" },
    { "aten::var_mean",
      "return var(real(self), unbiased) + var(imag(self), unbiased), mean(self)" },
    { "aten::var_mean.correction",
      "return var.correction(real(self), dim, correction=correction, keepdim=keepdim) + "
      "var.correction(imag(self), dim, correction=correction, keepdim=keepdim), mean(self, dim, "
      "keepdim)" },
    { "aten::var_mean.dim",
      "return var.dim(real(self), dim, unbiased, keepdim) + var.dim(imag(self), dim, unbiased, "
      "keepdim), mean(self, dim, keepdim)" },
    { "aten::vdot", "sum(conj(self) * other)" },
    { "aten::where.self", "if not both_complex(self, other): "
                          "raise NotImplementedError('complex numbers beside real ones')\n"
                          "return from_pairs(where.self(condition.unsqueeze(-1), "
                          "view_as_real(self), view_as_real(other)))" },
    { "aten::zero", "complex(zeros_like(real(self)), zeros_like(real(self)))" },
    { "aten::zeros_like", "complex(zeros_like(real(self)), zeros_like(real(self)))" },
};

enum { N_RULES = sizeof rules / sizeof *rules };

static cq_body_slot slots[N_RULES];

static int compare(const void *name, const void *rule)
{
    return strcmp(name, ((const struct text_rule *)rule)->op);
}

static const struct text_rule *find(const cq_op *op)
{
    return bsearch(op->schema->full, rules, N_RULES, sizeof *rules, compare);
}

static cq_status by_text(cq_opcall *c)
{
    const struct text_rule *rule = find(c->op);

    return cq_body_run(&slots[rule - rules], rule->text, c);
}

cq_complex_rule *cq_complex_text_of(const cq_op *op)
{
    return find(op) ? by_text : NULL;
}

cq_status cq_complex_check_texts(void)
{
    const cq_op *op;

    for (size_t i = 0; i < N_RULES; i++) {
        op = cq_op_find(rules[i].op);
        if (!op || find(op) != &rules[i])
            return cq_fail(CQ_E_INTERNAL, rules[i].op, NULL, "there is no such row, or no order");
        CQ_TRY(cq_body_check(op, rules[i].text));
    }
    return CQ_OK;
}

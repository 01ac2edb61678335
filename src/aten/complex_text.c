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

static const struct text_rule {
    const char *op, *text;
} rules[] = {
    /* in order of their names */
    { "aten::acos", "math.pi / 2 - asin(self)" },
    { "aten::acosh", "log(self + sqrt(self + 1) * sqrt(self - 1))" },
    { "aten::addmm", "self * beta + mm(mat1, mat2) * alpha" },
    { "aten::all", "all(truth(self))" },
    { "aten::all.dim", "all(truth(self), dim, keepdim)" },
    { "aten::any", "any(truth(self))" },
    { "aten::any.dim", "any(truth(self), dim, keepdim)" },
    { "aten::asin", "y = asinh(" TURNED ")\nreturn complex(imag(y), -real(y))" },
    { "aten::asinh", "log(self + sqrt(self * self + 1))" },
    { "aten::atan", "y = atanh(" TURNED ")\nreturn complex(imag(y), -real(y))" },
    { "aten::atanh", "(log(self + 1) - log(1 - self)) * 0.5" },
    { "aten::baddbmm", "self * beta + bmm(batch1, batch2) * alpha" },
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
    { "aten::cumprod",
      "d = wrap_dim(dim, self.ndim)\n"
      "if self.ndim == 0: return self\n"
      "y = self.select(d, 0); all = [y]\n"
      "for i in range(1, int(self.shape[d])): y = y * self.select(d, i); all = all + [y]\n"
      "return stack(all, d)" },
    { "aten::diag_embed", EACH("diag_embed", ", offset, dim1, dim2") },
    { "aten::dot", "sum(self * tensor)" },
    { "aten::exp2", "exp(self * 0.6931471805599453)" },
    { "aten::gather", EACH("gather", ", dim, index") },
    { "aten::index_add", "complex(index_add(real(self), dim, index, real(source), alpha=alpha),"
                         " index_add(imag(self), dim, index, imag(source), alpha=alpha))" },
    { "aten::linalg_vector_norm", "linalg_vector_norm(abs(self), ord, dim, keepdim)" },
    { "aten::log10", "log(self) * 0.4342944819032518" },
    { "aten::log1p", "log(self + 1)" },
    { "aten::log2", "log(self) * 1.4426950408889634" },
    { "aten::logical_and", "logical_and(truth(self), truth(other))" },
    { "aten::logical_not", "logical_not(truth(self))" },
    { "aten::logical_or", "logical_or(truth(self), truth(other))" },
    { "aten::logical_xor", "logical_xor(truth(self), truth(other))" },
    { "aten::masked_fill.Scalar", "complex(masked_fill(real(self), mask, value),"
                                  " masked_fill(imag(self), mask, 0))" },
    { "aten::new_ones", "complex(new_ones(real(self), size), new_zeros(real(self), size))" },
    { "aten::new_zeros", "complex(new_zeros(real(self), size), new_zeros(real(self), size))" },
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
    { "aten::rsqrt", "reciprocal(sqrt(self))" },
    { "aten::rsub.Scalar", "self * -alpha + other" },
    { "aten::rsub.Tensor", "other - self * alpha" },
    { "aten::scatter_add", "complex(scatter_add(real(self), dim, index, real(src)),"
                           " scatter_add(imag(self), dim, index, imag(src)))" },
    { "aten::sigmoid", "reciprocal(exp(-self) + 1)" },
    { "aten::silu", "self / (exp(-self) + 1)" },
    { "aten::sin", "x = real(self); y = imag(self)\n"
                   "return complex(sin(x) * cosh(y), cos(x) * sinh(y))" },
    { "aten::sinh", "x = real(self); y = imag(self)\n"
                    "return complex(sinh(x) * cos(y), cosh(x) * sin(y))" },
    { "aten::sqrt", "polar(sqrt(abs(self)), angle(self) / 2)" },
    { "aten::square", "self * self" },
    { "aten::tan", "sin(self) / cos(self)" },
    { "aten::tanh", "sinh(self) / cosh(self)" },
    { "aten::tril", EACH("tril", ", diagonal") },
    { "aten::triu", EACH("triu", ", diagonal") },
    { "aten::unfold",
      "pairs = view_as_real(self).unfold(wrap_dim(dimension, self.ndim), size, step)\n"
      "return view_as_complex(pairs.transpose(-1, -2))" },
    { "aten::vdot", "sum(conj(self) * other)" },
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

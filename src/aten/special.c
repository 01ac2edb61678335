/* Functions under the names of torch.special, a few that only it has, and those that do nothing to
 * real numbers. */
#include "aten/op.h"

#define ITSELF(text_of_schema)                                                                     \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = "itself, for real numbers",                    \
        .body  = "if self.is_complex(): raise NotImplementedError('complex numbers are not known"  \
                 " here')\n"                                                                       \
                 "return self",                                                                    \
        .flags = CQ_OP_PARTS                                                                       \
    }
#define ALIAS(name, other)                                                                         \
    CQ_SAME_AS("aten::special_" name "(Tensor self) -> Tensor", "aten::" other)

const cq_op_def cq_ops_special[] = {
    CQ_BODY("aten::sinc(Tensor self) -> Tensor", "sin(pi x) / (pi x)",
            "x = in_float(self)\n"
            "t = x * math.pi\n"
            "return where(x == 0, number_like(x, 1.), t.sin() / t)"),
    CQ_BODY("aten::special_sinc(Tensor self) -> Tensor", "sin(pi x) / (pi x)", "sinc(self)"),
    CQ_BODY("aten::special_entr(Tensor self) -> Tensor", "-x log(x)",
            "x = in_float(self)\n"
            "return where(x < 0, number_like(x, -math.inf), -xlogy(x, x))"),
    CQ_BODY("aten::special_ndtr(Tensor self) -> Tensor",
            "the share of a normal distribution below x",
            "(in_float(self) * -math.sqrt(0.5)).erfc() * 0.5"),
    CQ_BODY("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", "x log(1 + y)",
            "x = in_float(self)\n"
            "y = in_float(other)\n"
            "t = x * y.log1p()\n"
            "return where((x == 0).logical_and(y.isnan().logical_not()), number_like(t, 0.), t)"),
    CQ_BODY("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
            "x times two to the power of y", "self * pow(2., in_float(other))"),
    CQ_BODY("aten::mvlgamma(Tensor self, int p) -> Tensor",
            "logarithm of the gamma function of p dimensions",
            "assert p >= 1 and p <= 64, 'p should be 1 to 64, not {p}'\n"
            "x = in_float(self)\n"
            "t = x.lgamma()\n"
            "for i in range(1, p): t = t + (x - 0.5 * i).lgamma()\n"
            "return t + p * (p - 1) / 4 * math.log(math.pi)"),
    CQ_BODY("aten::special_multigammaln(Tensor self, int p) -> Tensor",
            "logarithm of the gamma function of p dimensions", "mvlgamma(self, p)"),
    CQ_BODY("aten::angle(Tensor self) -> Tensor", "pi for negative numbers, 0 for others",
            "x = in_float(self)\n"
            "t = where(x < 0, number_like(x, math.pi), number_like(x, 0.))\n"
            "return where(x.isnan(), x, t)"),
    CQ_BODY("aten::isreal(Tensor self) -> Tensor", "true, for real numbers",
            "ones_like(self, dtype=torch.bool)"),
    ITSELF("conj_physical(Tensor self) -> Tensor"),
    ITSELF("_conj_physical(Tensor self) -> Tensor"),
    ITSELF("conj(Tensor(a) self) -> Tensor(a)"),
    ITSELF("_conj(Tensor(a) self) -> Tensor(a)"),
    ITSELF("real(Tensor(a) self) -> Tensor(a)"),
    ALIAS("erf", "erf"),
    ALIAS("erfc", "erfc"),
    ALIAS("erfinv", "erfinv"),
    ALIAS("exp2", "exp2"),
    ALIAS("expm1", "expm1"),
    ALIAS("log1p", "log1p"),
    ALIAS("gammaln", "lgamma"),
    ALIAS("digamma", "digamma"),
    ALIAS("psi", "digamma"),
    CQ_SAME_AS("aten::special_logit(Tensor self, float? eps=None) -> Tensor", "aten::logit"),
    CQ_SAME_AS("aten::special_round(Tensor self, *, int decimals=0) -> Tensor",
               "aten::round.decimals"),
    CQ_SAME_AS("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
               "aten::logsumexp"),
    CQ_SAME_AS("aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
               "aten::softmax.int"),
    CQ_SAME_AS(
        "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
        "aten::log_softmax.int"),
    CQ_SAME_AS("aten::special_xlogy(Tensor self, Tensor other) -> Tensor", "aten::xlogy.Tensor"),
    { 0 }
};

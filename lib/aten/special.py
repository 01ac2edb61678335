"""Special functions."""

import math
import torch

from calque import gradient, operator, traits
from aten.common import in_float, number_like, trigamma


@operator("aten::sinc(Tensor self) -> Tensor")
def sinc(self):
    """Sin(pi x) / (pi x)."""
    x = in_float(self)
    t = x * math.pi
    return torch.where(x == 0, number_like(x, 1.0), t.sin() / t)


@operator("aten::special_sinc(Tensor self) -> Tensor")
def special_sinc(self):
    """Sin(pi x) / (pi x)."""
    return torch.sinc(self)


@operator("aten::special_entr(Tensor self) -> Tensor")
def special_entr(self):
    """-x log(x)."""
    x = in_float(self)
    return torch.where(x < 0, number_like(x, -math.inf), -torch.xlogy(x, x))


@operator("aten::special_ndtr(Tensor self) -> Tensor")
def special_ndtr(self):
    """The normal distribution function."""
    return (in_float(self) * -math.sqrt(0.5)).erfc() * 0.5


@operator("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor")
def special_xlog1py(self, other):
    """x * log(1 + y)."""
    x = in_float(self)
    y = in_float(other)
    t = x * y.log1p()
    return torch.where((x == 0).logical_and(y.isnan().logical_not()), number_like(t, 0.0), t)


@operator("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", complex=True)
def ldexp_Tensor(self, other):
    """x * 2 ** y."""
    return self * torch.pow(2.0, other if other.is_complex() else in_float(other))


@operator("aten::mvlgamma(Tensor self, int p) -> Tensor")
def mvlgamma(self, p):
    """Logarithm of the multivariate gamma function of dimension p."""
    assert p >= 1 and p <= 64, f"expected p from 1 to 64, got {p}"
    x = in_float(self)
    t = x.lgamma()
    for i in range(1, p):
        t = t + (x - 0.5 * i).lgamma()
    return t + p * (p - 1) / 4 * math.log(math.pi)


@operator("aten::special_multigammaln(Tensor self, int p) -> Tensor")
def special_multigammaln(self, p):
    """Logarithm of the multivariate gamma function of dimension p."""
    return torch.mvlgamma(self, p)


@operator("aten::angle(Tensor self) -> Tensor")
def angle(self):
    """Pi for negative numbers, 0 for others."""
    x = in_float(self)
    t = torch.where(x < 0, number_like(x, math.pi), number_like(x, 0.0))
    return torch.where(x.isnan(), x, t)


@operator("aten::isreal(Tensor self) -> Tensor")
def isreal(self):
    """Whether elements are real."""
    return torch.ones_like(self, dtype=torch.bool)


@operator("aten::conj_physical(Tensor self) -> Tensor", of_views=True)
@operator("aten::_conj_physical(Tensor self) -> Tensor", of_views=True)
@operator("aten::conj(Tensor(a) self) -> Tensor(a)", of_views=True)
@operator("aten::_conj(Tensor(a) self) -> Tensor(a)", of_views=True)
@operator("aten::real(Tensor(a) self) -> Tensor(a)", of_views=True)
def conj_physical(self):
    """The same tensor, for real numbers."""
    if self.is_complex():
        raise NotImplementedError("not implemented for complex tensors")
    return self


@operator("aten::special_erf(Tensor self) -> Tensor", of_views=True)
def special_erf(self):
    """The same as aten::erf."""
    return torch.ops.aten.erf(self)


@operator("aten::special_erfc(Tensor self) -> Tensor", of_views=True)
def special_erfc(self):
    """The same as aten::erfc."""
    return torch.ops.aten.erfc(self)


@operator("aten::special_erfinv(Tensor self) -> Tensor", of_views=True)
def special_erfinv(self):
    """The same as aten::erfinv."""
    return torch.ops.aten.erfinv(self)


@operator("aten::special_exp2(Tensor self) -> Tensor", of_views=True)
def special_exp2(self):
    """The same as aten::exp2."""
    return torch.ops.aten.exp2(self)


@operator("aten::special_expm1(Tensor self) -> Tensor", of_views=True)
def special_expm1(self):
    """The same as aten::expm1."""
    return torch.ops.aten.expm1(self)


@operator("aten::special_log1p(Tensor self) -> Tensor", of_views=True)
def special_log1p(self):
    """The same as aten::log1p."""
    return torch.ops.aten.log1p(self)


@operator("aten::special_gammaln(Tensor self) -> Tensor", of_views=True)
def special_gammaln(self):
    """The same as aten::lgamma."""
    return torch.ops.aten.lgamma(self)


@operator("aten::special_digamma(Tensor self) -> Tensor", of_views=True)
@operator("aten::special_psi(Tensor self) -> Tensor", of_views=True)
def special_digamma(self):
    """The same as aten::digamma."""
    return torch.ops.aten.digamma(self)


@operator("aten::special_logit(Tensor self, float? eps=None) -> Tensor", of_views=True)
def special_logit(self, eps):
    """The same as aten::logit."""
    return torch.ops.aten.logit(self, eps)


@operator("aten::special_round(Tensor self, *, int decimals=0) -> Tensor", of_views=True)
def special_round(self, decimals):
    """The same as aten::round.decimals."""
    return torch.ops.aten.round.decimals(self, decimals=decimals)


@operator(
    "aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    of_views=True,
)
def special_logsumexp(self, dim, keepdim):
    """The same as aten::logsumexp."""
    return torch.ops.aten.logsumexp(self, dim, keepdim)


@operator(
    "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    of_views=True,
)
def special_softmax(self, dim, dtype):
    """The same as aten::softmax.int."""
    return torch.ops.aten.softmax.int(self, dim, dtype)


@operator(
    "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    of_views=True,
)
def special_log_softmax(self, dim, dtype):
    """The same as aten::log_softmax.int."""
    return torch.ops.aten.log_softmax.int(self, dim, dtype=dtype)


@operator("aten::special_xlogy(Tensor self, Tensor other) -> Tensor", of_views=True)
def special_xlogy(self, other):
    """The same as aten::xlogy.Tensor."""
    return torch.ops.aten.xlogy.Tensor(self, other)


@gradient("aten::exp2")
def exp2_gradient(grad, result):
    return {"self": grad * result * 0.6931471805599453}


@gradient("aten::expm1")
def expm1_gradient(grad, result):
    return {"self": grad * (result + 1)}


@gradient("aten::log1p")
def log1p_gradient(grad, self):
    return {"self": grad / (self + 1)}


@gradient("aten::erf")
def erf_gradient(grad, self):
    return {"self": 1.1283791670955126 * torch.exp(-(self * self)) * grad}


@gradient("aten::erfc")
def erfc_gradient(grad, self):
    return {"self": -1.1283791670955126 * torch.exp(-(self * self)) * grad}


@gradient("aten::erfinv")
def erfinv_gradient(grad, result):
    return {"self": 0.886226925452758 * torch.exp(result * result) * grad}


@gradient("aten::lgamma")
def lgamma_gradient(grad, self):
    return {"self": grad * torch.digamma(self)}


@gradient("aten::digamma")
def digamma_gradient(grad, self):
    return {"self": grad * trigamma(self)}


@gradient("aten::sinc")
@gradient("aten::special_sinc")
def sinc_gradient(grad, self):
    return {
        "self": torch.where(
            self == 0,
            0,
            grad
            * (
                (
                    self * 3.141592653589793 * torch.cos(self * 3.141592653589793)
                    - torch.sin(self * 3.141592653589793)
                )
                / (self * self * 3.141592653589793)
            ),
        )
    }


@gradient("aten::special_entr")
def special_entr_gradient(grad, self):
    return {"self": grad * (-torch.log(self) - 1)}


@gradient("aten::special_xlog1py")
def special_xlog1py_gradient(grad, self, other):
    return {
        "self": torch.where(
            torch.logical_and(self == 0, other <= -1),
            0,
            torch.ops.aten.special_xlog1py(grad, other),
        ),
        "other": grad * self / (other + 1),
    }


# ---- traits of operators whose rows are in C ----

traits("aten::lgamma", cost="function")
traits("aten::digamma", cost="function")
traits("aten::erfinv", cost="picked")
traits("aten::expm1", vmap="elementwise")
traits("aten::log1p", vmap="elementwise")
traits("aten::erf", vmap="elementwise")

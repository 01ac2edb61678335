"""The incomplete gamma functions and polygamma."""

import math
import torch

from calque import operator, result_type
from aten.common import as_tensors, in_float, number_like, trigamma


def hurwitz(s, q):
    """Sums the terms up to q + 64, and approximates the rest by the Euler-Maclaurin formula."""
    s = s.to(torch.float64)
    q = q.to(torch.float64)
    k = torch.arange(64, dtype=torch.float64)
    sum = (q.unsqueeze(-1) + k).pow(-s.unsqueeze(-1)).sum(-1)
    w = q + 64
    b = w.pow(-s)
    t = b * s / w
    sum = sum + b * w / (s - 1) + b * 0.5 + t / 12
    t = t * (s + 1) * (s + 2) / w.square()
    sum = sum - t / 720
    t = t * (s + 3) * (s + 4) / w.square()
    sum = sum + t / 30240
    t = t * (s + 5) * (s + 6) / w.square()
    sum = sum - t / 1209600
    whole = q == q.floor()
    y = torch.where(q > -48, sum, math.nan)
    y = torch.where((q <= 0).logical_and(s != s.floor()), math.nan, y)
    y = torch.where((q <= 0).logical_and(whole), math.inf, y)
    y = torch.where(s.isnan().logical_or(q.isnan()), math.nan, y)
    return torch.where(s == 1, math.inf, torch.where(s < 1, math.nan, y))


def incomplete_gamma(a, x, upper):
    """For arguments up to 50 a series of terms x^k / ((a + 1) … (a + k)), otherwise Simpson's rule
    from x away from the maximum until the integrand vanishes."""
    dtype = result_type(in_float(a), in_float(x))
    a = a.to(torch.float64)
    x = x.to(torch.float64)
    p = a.clamp(min=1e-300)
    near = x.clamp(1e-300, 50)
    k = torch.arange(1, 193, dtype=torch.float64)
    first = p * near.log() - near - (p + 1).lgamma()
    steps = near.log().unsqueeze(-1) - (p.unsqueeze(-1) + k).log()
    sum = first.exp() * (1 + steps.cumsum(-1).exp().sum(-1))
    far = x.clamp(min=50)
    top = p - 1
    right = top < far
    length = 1 / ((1 - top / far).abs() / 40 + 1 / (12 * far.sqrt()))
    length = torch.where(right, length, -torch.minimum(length, far * 0.999))
    i = torch.arange(257, dtype=torch.float64)
    weight = torch.where(i % 2 == 1, 4.0, 2.0) * torch.where(
        (i == 0).logical_or(i == 256), 0.5, 1.0
    )
    at = far.unsqueeze(-1) + length.unsqueeze(-1) * (i / 256)
    part = (top.unsqueeze(-1) * at.log() - at - p.lgamma().unsqueeze(-1)).exp() * weight
    part = part.sum(-1) * length.abs() / 768
    lower = torch.where(x <= 50, sum.clamp(max=1.0), torch.where(right, 1 - part, part))
    higher = torch.where(x <= 50, 1 - sum.clamp(max=1.0), torch.where(right, part, 1 - part))
    y = higher if upper else lower
    none = 1.0 if upper else 0.0
    all = 0.0 if upper else 1.0
    y = torch.where(x == 0, none, y)
    y = torch.where(a == 0, torch.where(x > 0, all, math.nan), y)
    y = torch.where(
        a == math.inf,
        torch.where(x == math.inf, math.nan, none),
        torch.where(x == math.inf, all, y),
    )
    return torch.where((a >= 0).logical_and(x >= 0), y, math.nan).to(dtype)


@operator("aten::igamma(Tensor self, Tensor other) -> Tensor")
def igamma(self, other):
    """The regularized lower incomplete gamma function."""
    return incomplete_gamma(self, other, False)


@operator("aten::igammac(Tensor self, Tensor other) -> Tensor")
def igammac(self, other):
    """The regularized upper incomplete gamma function."""
    return incomplete_gamma(self, other, True)


@operator("aten::special_gammainc(Tensor self, Tensor other) -> Tensor")
def special_gammainc(self, other):
    """The regularized lower incomplete gamma function."""
    return torch.igamma(self, other)


@operator("aten::special_gammaincc(Tensor self, Tensor other) -> Tensor")
def special_gammaincc(self, other):
    """The regularized upper incomplete gamma function."""
    return torch.igammac(self, other)


@operator("aten::special_zeta(Tensor self, Tensor other) -> Tensor")
@operator("aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor")
@operator("aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor")
def special_zeta(self, other):
    """The Hurwitz zeta function: the sum of (q + k) ** -x over all k."""
    self, other = as_tensors(self, other)
    s = in_float(self)
    q = in_float(other)
    return hurwitz(s, q).to(result_type(s, q))


@operator("aten::polygamma(int n, Tensor self) -> Tensor")
def polygamma(n, self):
    """The n-th derivative of digamma."""
    n = int(n)
    x = in_float(self)
    assert n >= 0 and n <= 100, f"expected n from 0 to 100, got {n}"
    if n == 0:
        return x.digamma()
    if n == 1:
        return trigamma(x)
    factor = math.prod([float(k) for k in range(1, n + 1)]) * (1 if n % 2 == 1 else -1)
    return (hurwitz(number_like(x, n + 1.0), x) * factor).to(x.dtype)


@operator("aten::special_polygamma(int n, Tensor self) -> Tensor")
def special_polygamma(n, self):
    """The n-th derivative of digamma."""
    return torch.polygamma(n, self)

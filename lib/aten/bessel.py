"""Bessel functions and orthogonal polynomials."""

import math
import torch

from calque import gradient, operator, result_type, traits
from aten.common import as_tensors, in_float, number_like, polynomial, scaled, shifted


def by_degree(x, n, a, b, c, d, e):
    """Polynomials of degree 0 to 30, by the recurrence p(k + 1) = ((a x + b + c k) p(k) - d k p(k -
    1)) / (1 + e k)."""
    x = in_float(x)
    dtype = result_type(x, in_float(n))
    x = x.to(dtype)
    n = n.to(torch.int64)
    before = number_like(x, 1.0)
    p = shifted(scaled(x, a), b)
    y = torch.where(n == 1, p, torch.where(n == 0, before, 0.0))
    for k in range(1, 30):
        next = shifted(scaled(x, a), b + c * k) * p - scaled(before, d * k)
        before = p
        p = scaled(next, 1 / (1 + e * k))
        y = torch.where(n == k + 1, p, y)
    return torch.where(n > 30, number_like(y, math.nan), y)


def legendre(x, n):
    x = in_float(x)
    dtype = result_type(x, in_float(n))
    x = x.to(dtype)
    n = n.to(torch.int64)
    before = number_like(x, 1.0)
    p = x
    y = torch.where(n == 1, p, torch.where(n == 0, before, 0.0))
    for k in range(1, 30):
        next = scaled(x, 2.0 * k + 1) * p - scaled(before, float(k))
        before = p
        p = next / (k + 1.0)
        y = torch.where(n == k + 1, p, y)
    return torch.where(n > 30, number_like(y, math.nan), y)


def chebyshev(x, n, kind):
    """cos(n t), sin((n + 1) t) / sin(t), cos((n + 1/2) t) / cos(t/2) and sin((n + 1/2) t) /
    sin(t/2), where x is cos(t). Past 1 they are hyperbolic, and below -1 their signs alternate."""
    x = in_float(x)
    dtype = result_type(x, in_float(n))
    x = x.to(dtype)
    n = n.to(torch.int64)
    m = n.to(dtype)
    odd = n % 2 == 1
    z = torch.zeros_like(x + m)
    inside = x.abs() < 1
    t = torch.where(inside, x, 0.5).acos()
    h = torch.where(x.abs() > 1, x.abs(), 2.0).acosh()
    if kind == 1:
        angle = (m * t).cos()
        y = (m * h).cosh()
        past = torch.where((x < 0).logical_and(odd), -y, y)
        ends = torch.where((x < 0).logical_and(odd), z - 1, z + 1)
    elif kind == 2:
        angle = ((m + 1) * t).sin() / t.sin()
        y = ((m + 1) * h).sinh() / h.sinh()
        past = torch.where((x < 0).logical_and(odd), -y, y)
        ends = torch.where((x < 0).logical_and(odd), -m - 1, z + m + 1)
    elif kind == 3:
        angle = ((m + 0.5) * t).cos() / (t / 2).cos()
        c = ((m + 0.5) * h).cosh() / (h / 2).cosh()
        s = ((m + 0.5) * h).sinh() / (h / 2).sinh()
        past = torch.where(x < 0, torch.where(odd, -s, s), c)
        ends = torch.where(x < 0, torch.where(odd, z - 2 * m - 1, z + 2 * m + 1), z + 1)
    else:
        angle = ((m + 0.5) * t).sin() / (t / 2).sin()
        c = ((m + 0.5) * h).cosh() / (h / 2).cosh()
        s = ((m + 0.5) * h).sinh() / (h / 2).sinh()
        past = torch.where(x < 0, torch.where(odd, -c, c), s)
        ends = torch.where(x < 0, torch.where(odd, z - 1, z + 1), z + 2 * m + 1)
    y = torch.where(inside, angle, torch.where(x.abs() > 1, past, ends))
    y = torch.where(x.isnan(), x + m, y)
    return torch.where(n < 0, z, torch.where(n == 0, z + 1, y))


# ---- functions of the first and second kind ----
#
# Up to 8 they are polynomials in x * x / 32 - 1. Above 8 they are sqrt(2 / pi / x) times
# p cos(phase) - q sin(phase) and p sin(phase) + q cos(phase), where p and q are polynomials in
# 128 / x^2 - 1.


def amplitude_0(t):
    return polynomial(
        t,
        [
            -1.2976727285594204e-12,
            5.538042551238324e-12,
            -2.4629541128263808e-11,
            1.5430831129269752e-10,
            -1.2122331597442108e-09,
            1.2804017666717393e-08,
            -2.0527446058637657e-07,
            6.137416047543163e-06,
            -0.0005363673192140685,
            0.9994572757882526,
        ],
    )


def quadrature_0(t):
    return polynomial(
        t,
        [
            -2.7338449247237154e-13,
            7.915216052472428e-13,
            -1.6783779045026498e-12,
            6.538016467992787e-12,
            -2.8840344824996496e-11,
            1.364832378469862e-10,
            -7.57586453075858e-10,
            5.1461591930522475e-09,
            -4.5349736139769986e-08,
            5.684971972265847e-07,
            -1.1817110660715592e-05,
            0.0005466519279472034,
            -0.12444091103610816,
        ],
    )


def near_j0(s):
    return polynomial(
        s,
        [
            3.3794626319436793e-10,
            -7.96194687687482e-09,
            1.5955848859935914e-07,
            -2.717679287941214e-06,
            3.847320005801417e-05,
            -0.0004435459758542475,
            0.004058078988108771,
            -0.02847271858902714,
            0.14598884856785538,
            -0.5074680458516896,
            1.0383794611436883,
            -0.8080888076692623,
            -0.6484692830871821,
            0.9303012472958457,
            0.045829664859813754,
        ],
    )


def amplitude_1(t):
    return polynomial(
        t,
        [
            1.3958847733874476e-12,
            -5.9958064435078266e-12,
            2.6934110557353714e-11,
            -1.7056402360564498e-10,
            1.3604283513176835e-09,
            -1.4708787296165847e-08,
            2.453676398677532e-07,
            -7.959694663578884e-06,
            0.0008988049416716917,
            1.0009070262780815,
        ],
    )


def quadrature_1(t):
    return polynomial(
        t,
        [
            -8.412485658069601e-13,
            2.665792699508074e-12,
            -7.028011349149164e-12,
            3.0166510460295075e-11,
            -1.4842814504504144e-10,
            8.320654486240071e-10,
            -5.72081439754336e-09,
            5.1360949369410444e-08,
            -6.633568656664936e-07,
            1.4569614819521505e-05,
            -0.0007697167057640292,
            0.3742149922195917,
        ],
    )


def near_j1(s):
    return polynomial(
        s,
        [
            1.1658972367678622e-11,
            -2.9580309461613664e-10,
            6.431190177265836e-09,
            -1.1966856610655616e-07,
            1.8684526037206013e-06,
            -2.4045750380401832e-05,
            0.0002494945813597261,
            -0.002029039493866671,
            0.012456814392263375,
            -0.05474581821299505,
            0.15858376432721838,
            -0.2595948652859166,
            0.15151665143806636,
            0.08105866038589758,
            -0.05814382795599107,
        ],
    )


def far_bessel(large, order, second):
    """The factors for arguments of 8 and more: of order 0 or 1, first or second kind."""
    t = 128 / large.square() - 1
    phase = large - (math.pi / 4 if order == 0 else 3 * math.pi / 4)
    p = amplitude_0(t) if order == 0 else amplitude_1(t)
    q = (quadrature_0(t) if order == 0 else quadrature_1(t)) / large
    high = (2 / math.pi / large).sqrt()
    if second:
        return high * (p * phase.sin() + q * phase.cos())
    return high * (p * phase.cos() - q * phase.sin())


def of_positive(x, y, at_zero):
    """y for positive x, and the limits at 0 and below."""
    return torch.where(
        x > 0, y, torch.where(x == 0, number_like(x, at_zero), number_like(x, math.nan))
    )


def near_k0(small):
    """The modified functions of the second kind up to 2, and from 2 on without their factor
    exp(-x)."""
    s = small.square() / 2 - 1
    return polynomial(
        s,
        [
            5.452564662772586e-12,
            6.62380496488552e-10,
            6.093361894172114e-08,
            4.054506560572984e-06,
            0.0001828055582791554,
            0.005053392643212586,
            0.07177701034240509,
            0.3404973210133794,
            -0.30362077291575545,
        ],
    ) - (small / 2).log() * polynomial(
        s,
        [
            2.5398791970311194e-12,
            3.273598657287219e-10,
            3.236227352376538e-08,
            2.3575789615827903e-06,
            0.0001198206858163441,
            0.003928565105644117,
            0.07358986836105334,
            0.635861728156068,
            1.5660829297563506,
        ],
    )


def far_k0(large):
    return (
        polynomial(
            4 / large - 1,
            [
                -4.845976624616983e-10,
                8.310065038985326e-10,
                8.420157628766141e-10,
                -1.1073116183689915e-09,
                -3.282020273552185e-09,
                5.824416878540813e-09,
                -6.004239405723406e-09,
                1.53338830124452e-08,
                -4.2041959747016134e-08,
                1.0379057281747687e-07,
                -2.6867494679720537e-07,
                7.425403900672949e-07,
                -2.191222676758333e-06,
                7.0022843434963184e-06,
                -2.4735199846021702e-05,
                9.956054428670315e-05,
                -0.00047976905699133196,
                0.0030328918103729526,
                -0.031071461824886373,
                1.21859533851339,
            ],
        )
        * large.rsqrt()
    )


def near_k1(small):
    s = small.square() / 2 - 1
    return 1 / small + small * (
        polynomial(
            s,
            [
                -3.089218079102441e-13,
                -4.235880161904666e-11,
                -4.4737089807404435e-09,
                -3.4958297648996174e-07,
                -1.9109762342344585e-05,
                -0.0006724746609661541,
                -0.013254642948920606,
                -0.10866462148495115,
                -0.057455856135205326,
            ],
        )
        + (small / 2).log()
        * polynomial(
            s,
            [
                1.4032637886429537e-13,
                2.031922759238477e-11,
                2.291273488938041e-09,
                1.9417364085156806e-07,
                1.1787894939469932e-05,
                0.00047928274326549763,
                0.011785695316910426,
                0.14717973672210669,
                0.6358617281560686,
            ],
        )
    )


def far_k1(large):
    return (
        polynomial(
            4 / large - 1,
            [
                5.344338028107821e-10,
                -9.201040869575581e-10,
                -9.151326398946588e-10,
                1.198981637267927e-09,
                3.663603232872061e-09,
                -6.558344305641008e-09,
                7.0004176227360515e-09,
                -1.792857143205822e-08,
                4.92334165346621e-08,
                -1.229528363054785e-07,
                3.227270041303412e-07,
                -9.064448911098882e-07,
                2.730090664389364e-06,
                -8.961249966141308e-06,
                3.284386038812149e-05,
                -0.00013959021611581105,
                0.000735724155154905,
                -0.005566729880181961,
                0.10334973775386178,
                1.3631518903713424,
            ],
        )
        * large.rsqrt()
    )


@operator("aten::special_bessel_j0(Tensor self) -> Tensor")
def special_bessel_j0(self):
    """The Bessel function of the first kind, of order 0."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    far = far_bessel(y.clamp(min=8), 0, False)
    y = torch.where(y <= 8, near_j0(small.square() / 32 - 1), far)
    return torch.where(x.isnan(), x, y)


@operator("aten::special_bessel_j1(Tensor self) -> Tensor")
def special_bessel_j1(self):
    """The Bessel function of the first kind, of order 1."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    far = far_bessel(y.clamp(min=8), 1, False)
    y = torch.where(y <= 8, small * near_j1(small.square() / 32 - 1), far)
    return torch.where(x.isnan(), x, torch.where(x < 0, -y, y))


@operator("aten::special_bessel_y0(Tensor self) -> Tensor")
def special_bessel_y0(self):
    """The Bessel function of the second kind, of order 0."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    s = small.square() / 32 - 1
    far = far_bessel(y.clamp(min=8), 0, True)
    near = polynomial(
        s,
        [
            2.6926938054524057e-11,
            -7.165821913752182e-10,
            1.6390875014077404e-08,
            -3.218450383864968e-07,
            5.3213188103997145e-06,
            -7.279542368660281e-05,
            0.000806158605961636,
            -0.0070257410549918785,
            0.046367047681375125,
            -0.21895747096229642,
            0.6721770783431679,
            -1.077547733821527,
            0.14412632369302475,
            1.6470964788745432,
            -0.8284358903604587,
            -0.38225065445942497,
        ],
    ) + 2 / math.pi * small.clamp(min=1e-30).log() * near_j0(s)
    return of_positive(x, torch.where(y <= 8, near, far), -math.inf)


@operator("aten::special_bessel_y1(Tensor self) -> Tensor")
def special_bessel_y1(self):
    """The Bessel function of the second kind, of order 1."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    s = small.square() / 32 - 1
    far = far_bessel(y.clamp(min=8), 1, True)
    a = small.clamp(min=1e-30)
    near = polynomial(
        s,
        [
            -2.499531546171249e-11,
            6.202538033356882e-10,
            -1.3153147367094951e-08,
            2.380443767044983e-07,
            -3.601000022590458e-06,
            4.467433389052664e-05,
            -0.0004438173434420147,
            0.0034224907383790058,
            -0.01962875683311711,
            0.07854786922274869,
            -0.19639839859930203,
            0.2350720920666676,
            0.02336757172099348,
            -0.24337743079193033,
            0.07075985882118005,
        ],
    )
    near = a * (near + 2 / math.pi * a.log() * near_j1(s)) - 2 / math.pi / a
    return of_positive(x, torch.where(y <= 8, near, far), -math.inf)


@operator("aten::special_modified_bessel_i0(Tensor self) -> Tensor")
def special_modified_bessel_i0(self):
    """The modified Bessel function of the first kind, of order 0."""
    return torch.i0(self)


@operator("aten::special_modified_bessel_i1(Tensor self) -> Tensor")
def special_modified_bessel_i1(self):
    """The modified Bessel function of the first kind, of order 1."""
    return torch.ops.aten.special_i1(self)


@operator("aten::special_modified_bessel_k0(Tensor self) -> Tensor")
def special_modified_bessel_k0(self):
    """The modified Bessel function of the second kind, of order 0."""
    x = in_float(self)
    large = x.clamp(min=2)
    y = torch.where(x <= 2, near_k0(x.clamp(1e-30, 2)), far_k0(large) * (-large).exp())
    return of_positive(x, y, math.inf)


@operator("aten::special_modified_bessel_k1(Tensor self) -> Tensor")
def special_modified_bessel_k1(self):
    """The modified Bessel function of the second kind, of order 1."""
    x = in_float(self)
    large = x.clamp(min=2)
    y = torch.where(x <= 2, near_k1(x.clamp(1e-30, 2)), far_k1(large) * (-large).exp())
    return of_positive(x, y, math.inf)


@operator("aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor")
def special_scaled_modified_bessel_k0(x):
    """Exp(x) modified_bessel_k0(x)."""
    x = in_float(x)
    small = x.clamp(1e-30, 2)
    y = torch.where(x <= 2, near_k0(small) * small.exp(), far_k0(x.clamp(min=2)))
    return of_positive(x, y, math.inf)


@operator("aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor")
def special_scaled_modified_bessel_k1(x):
    """Exp(x) modified_bessel_k1(x)."""
    x = in_float(x)
    small = x.clamp(1e-30, 2)
    y = torch.where(x <= 2, near_k1(small) * small.exp(), far_k1(x.clamp(min=2)))
    return of_positive(x, y, math.inf)


@operator("aten::special_spherical_bessel_j0(Tensor x) -> Tensor")
def special_spherical_bessel_j0(x):
    """Sin(x) / x."""
    y = in_float(x)
    far = torch.where(y == 0, 1.0, y)
    far = torch.where(far.abs() == math.inf, 1.0, far)
    z = y.square().clamp(max=0.25)
    near = 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156)))))
    return torch.where(y.abs() < 0.5, near, torch.where(y.abs() == math.inf, 0.0, far.sin() / far))


@operator("aten::special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_chebyshev_polynomial_t(x, n):
    """The Chebyshev polynomials of the first kind."""
    x, n = as_tensors(x, n)
    return chebyshev(x, n, 1)


@operator("aten::special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_shifted_chebyshev_polynomial_t(x, n):
    """The shifted Chebyshev polynomials of the first kind."""
    x, n = as_tensors(x, n)
    return chebyshev(in_float(x) * 2 - 1, n, 1)


@operator("aten::special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_chebyshev_polynomial_u(x, n):
    """The Chebyshev polynomials of the second kind."""
    x, n = as_tensors(x, n)
    return chebyshev(x, n, 2)


@operator("aten::special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_shifted_chebyshev_polynomial_u(x, n):
    """The shifted Chebyshev polynomials of the second kind."""
    x, n = as_tensors(x, n)
    return chebyshev(in_float(x) * 2 - 1, n, 2)


@operator("aten::special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_chebyshev_polynomial_v(x, n):
    """The Chebyshev polynomials of the third kind."""
    x, n = as_tensors(x, n)
    return chebyshev(x, n, 3)


@operator("aten::special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_shifted_chebyshev_polynomial_v(x, n):
    """The shifted Chebyshev polynomials of the third kind."""
    x, n = as_tensors(x, n)
    return chebyshev(in_float(x) * 2 - 1, n, 3)


@operator("aten::special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_chebyshev_polynomial_w(x, n):
    """The Chebyshev polynomials of the fourth kind."""
    x, n = as_tensors(x, n)
    return chebyshev(x, n, 4)


@operator("aten::special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_shifted_chebyshev_polynomial_w(x, n):
    """The shifted Chebyshev polynomials of the fourth kind."""
    x, n = as_tensors(x, n)
    return chebyshev(in_float(x) * 2 - 1, n, 4)


@operator("aten::special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_hermite_polynomial_h(x, n):
    """The physicists' Hermite polynomials."""
    x, n = as_tensors(x, n)
    return by_degree(x, n, 2.0, 0.0, 0.0, 2.0, 0.0)


@operator("aten::special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_hermite_polynomial_he(x, n):
    """The probabilists' Hermite polynomials."""
    x, n = as_tensors(x, n)
    return by_degree(x, n, 1.0, 0.0, 0.0, 1.0, 0.0)


@operator("aten::special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_laguerre_polynomial_l(x, n):
    """The Laguerre polynomials."""
    x, n = as_tensors(x, n)
    return by_degree(x, n, -1.0, 1.0, 2.0, 1.0, 1.0)


@operator("aten::special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor")
@operator("aten::special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor")
@operator("aten::special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor")
def special_legendre_polynomial_p(x, n):
    """The Legendre polynomials."""
    x, n = as_tensors(x, n)
    return legendre(x, n)


@gradient("aten::exp")
def exp_gradient(grad, result):
    return {"self": grad * result}


@gradient("aten::sin")
def sin_gradient(grad, self):
    return {"self": grad * torch.cos(self)}


# ---- traits of operators whose rows are in C ----

traits("aten::sin", cost="function", vmap="elementwise")
traits("aten::exp", vmap="elementwise")

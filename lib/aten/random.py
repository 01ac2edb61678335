"""Random numbers and dropout."""

import math
import torch

from calque import derived, operator, traits
from aten.attention import in_float32
from aten.common import scaled, shifted


def first_good(draws, good):
    """The first accepted of several draws along the first dimension."""
    return draws.gather(0, good.to(torch.int64).argmax(0, True)).squeeze(0)


def poisson_below(mean):
    """Samples for small means; values of 48 and more have a probability of 1e-14."""
    k = torch.arange(48, dtype=mean.dtype).reshape([48] + [1 for n in mean.shape])
    p = (k * mean.log() - mean - (k + 1).lgamma()).exp().cumsum(0)
    return (torch.rand_like(mean) > p / torch.ops.aten.slice(p, 0, 47, 48)).sum(
        [0], dtype=mean.dtype
    )


def poisson_above(mean):
    b = mean.sqrt() * 2.53 + 0.931
    a = b * 0.02483 - 0.059
    u = torch.rand([12] + list(mean.shape), dtype=mean.dtype) - 0.5
    s = 0.5 - u.abs()
    k = ((a * 2 / s + b) * u + mean + 0.43).floor()
    v = torch.rand([12] + list(mean.shape), dtype=mean.dtype) * (1.1328 / (b - 3.4) + 1.1239)
    bound = k * mean.log() - mean - (k.clamp(min=0) + 1).lgamma()
    good = ((v / (a / (s * s) + b)).log() <= bound).logical_and(k >= 0)
    return first_good(k, good).clamp(min=0)


def past_all(dtype):
    """One more than the largest integer that a dtype represents exactly, limited to int64."""
    if dtype == torch.bool:
        return 2
    if dtype == torch.int8:
        return 128
    if dtype == torch.uint8:
        return 256
    if dtype == torch.int16:
        return 32768
    if dtype == torch.int32:
        return 2147483648
    if dtype == torch.int64:
        return 9223372036854775807
    if dtype == torch.float16:
        return 2049
    if dtype == torch.bfloat16:
        return 257
    if dtype == torch.float32:
        return 16777217
    return 9007199254740993


@operator(
    "aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    of_views=True,
    random=True,
)
def rand_like(self, dtype, layout, device, pin_memory, memory_format):
    """Uniform numbers from 0 to 1."""
    return torch.rand(self.shape, dtype=self.dtype if dtype is None else dtype)


@operator(
    "aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    of_views=True,
    random=True,
)
def randn_like(self, dtype, layout, device, pin_memory, memory_format):
    """Normal numbers."""
    return torch.randn(self.shape, dtype=self.dtype if dtype is None else dtype)


@operator(
    "aten::randint_like(Tensor self, int high, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor",
    of_views=True,
    random=True,
)
def randint_like(self, high, dtype, layout, device, pin_memory, memory_format):
    """Random integers below high."""
    return torch.randint(0, high, self.shape, dtype=self.dtype if dtype is None else dtype)


@operator(
    "aten::randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor",
    of_views=True,
    random=True,
)
def randint_like_low_dtype(self, low, high, dtype, layout, device, pin_memory, memory_format):
    """Random integers from low to below high."""
    return torch.randint(low, high, self.shape, dtype=self.dtype if dtype is None else dtype)


@operator(
    "aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) "
    "-> Tensor",
    of_views=True,
    random=True,
)
def uniform(self, from_, to, generator):
    """Uniform numbers."""
    assert from_ <= to, f"expected from of at most {to}, got {from_}"
    return shifted(scaled(torch.rand_like(self), to - from_), from_)


@operator(
    "aten::normal_functional(Tensor self, float mean=0., float std=1., *, "
    "Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def normal_functional(self, mean, std, generator):
    """Normal numbers."""
    assert std >= 0, f"expected std of at least 0, got {std}"
    return shifted(scaled(torch.randn_like(self), std), mean)


@operator(
    "aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) "
    "-> Tensor",
    of_views=True,
    random=True,
)
def normal_Tensor_float(mean, std, generator):
    """Normal numbers."""
    assert std >= 0, f"expected std of at least 0, got {std}"
    return torch.randn_like(mean) * std + mean


@operator(
    "aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) " "-> Tensor",
    of_views=True,
    random=True,
)
def normal_float_Tensor(mean, std, generator):
    """Normal numbers."""
    return torch.randn_like(std) * std + mean


@operator(
    "aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) "
    "-> Tensor",
    of_views=True,
    random=True,
)
def normal_Tensor_Tensor(mean, std, generator):
    """Normal numbers."""
    return torch.randn_like(mean + std) * std + mean


@operator(
    "aten::normal.float_float(float mean, float std, int[] size, *, "
    "Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    of_views=True,
    random=True,
)
def normal_float_float(mean, std, size, generator, dtype, layout, device, pin_memory):
    """Normal numbers."""
    assert std >= 0, f"expected std of at least 0, got {std}"
    return torch.randn(size, dtype=dtype) * std + mean


@operator(
    "aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def bernoulli(self, generator):
    """1 with the probabilities in self, otherwise 0."""
    return (torch.rand_like(self, dtype=torch.float32) < self).to(self.dtype)


@operator(
    "aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def bernoulli_p(self, p, generator):
    """1 with probability p, otherwise 0."""
    assert p >= 0 and p <= 1, f"expected p between 0 and 1, got {p}"
    return (torch.rand_like(self, dtype=torch.float32) < p).to(self.dtype)


@operator(
    "aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def bernoulli_Tensor(self, p, generator):
    """1 with probability p, otherwise 0."""
    return (torch.rand_like(self, dtype=torch.float32) < p).to(self.dtype)


@operator(
    "aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def exponential(self, lambd, generator):
    """Samples of the exponential distribution."""
    assert lambd >= 0, f"expected lambd of at least 0, got {lambd}"
    return (torch.rand_like(self) * -1.0 + 1.0).log() * (-1 / lambd)


@operator(
    "aten::log_normal(Tensor self, float mean=1., float std=2., *, "
    "Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def log_normal(self, mean, std, generator):
    """Samples of the log-normal distribution."""
    return torch.ops.aten.normal_functional(self, mean, std).exp()


@operator(
    "aten::cauchy(Tensor self, float median=0., float sigma=1., *, "
    "Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def cauchy(self, median, sigma, generator):
    """Samples of the Cauchy distribution."""
    return ((torch.rand_like(self) - 0.5) * math.pi).tan() * sigma + median


@operator(
    "aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def geometric(self, p, generator):
    """Samples of the geometric distribution."""
    assert p > 0 and p < 1, f"expected p between 0 and 1, got {p}"
    u = torch.rand(self.shape) * -1.0 + 1.0
    return (u.log() / math.log(1 - p)).ceil().clamp(min=1).to(self.dtype)


@operator(
    "aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def _standard_gamma(self, generator):
    """Samples of the gamma distribution.

    The method of Marsaglia and Tsang accepts at least 19 of 20 candidates. ONNX has no loop per
    element, so eight candidates are drawn and the first accepted one is used. Samples for shapes
    below 1 are scaled from shape + 1.
    """
    a = in_float32(self)
    d = torch.where(a < 1, a + 1, a) - 1 / 3
    x = torch.randn([8] + list(a.shape), dtype=a.dtype)
    v = (x / (d * 9).sqrt() + 1) ** 3
    bound = x * x * 0.5 + d * (v.log() - v + 1)
    y = d * first_good(v, torch.rand([8] + list(a.shape), dtype=a.dtype).log() < bound)
    y = torch.where(a < 1, y * torch.rand_like(a) ** (1 / a), y)
    return y.clamp(min=1.1754944e-38).to(self.dtype)


@operator(
    "aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def _sample_dirichlet(self, generator):
    """Samples of the Dirichlet distribution."""
    y = torch._standard_gamma(self)
    return y / y.sum([-1], True)


@operator(
    "aten::poisson(Tensor self, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def poisson(self, generator):
    """Samples of the Poisson distribution.

    Small means by inversion of the distribution function, large ones by Hörmann's transformed
    rejection (PTRS), in float64 because its terms cancel.
    """
    m = self.to(torch.float64)
    return torch.where(
        m < 12, poisson_below(m.clamp(1e-30, 12)), poisson_above(m.clamp(min=12))
    ).to(self.dtype)


@operator(
    "aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) " "-> Tensor",
    of_views=True,
    random=True,
)
def random_from(self, from_, to, generator):
    """Random integers."""
    return torch.randint_like(self, from_, past_all(self.dtype) if to is None else to)


@operator(
    "aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def random_to(self, to, generator):
    """Random integers."""
    return torch.randint_like(self, 0, to)


@operator(
    "aten::random(Tensor self, *, Generator? generator=None) -> Tensor",
    of_views=True,
    random=True,
)
def random(self, generator):
    """Random integers."""
    return torch.randint_like(self, 0, past_all(self.dtype))


# ---- traits of operators whose rows are in C ----

traits("aten::randint.*", cost="function")
traits("aten::multinomial", cost="by_last_size")
traits("aten::randperm", cost="sorted")
traits("aten::rand", cost="function")
traits("aten::randn", cost="function")
derived("aten::normal_", of="aten::normal_functional")
derived("aten::bernoulli_.float", of="aten::bernoulli.p")

"""Cumulative sums, differences and integrals along a dimension."""

import math
import torch

from calque import dtype_name, is_known, operator, traits, wrap_dim, wrap_dims
from aten.common import number_like, without_first, without_last


def slopes(x, spacing, dim, edge_order):
    """Slopes of x along a dimension; at the ends from two points (edge_order 1) or three."""
    assert edge_order in [1, 2], f"expected edge_order 1 or 2, got {edge_order}"
    n = x.shape[dim]
    assert n > edge_order, f"expected more than {edge_order} elements"
    a = torch.ops.aten.slice(x, dim, 0, 1)
    b = torch.ops.aten.slice(x, dim, 1, 2)
    z = torch.ops.aten.slice(x, dim, n - 1, n)
    y = torch.ops.aten.slice(x, dim, n - 2, n - 1)
    first = b - a
    last = z - y
    if edge_order == 2:
        first = b * 2 - a * 1.5 - torch.ops.aten.slice(x, dim, 2, 3) * 0.5
        last = z * 1.5 - y * 2 + torch.ops.aten.slice(x, dim, n - 3, n - 2) * 0.5
    inner = (torch.ops.aten.slice(x, dim, 2, n) - torch.ops.aten.slice(x, dim, 0, n - 2)) / 2
    return torch.cat([first / spacing, inner / spacing, last / spacing], dim)


def slopes_at(x, places, dim, edge_order):
    """The same for unevenly spaced coordinates, by parabolas through three points."""
    assert edge_order in [1, 2], f"expected edge_order 1 or 2, got {edge_order}"
    x = x.movedim(dim, -1)
    n = x.shape[-1]
    assert n > edge_order, f"expected more than {edge_order} elements"
    h = without_first(places, 0) - without_last(places, 0)
    s = (without_first(x, -1) - without_last(x, -1)) / h
    a = without_last(h, 0)
    b = without_first(h, 0)
    inner = (without_last(s, -1) * b + without_first(s, -1) * a) / (a + b)
    first = torch.ops.aten.slice(s, -1, 0, 1)
    last = torch.ops.aten.slice(s, -1, n - 2, n - 1)
    if edge_order == 2:
        bend = (without_first(s, -1) - without_last(s, -1)) / (a + b)
        first = first - torch.ops.aten.slice(bend, -1, 0, 1) * torch.ops.aten.slice(h, 0, 0, 1)
        last = last + torch.ops.aten.slice(bend, -1, n - 3, n - 2) * torch.ops.aten.slice(
            h, 0, n - 2, n - 1
        )
    return torch.cat([first, inner, last], -1).movedim(-1, dim)


def element_at(sorted, at):
    """Elements along the last dimension of sorted, at separate indices [.., n] or at common ones
    [n]."""
    at = at.to(torch.int64)
    return sorted.index_select(-1, at) if at.ndim == 1 else sorted.gather(-1, at)


def quantiles_of_last(x, q, how, numbers):
    """Quantiles q of the last dimension of x: [.., size of q]. A NaN makes the result NaN, unless
    numbers is true: then NaNs are replaced by infinity first, because ONNX does not specify where
    they sort."""
    q = q.reshape([-1])
    nan = x.isnan()
    if numbers:
        n = nan.logical_not().sum(-1, True, dtype=x.dtype)
        at = q * (n - 1).clamp_min(0)
    else:
        at = q * (x.shape[-1] - 1)
    if numbers:
        x = x.masked_fill(nan, math.inf)
    sorted = x.sort(-1, False)[0]
    low = at.ceil() if how == "higher" else at.round() if how == "nearest" else at.floor()
    high = element_at(sorted, at.ceil())
    out = element_at(sorted, low)
    if how == "linear":
        out = out.lerp(high, at - low)
    if how == "midpoint":
        out = out.lerp(high, 0.5)
    return out.masked_fill(nan.all(-1, True) if numbers else nan.any(-1, True), math.nan)


def quantiles(x, q, dim, keepdim, how, numbers):
    assert how in [
        "linear",
        "lower",
        "higher",
        "nearest",
        "midpoint",
    ], f"unknown interpolation {how}"
    assert x.dtype in [
        torch.float32,
        torch.float64,
    ], f"expected float32 or float64, got {dtype_name(x.dtype)}"
    flat = dim is None or x.ndim == 0
    d = 0 if flat else wrap_dim(dim, x.ndim)
    t = quantiles_of_last(x.reshape([-1]) if flat else x.movedim(d, -1), q, how, numbers)
    t = t.movedim(-1, 0)
    if keepdim and dim is None:
        t = t.reshape([-1] + [1] * x.ndim)
    elif keepdim and x.ndim > 0:
        t = t.unsqueeze(d + 1)
    return t if q.ndim > 0 else t.squeeze(0)


@operator(
    "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) "
    "-> Tensor",
    complex=True,
)
def diff(self, n, dim, prepend, append):
    """The n-th differences of adjacent elements."""
    assert self.ndim > 0, "expected at least one dimension"
    assert n >= 0 and n <= 64, f"expected n from 0 to 64, got {n}"
    d = wrap_dim(dim, self.ndim)
    if n == 0:
        return self.clone()
    parts = [t for t in [prepend, self, append] if t is not None]
    x = torch.cat(parts, d) if len(parts) > 1 else self
    for i in range(n):
        x = (
            without_first(x, d).logical_xor(without_last(x, d))
            if x.dtype == torch.bool
            else without_first(x, d) - without_last(x, d)
        )
    return x


@operator(
    "aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, "
    "str interpolation='linear') -> Tensor"
)
def quantile(self, q, dim, keepdim, interpolation):
    """Quantiles."""
    return quantiles(self, q, dim, keepdim, interpolation, False)


@operator(
    "aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
    "str interpolation='linear') -> Tensor"
)
def quantile_scalar(self, q, dim, keepdim, interpolation):
    """Quantiles."""
    return quantiles(self, number_like(self, q), dim, keepdim, interpolation, False)


@operator(
    "aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, "
    "str interpolation='linear') -> Tensor"
)
def nanquantile(self, q, dim, keepdim, interpolation):
    """Quantiles of the elements other than NaN."""
    return quantiles(self, q, dim, keepdim, interpolation, True)


@operator(
    "aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
    "str interpolation='linear') -> Tensor"
)
def nanquantile_scalar(self, q, dim, keepdim, interpolation):
    """Quantiles of the elements other than NaN."""
    return quantiles(self, number_like(self, q), dim, keepdim, interpolation, True)


@operator(
    "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", complex=True
)
def renorm(self, p, dim, maxnorm):
    """Slices scaled down to a maximum norm."""
    assert self.ndim >= 2, f"expected at least 2 dimensions, got {self.ndim}"
    d = wrap_dim(dim, self.ndim)
    n = torch.ops.aten.norm(self, p, [i for i in range(self.ndim) if i != d], True)
    return self * torch.where(n > maxnorm, (n + 1e-07).reciprocal() * maxnorm, torch.ones_like(n))


@operator("aten::pdist(Tensor self, float p=2.) -> Tensor")
def pdist(self, p):
    """The distances of all pairs of rows."""
    assert self.ndim == 2, "expected a matrix"
    n = self.shape[0]
    if not is_known(n):
        at = (
            torch.arange(n * n)
            .reshape([n, n])
            .masked_fill(torch.ones([n, n], dtype=torch.bool).tril(), n * n)
        )
        places, order = at.reshape([-1]).sort()
        d = torch.ops.aten.norm(self.unsqueeze(1) - self.unsqueeze(0), p, 2)
        return d.reshape([-1]).index_select(0, torch.ops.aten.slice(places, 0, 0, n * (n - 1) // 2))
    pairs = torch.triu_indices(self.shape[0], self.shape[0], 1)
    x = self.index_select(0, pairs.select(0, 0)) - self.index_select(0, pairs.select(0, 1))
    return torch.ops.aten.norm(x, p, 1)


@operator(
    "aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, "
    "int edge_order=1) -> Tensor[]",
    complex=True,
)
def gradient_scalarint(self, spacing, dim, edge_order):
    """Gradient by finite differences, along all dimensions or one."""
    dims = range(self.ndim) if dim is None else [wrap_dim(dim, self.ndim)]
    return [slopes(self, 1 if spacing is None else spacing, d, edge_order) for d in dims]


@operator("aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]")
def gradient_array(self, dim, edge_order):
    """Gradient by finite differences, along some dimensions."""
    return [slopes(self, 1, d, edge_order) for d in wrap_dims(dim, self.ndim)]


@operator(
    "aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) "
    "-> Tensor[]"
)
def gradient_scalararray(self, spacing, dim, edge_order):
    """Gradient by finite differences with given spacings, along some dimensions."""
    return [slopes(self, spacing, d, edge_order) for d in wrap_dims(dim, self.ndim)]


@operator(
    "aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, "
    "int edge_order=1) -> Tensor[]",
    complex=True,
)
def gradient_tensorarray(self, spacing, dim, edge_order):
    """Gradient by finite differences with given coordinates, along some dimensions."""
    dims = wrap_dims(dim, self.ndim)
    return [slopes_at(self, spacing[i], dims[i], edge_order) for i in range(len(dims))]


@operator(
    "aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, "
    "int edge_order=1) -> Tensor[]"
)
def gradient_tensorarrayint(self, spacing, dim, edge_order):
    """Gradient by finite differences with given coordinates."""
    dims = range(self.ndim) if dim is None else [wrap_dim(dim, self.ndim)]
    return [slopes_at(self, spacing[i], dims[i], edge_order) for i in range(len(dims))]


@operator(
    "aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, "
    "bool assume_unique=False, bool invert=False) -> Tensor"
)
def isin_Tensor_Tensor(elements, test_elements, assume_unique, invert):
    """Whether each element is in test_elements."""
    t = (elements.unsqueeze(-1) == test_elements.reshape([-1])).any(-1)
    return t.logical_not() if invert else t


@operator(
    "aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, "
    "bool assume_unique=False, bool invert=False) -> Tensor"
)
def isin_Tensor_Scalar(elements, test_element, assume_unique, invert):
    """Whether each element equals a number."""
    return (elements == test_element).logical_not() if invert else elements == test_element


@operator(
    "aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, "
    "bool assume_unique=False, bool invert=False) -> Tensor"
)
def isin_Scalar_Tensor(element, test_elements, assume_unique, invert):
    """Whether a number is in test_elements."""
    t = (test_elements == element).any()
    return t.logical_not() if invert else t


@operator("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor")
def histc(self, bins, min, max):
    """The number of elements in each bin.

    Bins have equal width; the last one includes its end. Without bounds, the range is that of the
    elements.
    """
    assert (
        self.is_floating_point() and bins >= 1 and (max >= min)
    ), "expected floats, at least one bin, and max of at least min"
    x = self.reshape([-1])
    low = torch.ops.aten.min(x) if min == max else number_like(x, float(min))
    high = torch.ops.aten.max(x) if min == max else number_like(x, float(max))
    if min == max:
        same = (low == high).to(x.dtype)
        low = low - same
        high = high + same
    bins = int(bins)
    at = ((x - low) * bins / (high - low)).floor().clamp_max(bins - 1)
    at = torch.where((x >= low).logical_and(x <= high), at, -1.0)
    return (at.unsqueeze(-1) == torch.arange(bins, dtype=x.dtype)).sum(0, dtype=x.dtype)


# ---- traits of operators whose rows are in C ----

traits("aten::quantile.*", autocast="float32")
traits("aten::nanquantile.*", autocast="float32")


def areas(y, x, dim):
    """The areas between adjacent points: mean height times distance."""
    d = wrap_dim(dim, y.ndim)
    if x.ndim == 1 and y.ndim > 1:
        x = x.reshape([-1 if i == d else 1 for i in range(y.ndim)])
    gaps = without_first(x, d) - without_last(x, d)
    return (without_first(y, d) + without_last(y, d)) * gaps / 2.0


def even_areas(y, dx, dim):
    """The areas between adjacent points at distance dx."""
    d = wrap_dim(dim, y.ndim)
    return (without_first(y, d) + without_last(y, d)) * (dx / 2)


@operator("aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", complex=True)
@operator("aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", complex=True)
def trapezoid_x(y, x, dim):
    """The area under a curve."""
    return areas(y, x, dim).sum(dim)


@operator("aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", complex=True)
@operator("aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", complex=True)
def trapezoid_dx(y, dx, dim):
    """The area under a curve."""
    return even_areas(y, dx, dim).sum(dim)


@operator(
    "aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
    complex=True,
)
def cumulative_trapezoid_x(y, x, dim):
    """The area under a curve up to each point."""
    return areas(y, x, dim).cumsum(dim)


@operator(
    "aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
    complex=True,
)
def cumulative_trapezoid_dx(y, dx, dim):
    """The area under a curve up to each point."""
    return even_areas(y, dx, dim).cumsum(dim)

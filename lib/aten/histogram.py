"""Histograms and bins."""

import math
import torch
import warnings

from calque import operator, size_hint


def bin_of(x, edges):
    """The index of the bin that each element falls into: -1 below the first edge, the number of
    bins above the last. The last edge belongs to the last bin."""
    at = torch.searchsorted(edges, x, right=True) - 1
    return torch.where(x == edges.select(0, -1), edges.shape[0] - 2, at)


def edges_over(x, n, limits, k):
    """The edges of n bins over a range: the k-th of limits, or the range of x."""
    if limits is not None:
        low = torch.scalar_tensor(limits[2 * k], dtype=x.dtype)
        high = torch.scalar_tensor(limits[2 * k + 1], dtype=x.dtype)
    else:
        low = x.amin()
        high = x.amax()
    empty = low == high
    return torch.linspace(
        torch.where(empty, low - 0.5, low),
        torch.where(empty, high + 0.5, high),
        n + 1,
        dtype=x.dtype,
    )


def clamped(y, low, high):
    return y if low is None and high is None else y.clamp(low, high)


def context_items(context, n):
    if not isinstance(context, tuple) or len(context) != n:
        raise TypeError(f"expected a context of XNNPACK with {n} items")
    return context


def features_for(x, weight):
    """XNNPACK does not check the size of its input: it reads as many features per row as there are
    weights. Some mobile models rely on this."""
    if weight.ndim != 2 or x.ndim == 0:
        return x
    have = x.shape[-1]
    n = weight.shape[1]
    if size_hint(have) <= size_hint(n):
        return x
    warnings.warn(
        f"the input has {have} features, the weights {n}; as in PyTorch the rest is ignored"
    )
    rows = x.shape[:-1]
    return torch.ops.aten.slice(x.flatten(0, -1), 0, 0, math.prod(rows) * n).reshape(
        list(rows) + [n]
    )


@operator(
    "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor bin_edges)"
)
def histogram_bins_tensor(self, bins, weight, density):
    """Histogram with these bin edges."""
    e = bins
    x = self.reshape([-1])
    n = e.shape[0] - 1
    w = torch.ones_like(x) if weight is None else weight.reshape([-1])
    at = bin_of(x, e)
    y = torch.ops.aten.slice(
        torch.zeros([n + 2], dtype=x.dtype).scatter_add(0, at + 1, w), 0, 1, -1
    )
    if density:
        y = y / (y.sum() * (torch.ops.aten.slice(e, 0, 1) - torch.ops.aten.slice(e, 0, 0, -1)))
    return (y, e)


@operator(
    "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, "
    "Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"
)
def histogram_bin_ct(self, bins, range_, weight, density):
    """Histogram with bins of equal width."""
    e = edges_over(self.reshape([-1]), bins, range_, 0)
    x = self.reshape([-1])
    n = e.shape[0] - 1
    w = torch.ones_like(x) if weight is None else weight.reshape([-1])
    at = bin_of(x, e)
    y = torch.ops.aten.slice(
        torch.zeros([n + 2], dtype=x.dtype).scatter_add(0, at + 1, w), 0, 1, -1
    )
    if density:
        y = y / (y.sum() * (torch.ops.aten.slice(e, 0, 1) - torch.ops.aten.slice(e, 0, 0, -1)))
    return (y, e)


@operator(
    "aten::histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    of_views=True,
)
def histogramdd(self, bins, range_, weight, density):
    """The histogram of points with several coordinates."""
    es = [
        edges_over(self.reshape([-1, self.shape[-1]]).select(1, k), bins[k], range_, k)
        for k in range(len(bins))
    ]
    x = self.reshape([-1, self.shape[-1]])
    w = torch.ones_like(x.select(1, 0)) if weight is None else weight.reshape([-1])
    at = torch.zeros([x.shape[0]], dtype=torch.int64)
    for k in range(len(es)):
        at = at * (es[k].shape[0] + 1) + bin_of(x.select(1, k).contiguous(), es[k]) + 1
    sizes = [e.shape[0] + 1 for e in es]
    y = torch.zeros([math.prod(sizes)], dtype=x.dtype).scatter_add(0, at, w).reshape(sizes)
    for k in range(len(es)):
        y = torch.ops.aten.slice(y, k, 1, -1)
    if not density:
        return (y, es)
    y = y / y.sum()
    for k in range(len(es)):
        y = y / (torch.ops.aten.slice(es[k], 0, 1) - torch.ops.aten.slice(es[k], 0, 0, -1)).reshape(
            [-1] + [1 for i in range(int(k) + 1, len(es))]
        )
    return (y, es)


@operator(
    "aten::histogramdd.int_bins(Tensor self, int bins, float[]? range=None, "
    "Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    of_views=True,
)
def histogramdd_int_bins(self, bins, range_, weight, density):
    """The histogram of points with several coordinates."""
    es = [
        edges_over(self.reshape([-1, self.shape[-1]]).select(1, k), bins, range_, k)
        for k in range(self.shape[-1])
    ]
    x = self.reshape([-1, self.shape[-1]])
    w = torch.ones_like(x.select(1, 0)) if weight is None else weight.reshape([-1])
    at = torch.zeros([x.shape[0]], dtype=torch.int64)
    for k in range(len(es)):
        at = at * (es[k].shape[0] + 1) + bin_of(x.select(1, k).contiguous(), es[k]) + 1
    sizes = [e.shape[0] + 1 for e in es]
    y = torch.zeros([math.prod(sizes)], dtype=x.dtype).scatter_add(0, at, w).reshape(sizes)
    for k in range(len(es)):
        y = torch.ops.aten.slice(y, k, 1, -1)
    if not density:
        return (y, es)
    y = y / y.sum()
    for k in range(len(es)):
        y = y / (torch.ops.aten.slice(es[k], 0, 1) - torch.ops.aten.slice(es[k], 0, 0, -1)).reshape(
            [-1] + [1 for i in range(int(k) + 1, len(es))]
        )
    return (y, es)


@operator(
    "aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, "
    "Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    of_views=True,
)
def histogramdd_TensorList_bins(self, bins, range_, weight, density):
    """The histogram of points with several coordinates."""
    es = bins
    x = self.reshape([-1, self.shape[-1]])
    w = torch.ones_like(x.select(1, 0)) if weight is None else weight.reshape([-1])
    at = torch.zeros([x.shape[0]], dtype=torch.int64)
    for k in range(len(es)):
        at = at * (es[k].shape[0] + 1) + bin_of(x.select(1, k).contiguous(), es[k]) + 1
    sizes = [e.shape[0] + 1 for e in es]
    y = torch.zeros([math.prod(sizes)], dtype=x.dtype).scatter_add(0, at, w).reshape(sizes)
    for k in range(len(es)):
        y = torch.ops.aten.slice(y, k, 1, -1)
    if not density:
        return (y, es)
    y = y / y.sum()
    for k in range(len(es)):
        y = y / (torch.ops.aten.slice(es[k], 0, 1) - torch.ops.aten.slice(es[k], 0, 0, -1)).reshape(
            [-1] + [1 for i in range(int(k) + 1, len(es))]
        )
    return (y, es)


@operator(
    "aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, "
    "Tensor? weight=None, bool density=False) -> Tensor[]"
)
def _histogramdd_bin_edges(self, bins, range_, weight, density):
    """The bin edges of histogramdd."""
    return [
        edges_over(self.reshape([-1, self.shape[-1]]).select(1, k), bins[k], range_, k)
        for k in range(len(bins))
    ]


@operator(
    "aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, "
    "Tensor? weight=None, bool density=False) -> Tensor"
)
def _histogramdd_from_bin_cts(self, bins, range_, weight, density):
    """The counts of histogramdd without its bin edges."""
    return torch.histogramdd(self, bins, range_, weight, density)[0]


@operator(
    "aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, "
    "bool density=False) -> Tensor"
)
def _histogramdd_from_bin_tensors(self, bins, weight, density):
    """The counts of histogramdd without its bin edges."""
    return torch.ops.aten.histogramdd.TensorList_bins(self, bins, None, weight, density)[0]


@operator(
    "prepacked::linear_clamp_prepack(Tensor W, Tensor? B=None, Scalar? output_min=None, "
    "Scalar? output_max=None) -> __torch__.torch.classes.xnnpack.LinearOpContext",
    of_views=True,
)
def prepacked_linear_clamp_prepack(W, B, output_min, output_max):
    """Packed weights for linear_clamp_run."""
    return (W, B, output_min, output_max)


@operator(
    "prepacked::linear_clamp_run(Tensor X, "
    "__torch__.torch.classes.xnnpack.LinearOpContext W_prepack) -> Tensor Y",
    of_views=True,
)
def prepacked_linear_clamp_run(X, W_prepack):
    """Linear and clamp with packed weights (XNNPACK)."""
    w, b, low, high = context_items(W_prepack, 4)
    return clamped(torch.ops.aten.linear(features_for(X, w), w, b), low, high)


@operator(
    "prepacked::conv2d_clamp_prepack(Tensor W, Tensor? B, int[2] stride, int[2] padding, "
    "int[2] dilation, int groups, Scalar? output_min=None, Scalar? output_max=None) "
    "-> __torch__.torch.classes.xnnpack.Conv2dOpContext",
    of_views=True,
)
def prepacked_conv2d_clamp_prepack(W, B, stride, padding, dilation, groups, output_min, output_max):
    """Packed weights for conv2d_clamp_run."""
    return (W, B, stride, padding, dilation, groups, output_min, output_max)


@operator(
    "prepacked::conv2d_clamp_run(Tensor X, "
    "__torch__.torch.classes.xnnpack.Conv2dOpContext W_prepack) -> Tensor Y",
    of_views=True,
)
def prepacked_conv2d_clamp_run(X, W_prepack):
    """Conv2d and clamp with packed weights (XNNPACK)."""
    w, b, stride, padding, dilation, groups, low, high = context_items(W_prepack, 8)
    return clamped(torch.conv2d(X, w, b, stride, padding, dilation, groups), low, high)


@operator(
    "prepacked::conv2d_transpose_clamp_prepack(Tensor W, Tensor? B, int[2] stride, "
    "int[2] padding, int[2] output_padding, int[2] dilation, int groups, "
    "Scalar? output_min=None, Scalar? output_max=None) "
    "-> __torch__.torch.classes.xnnpack.TransposeConv2dOpContext",
    of_views=True,
)
def prepacked_conv2d_transpose_clamp_prepack(
    W, B, stride, padding, output_padding, dilation, groups, output_min, output_max
):
    """Packed weights for conv2d_transpose_clamp_run."""
    return (W, B, stride, padding, output_padding, dilation, groups, output_min, output_max)


@operator(
    "prepacked::conv2d_transpose_clamp_run(Tensor X, "
    "__torch__.torch.classes.xnnpack.TransposeConv2dOpContext W_prepack) -> Tensor Y",
    of_views=True,
)
def prepacked_conv2d_transpose_clamp_run(X, W_prepack):
    """Conv_transpose2d and clamp with packed weights (XNNPACK)."""
    c = context_items(W_prepack, 9)
    y = torch.conv_transpose2d(X, c[0], c[1], c[2], c[3], c[4], c[6], c[5])
    return clamped(y, c[7], c[8])

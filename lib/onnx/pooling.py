"""Pooling.

PyTorch's ceil mode drops a last window that would start after the image, and its average counts
requested padding but not the padding that ceil mode adds. ONNX specifies neither and runtimes
differ, so with static sizes ceil mode becomes end padding.
"""

import math
import torch

from calque.onnx import *
from onnx.common import all_known, batched, pad_spatial, per_axis, unbatched


def spatial_sizes(x, n):
    return [x.size(i + 2) for i in range(n)]


def last_sizes(n):
    """The spatial sizes of the result."""
    shape = result_shape()
    return [shape[len(shape) - n + i] for i in range(n)]


def needed_behind(x, n, k, s, p, d):
    """The end padding with which floor mode gives each axis its size."""
    size = spatial_sizes(x, n)
    last = last_sizes(n)
    return [(last[i] - 1) * s[i] + d[i] * (k[i] - 1) + 1 - size[i] - p[i] for i in range(n)]


def pads_behind(x, n, k, s, p, d, ceil_mode):
    """The end padding. With dynamic sizes, ceil mode is left to ONNX."""
    if not ceil_mode or not all_known(spatial_sizes(x, n)):
        return p
    return [i if i > 0 else 0 for i in needed_behind(x, n, k, s, p, d)]


def cropped(y, n):
    """If padding is part of the image, ONNX does not drop windows that start in it."""
    last = last_sizes(n)
    for i in range(n):
        y = slice(y, i + 2, 0, last[i])
    return y


def check_ceil_mode(ceil):
    if ceil and opset() < 10:
        return unsupported("ceil_mode on dynamic sizes requires opset 10", 10)


# ---- max ----


def has_small_kernel(x):
    """Opset 12 added int8 and uint8."""
    return opset() >= 12 and x.dtype in (torch.int8, torch.uint8, torch.bool)


def max_pool(self, n, kernel_size, stride, padding, dilation, ceil_mode):
    """The pooled image, and the index of each maximum if it is used."""
    x = batched(without_bfloat16(self), n)
    k = per_axis(kernel_size, n)
    s = per_axis(stride, n, k)
    p = per_axis(padding, n)
    d = per_axis(dilation, n)
    ceil = ceil_mode and not all_known(spatial_sizes(x, n))
    ends = pads_behind(x, n, k, s, p, d, ceil_mode)
    is_dilated = len([i for i in d if i != 1]) > 0
    # Runtimes reject padding as large as the window, which a dilated window may need.
    fits_window = len([i for i in range(n) if p[i] >= k[i] or ends[i] >= k[i]]) == 0
    none = [0] * n
    check_ceil_mode(ceil)
    if is_dilated and opset() < 10:
        return unsupported("dilation requires opset 10", 10)
    wants_indices = is_used(1)
    if wants_indices and opset() < 8:
        return unsupported("indices of maxima require opset 8", 8)
    if wants_indices and not fits_window:
        return unsupported("the padding is larger than the window")
    image = apart_from_pad(x if has_small_kernel(x) else only_float(x))
    y = MaxPool(
        image if fits_window else pad_spatial(image, p, ends, -math.inf),
        ceil_mode=1 if ceil else None,
        dilations=d if is_dilated else None,
        kernel_shape=k,
        pads=p + ends if fits_window else none + none,
        strides=s,
        outputs=2 if wants_indices else 1,
    )
    if wants_indices:
        values = unbatched(y[0], self, n)
        return values, unbatched(indices_in_planes(y[1], x), self, n)
    if ceil and not fits_window and p != none:
        y = cropped(y, n)
    return unbatched(y, self, n), None


def indices_in_planes(indices, x):
    """Converts indices: ONNX counts elements in the whole tensor, PyTorch in each plane."""
    plane = math.prod([x.size(i) for i in range(2, x.ndim)])
    index = with_dtype(indices, torch.int64)
    return Mod(index, plane) if opset() >= 10 else index - index / plane * plane


@symbolic("aten::max_pool1d", opset=7, decompose=True)
def max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return max_pool(self, 1, kernel_size, stride, padding, dilation, ceil_mode)[0]


@symbolic("aten::max_pool2d", opset=7, decompose=True)
def max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return max_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode)[0]


@symbolic("aten::max_pool3d", opset=7, decompose=True)
def max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return max_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode)[0]


@symbolic("aten::max_pool1d_with_indices", opset=7, decompose=True)
def max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return max_pool(self, 1, kernel_size, stride, padding, dilation, ceil_mode)


@symbolic("aten::max_pool2d_with_indices", opset=7, decompose=True)
def max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return max_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode)


@symbolic("aten::max_pool3d_with_indices", opset=7, decompose=True)
def max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    return max_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode)


# ---- average ----


def avg_pool(self, n, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor):
    """Padding counts, but elements that ceil mode adds must not, so the padding becomes part of the
    image.

    A user's divisor divides sums over whole windows, which are averages times the window size.
    """
    x = batched(without_bfloat16(self), n)
    k = per_axis(kernel_size, n)
    s = per_axis(stride, n, k)
    p = per_axis(padding, n)
    d = [1] * n
    is_static = all_known(spatial_sizes(x, n))
    ceil = ceil_mode and not is_static
    ends = pads_behind(x, n, k, s, p, d, ceil_mode)
    none = [0] * n
    extends = ceil
    if ceil_mode and is_static:
        need = needed_behind(x, n, k, s, p, d)
        extends = len([i for i in range(n) if need[i] > p[i]]) > 0
    has_divisor = divisor is not None
    pads_image = count_include_pad and extends and not has_divisor
    check_ceil_mode(ceil)
    if has_divisor and ceil:
        return unsupported("divisor_override in ceil_mode requires fixed sizes")
    if has_divisor:
        image = pad_spatial(x, p, ends, None)
        pads = none + none
    elif pads_image:
        image = pad_spatial(x, p, p, None)
        pads = none + [ends[i] - p[i] if ends[i] > p[i] else 0 for i in range(n)]
    else:
        image = apart_from_pad(x)
        pads = p + ends
    counts_pads = count_include_pad and not pads_image and not has_divisor and p != none
    y = AveragePool(
        only_small_float(image),
        ceil_mode=1 if ceil else None,
        count_include_pad=1 if counts_pads else None,
        kernel_shape=k,
        pads=pads,
        strides=s,
    )
    if has_divisor:
        y = y * (math.prod(k) / divisor)
    elif ceil and pads_image and p != none:
        y = cropped(y, n)
    return unbatched(y, self, n)


@symbolic("aten::avg_pool1d", opset=7, decompose=True)
def avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
    return avg_pool(self, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@symbolic("aten::avg_pool2d", opset=7, decompose=True)
def avg_pool2d(
    self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    return avg_pool(
        self, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@symbolic("aten::avg_pool3d", opset=7, decompose=True)
def avg_pool3d(
    self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    return avg_pool(
        self, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


# ---- adaptive ----


def is_divisible(sizes, parts):
    """Whether each size is divisible by its number of parts."""
    if not all_known(sizes + parts):
        return False
    uneven = [
        i
        for i in range(len(parts))
        if parts[i] < 1 or sizes[i] // parts[i] * parts[i] != sizes[i]
    ]
    return len(uneven) == 0


def parts_of_axis(x, at, n, op):
    """The parts of one axis, each reduced to one element.

    Part i of n begins at floor(i * size / n) and ends at ceil((i + 1) * size / n).
    """
    size = x.size(at)
    if size == n:
        return x
    if not is_known(n) or n > 256 or n < 1:
        return unsupported("adaptive pooling to a dynamic or large number of parts")
    if n == 1 and not is_known(size):
        return reduce(op, x, [at], True)
    parts = [
        reduce(op, slice(x, at, size * i // n, (size * (i + 1) + n - 1) // n), [at], True)
        for i in range(n)
    ]
    return with_shape(
        Concat(parts, axis=at), [n if i == at else x.size(i) for i in range(x.ndim)]
    )


def parts_of_image(x, to, op):
    for i in range(len(to)):
        x = parts_of_axis(x, i + 2, to[i], op)
    return x


def is_global(to):
    return len([i for i in to if i != 1]) == 0


def adaptive_avg_pool(self, n, output_size):
    x = batched(without_bfloat16(self), n)
    to = per_axis(output_size, n)
    sizes = spatial_sizes(x, n)
    image = only_small_float(apart_from_pad(x))
    if is_global(to):
        y = GlobalAveragePool(image)
    elif is_divisible(sizes, to):
        k = [sizes[i] // to[i] for i in range(n)]
        y = AveragePool(image, kernel_shape=k, strides=k)
    else:
        y = parts_of_image(x, to, "ReduceMean")
    return unbatched(y, self, n)


@symbolic("aten::adaptive_avg_pool1d", opset=7, decompose=True)
def adaptive_avg_pool1d(self, output_size):
    return adaptive_avg_pool(self, 1, output_size)


@symbolic("aten::adaptive_avg_pool2d", opset=7, decompose=True)
@symbolic("aten::_adaptive_avg_pool2d", opset=7, decompose=True)
def adaptive_avg_pool2d(self, output_size):
    return adaptive_avg_pool(self, 2, output_size)


@symbolic("aten::adaptive_avg_pool3d", opset=7, decompose=True)
@symbolic("aten::_adaptive_avg_pool3d", opset=7, decompose=True)
def adaptive_avg_pool3d(self, output_size):
    return adaptive_avg_pool(self, 3, output_size)


def index_of_maximum(x, n):
    """The index of the maximum of a whole plane."""
    flat = Reshape(x, [0, 0, -1])
    index = with_shape(ArgMax(flat, axis=2, keepdims=1), [x.size(0), x.size(1), 1])
    return Unsqueeze(index, range(3, n + 2))


def adaptive_max_pool(self, n, output_size):
    x = batched(without_bfloat16(self), n)
    to = per_axis(output_size, n)
    sizes = spatial_sizes(x, n)
    wants_indices = is_used(1)
    if is_global(to) and x.dtype != torch.float64:
        y = unbatched(GlobalMaxPool(x), self, n)
    elif is_divisible(sizes, to) and (not wants_indices or opset() >= 8):
        k = [sizes[i] // to[i] for i in range(n)]
        y = MaxPool(x, kernel_shape=k, strides=k, outputs=2 if wants_indices else 1)
        if wants_indices and not is_global(to):
            values = unbatched(y[0], self, n)
            return values, unbatched(indices_in_planes(y[1], x), self, n)
        y = unbatched(y[0] if wants_indices else y, self, n)
    elif wants_indices:
        return unsupported("indices of maxima of unequal parts")
    else:
        y = unbatched(parts_of_image(x, to, "ReduceMax"), self, n)
    return y, unbatched(index_of_maximum(x, n), self, n) if wants_indices else None


@symbolic("aten::adaptive_max_pool1d", opset=7, decompose=True)
def adaptive_max_pool1d(self, output_size):
    return adaptive_max_pool(self, 1, output_size)


@symbolic("aten::adaptive_max_pool2d", opset=7, decompose=True)
def adaptive_max_pool2d(self, output_size):
    return adaptive_max_pool(self, 2, output_size)


@symbolic("aten::adaptive_max_pool3d", opset=7, decompose=True)
def adaptive_max_pool3d(self, output_size):
    return adaptive_max_pool(self, 3, output_size)


# ---- unpooling ----

unsupported("aten::max_unpool2d", "it requires Scatter, of opset 9", opset=7)
unsupported("aten::max_unpool3d", "it requires Scatter, of opset 9", opset=7)


def max_unpool(self, indices, n):
    """Planes as rows: zeros, and the elements at their indices."""
    lead = self.ndim - n
    shape = result_shape()
    planes = math.prod([self.size(i) for i in range(lead)])
    few = [planes, math.prod([self.size(i) for i in range(lead, self.ndim)])]
    many = [planes, math.prod([shape[i] for i in range(lead, self.ndim)])]
    zeros = Expand(like(0, self), many)
    index = Reshape(indices, few)
    if opset() < 11:
        rows = Scatter(zeros, index, Reshape(self, few), axis=1)
    else:
        rows = ScatterElements(zeros, index, Reshape(self, few), axis=1)
    return Reshape(rows, shape)


@symbolic("aten::max_unpool2d", opset=9)
def max_unpool2d(self, indices):
    return max_unpool(self, indices, 2)


@symbolic("aten::max_unpool3d", opset=9)
def max_unpool3d(self, indices):
    return max_unpool(self, indices, 3)

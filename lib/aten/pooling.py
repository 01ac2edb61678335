"""Decompositions of pooling for cases that ONNX cannot express, and gradients of pooling."""

import math
import torch

from calque import decomposition, gradient, traits
from aten.windows import for_each_axis, pads_of, windows_of, with_batch, without_batch


def spread_means(grad, dim, n):
    """The gradient of an adaptive mean along one axis of size n. Each element gets its share of the
    mean of every window that contains it."""
    m = grad.shape[dim]
    i = torch.arange(n)
    o = torch.arange(m).unsqueeze(1)
    first = (o * n).floor_divide(m)
    last = ((o + 1) * n + (m - 1)).floor_divide(m)
    part = (i >= first).logical_and(i < last).to(grad.dtype) / (last - first).to(grad.dtype)
    return (grad.transpose(dim, -1) @ part).transpose(dim, -1)


def places_on(size, kernel, stride, pad, dilation, ceil_mode):
    """The number of windows along an axis. In ceil mode a partial last window counts if it begins
    before the end padding."""
    room = size + 2 * pad - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    return min((room + stride - 1) // stride, (size + pad - 1) // stride) + 1


def pool_windows(x, kernel, stride, pad, dilation, ceil_mode, fill):
    """The windows of a pooling layer on x padded with fill; in ceil mode the end padding completes
    the last window."""
    n = len(kernel)
    out = [
        places_on(x.shape[2 + i], kernel[i], stride[i], pad[i], dilation[i], ceil_mode)
        for i in range(n)
    ]
    behind = (
        [
            (out[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - x.shape[2 + i] - pad[i]
            for i in range(n)
        ]
        if ceil_mode
        else pad
    )
    return windows_of(
        torch.constant_pad_nd(x, pads_of(pad, behind), fill), kernel, stride, dilation
    )


def counted(size, places, kernel, stride, pad, include):
    """The number of elements of a window along one axis: those on the feature map and the counted
    padding, or on the feature map alone."""
    start = torch.arange(places) * stride - pad
    end = (start + kernel).clamp(max=size + pad)
    return end - start if include else end.clamp(max=size) - start.clamp(min=0)


def averaged(self, n, kernel_size, stride, padding, ceil_mode, include, divisor):
    x = with_batch(self, n)
    k = for_each_axis(kernel_size, n)
    p = for_each_axis(padding, n)
    s = k if len(stride) == 0 else for_each_axis(stride, n)
    y = pool_windows(x, k, s, p, [1] * n, ceil_mode, 0)
    y = y.sum(list(range(2 + n, 2 + 2 * n)), dtype=self.dtype)
    by = torch.ones([1], dtype=torch.int64)
    for i in range(n):
        by = by * counted(x.shape[2 + i], y.shape[2 + i], k[i], s[i], p[i], include).reshape(
            [-1 if j == i else 1 for j in range(n)]
        )
    if divisor is not None:
        by = torch.full([], divisor, dtype=torch.int64)
    y = (
        y / by.to(y.dtype)
        if y.is_floating_point()
        else y.div(by.to(y.dtype), rounding_mode="trunc")
    )
    return without_batch(y, self, n)


def greatest(self, n, kernel_size, stride, padding, dilation, ceil_mode):
    """The maximum of each window, and its index in the plane."""
    x = with_batch(self, n)
    k = for_each_axis(kernel_size, n)
    p = for_each_axis(padding, n)
    s = k if len(stride) == 0 else for_each_axis(stride, n)
    d = for_each_axis(dilation, n)
    plane = x.shape[2:]
    at = torch.arange(math.prod(plane)).reshape([1, 1] + list(plane))
    w = pool_windows(x, k, s, p, d, ceil_mode, lowest(x.dtype)).flatten(2 + n, -1)
    at = pool_windows(at, k, s, p, d, ceil_mode, -1).flatten(2 + n, -1)
    same = w == w.amax([-1], True)
    if w.is_floating_point():
        same = same.logical_or(w.isnan())
    best = same.logical_and(at >= 0).to(torch.int32).argmax(-1, True)
    return (
        without_batch(w.amax([-1]), self, n),
        without_batch(at.expand(w.shape).gather(-1, best).squeeze(-1), self, n),
    )


def lowest(dtype):
    if dtype.is_floating_point:
        return -math.inf
    if dtype == torch.uint8:
        return 0
    if dtype == torch.int8:
        return -128
    if dtype == torch.int16:
        return -32768
    if dtype == torch.int32:
        return -2147483648
    return -9223372036854775807 - 1


def places_of_parts(n, o):
    """The indices of the elements of each part in adaptive pooling: [o, longest]. Part i of o
    begins at floor(i * n / o) and ends at ceil((i + 1) * n / o). Shorter parts repeat their last
    index."""
    i = torch.arange(o).unsqueeze(1)
    end = ((i + 1) * n + (o - 1)).floor_divide(o)
    at = (i * n).floor_divide(o) + torch.arange((n + o - 1) // o + 1)
    return torch.min(at, end - 1)


def means_of_parts(self, n, output_size):
    """The means of parts, one axis after another; repeated indices are masked out."""
    x = with_batch(self, n)
    o = for_each_axis(output_size, n)
    for i in range(n):
        at = places_of_parts(x.shape[2 + i], o[i])
        new = at != at.roll([1], [1])
        new = new.logical_or(torch.arange(at.shape[1]) == 0).to(x.dtype)
        new = new.reshape(list(new.shape) + [1] * (n - 1 - i))
        x = x.index_select(2 + i, at.flatten()).unflatten(2 + i, [o[i], -1])
        x = (x * new).sum(3 + i) / new.sum(1)
    return without_batch(x, self, n)


def greatest_of_parts(self, n, output_size):
    x = with_batch(self, n)
    o = for_each_axis(output_size, n)
    plane = x.shape[2:]
    at = torch.arange(math.prod(plane)).reshape([1, 1] + list(plane))
    for i in range(n):
        places = places_of_parts(plane[i], o[i])
        x = x.index_select(2 + 2 * i, places.flatten()).unflatten(2 + 2 * i, [o[i], -1])
        at = at.index_select(2 + 2 * i, places.flatten()).unflatten(2 + 2 * i, [o[i], -1])
    order = [0, 1] + [2 + 2 * i for i in range(n)] + [3 + 2 * i for i in range(n)]
    x = x.permute(order).flatten(2 + n, -1)
    at = at.permute(order).flatten(2 + n, -1).expand(x.shape)
    return (
        without_batch(x.amax([-1]), self, n),
        without_batch(at.gather(-1, x.argmax(-1, True)).squeeze(-1), self, n),
    )


@gradient("aten::max_pool1d")
def max_pool1d_gradient(grad, self, kernel_size, stride, padding, dilation, ceil_mode):
    _, where = torch.max_pool1d_with_indices(
        self, kernel_size, stride, padding, dilation, ceil_mode
    )
    return {
        "self": torch.ops.aten.view_as(
            torch.scatter_add(
                torch.flatten(torch.zeros_like(self), -1),
                -1,
                torch.flatten(where, -1),
                torch.flatten(grad, -1),
            ),
            self,
        )
    }


@gradient("aten::max_pool2d")
def max_pool2d_gradient(grad, self, kernel_size, stride, padding, dilation, ceil_mode):
    _, where = torch.ops.aten.max_pool2d_with_indices(
        self, kernel_size, stride, padding, dilation, ceil_mode
    )
    return {
        "self": torch.ops.aten.view_as(
            torch.scatter_add(
                torch.flatten(torch.zeros_like(self), -2),
                -1,
                torch.flatten(where, -2),
                torch.flatten(grad, -2),
            ),
            self,
        )
    }


@gradient("aten::max_pool3d")
def max_pool3d_gradient(grad, self, kernel_size, stride, padding, dilation, ceil_mode):
    _, where = torch.ops.aten.max_pool3d_with_indices(
        self, kernel_size, stride, padding, dilation, ceil_mode
    )
    return {
        "self": torch.ops.aten.view_as(
            torch.scatter_add(
                torch.flatten(torch.zeros_like(self), -3),
                -1,
                torch.flatten(where, -3),
                torch.flatten(grad, -3),
            ),
            self,
        )
    }


@gradient("aten::max_pool1d_with_indices")
@gradient("aten::adaptive_max_pool1d")
def max_pool1d_with_indices_gradient(grad, result1, self):
    return {
        "self": torch.ops.aten.view_as(
            torch.scatter_add(
                torch.flatten(torch.zeros_like(self), -1),
                -1,
                torch.flatten(result1, -1),
                torch.flatten(grad, -1),
            ),
            self,
        )
    }


@gradient("aten::max_pool2d_with_indices")
@gradient("aten::adaptive_max_pool2d")
def max_pool2d_with_indices_gradient(grad, result1, self):
    return {
        "self": torch.ops.aten.view_as(
            torch.scatter_add(
                torch.flatten(torch.zeros_like(self), -2),
                -1,
                torch.flatten(result1, -2),
                torch.flatten(grad, -2),
            ),
            self,
        )
    }


@gradient("aten::max_pool3d_with_indices")
@gradient("aten::adaptive_max_pool3d")
def max_pool3d_with_indices_gradient(grad, result1, self):
    return {
        "self": torch.ops.aten.view_as(
            torch.scatter_add(
                torch.flatten(torch.zeros_like(self), -3),
                -1,
                torch.flatten(result1, -3),
                torch.flatten(grad, -3),
            ),
            self,
        )
    }


@gradient("aten::adaptive_avg_pool1d")
def adaptive_avg_pool1d_gradient(grad, self):
    return {"self": spread_means(grad, -1, self.shape[-1])}


@gradient("aten::adaptive_avg_pool2d")
@gradient("aten::_adaptive_avg_pool2d")
def adaptive_avg_pool2d_gradient(grad, self):
    return {"self": spread_means(spread_means(grad, -1, self.shape[-1]), -2, self.shape[-2])}


@gradient("aten::adaptive_avg_pool3d")
@gradient("aten::_adaptive_avg_pool3d")
def adaptive_avg_pool3d_gradient(grad, self):
    return {
        "self": spread_means(
            spread_means(spread_means(grad, -1, self.shape[-1]), -2, self.shape[-2]),
            -3,
            self.shape[-3],
        )
    }


@decomposition("aten::max_pool1d")
def max_pool1d_parts(self, kernel_size, stride, padding, dilation, ceil_mode):
    return greatest(self, 1, kernel_size, stride, padding, dilation, ceil_mode)[0]


@decomposition("aten::max_pool2d")
def max_pool2d_parts(self, kernel_size, stride, padding, dilation, ceil_mode):
    return greatest(self, 2, kernel_size, stride, padding, dilation, ceil_mode)[0]


@decomposition("aten::max_pool3d")
def max_pool3d_parts(self, kernel_size, stride, padding, dilation, ceil_mode):
    return greatest(self, 3, kernel_size, stride, padding, dilation, ceil_mode)[0]


@decomposition("aten::max_pool1d_with_indices")
def max_pool1d_with_indices_parts(self, kernel_size, stride, padding, dilation, ceil_mode):
    return greatest(self, 1, kernel_size, stride, padding, dilation, ceil_mode)


@decomposition("aten::max_pool2d_with_indices")
def max_pool2d_with_indices_parts(self, kernel_size, stride, padding, dilation, ceil_mode):
    return greatest(self, 2, kernel_size, stride, padding, dilation, ceil_mode)


@decomposition("aten::max_pool3d_with_indices")
def max_pool3d_with_indices_parts(self, kernel_size, stride, padding, dilation, ceil_mode):
    return greatest(self, 3, kernel_size, stride, padding, dilation, ceil_mode)


@decomposition("aten::avg_pool1d")
def avg_pool1d_parts(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
    return averaged(self, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@decomposition("aten::avg_pool2d")
def avg_pool2d_parts(
    self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    return averaged(
        self, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@decomposition("aten::avg_pool3d")
def avg_pool3d_parts(
    self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    return averaged(
        self, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@decomposition("aten::adaptive_avg_pool1d")
def adaptive_avg_pool1d_parts(self, output_size):
    return means_of_parts(self, 1, output_size)


@decomposition("aten::adaptive_avg_pool2d")
@decomposition("aten::_adaptive_avg_pool2d")
def adaptive_avg_pool2d_parts(self, output_size):
    return means_of_parts(self, 2, output_size)


@decomposition("aten::adaptive_avg_pool3d")
@decomposition("aten::_adaptive_avg_pool3d")
def adaptive_avg_pool3d_parts(self, output_size):
    return means_of_parts(self, 3, output_size)


@decomposition("aten::adaptive_max_pool1d")
def adaptive_max_pool1d_parts(self, output_size):
    return greatest_of_parts(self, 1, output_size)


@decomposition("aten::adaptive_max_pool2d")
def adaptive_max_pool2d_parts(self, output_size):
    return greatest_of_parts(self, 2, output_size)


@decomposition("aten::adaptive_max_pool3d")
def adaptive_max_pool3d_parts(self, output_size):
    return greatest_of_parts(self, 3, output_size)


# ---- traits of operators whose rows are in C ----

traits("aten::avg_pool3d", autocast="float32", cost="pool", quantized="mean")
traits("aten::max_pool1d", cost="pool", quantized="keep")
traits("aten::max_pool2d", cost="pool", quantized="keep")
traits("aten::max_pool3d", cost="pool", quantized="keep")
traits("aten::max_pool1d_with_indices", cost="pool", quantized="keep")
traits("aten::max_pool2d_with_indices", cost="pool", quantized="keep")
traits("aten::max_pool3d_with_indices", cost="pool", quantized="keep")
traits("aten::avg_pool1d", cost="pool", quantized="mean")
traits("aten::avg_pool2d", cost="pool", quantized="mean")
traits("aten::adaptive_avg_pool1d", cost="function", quantized="mean")
traits("aten::adaptive_avg_pool2d", cost="function", quantized="mean")
traits("aten::adaptive_avg_pool3d", cost="function", quantized="mean")
traits("aten::adaptive_max_pool1d", cost="function", quantized="keep")
traits("aten::adaptive_max_pool2d", cost="function", quantized="keep")
traits("aten::adaptive_max_pool3d", cost="function", quantized="keep")

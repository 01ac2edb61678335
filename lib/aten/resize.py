"""Resizing and sampling of images."""

import math
import torch

from calque import decomposition, gradient_of, operator, size_hint, traits
from aten.common import in_float, number_like


def resized(x, size, factors, mode, align_corners, recompute, antialias):
    """torch.nn.functional.interpolate by sizes or by factors. Unless recompute is False, factors
    only determine the sizes."""
    n = x.ndim - 2
    assert n >= 1 and n <= 3, f"expected an image of 1, 2 or 3 axes, got {n}"
    assert (size is None) != (factors is None), "expected either a size or a factor"
    align = align_corners is not None and align_corners
    if factors is not None and (mode == "area" or recompute is None or recompute):
        size = [scaled_size(x.shape[i + 2], factors[i]) for i in range(n)]
        factors = None
    if mode == "nearest" and n == 1:
        return torch.ops.aten.upsample_nearest1d.vec(x, size, factors)
    if mode == "nearest" and n == 2:
        return torch.ops.aten.upsample_nearest2d.vec(x, size, factors)
    if mode == "nearest":
        return torch.ops.aten.upsample_nearest3d.vec(x, size, factors)
    if mode == "nearest-exact" and n == 1:
        return torch.ops.aten._upsample_nearest_exact1d.vec(x, size, factors)
    if mode == "nearest-exact" and n == 2:
        return torch.ops.aten._upsample_nearest_exact2d.vec(x, size, factors)
    if mode == "nearest-exact":
        return torch.ops.aten._upsample_nearest_exact3d.vec(x, size, factors)
    if mode == "area" and n == 1 and (size is not None):
        return torch.adaptive_avg_pool1d(x, size)
    if mode == "area" and n == 2 and (size is not None):
        return torch.ops.aten.adaptive_avg_pool2d(x, size)
    if mode == "area" and size is not None:
        return torch.ops.aten.adaptive_avg_pool3d(x, size)
    if mode == "linear" and n == 1:
        return torch.ops.aten.upsample_linear1d.vec(x, size, align, factors)
    if mode == "bilinear" and n == 2 and antialias:
        return torch.ops.aten._upsample_bilinear2d_aa.vec(x, size, align, factors)
    if mode == "bilinear" and n == 2:
        return torch.ops.aten.upsample_bilinear2d.vec(x, size, align, factors)
    if mode == "trilinear" and n == 3:
        return torch.ops.aten.upsample_trilinear3d.vec(x, size, align, factors)
    if mode == "bicubic" and n == 2 and antialias:
        return torch.ops.aten._upsample_bicubic2d_aa.vec(x, size, align, factors)
    if mode == "bicubic" and n == 2:
        return torch.ops.aten.upsample_bicubic2d.vec(x, size, align, factors)
    raise ValueError(f"unknown mode {mode} for {n} axes")


def reflected(x, low, high):
    """Coordinates outside of the image, reflected at its borders as often as needed. low and high
    are twice the borders."""
    span = max(high - low, 1)
    x = (x * 2 - low).abs()
    rest = x.fmod(span)
    rest = torch.where((x / span).floor().fmod(2) == 0, rest, span - rest)
    return (rest + low) / 2


def pixel_places(g, size, align):
    """Converts coordinates from -1 … 1 to pixels, before the padding mode is applied."""
    return (g + 1) * (size - 1) / 2 if align else ((g + 1) * size - 1) / 2


def kept_inside(x, size, padding, align):
    if padding == 2:
        x = reflected(x, 0 if align else -1, 2 * size - (2 if align else 1))
    return x.clamp(0, size - 1) if padding > 0 else x


def pixels_at(image, at):
    """The pixels at integer coordinates, one tensor for each axis; 0 outside of the image."""
    n = len(at)
    inside = torch.ones([], dtype=torch.bool)
    flat = torch.zeros([], dtype=torch.int64)
    for i in range(n):
        size = image.shape[2 + i]
        inside = inside.logical_and(at[i] >= 0).logical_and(at[i] < size)
        flat = flat * size + at[i].clamp(0, size - 1).to(torch.int64)
    batch = image.shape[0]
    planes = image.shape[1]
    y = image.flatten(2, -1).gather(2, flat.reshape([batch, 1, -1]).expand([batch, planes, -1]))
    y = y.reshape([batch, planes] + list(at[0].shape[1:]))
    return torch.where(inside.unsqueeze(1), y, number_like(y, 0.0))


def corner_at(image, at, k):
    """The k-th of the 2^n corners around the coordinates: bit i of k is the side along axis i."""
    n = len(at)
    corner = []
    weight = torch.ones([], dtype=image.dtype)
    for i in range(n):
        low = at[i].floor()
        part = at[i] - low
        far = k // [1, 2, 4][i] % 2
        corner = corner + [low + far]
        weight = weight * (part if far == 1 else 1 - part)
    return pixels_at(image, corner) * weight.unsqueeze(1)


def cubic_weight(x, beyond):
    """The weight of cubic interpolation for a pixel at distance x: up to 1, or beyond."""
    if beyond:
        return ((x * -0.75 + 3.75) * x - 6) * x + 3
    return (x * 1.25 - 2.25) * x * x + 1


def cubic_at(image, at, k, padding, align):
    """The k-th of the 4^n pixels around the coordinates."""
    pixels = []
    weight = torch.ones([], dtype=image.dtype)
    for i in range(len(at)):
        low = at[i].floor()
        part = at[i] - low
        tap = k // 4**i % 4
        pixels += [kept_inside(low + (tap - 1), image.shape[2 + i], padding, align)]
        weight = weight * cubic_weight(
            part + (1 - tap) if tap < 2 else tap - 1 - part, tap in [0, 3]
        )
    return pixels_at(image, pixels) * weight.unsqueeze(1)


def sampled(image, grid, mode, padding, align):
    n = image.ndim - 2
    at = [pixel_places(grid.select(-1, n - 1 - i), image.shape[2 + i], align) for i in range(n)]
    if mode == 2:
        y = cubic_at(image, at, 0, padding, align)
    else:
        at = [kept_inside(at[i], image.shape[2 + i], padding, align) for i in range(n)]
    if mode == 1:
        return pixels_at(image, [x.round() for x in at])
    if mode == 0:
        y = corner_at(image, at, 0)
    for k in range(1, (4 if mode == 2 else 2) ** n):
        y = y + (cubic_at(image, at, k, padding, align) if mode == 2 else corner_at(image, at, k))
    return y


def grid_line(n, align, dtype):
    """The coordinates from -1 to 1 of the pixels of an axis."""
    x = torch.arange(n, dtype=dtype)
    return x * 2 / max(n - 1, 1) - (1 if size_hint(n) > 1 else 0) if align else (x * 2 + 1) / n - 1


def affine_places(theta, size, align):
    n = len(size) - 2
    line = []
    for k in range(n):
        i = n - 1 - k
        x = grid_line(size[2 + i], align, theta.dtype)
        x = x.reshape([-1 if j == i else 1 for j in range(n)]).expand(size[2:])
        line = line + [x]
    line = line + [torch.ones(size[2:], dtype=theta.dtype)]
    y = torch.stack(line, -1).reshape([1, -1, n + 1]) @ theta.transpose(1, 2)
    return y.reshape([theta.shape[0]] + size[2:] + [n])


def scaled_size(n, by):
    """floor(n * by), in integers if by is a simple fraction, so that symbols stay symbolic."""
    q = 0
    for d in [32, 16, 10, 8, 5, 4, 3, 2, 1]:
        q = d if by * d == math.floor(by * d) else q
    return n * int(by * q) // q if q > 0 else int(n * by)


def filter_weight(x, cubic):
    """The filters of PyTorch's antialiasing: a triangle, or a cubic with a = -0.5."""
    x = x.abs()
    if not cubic:
        return (1 - x).clamp(min=0)
    near = (x * 1.5 - 2.5) * x * x + 1
    far = ((x * -0.5 + 2.5) * x - 4) * x + 2
    return torch.where(x < 1, near, torch.where(x < 2, far, torch.zeros_like(x)))


def average_weights(n, out, factor, align, cubic, dtype):
    """The weights [result indices, pixels] of antialiased resizing."""
    from_ = torch.scalar_tensor(n, dtype=torch.float64)
    to = torch.scalar_tensor(out, dtype=torch.float64)
    scale = from_ / to
    if align:
        scale = torch.where(to > 1, (from_ - 1) / (to - 1).clamp(min=1), torch.zeros_like(to))
    elif factor is not None:
        scale = torch.scalar_tensor(1 / factor, dtype=torch.float64)
    wide = scale.clamp(min=1)
    reach = wide * (2 if cubic else 1)
    centre = ((torch.arange(out, dtype=torch.float64) + 0.5) * scale).unsqueeze(1)
    j = torch.arange(n, dtype=torch.float64)
    first = (centre - reach + 0.5).trunc()
    end = (centre + reach + 0.5).trunc()
    w = filter_weight((j + 0.5 - centre) / wide, cubic)
    w = torch.where((j >= first).logical_and(j < end), w, torch.zeros_like(w))
    return (w / w.sum(1, True)).to(dtype)


def averaged_to(x, out, high, wide, align, cubic):
    y = in_float(x)
    rows = average_weights(x.shape[2], out[0], high, align, cubic, y.dtype)
    columns = average_weights(x.shape[3], out[1], wide, align, cubic, y.dtype)
    return rows @ (y @ columns.transpose(0, 1))


def averaged_by(x, out, factors, align, cubic):
    if out is not None:
        return averaged_to(x, out, None, None, align, cubic)
    assert factors is not None and len(factors) == 2, "expected sizes or two factors"
    return averaged_to(
        x,
        [scaled_size(x.shape[2 + i], factors[i]) for i in range(2)],
        factors[0],
        factors[1],
        align,
        cubic,
    )


@operator(
    "aten::__interpolate(Tensor input, int? size=None, float? scale_factor=None, "
    'str mode="nearest", bool? align_corners=None, bool? recompute_scale_factor=None, '
    "bool antialias=False) -> Tensor"
)
def __interpolate(
    input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
):
    """Resizing of images by mode."""
    return resized(
        input,
        None if size is None else [size] * (input.ndim - 2),
        None if scale_factor is None else [scale_factor] * (input.ndim - 2),
        mode,
        align_corners,
        recompute_scale_factor,
        antialias,
    )


@operator(
    "aten::__interpolate.scale_list(Tensor input, int? size=None, "
    'float[]? scale_factor=None, str mode="nearest", bool? align_corners=None, '
    "bool? recompute_scale_factor=None, bool antialias=False) -> Tensor"
)
def __interpolate_scale_list(
    input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
):
    """Resizing of images by mode."""
    return resized(
        input,
        None if size is None else [size] * (input.ndim - 2),
        scale_factor,
        mode,
        align_corners,
        recompute_scale_factor,
        antialias,
    )


@operator(
    "aten::__interpolate.size_list(Tensor input, int[]? size=None, float? scale_factor=None, "
    'str mode="nearest", bool? align_corners=None, bool? recompute_scale_factor=None, '
    "bool antialias=False) -> Tensor"
)
def __interpolate_size_list(
    input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
):
    """Resizing of images by mode."""
    return resized(
        input,
        size,
        None if scale_factor is None else [scale_factor] * (input.ndim - 2),
        mode,
        align_corners,
        recompute_scale_factor,
        antialias,
    )


@operator(
    "aten::__interpolate.size_list_scale_list(Tensor input, int[]? size=None, "
    'float[]? scale_factor=None, str mode="nearest", bool? align_corners=None, '
    "bool? recompute_scale_factor=None, bool antialias=False) -> Tensor"
)
def __interpolate_size_list_scale_list(
    input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
):
    """Resizing of images by mode."""
    return resized(
        input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
    )


@operator(
    "aten::__upsample(Tensor input, int? size=None, int? scale_factor=None, "
    'str mode="nearest", bool? align_corners=None) -> Tensor'
)
def __upsample(input, size, scale_factor, mode, align_corners):
    """Resizing of images by mode."""
    return resized(
        input,
        None if size is None else [size] * (input.ndim - 2),
        None if scale_factor is None else [float(scale_factor)] * (input.ndim - 2),
        mode,
        align_corners,
        False,
        False,
    )


@operator(
    "aten::__upsample.size_list(Tensor input, int[]? size=None, int? scale_factor=None, "
    'str mode="nearest", bool? align_corners=None) -> Tensor'
)
def __upsample_size_list(input, size, scale_factor, mode, align_corners):
    """Resizing of images by mode."""
    return resized(
        input,
        size,
        None if scale_factor is None else [float(scale_factor)] * (input.ndim - 2),
        mode,
        align_corners,
        False,
        False,
    )


@operator(
    "aten::__upsample_nearest(Tensor input, int? size=None, int? scale_factor=None) -> Tensor"
)
def __upsample_nearest(input, size, scale_factor):
    """Resizing of images by mode."""
    return resized(
        input,
        None if size is None else [size] * (input.ndim - 2),
        None if scale_factor is None else [float(scale_factor)] * (input.ndim - 2),
        "nearest",
        None,
        False,
        False,
    )


@operator(
    "aten::__upsample_nearest.size_list(Tensor input, int[]? size=None, "
    "int? scale_factor=None) -> Tensor"
)
def __upsample_nearest_size_list(input, size, scale_factor):
    """Resizing of images by mode."""
    return resized(
        input,
        size,
        None if scale_factor is None else [float(scale_factor)] * (input.ndim - 2),
        "nearest",
        None,
        False,
        False,
    )


@operator(
    "aten::__upsample_bilinear(Tensor input, int? size=None, int? scale_factor=None) " "-> Tensor"
)
def __upsample_bilinear(input, size, scale_factor):
    """Resizing of images by mode."""
    return resized(
        input,
        None if size is None else [size] * (input.ndim - 2),
        None if scale_factor is None else [float(scale_factor)] * (input.ndim - 2),
        "bilinear",
        True,
        False,
        False,
    )


@operator(
    "aten::__upsample_bilinear.size_list(Tensor input, int[]? size=None, "
    "int? scale_factor=None) -> Tensor"
)
def __upsample_bilinear_size_list(input, size, scale_factor):
    """Resizing of images by mode."""
    return resized(
        input,
        size,
        None if scale_factor is None else [float(scale_factor)] * (input.ndim - 2),
        "bilinear",
        True,
        False,
        False,
    )


@operator(
    "aten::__upsample_bilinear.scale_list(Tensor input, int? size=None, "
    "int[]? scale_factor=None) -> Tensor"
)
def __upsample_bilinear_scale_list(input, size, scale_factor):
    """Resizing of images by mode."""
    return resized(
        input,
        None if size is None else [size] * (input.ndim - 2),
        None if scale_factor is None else [float(f) for f in scale_factor],
        "bilinear",
        True,
        False,
        False,
    )


@operator(
    "aten::__upsample_bilinear.size_list_scale_list(Tensor input, int[]? size=None, "
    "int[]? scale_factor=None) -> Tensor"
)
def __upsample_bilinear_size_list_scale_list(input, size, scale_factor):
    """Resizing of images by mode."""
    return resized(
        input,
        size,
        None if scale_factor is None else [float(f) for f in scale_factor],
        "bilinear",
        True,
        False,
        False,
    )


@gradient_of("aten::grid_sampler")
@gradient_of("aten::grid_sampler_2d")
@gradient_of("aten::grid_sampler_3d")
def grid_sampler_tape(input, grid, interpolation_mode, padding_mode, align_corners):
    return sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@gradient_of("aten::affine_grid_generator")
def affine_grid_generator_tape(theta, size, align_corners):
    return affine_places(theta, size, align_corners)


@decomposition("aten::_upsample_bilinear2d_aa")
def _upsample_bilinear2d_aa_parts(self, output_size, align_corners, scales_h, scales_w):
    return averaged_to(self, output_size, scales_h, scales_w, align_corners, False)


@decomposition("aten::_upsample_bilinear2d_aa.vec")
def _upsample_bilinear2d_aa_vec_parts(input, output_size, align_corners, scale_factors):
    return averaged_by(input, output_size, scale_factors, align_corners, False)


@decomposition("aten::_upsample_bicubic2d_aa")
def _upsample_bicubic2d_aa_parts(self, output_size, align_corners, scales_h, scales_w):
    return averaged_to(self, output_size, scales_h, scales_w, align_corners, True)


@decomposition("aten::_upsample_bicubic2d_aa.vec")
def _upsample_bicubic2d_aa_vec_parts(input, output_size, align_corners, scale_factors):
    return averaged_by(input, output_size, scale_factors, align_corners, True)


@decomposition("aten::grid_sampler")
@decomposition("aten::grid_sampler_2d")
@decomposition("aten::grid_sampler_3d")
def grid_sampler_parts(input, grid, interpolation_mode, padding_mode, align_corners):
    if interpolation_mode == 2:
        raise NotImplementedError("cubic sampling needs GridSample, of opset 16")
    return sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@decomposition("aten::affine_grid_generator")
def affine_grid_generator_parts(theta, size, align_corners):
    return affine_places(theta, size, align_corners)


# ---- traits of operators whose rows are in C ----

traits("aten::_upsample_bilinear2d_aa.*", cost="sorted")
traits("aten::_upsample_bicubic2d_aa.*", cost="sorted")
traits("aten::upsample_bicubic2d.*", cost="function")
traits("aten::upsample_trilinear3d.*", cost="function")
traits("aten::grid_sampler", autocast="float32", cost="function")
traits("aten::grid_sampler_2d", autocast="float32", cost="function")
traits("aten::grid_sampler_3d", autocast="float32", cost="function")
traits("aten::upsample_nearest1d.*", quantized="keep")
traits("aten::upsample_nearest2d.*", quantized="keep")
traits("aten::upsample_nearest3d.*", quantized="keep")
traits("aten::_upsample_nearest_exact1d.*", quantized="keep")
traits("aten::_upsample_nearest_exact2d.*", quantized="keep")
traits("aten::_upsample_nearest_exact3d.*", quantized="keep")
traits("aten::upsample_bilinear2d.*", quantized="round")

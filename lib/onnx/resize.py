"""Sampling at positions of a grid. Resizing is in src/export/symbolic/resize.c."""

import torch

from calque.onnx import *

symbolic("aten::grid_sampler", opset=7, decompose=True)
symbolic("aten::grid_sampler_2d", opset=7, decompose=True)
symbolic("aten::grid_sampler_3d", opset=7, decompose=True)
symbolic("aten::affine_grid_generator", opset=7, decompose=True)


def interpolation_name(mode):
    """Opset 20 gave the modes names for any number of axes."""
    if opset() >= 20:
        return ["linear", "nearest", "cubic"][mode]
    return ["bilinear", "nearest", "bicubic"][mode]


@symbolic("aten::grid_sampler", opset=16, decompose=True)
@symbolic("aten::grid_sampler_2d", opset=16, decompose=True)
@symbolic("aten::grid_sampler_3d", opset=20, decompose=True)
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    if input.dtype == torch.float64 and interpolation_mode != 2:
        return unsupported("ONNX Runtime has no GridSample for float64")
    if opset() < 20 and input.ndim != 4:
        return unsupported("GridSample with three axes requires opset 20", 20)
    x = without_bfloat16(input)
    return GridSample(
        x,
        without_bfloat16(grid),
        align_corners=align_corners,
        mode=interpolation_name(interpolation_mode),
        padding_mode=["zeros", "border", "reflection"][padding_mode],
    )

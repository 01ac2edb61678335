"""Products of matrices in few bits: weights stay small, DequantizeLinear applies the scales."""

import torch

from calque.onnx import *


@symbolic("aten::_int_mm", opset=7)
def int_mm(self, mat2):
    if opset() < 10:
        return unsupported("it is decomposed")
    return MatMulInteger(self, mat2)


@symbolic("aten::_weight_int8pack_mm", opset=7)
def weight_int8pack_mm(self, mat2, scales):
    if opset() < 13:
        return unsupported("it is decomposed")
    x = cast(self, torch.float32)
    columns = swap_dims(mat2, 0, 1)
    w = DequantizeLinear(columns, cast(scales, torch.float32), axis=1)
    return cast(MatMul(x, w), self.dtype)


unsupported(
    "aten::_weight_int4pack_mm_for_cpu",
    "the layout of packed int4 weights depends on the processor that packed them",
    opset=7,
)
unsupported(
    "aten::_weight_int4pack_mm",
    "the layout of packed int4 weights depends on the device that packed them",
    opset=7,
)
unsupported(
    "aten::_weight_int4pack_mm_with_scales_and_zeros",
    "the layout of packed int4 weights depends on the device that packed them",
    opset=7,
)

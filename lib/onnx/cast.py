"""Conversions of dtype: Cast, or no node if the dtype is the same."""

from calque.onnx import *


@symbolic("aten::to.dtype", opset=7)
def to_dtype(self):
    return cast(self, result_dtype())


@symbolic("aten::clone", opset=7)
@symbolic("aten::contiguous", opset=7)
@symbolic("aten::detach", opset=7)
@symbolic("aten::alias", opset=7)
@symbolic("aten::lift_fresh", opset=7)
@symbolic("aten::data", opset=7)
def identity(self):
    return self


@symbolic("prim::NumToTensor", opset=7)
def number_to_tensor(a):
    return cast(a, result_dtype())

"""Matrix products of int8 and float8."""

import torch

from calque import dtype_name, operator


@operator("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor")
def _int_mm(self, mat2):
    """Product of int8 matrices, in int32."""
    assert (
        self.dtype in [torch.int8, torch.uint8] and mat2.dtype == torch.int8
    ), f"expected int8 or uint8 by int8, got {dtype_name(self.dtype)} by {dtype_name(mat2.dtype)}"
    return torch.mm(self.to(torch.int32), mat2.to(torch.int32))


@operator("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor")
def _weight_int8pack_mm(self, mat2, scales):
    """Self @ mat2.T, with a scale for each row of int8 weights."""
    assert mat2.dtype == torch.int8, f"expected int8, got {dtype_name(mat2.dtype)}"
    return torch.mm(self, mat2.to(self.dtype).t()) * scales


@operator(
    "aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, "
    "Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, "
    "bool use_fast_accum=False) -> Tensor"
)
def _scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum):
    """Product of float8 matrices, each with a scale."""
    a = self.to(torch.float32) * scale_a
    b = mat2.to(torch.float32) * scale_b
    y = torch.mm(a, b)
    if bias is not None:
        y = y + bias
    return y.to(self.dtype if out_dtype is None else out_dtype)

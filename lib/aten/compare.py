"""Comparisons, and choices between tensors."""

import torch

from calque import dtype_name, gradient, operator, traits


@operator("aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def not_equal_Tensor(self, other):
    """The same as aten::ne.Tensor."""
    return torch.ops.aten.ne.Tensor(self, other)


@operator("aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def not_equal_Scalar(self, other):
    """The same as aten::ne.Scalar."""
    return torch.ops.aten.ne.Scalar(self, other)


@operator("aten::greater.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def greater_Tensor(self, other):
    """The same as aten::gt.Tensor."""
    return torch.ops.aten.gt.Tensor(self, other)


@operator("aten::greater.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def greater_Scalar(self, other):
    """The same as aten::gt.Scalar."""
    return torch.ops.aten.gt.Scalar(self, other)


@operator("aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def greater_equal_Tensor(self, other):
    """The same as aten::ge.Tensor."""
    return torch.ops.aten.ge.Tensor(self, other)


@operator("aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def greater_equal_Scalar(self, other):
    """The same as aten::ge.Scalar."""
    return torch.ops.aten.ge.Scalar(self, other)


@operator("aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def less_equal_Tensor(self, other):
    """The same as aten::le.Tensor."""
    return torch.ops.aten.le.Tensor(self, other)


@operator("aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def less_equal_Scalar(self, other):
    """The same as aten::le.Scalar."""
    return torch.ops.aten.le.Scalar(self, other)


@operator(
    "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, "
    "float atol=1e-08, bool equal_nan=False) -> Tensor",
    of_views=True,
)
def isclose(self, other, rtol, atol, equal_nan):
    """Whether elements are equal within a tolerance."""
    assert (
        self.dtype == other.dtype
    ), f"{dtype_name(self.dtype)} cannot be compared with {dtype_name(other.dtype)}"
    same = self == other
    if self.dtype == torch.bool:
        return same
    if equal_nan:
        same = same.logical_or(self.isnan().logical_and(other.isnan()))
    allowed = (other * rtol).abs() + atol
    near = (self - other).abs()
    return same.logical_or(near.isfinite().logical_and(near <= allowed))


@operator("aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def __and___Scalar(self, other):
    """The same as aten::bitwise_and.Scalar."""
    return torch.ops.aten.bitwise_and.Scalar(self, other)


@operator("aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def __and___Tensor(self, other):
    """The same as aten::bitwise_and.Tensor."""
    return torch.ops.aten.bitwise_and.Tensor(self, other)


@operator("aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def __or___Tensor(self, other):
    """The same as aten::bitwise_or.Tensor."""
    return torch.ops.aten.bitwise_or.Tensor(self, other)


@operator("aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def __or___Scalar(self, other):
    """The same as aten::bitwise_or.Scalar."""
    return torch.ops.aten.bitwise_or.Scalar(self, other)


@operator("aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def __xor___Tensor(self, other):
    """The same as aten::bitwise_xor.Tensor."""
    return torch.ops.aten.bitwise_xor.Tensor(self, other)


@operator("aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def __xor___Scalar(self, other):
    """The same as aten::bitwise_xor.Scalar."""
    return torch.ops.aten.bitwise_xor.Scalar(self, other)


@operator("aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def __lshift___Tensor(self, other):
    """The same as aten::bitwise_left_shift.Tensor."""
    return torch.ops.aten.bitwise_left_shift.Tensor(self, other)


@operator("aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def __lshift___Scalar(self, other):
    """The same as aten::bitwise_left_shift.Tensor_Scalar."""
    return torch.ops.aten.bitwise_left_shift.Tensor_Scalar(self, other)


@operator("aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def __rshift___Tensor(self, other):
    """The same as aten::bitwise_right_shift.Tensor."""
    return torch.ops.aten.bitwise_right_shift.Tensor(self, other)


@operator("aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def __rshift___Scalar(self, other):
    """The same as aten::bitwise_right_shift.Tensor_Scalar."""
    return torch.ops.aten.bitwise_right_shift.Tensor_Scalar(self, other)


@operator("aten::where(Tensor condition) -> Tensor[]", of_views=True, dynamic=True)
def where(condition):
    """The indices where condition holds."""
    return condition.nonzero().unbind(1)


@gradient("aten::where.self")
def where_self_gradient(grad, condition):
    return {"self": torch.where(condition, grad, 0), "other": torch.where(condition, 0, grad)}


@gradient("aten::where.ScalarOther")
def where_ScalarOther_gradient(grad, condition):
    return {"self": torch.where(condition, grad, 0)}


@gradient("aten::where.ScalarSelf")
def where_ScalarSelf_gradient(grad, condition):
    return {"other": torch.where(condition, 0, grad)}


@gradient("aten::masked_fill.Scalar")
def masked_fill_Scalar_gradient(grad, mask):
    return {"self": torch.masked_fill(grad, mask, 0)}


@gradient("aten::masked_fill.Tensor")
def masked_fill_Tensor_gradient(grad, mask):
    return {
        "self": torch.masked_fill(grad, mask, 0),
        "value": torch.sum(torch.where(mask, grad, 0)),
    }


# ---- traits of operators whose rows are in C ----

traits("aten::where.*", vmap="elementwise")
traits("aten::lt.*", quantized="plain", reflected="aten::gt", vmap="elementwise")
traits("aten::le.*", quantized="plain", reflected="aten::ge", vmap="elementwise")
traits("aten::gt.*", quantized="plain", reflected="aten::lt", vmap="elementwise")
traits("aten::ge.*", quantized="plain", reflected="aten::le", vmap="elementwise")
traits("aten::masked_fill.*", quantized="round", vmap="elementwise")
traits("aten::logical_and", vmap="elementwise")
traits("aten::logical_or", vmap="elementwise")
traits("aten::logical_xor", vmap="elementwise")
traits("aten::eq.*", quantized="plain", reflected="aten::eq")
traits("aten::ne.*", quantized="plain", reflected="aten::ne")

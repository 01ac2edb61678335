"""Conversions of dtype, device and layout."""

import torch

from calque import gradient, operator, torch_export, traits, unview


@operator(
    "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, "
    "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
    of_views=True,
)
def to_device(self, device, dtype, non_blocking, copy, memory_format):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, dtype, False, copy)


@operator(
    "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    of_views=True,
)
def to_other(self, other, non_blocking, copy, memory_format):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, other.dtype, False, copy)


@operator(
    "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    of_views=True,
)
def to_dtype_layout(self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, self.dtype if dtype is None else dtype, False, copy)


@operator(
    "aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, "
    "bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
    of_views=True,
)
def to_prim_Device(self, device, dtype, non_blocking, copy):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, self.dtype if dtype is None else dtype, False, copy)


@operator(
    "aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, "
    "bool copy=False) -> Tensor(b|a)",
    of_views=True,
)
def to_prim_dtype(self, dtype, non_blocking, copy):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, self.dtype if dtype is None else dtype, False, copy)


@operator(
    "aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) "
    "-> Tensor(b|a)",
    of_views=True,
)
def to_prim_other(self, non_blocking, copy):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, self.dtype, False, copy)


@operator(
    "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
    "MemoryFormat? memory_format=None) -> Tensor",
    of_views=True,
    vmap="elementwise",
)
def _to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, self.dtype if dtype is None else dtype, False, True)


@operator("aten::type_as(Tensor self, Tensor other) -> Tensor", of_views=True)
def type_as(self, other):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, other.dtype)


@operator("aten::_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Byte(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.uint8)


@operator("aten::_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Char(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.int8)


@operator("aten::_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Double(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.float64)


@operator("aten::_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Float(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.float32)


@operator("aten::_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Int(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.int32)


@operator("aten::_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Long(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.int64)


@operator("aten::_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Short(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.int16)


@operator("aten::_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", of_views=True)
def _cast_Half(self, non_blocking):
    """Conversion to another dtype."""
    return torch.ops.aten.to.dtype(self, torch.float16)


@unview("aten::detach")
@unview("aten::alias")
@unview("aten::lift_fresh")
@unview("aten::data")
def detach_unview(changed):
    return changed


@operator("aten::lift(Tensor self) -> Tensor", of_views=True)
@operator("aten::positive(Tensor(a) self) -> Tensor(a)", of_views=True)
@operator("aten::cpu(Tensor(a) self) -> Tensor(b|a)", of_views=True)
@operator("aten::cuda(Tensor(a) self) -> Tensor(b|a)", of_views=True)
@operator("aten::resolve_conj(Tensor(a) self) -> Tensor(a)", of_views=True)
@operator("aten::resolve_neg(Tensor(a) self) -> Tensor(a)", of_views=True)
def lift(self):
    """The same tensor."""
    return self


@operator("aten::chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", complex=True)
def chalf(self, memory_format):
    """Conversion to complex numbers of two float16."""
    return self.to(torch.complex32)


@operator(
    "aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) "
    "-> Tensor(b|a)",
    of_views=True,
)
def as_tensor(data, dtype, device):
    """The same tensor, or a conversion to another dtype."""
    return torch.ops.aten.to.dtype(data, data.dtype if dtype is None else dtype)


@gradient("aten::to.dtype")
@gradient("aten::clone")
@gradient("aten::contiguous")
@gradient("aten::alias")
@gradient("aten::lift_fresh")
def to_dtype_gradient(grad):
    return {"self": grad}


# ---- traits of operators whose rows are in C ----

traits("aten::to.*", on_sizes="copy", vmap="elementwise")
traits("aten::alias", complex_pairs=True, vmap="elementwise")
traits("aten::clone", complex_pairs=True, on_sizes="copy", quantized="keep", vmap="elementwise")
traits("aten::contiguous", complex_pairs=True, on_sizes="copy", quantized="keep")
traits("aten::detach", complex_pairs=True, on_sizes="copy", quantized="keep", vmap="elementwise")
torch_export("aten::lift_fresh_copy", call="aten::clone")

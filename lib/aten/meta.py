"""Numbers that are known without the data of a tensor."""

from calque import operator, torch_export, traits, wrap_dim


@operator("aten::size.int(Tensor self, int dim) -> int", host=True)
@operator("aten::sym_size.int(Tensor self, int dim) -> SymInt", host=True)
def size_int(self, dim):
    """One size."""
    assert self.ndim > 0, "expected at least one dimension"
    return self.shape[wrap_dim(dim, self.ndim)]


@operator("aten::size(Tensor self) -> int[]", host=True)
@operator("aten::sym_size(Tensor self) -> SymInt[]", host=True)
def size(self):
    """All sizes."""
    return self.shape


@operator("aten::numel(Tensor self) -> int", host=True)
@operator("aten::sym_numel(Tensor self) -> SymInt", host=True)
def numel(self):
    """The number of elements."""
    return self.numel()


@operator("aten::dim(Tensor self) -> int", host=True)
def dim(self):
    """The number of dimensions."""
    return self.ndim


@operator("aten::len.Tensor(Tensor t) -> int", host=True)
def len_Tensor(t):
    """The first size."""
    assert t.ndim > 0, "expected at least one dimension"
    return t.shape[0]


@operator("aten::is_floating_point(Tensor self) -> bool", host=True)
def is_floating_point(self):
    """Whether elements are floats."""
    return self.is_floating_point()


@operator("aten::is_complex(Tensor self) -> bool", host=True)
def is_complex(self):
    """Whether elements are complex."""
    return self.is_complex()


traits("prim::NumToTensor.Scalar", on_sizes="copy")

torch_export("aten::sym_size.int", call="aten::size.int")
torch_export("aten::sym_numel", call="aten::numel")
torch_export("aten::sym_stride.int", call="aten::stride.int")
torch_export("aten::sym_storage_offset", call="aten::storage_offset")
torch_export("aten::sym_is_contiguous", call="aten::is_contiguous")
torch_export("aten::_local_scalar_dense", call="aten::item")

# Assertions have no result. Those with assertion="data" check a data-dependent condition.
torch_export("aten::_assert_scalar", assertion="data")
torch_export("aten::_assert_async", assertion="data")
torch_export("aten::_assert_async.msg", assertion="data")
torch_export("aten::_functional_assert_scalar", assertion="data")
torch_export("aten::_functional_assert_async.msg", assertion="data")
torch_export("aten::_assert_tensor_metadata", assertion="metadata")
torch_export("aten::_linalg_check_errors", assertion="metadata")
torch_export("aten::sym_constrain_range", assertion="metadata")
torch_export("aten::sym_constrain_range_for_size", assertion="metadata")
torch_export("aten::_functional_sym_constrain_range", assertion="metadata")
torch_export("aten::_functional_sym_constrain_range_for_size", assertion="metadata")
torch_export("aten::_make_dep_token", assertion="metadata")

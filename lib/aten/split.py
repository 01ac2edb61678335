"""Splitting a tensor into parts."""

import torch

from calque import is_known, operator, size_hint, traits, unview, wrap_dim


def split_at(x, at, dim):
    starts = [0] + at
    ends = at + [x.shape[dim]]
    return [torch.ops.aten.slice(x, dim, starts[i], ends[i]) for i in range(len(ends))]


def equal_sections(x, sections, dim):
    assert x.ndim > dim, f"expected more than {dim} dimensions, got {x.ndim}"
    assert (
        sections > 0 and x.shape[dim] % sections == 0
    ), f"size {x.shape[dim]} is not divisible by {sections} sections"
    return x.tensor_split(sections, dim)


def sections_at(x, indices, dim):
    assert x.ndim > dim, f"expected more than {dim} dimensions, got {x.ndim}"
    return x.tensor_split(indices, dim)


@unview("aten::split.Tensor")
def split_Tensor_unview(base, changed, part, split_size, dim):
    start = split_size * part
    return torch.slice_scatter(base, changed, dim, start, start + changed.shape[dim])


@unview("aten::split.sizes")
def split_sizes_unview(base, changed, part, split_size, dim):
    start = sum(split_size[:part])
    return torch.slice_scatter(base, changed, dim, start, start + changed.shape[dim])


@unview("aten::split")
@unview("aten::split_with_sizes")
def split_unview(base, changed, part, split_sizes, dim):
    start = sum(split_sizes[:part])
    return torch.slice_scatter(base, changed, dim, start, start + changed.shape[dim])


@operator(
    "aten::unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
    of_views=True,
)
def unsafe_split_Tensor(self, split_size, dim):
    """The same as aten::split.Tensor."""
    return torch.ops.aten.split(self, split_size, dim)


@operator(
    "aten::unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
    of_views=True,
)
def unsafe_split_with_sizes(self, split_sizes, dim):
    """The same as aten::split_with_sizes."""
    return torch.split_with_sizes(self, split_sizes, dim)


@operator(
    "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", of_views=True,
    vmap="by_axes",
)
def chunk(self, chunks, dim):
    """Parts of equal size, at most chunks of them.

    The last part may be smaller.
    """
    chunks = int(chunks)
    assert (
        self.ndim > 0 and chunks > 0
    ), f"expected at least one dimension and one chunk, got {self.ndim} and {chunks}"
    d = wrap_dim(dim, self.ndim)
    n = self.shape[d]
    if is_known(n) and n == 0:
        return torch.split_with_sizes(self, [0] * chunks, d)
    each = (n + (chunks - 1)) // chunks
    if size_hint(n) == 0:
        return torch.split_with_sizes(self, [each] * (chunks - 1) + [n - each * (chunks - 1)], d)
    if not is_known(n) and size_hint(n) <= size_hint(each) * (chunks - 1):
        each = (int(n) + (chunks - 1)) // chunks
    return torch.ops.aten.split.Tensor(self, each, d)


@operator("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", of_views=True)
def unsafe_chunk(self, chunks, dim):
    """The same as aten::chunk."""
    return torch.chunk(self, chunks, dim)


@operator(
    "aten::tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[]",
    of_views=True,
)
def tensor_split_sections(self, sections, dim):
    """A number of parts of nearly equal size.

    Sizes differ by at most one; larger parts come first.
    """
    k = int(sections)
    assert self.ndim > 0, "expected at least 1 dimension"
    assert k > 0, f"expected a positive number of sections, got {k}"
    d = wrap_dim(dim, self.ndim)
    n = self.shape[d]
    return split_at(self, [i * (n // k) + min(i, n % k) for i in range(1, k)], d)


@operator(
    "aten::tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]",
    of_views=True,
)
def tensor_split_indices(self, indices, dim):
    """Parts that begin at indices."""
    assert self.ndim > 0, "expected at least 1 dimension"
    return split_at(self, indices, wrap_dim(dim, self.ndim))


@operator(
    "aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, "
    "Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
    of_views=True,
)
def tensor_split_tensor_indices_or_sections(self, tensor_indices_or_sections, dim):
    """Parts that begin at indices, or a number of them."""
    by = tensor_indices_or_sections
    assert (
        by.ndim < 2 and by.dtype == torch.int64
    ), "expected indices or sections of int64 with at most one dimension"
    at = by.reshape([-1]).tolist()
    return (
        torch.tensor_split(self, at, dim) if by.ndim == 1 else torch.tensor_split(self, at[0], dim)
    )


@operator("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", of_views=True)
def hsplit_int(self, sections):
    """Parts along columns."""
    return equal_sections(self, sections, 1 if self.ndim > 1 else 0)


@operator("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", of_views=True)
def hsplit_array(self, indices):
    """Parts along columns."""
    return sections_at(self, indices, 1 if self.ndim > 1 else 0)


@operator("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", of_views=True)
def vsplit_int(self, sections):
    """Parts along rows."""
    return equal_sections(self, sections, 0)


@operator("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", of_views=True)
def vsplit_array(self, indices):
    """Parts along rows."""
    return sections_at(self, indices, 0)


@operator("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", of_views=True)
def dsplit_int(self, sections):
    """Parts along the third dimension."""
    return equal_sections(self, sections, 2)


@operator("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", of_views=True)
def dsplit_array(self, indices):
    """Parts along the third dimension."""
    return sections_at(self, indices, 2)


# ---- traits of operators whose rows are in C ----

traits("aten::split.Tensor", complex_pairs=True, vmap="by_axes")
traits("aten::split", complex_pairs=True)
traits("aten::split.sizes", complex_pairs=True)
traits("aten::split_with_sizes", complex_pairs=True, quantized="keep")
traits("aten::split.*", quantized="keep")
traits("aten::chunk", quantized="keep")

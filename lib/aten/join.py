"""Joining and repeating tensors."""

import torch

from calque import broadcast_shapes, operator, result_type, traits, wrap_dim
from aten.quantized_layers import join_on_grid


def at_least(x, rank):
    """x with at least rank dimensions, added as by numpy."""
    if x.ndim == 0:
        x = x.unsqueeze(0)
    if x.ndim == 1 and rank >= 2:
        x = x.unsqueeze(0)
    if x.ndim == 2 and rank >= 3:
        x = x.unsqueeze(2)
    return x


def grid(tensors, swapped):
    """Vectors expanded to a mesh: the k-th along dimension k; swapped exchanges the first two."""
    n = len(tensors)
    assert n > 0, "expected at least one tensor"
    for t in tensors:
        assert t.ndim < 2, f"expected at most one dimension, got {t.ndim}"
    at = [1, 0] + list(range(2, n)) if swapped and n > 1 else range(n)
    sizes = [tensors[i].numel() for i in at]
    return [
        tensors[k].view([sizes[i] if i == at[k] else 1 for i in range(n)]).expand(sizes)
        for k in range(n)
    ]


@operator("aten::concat(Tensor[] tensors, int dim=0) -> Tensor")
@operator("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor")
def concat(tensors, dim):
    """Cat."""
    return torch.cat(tensors, dim)


@operator(
    "aten::stack(Tensor[] tensors, int dim=0) -> Tensor",
    autocast="widest", complex_pairs=True, vmap="joined",
)
def stack(tensors, dim):
    """Tensors of equal sizes along a new dimension."""
    assert len(tensors) > 0, "expected at least one tensor"
    for t in tensors:
        assert t.shape == tensors[0].shape, "expected tensors of equal sizes"
    d = wrap_dim(dim, tensors[0].ndim + 1)
    return torch.cat([t.unsqueeze(d) for t in tensors], d)


@operator("aten::hstack(Tensor[] tensors) -> Tensor", complex=True)
def hstack(tensors):
    """Concatenation along columns."""
    return torch.cat(
        [at_least(t, 1) for t in tensors], 1 if len(tensors) > 0 and tensors[0].ndim > 1 else 0
    )


@operator("aten::vstack(Tensor[] tensors) -> Tensor", complex=True)
def vstack(tensors):
    """Concatenation along rows."""
    return torch.cat([at_least(t, 2) for t in tensors], 0)


@operator("aten::row_stack(Tensor[] tensors) -> Tensor")
def row_stack(tensors):
    """Concatenation along rows."""
    return torch.vstack(tensors)


@operator("aten::dstack(Tensor[] tensors) -> Tensor", complex=True)
def dstack(tensors):
    """Concatenation along the third dimension."""
    return torch.cat([at_least(t, 3) for t in tensors], 2)


@operator("aten::column_stack(Tensor[] tensors) -> Tensor", complex=True)
def column_stack(tensors):
    """Concatenation of vectors as columns."""
    return torch.cat([t if t.ndim > 1 else t.reshape([-1, 1]) for t in tensors], 1)


@operator("aten::atleast_1d(Tensor self) -> Tensor", of_views=True)
def atleast_1d(self):
    """The tensor with at least 1 dimension."""
    return at_least(self, 1)


@operator("aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", of_views=True)
def atleast_1d_Sequence(tensors):
    """The tensor with at least 1 dimension."""
    return [at_least(t, 1) for t in tensors]


@operator("aten::atleast_2d(Tensor self) -> Tensor", of_views=True)
def atleast_2d(self):
    """The tensor with at least 2 dimensions."""
    return at_least(self, 2)


@operator("aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", of_views=True)
def atleast_2d_Sequence(tensors):
    """The tensor with at least 2 dimensions."""
    return [at_least(t, 2) for t in tensors]


@operator("aten::atleast_3d(Tensor self) -> Tensor", of_views=True)
def atleast_3d(self):
    """The tensor with at least 3 dimensions."""
    return at_least(self, 3)


@operator("aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", of_views=True)
def atleast_3d_Sequence(tensors):
    """The tensor with at least 3 dimensions."""
    return [at_least(t, 3) for t in tensors]


@operator("aten::block_diag(Tensor[] tensors) -> Tensor", complex=True)
def block_diag(tensors):
    """A block-diagonal matrix."""
    rows = [at_least(t, 2) for t in tensors]
    for r in rows:
        assert r.ndim == 2, f"expected matrices, got {r.ndim} dimensions"
    widths = [r.shape[1] for r in rows]
    dtype = result_type(tensors)
    return torch.cat(
        [
            torch.constant_pad_nd(rows[i].to(dtype), [sum(widths[:i]), sum(widths[i + 1 :])])
            for i in range(len(rows))
        ],
        0,
    )


@operator(
    "aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, "
    "str padding_side='right') -> Tensor"
)
def pad_sequence(sequences, batch_first, padding_value, padding_side):
    """Sequences of different lengths as one tensor, padded to the longest."""
    assert len(sequences) > 0, "expected at least one sequence"
    assert padding_side in ("left", "right"), f"expected left or right, got {padding_side}"
    for s in sequences:
        assert s.ndim > 0, "expected sequences with at least one dimension"
        assert s.shape[1:] == sequences[0].shape[1:], "expected equal sizes behind the length"
    longest = max([s.shape[0] for s in sequences])
    padded = []
    for s in sequences:
        missing = longest - s.shape[0]
        ends = [missing, 0] if padding_side == "left" else [0, missing]
        padded = padded + [torch.constant_pad_nd(s, [0, 0] * (s.ndim - 1) + ends, padding_value)]
    return torch.stack(padded, 0 if batch_first else 1)


@operator("aten::tile(Tensor self, int[] dims) -> Tensor", complex=True)
def tile(self, dims):
    """The tensor repeated along its last dimensions."""
    return self.repeat([1] * (self.ndim - len(dims)) + dims)


@operator(
    "aten::repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
    complex=True,
)
def repeat_interleave_self_int(self, repeats, dim, output_size):
    """Each element repeated n times.

    Composed of a new dimension that is expanded and flattened.
    """
    assert repeats >= 0, f"expected repeats of at least 0, got {repeats}"
    x = self.reshape([-1]) if dim is None or self.ndim == 0 else self
    d = 0 if dim is None else wrap_dim(dim, x.ndim)
    x = x.unsqueeze(d + 1).expand(list(x.shape[: d + 1]) + [repeats] + list(x.shape[d + 1 :]))
    return x.clone(memory_format=torch.contiguous_format).flatten(d, d + 1)


@operator("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", of_views=True)
def broadcast_tensors(tensors):
    """All tensors expanded to their common shape."""
    shape = broadcast_shapes(tensors)
    return [t.expand(shape) for t in tensors]


@operator("aten::meshgrid(Tensor[] tensors) -> Tensor[]", of_views=True)
def meshgrid(tensors):
    """Coordinate tensors of a mesh."""
    return grid(tensors, False)


@operator("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", of_views=True)
def meshgrid_indexing(tensors, indexing):
    """Coordinate tensors of a mesh."""
    assert indexing in ["ij", "xy"], f"expected indexing ij or xy, got {indexing}"
    return grid(tensors, indexing == "xy")


@operator("aten::cartesian_prod(Tensor[] tensors) -> Tensor", complex=True)
def cartesian_prod(tensors):
    """Every combination of elements, as rows."""
    for t in tensors:
        assert t.ndim == 1, f"expected one dimension, got {t.ndim}"
    if len(tensors) == 1:
        return tensors[0]
    return torch.stack([t.flatten() for t in torch.ops.aten.meshgrid(tensors)], 1)


@operator(
    "quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
    of_views=True,
)
def quantized_cat(qx, dim, scale, zero_point):
    """Concatenation of quantized tensors."""
    return join_on_grid(qx, dim, scale, zero_point, False)


# ---- traits of operators whose rows are in C ----

traits("aten::cat", autocast="widest", complex_pairs=True, quantized="round", vmap="joined")
traits("aten::repeat", complex_pairs=True)
traits("aten::concat", quantized="round")
traits("aten::stack", quantized="round")

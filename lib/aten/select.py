"""Selections of elements."""

import torch

from calque import decomposition, gradient, operator, traits, wrap_dim


@operator("aten::argwhere(Tensor self) -> Tensor")
def argwhere(self):
    """Indices of the nonzero elements, one per row."""
    return torch.nonzero(self)


@operator("aten::nonzero_numpy(Tensor self) -> Tensor[]", of_views=True)
def nonzero_numpy(self):
    """Indices of the nonzero elements, one tensor per dimension."""
    return (self if self.ndim > 0 else self.unsqueeze(0)).nonzero().unbind(1)


@operator(
    "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor"
)
def repeat_interleave_self_Tensor(self, repeats, dim, output_size):
    """Each element repeated as given by repeats."""
    x = self.reshape([-1]) if dim is None or self.ndim == 0 else self
    d = 0 if dim is None else wrap_dim(dim, x.ndim)
    n = x.shape[d]
    if repeats.numel() == 1:
        repeats = repeats.reshape([1]).expand([n])
    assert repeats.ndim == 1 and repeats.shape[0] == n, f"expected repeats with {n} elements or one"
    return x.index_select(d, torch.repeat_interleave(repeats, output_size=output_size))


@gradient("aten::embedding")
def embedding_gradient(grad, weight, indices, padding_idx, scale_grad_by_freq):
    """Rows of the weight are summed over the indices that selected them."""
    at = indices.reshape([-1])
    rows = grad.reshape([at.numel(), weight.shape[1]])
    if scale_grad_by_freq:
        rows = rows / torch.bincount(at, None, weight.shape[0]).index_select(0, at).unsqueeze(1)
    if padding_idx >= 0:
        rows = rows.masked_fill((at == padding_idx).unsqueeze(1), 0)
    return {"weight": torch.index_add(torch.zeros_like(weight), 0, at, rows)}


@decomposition("aten::nonzero")
def nonzero_parts(self):
    return torch.ops.aten.slice(self.reshape([1]).nonzero(), 1, 0, 0)


# ---- traits of operators whose rows are in C ----

traits("aten::embedding", vmap="layer")
traits("aten::bincount", cost="sorted")
traits("aten::nonzero", cost="picked")
traits("aten::masked_select", cost="picked")
traits("aten::masked_scatter", cost="fetched")

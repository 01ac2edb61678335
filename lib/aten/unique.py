"""Unique elements."""

import torch

from calque import decomposition, traits, wrap_dim


@decomposition("aten::unique_consecutive")
def unique_consecutive_parts(self, return_inverse, return_counts, dim):
    d = wrap_dim(0 if dim is None else dim, self.ndim)
    x = self.movedim(d, 0).flatten(1, -1) if self.ndim > 1 else self.unsqueeze(1)
    n = x.shape[0]
    begins = (torch.ops.aten.slice(x, 0, 1) != torch.ops.aten.slice(x, 0, 0, -1)).any(1)
    begins = torch.cat([torch.ones([min(n, 1)], dtype=torch.bool), begins], 0)
    at = begins.nonzero().squeeze(1)
    none = torch.zeros([0], dtype=torch.int64)
    inverse = begins.cumsum(0) - 1 if return_inverse else none
    end = torch.full([min(n, 1)], 1, dtype=torch.int64) * n
    counts = torch.cat([torch.ops.aten.slice(at, 0, 1), end], 0) - at if return_counts else none
    return (self.index_select(d, at), inverse, counts)


# ---- traits of operators whose rows are in C ----

traits("aten::_unique", cost="sorted")
traits("aten::_unique2", cost="sorted")
traits("aten::unique_dim", cost="sorted")
traits("aten::unique_consecutive", cost="picked")

"""Reading and writing elements by index."""

import torch

from calque import broadcast_shapes, decomposition, gradient, operator, traits, wrap_dim


@operator("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor")
def put(self, index, source, accumulate):
    """The tensor with elements set by their row-major index."""
    flat = self.reshape([-1])
    return flat.index_put([index.reshape([-1])], source.reshape([-1]), accumulate).reshape(
        self.shape
    )


@operator(
    "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    complex=True,
)
def take_along_dim(self, indices, dim):
    """Gather with broadcasting."""
    if dim is None:
        return self.reshape([-1]).gather(0, indices.reshape([-1]))
    assert (
        self.ndim == indices.ndim
    ), f"self has {self.ndim} dimensions but indices has {indices.ndim}"
    d = wrap_dim(dim, self.ndim)
    shape = broadcast_shapes(
        list(self.shape[:d]) + [1] + list(self.shape[d + 1 :]),
        list(indices.shape[:d]) + [1] + list(indices.shape[d + 1 :]),
    )
    x = self.expand(shape[:d] + [self.shape[d]] + shape[d + 1 :])
    return x.gather(d, indices.expand(shape[:d] + [indices.shape[d]] + shape[d + 1 :]))


@gradient("aten::index.Tensor")
@gradient("aten::index.Tensor_hacked_twin")
def index_Tensor_gradient(grad, self, indices):
    return {"self": torch.index_put(torch.zeros_like(self), indices, grad, True)}


@gradient("aten::index_put")
@gradient("aten::index_put.hacked_twin")
@gradient("aten::_index_put_impl")
def index_put_gradient(grad, indices, values, accumulate):
    return {
        "self": grad
        if accumulate
        else torch.index_put(grad, indices, torch.zeros_like(values), False),
        "values": torch.ops.aten.index(grad, indices),
    }


@gradient("aten::index_select")
def index_select_gradient(grad, self, dim, index):
    return {"self": torch.index_add(torch.zeros_like(self), dim, index, grad)}


@gradient("aten::index_fill.int_Scalar")
def index_fill_int_Scalar_gradient(grad, dim, index):
    return {"self": torch.index_fill(grad, dim, index, 0)}


@gradient("aten::index_fill.int_Tensor")
def index_fill_int_Tensor_gradient(grad, dim, index):
    return {
        "self": torch.index_fill(grad, dim, index, 0),
        "value": torch.sum(torch.index_select(grad, dim, torch._unique(index)[0])),
    }


@gradient("aten::index_add")
def index_add_gradient(grad, dim, index, alpha):
    return {"self": grad, "source": torch.index_select(grad, dim, index) * alpha}


@gradient("aten::index_copy")
def index_copy_gradient(grad, dim, index):
    return {
        "self": torch.index_fill(grad, dim, index, 0),
        "source": torch.index_select(grad, dim, index),
    }


@gradient("aten::gather")
def gather_gradient(grad, self, dim, index):
    return {"self": torch.scatter_add(torch.zeros_like(self), dim, index, grad)}


@gradient("aten::scatter.value")
def scatter_value_gradient(grad, dim, index):
    return {"self": torch.scatter(grad, dim, index, 0)}


@gradient("aten::scatter.src")
def scatter_src_gradient(grad, dim, index):
    return {"self": torch.scatter(grad, dim, index, 0), "src": torch.gather(grad, dim, index)}


@gradient("aten::scatter_add")
def scatter_add_gradient(grad, dim, index):
    return {"self": grad, "src": torch.gather(grad, dim, index)}


@gradient("aten::scatter_reduce.two")
def scatter_reduce_two_gradient(grad, result, self, dim, index, src, reduce, include_self):
    """For products, division fails where a factor is zero: the product of the other factors is
    computed separately for a single zero. Overwritten elements have no gradient."""
    if reduce == "sum":
        of_self = grad
        of_src = torch.gather(grad, dim, index)
    elif reduce == "prod":
        ones = torch.masked_fill(self, self == 0, 1)
        zeros = torch.gather(
            torch.scatter_add(
                torch.zeros_like(self), dim, index, torch.ops.aten.to(src == 0, grad)
            ),
            dim,
            index,
        )
        lone = torch.logical_and(src == 0, zeros == 1)
        factors = torch.scatter_reduce(ones, dim, index, src, reduce, include_self=include_self)
        of_self = grad * factors / ones
        factors = torch.scatter_reduce(
            self, dim, index, torch.masked_fill(src, lone, 1), reduce, include_self=include_self
        )
        of_src = torch.where(
            lone,
            torch.gather(grad * factors, dim, index),
            torch.gather(grad * result, dim, index) / torch.masked_fill(src, src == 0, 1),
        )
    elif reduce == "mean":
        n = torch.clamp_min(
            torch.scatter_add(
                torch.full_like(self, include_self), dim, index, torch.ones_like(src)
            ),
            1,
        )
        of_self = grad / n
        of_src = torch.gather(of_self, dim, index)
    else:
        best = torch.ops.aten.to(self == result, grad)
        of_src = torch.ops.aten.to(src == torch.gather(result, dim, index), grad)
        share = grad / torch.scatter_add(best, dim, index, of_src)
        of_self = best * share
        of_src = of_src * torch.gather(share, dim, index)
    return {
        "self": of_self if include_self else torch.scatter(of_self, dim, index, 0),
        "src": of_src,
    }


@decomposition("aten::scatter_reduce.two")
def scatter_reduce_two_parts(self, dim, index, src, reduce, include_self):
    if reduce != "mean":
        raise NotImplementedError("index is smaller than self in a dimension other than dim")
    zeros = torch.zeros_like(index, dtype=self.dtype)
    n = torch.ones_like(self)
    x = self if include_self else self.scatter(dim, index, zeros)
    if not include_self:
        n = n.scatter(dim, index, zeros)
    x = x.scatter_add(dim, index, src)
    n = n.scatter_add(dim, index, torch.ones_like(src)).clamp(min=1)
    return x / n if x.is_floating_point() else x.div(n, rounding_mode="floor")


# ---- traits of operators whose rows are in C ----

traits("aten::index.*", cost="fetched", quantized="keep")
traits("aten::scatter.*", cost="fetched")
traits("aten::index_put.*", cost="function")
traits("aten::scatter_reduce.*", cost="function")
traits("aten::index.Tensor", complex_pairs=True)
traits("aten::index_select", complex_pairs=True, cost="fetched", quantized="keep")
traits("aten::index_copy", autocast="widest", cost="fetched")
traits("aten::index_add", cost="fetched")
traits("aten::gather", cost="fetched")
traits("aten::scatter_add", cost="fetched")

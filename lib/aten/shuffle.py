"""Moving elements to other positions."""

import torch

from calque import gradient, is_known, operator, traits, wrap_dim


def roll_dim(x, dim, shift):
    """Rolls one dimension. A shift below the size avoids a remainder of symbols."""
    n = x.shape[dim]
    if is_known(n) and n == 0:
        return x
    start = (0 - shift) % (n if is_known(n) else max(n, 1))
    return torch.cat(
        [torch.ops.aten.slice(x, dim, start), torch.ops.aten.slice(x, dim, 0, start)], dim
    )


def regroup(x, split, order, joined):
    """Reshapes to split, permutes to order, and reshapes to joined."""
    return x.reshape(split).permute(order).clone(memory_format=torch.contiguous_format).view(joined)


@operator("aten::roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", complex_pairs=True)
def roll(self, shifts, dims):
    """Elements shifted cyclically along dimensions."""
    assert len(shifts) > 0 and (
        len(dims) == len(shifts) or (len(dims) == 0 and len(shifts) == 1)
    ), f"got {len(shifts)} shifts for {len(dims)} dims"
    if len(dims) == 0:
        return roll_dim(self.reshape([-1]), 0, shifts[0]).reshape(self.shape)
    assert self.ndim > 0, "expected at least one dimension"
    t = self
    for i in range(len(dims)):
        t = roll_dim(t, wrap_dim(dims[i], self.ndim), shifts[i])
    return t.clone() if is_known(self.numel()) and self.numel() == 0 else t


@operator("aten::fliplr(Tensor self) -> Tensor", complex=True)
def fliplr(self):
    """Columns in reverse order."""
    assert self.ndim >= 2, f"expected at least 2 dimensions, got {self.ndim}"
    return self.flip([1])


@operator("aten::flipud(Tensor self) -> Tensor", complex=True)
def flipud(self):
    """Rows in reverse order."""
    assert self.ndim >= 1, "expected at least 1 dimension"
    return self.flip([0])


@operator("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", complex=True)
def rot90(self, k, dims):
    """Rotation by multiples of 90 degrees."""
    assert (
        len(dims) == 2
        and self.ndim > 1
        and (dims[0] != dims[1])
        and (abs(dims[0] - dims[1]) != self.ndim)
    ), "expected two different dimensions"
    k = k % 4
    if k == 0:
        return self.clone(memory_format=torch.contiguous_format)
    if k == 2:
        return self.flip(dims)
    return self.flip([dims[1] if k == 1 else dims[0]]).transpose(dims[0], dims[1])


@operator("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", complex=True)
def pixel_shuffle(self, upscale_factor):
    """Moves channels to pixels.

    [..., c * r * r, h, w] to [..., c, h * r, w * r].
    """
    r = upscale_factor
    assert self.ndim >= 3, f"expected at least 3 dimensions, got {self.ndim}"
    assert r > 0, f"expected a factor above 0, got {r}"
    lead = self.shape[:-3]
    c, h, w = self.shape[-3:]
    n = self.ndim - 3
    assert c % (r * r) == 0, f"{c} channels are not divisible by {r} squared"
    c = c // (r * r)
    order = list(range(n)) + [n, n + 3, n + 1, n + 4, n + 2]
    return regroup(self, list(lead) + [c, r, r, h, w], order, list(lead) + [c, h * r, w * r])


@operator("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", complex=True)
def pixel_unshuffle(self, downscale_factor):
    """Moves pixels to channels.

    [..., c, h * r, w * r] to [..., c * r * r, h, w].
    """
    r = downscale_factor
    assert self.ndim >= 3, f"expected at least 3 dimensions, got {self.ndim}"
    assert r > 0, f"expected a factor above 0, got {r}"
    lead = self.shape[:-3]
    c, h, w = self.shape[-3:]
    n = self.ndim - 3
    assert h % r == 0 and w % r == 0, f"sizes {h} and {w} are not divisible by {r}"
    order = list(range(n)) + [n, n + 2, n + 4, n + 1, n + 3]
    split = list(lead) + [c, h // r, r, w // r, r]
    return regroup(self, split, order, list(lead) + [c * (r * r), h // r, w // r])


@operator("aten::channel_shuffle(Tensor self, int groups) -> Tensor", complex=True)
def channel_shuffle(self, groups):
    """Interleaves the channels of groups.

    The result has one channel of each group in turn.
    """
    assert self.ndim >= 3, f"expected at least 3 dimensions, got {self.ndim}"
    n = self.shape[1]
    assert groups > 0 and n % groups == 0, f"{n} channels are not divisible by {groups} groups"
    split = [self.shape[0], groups, n // groups] + list(self.shape[2:])
    return regroup(self, split, [0, 2, 1] + list(range(3, self.ndim + 1)), self.shape)


@operator("aten::native_channel_shuffle(Tensor self, int groups) -> Tensor")
def native_channel_shuffle(self, groups):
    """Interleaves the channels of groups."""
    return torch.channel_shuffle(self, groups)


@gradient("aten::flip")
def flip_gradient(grad, dims):
    return {"self": torch.flip(grad, dims)}


# ---- traits of operators whose rows are in C ----

traits("aten::flip", complex_pairs=True, quantized="keep", vmap="by_axes")
traits("aten::pixel_shuffle", quantized="keep")
traits("aten::pixel_unshuffle", quantized="keep")
traits("aten::channel_shuffle", quantized="keep")

"""Padding."""

import torch

from calque import decomposition, gradient, is_known, operator, traits


def cropped(x, pad):
    """x without the elements that negative pads remove."""
    n = x.ndim
    for i in range(len(pad) // 2):
        if pad[2 * i] < 0 or pad[2 * i + 1] < 0:
            x = torch.ops.aten.slice(
                x,
                n - 1 - i,
                max(0, -pad[2 * i]),
                pad[2 * i + 1] if pad[2 * i + 1] < 0 else 9223372036854775807,
            )
    return x


def padded_by_pieces(self, pad, value):
    """Concatenates a constant piece before and after, dimension by dimension. A piece of dynamic
    size is emitted even if it is empty in the example; a run with a negative size fails."""
    if len([p for p in pad if not is_known(p) and p < 0]) > 0:
        raise NotImplementedError("it crops by a dynamic size")
    x = cropped(self, [p if is_known(p) else 0 for p in pad])
    n = x.ndim
    for i in range(len(pad) // 2):
        d = n - 1 - i
        piece = [
            torch.full(list(x.shape[:d]) + [p] + list(x.shape[d + 1 :]), value, dtype=x.dtype)
            for p in pad[2 * i : 2 * i + 2]
            if not is_known(p) or p > 0
        ]
        x = torch.cat(
            (piece[:1] if not is_known(pad[2 * i]) or pad[2 * i] > 0 else [])
            + [x]
            + (piece[-1:] if not is_known(pad[2 * i + 1]) or pad[2 * i + 1] > 0 else []),
            d,
        )
    return x


def padded_around(self, pad):
    """Circular padding."""
    if sum([0 if is_known(p) else 1 for p in pad]) > 0:
        raise NotImplementedError("its padding is a dynamic size")
    x = cropped(self, pad)
    n = x.ndim
    for i in range(len(pad) // 2):
        d = n - 1 - i
        x = torch.cat(
            ([torch.ops.aten.slice(x, d, -pad[2 * i])] if pad[2 * i] > 0 else [])
            + [x]
            + ([torch.ops.aten.slice(x, d, 0, pad[2 * i + 1])] if pad[2 * i + 1] > 0 else []),
            d,
        )
    return x


@operator(
    'aten::pad(Tensor self, int[] pad, str mode="constant", float? value=None) -> Tensor',
    complex=True,
)
def pad(self, pad, mode, value):
    """Padding by mode: constant, reflect, replicate or circular."""
    if mode == "constant":
        return torch.constant_pad_nd(self, pad, 0 if value is None else value)
    assert value is None or value == 0, f"mode {mode} takes no value"
    if mode == "circular":
        return torch.ops.aten._pad_circular(self, pad)
    assert mode in ["reflect", "replicate"], f"unknown padding mode {mode}"
    n = len(pad) // 2
    if n == 1:
        return (
            torch.ops.aten.reflection_pad1d(self, pad)
            if mode == "reflect"
            else torch.ops.aten.replication_pad1d(self, pad)
        )
    if n == 2:
        return (
            torch.ops.aten.reflection_pad2d(self, pad)
            if mode == "reflect"
            else torch.ops.aten.replication_pad2d(self, pad)
        )
    if n == 3:
        return (
            torch.ops.aten.reflection_pad3d(self, pad)
            if mode == "reflect"
            else torch.ops.aten.replication_pad3d(self, pad)
        )
    raise NotImplementedError(f"mode {mode} pads one to three dimensions, got {n}")


@operator("aten::_pad_enum(Tensor self, int[] pad, int mode, float? value=None) -> Tensor")
def _pad_enum(self, pad, mode, value):
    """The internal operator of pad."""
    assert mode >= 0 and mode < 4, f"unknown padding mode {mode}"
    return torch.ops.aten.pad(
        self, pad, ["reflect", "replicate", "circular", "constant"][mode], value
    )


@gradient("aten::constant_pad_nd")
def constant_pad_nd_gradient(grad, pad):
    return {"self": torch.constant_pad_nd(grad, [-n for n in pad])}


@decomposition("aten::constant_pad_nd")
def constant_pad_nd_parts(self, pad, value):
    return padded_by_pieces(self, pad, value)


@decomposition("aten::reflection_pad1d")
def reflection_pad1d_parts(self, padding):
    return cropped(torch.ops.aten.reflection_pad1d(self, [max(p, 0) for p in padding]), padding)


@decomposition("aten::reflection_pad2d")
def reflection_pad2d_parts(self, padding):
    return cropped(torch.ops.aten.reflection_pad2d(self, [max(p, 0) for p in padding]), padding)


@decomposition("aten::reflection_pad3d")
def reflection_pad3d_parts(self, padding):
    return cropped(torch.ops.aten.reflection_pad3d(self, [max(p, 0) for p in padding]), padding)


@decomposition("aten::replication_pad1d")
def replication_pad1d_parts(self, padding):
    return cropped(torch.ops.aten.replication_pad1d(self, [max(p, 0) for p in padding]), padding)


@decomposition("aten::replication_pad2d")
def replication_pad2d_parts(self, padding):
    return cropped(torch.ops.aten.replication_pad2d(self, [max(p, 0) for p in padding]), padding)


@decomposition("aten::replication_pad3d")
def replication_pad3d_parts(self, padding):
    return cropped(torch.ops.aten.replication_pad3d(self, [max(p, 0) for p in padding]), padding)


@decomposition("aten::_pad_circular")
def _pad_circular_parts(self, pad):
    return padded_around(self, pad)


traits("aten::constant_pad_nd", quantized="round")
traits("aten::reflection_pad1d", quantized="keep")
traits("aten::reflection_pad2d", quantized="keep")
traits("aten::reflection_pad3d", quantized="keep")
traits("aten::replication_pad1d", quantized="keep")
traits("aten::replication_pad2d", quantized="keep")
traits("aten::replication_pad3d", quantized="keep")
traits("aten::pad", quantized="round")

"""einops: rearrange, reduce, repeat as reshapes, transposes and reductions of tensors."""
import torch
from .pattern import EinopsError, apply, parse_shape_names


def rearrange(tensor, pattern, **axes_lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    return apply(tensor, pattern, "rearrange", axes_lengths)


def reduce(tensor, pattern, reduction, **axes_lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    return apply(tensor, pattern, reduction, axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return apply(tensor, pattern, "repeat", axes_lengths)


def einsum(*args):
    """The pattern comes last: einsum(x, y, "batch i, batch j -> batch i j")."""
    tensors, pattern = args[:-1], args[-1]
    letters = {}
    text = ""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    left, right = pattern.split("->")
    sides = []
    for side in left.split(",") + [right]:
        text = ""
        for name in side.split():
            if name == "...":
                text += "..."
                continue
            if name not in letters:
                letters[name] = alphabet[len(letters)]
            text += letters[name]
        sides.append(text)
    return torch.einsum(",".join(sides[:-1]) + "->" + sides[-1], *tensors)


def parse_shape(x, pattern):
    return parse_shape_names(x, pattern)


def asnumpy(tensor):
    return tensor


def pack(tensors, pattern):
    names = pattern.split()
    before = names.index("*")
    after = len(names) - before - 1
    flat, shapes = [], []
    for t in tensors:
        shape = list(t.shape)
        packed = shape[before:len(shape) - after]
        shapes.append(tuple(packed))
        flat.append(t.reshape(shape[:before] + [-1] + shape[len(shape) - after:]))
    return torch.cat(flat, before), shapes


def unpack(tensor, packed_shapes, pattern):
    names = pattern.split()
    before = names.index("*")
    out, start = [], 0
    shape = list(tensor.shape)
    for packed in packed_shapes:
        n = 1
        for size in packed:
            n *= size
        part = tensor.narrow(before, start, n)
        out.append(part.reshape(shape[:before] + list(packed) + shape[before + 1:]))
        start += n
    return out

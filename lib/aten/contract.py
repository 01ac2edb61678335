"""Contractions: einsum, tensordot and other sums of products."""

import math
import torch

from calque import einsum_labels, is_known, operator, wrap_dims


def is_one(n):
    return is_known(n) and n == 1


def contracted(x, y, summed):
    """The sum over some axes of x * y, which have equal ranks and broadcast; summed axes keep size
    1. Axes form four groups: in both, in x only, in y only, and summed in both. Axes that only one
    operand has are summed first."""
    r = range(x.ndim)
    for i in r:
        assert (
            is_one(x.shape[i]) or is_one(y.shape[i]) or x.shape[i] == y.shape[i]
        ), f"sizes {x.shape[i]} and {y.shape[i]} of an axis do not broadcast"
    if len(summed) == 0:  # the product promotes dtypes
        return x * y
    in_x = [i for i in r if not is_one(x.shape[i])]
    in_y = [i for i in r if not is_one(y.shape[i])]
    for i in summed:
        x, y = (
            x.sum([i], True) if i in in_x and i not in in_y else x,
            y.sum([i], True) if i in in_y and i not in in_x else y,
        )
    both = [i for i in in_x if i in in_y and i not in summed]
    left = [i for i in in_x if i not in in_y and i not in summed]
    right = [i for i in r if i not in in_x and i not in summed]
    order = both + left + summed + right
    a = math.prod([x.shape[i] for i in both])
    b = math.prod([x.shape[i] for i in left])
    n = math.prod([x.shape[i] for i in summed])
    m = math.prod([y.shape[i] for i in right])
    sizes = [1 if i in summed else x.shape[i] if i in in_x else y.shape[i] for i in order]
    x = x.permute(order).reshape([a, b, n])
    y = y.permute(both + summed + right + left).reshape([a, n, m])
    back = [[k for k in r if order[k] == i][0] for i in r]
    return x.bmm(y).reshape(sizes).permute(back)


def without_repeats(x, labels):
    """A repeated label selects the diagonal, which becomes the last axis."""
    twice = [i for i in range(len(labels)) if labels[i] in labels[i + 1 :]]
    if len(twice) == 0:
        return [x, labels]
    a = twice[0]
    b = [i for i in range(a + 1, len(labels)) if labels[i] == labels[a]][0]
    rest = [labels[i] for i in range(len(labels)) if i not in [a, b]]
    return without_repeats(x.diagonal(0, a, b), rest + [labels[a]])


def aligned(x, labels, order):
    """An operand with its axes in the common order; a missing one gets size 1."""
    x, labels = without_repeats(x, labels)
    x = x.permute(
        [[i for i in range(len(labels)) if labels[i] == k][0] for k in order if k in labels]
    )
    for i in range(len(order)):
        if order[i] not in labels:
            x = x.unsqueeze(i)
    return x


def done_after(operands, i, order, n):
    """Indices in the order, from the n-th on, of labels that no operand after i has."""
    later = []
    for labels in operands[i + 1 :]:
        later += labels
    return [k for k in range(n, len(order)) if order[k] in operands[i] and order[k] not in later]


def alone(size, other):
    """Whether the first of two broadcast sizes is 1 and the other is not."""
    return is_known(size) and size == 1 and (not (is_known(other) and other == 1))


@operator(
    "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    complex=True,
)
def einsum(equation, tensors, path):
    """Sums of products along axes named by letters.

    The common order of axes is that of the result, and then those that are summed.
    """
    terms = einsum_labels(equation, [t.ndim for t in tensors])
    ins = terms[:-1]
    out = terms[-1]
    used = []
    for labels in ins:
        used += labels
    for i in range(len(out)):
        assert (
            out[i] in used and out[i] not in out[:i]
        ), "each label of the output must occur in a tensor, and once in the output"
    order = out + [k for k in range(116) if k in used and k not in out]
    assert len(order) <= 64, f"the equation has {len(order)} labels, the limit is 64"
    n = len(out)
    x = aligned(tensors[0], ins[0], order)
    for i in done_after(ins, 0, order, n):
        x = x.sum([i], True)
    for i in range(1, len(ins)):
        y = aligned(tensors[i], ins[i], order)
        if x.dtype == torch.int64 and not (y.is_floating_point() or y.is_complex()):
            y = y.to(x.dtype)  # x is a sum of smaller integers
        x = contracted(x, y, done_after(ins, i, order, n))
    for i in reversed(range(n, len(order))):
        x = x.squeeze(i)
    return x


@operator(
    "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    complex=True,
)
def tensordot(self, other, dims_self, dims_other):
    """Sums of products along some axes of each tensor."""
    assert len(dims_self) == len(
        dims_other
    ), f"expected lists of equal length, got {len(dims_self)} and {len(dims_other)} dimensions"
    a = wrap_dims(dims_self, self.ndim)
    b = wrap_dims(dims_other, other.ndim)
    for i in range(len(a)):
        assert self.shape[a[i]] == other.shape[b[i]] or 1 in [
            self.shape[a[i]],
            other.shape[b[i]],
        ], f"sizes {self.shape[a[i]]} and {other.shape[b[i]]} of contracted dimensions differ"
    for i in range(len(a)):
        self, other = (
            self.sum([a[i]], True) if alone(other.shape[b[i]], self.shape[a[i]]) else self,
            other.sum([b[i]], True) if alone(self.shape[a[i]], other.shape[b[i]]) else other,
        )
    rows = [i for i in range(self.ndim) if i not in a]
    columns = [i for i in range(other.ndim) if i not in b]
    m = [self.shape[i] for i in rows]
    n = [other.shape[i] for i in columns]
    x = self.permute(rows + a).reshape([math.prod(m), math.prod([self.shape[i] for i in a])])
    y = other.permute(b + columns).reshape([math.prod([other.shape[i] for i in b]), math.prod(n)])
    return torch.mm(x, y).reshape(m + n)


@operator("aten::inner(Tensor self, Tensor other) -> Tensor", complex=True)
def inner(self, other):
    """Sums of products along the last axes."""
    if self.ndim == 0 or other.ndim == 0:
        return self * other
    return torch.ops.aten.tensordot(self, other, [-1], [-1])


@operator("aten::kron(Tensor self, Tensor other) -> Tensor", complex=True)
def kron(self, other):
    """Kronecker product."""
    n = max(self.ndim, other.ndim)
    a = [1] * (n - self.ndim) + list(self.shape)
    b = [1] * (n - other.ndim) + list(other.shape)
    x = self.reshape([a[i // 2] if i % 2 == 0 else 1 for i in range(2 * n)])
    y = other.reshape([b[i // 2] if i % 2 == 1 else 1 for i in range(2 * n)])
    return (x * y).reshape([a[i] * b[i] for i in range(n)])


@operator(
    "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor"
)
def bilinear(input1, input2, weight, bias):
    """Bilinear function of two inputs."""
    n = input1.ndim
    assert (
        weight.ndim == 3
        and n > 0
        and (input2.ndim == n)
        and (input1.shape[-1] == weight.shape[1])
        and (input2.shape[-1] == weight.shape[2])
    ), "the sizes of inputs and weight do not match"
    t = torch.ops.aten.tensordot(input1, weight, [-1], [1])
    t = (t * input2.unsqueeze(-2)).sum(-1, dtype=input1.dtype)
    return t if bias is None else t + bias

#!/usr/bin/python3
"""In-place operators, views of changed memory, and symbolic sizes: small forward functions are run
by PyTorch, by calque and, exported, by ONNX Runtime, for several batch sizes. All three must agree.

    mutation.py [NAME …]
"""
import os
import sys

import peers
from peers import Report, expect_close

OPSETS = [9, 11, 13, 17]


class Torch:
    """The calls of <calque/nn.h> that the forwards below use, by PyTorch."""

    def __getattr__(self, name):
        import torch
        return getattr(torch.Tensor, name, None) or getattr(torch, name)

    def slice(self, x, dim, start, end, step):
        return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]

    def select(self, x, dim, index):
        return x.select(dim, index)

    def view(self, x, *sizes):
        return x.view(*sizes)

    def reshape(self, x, *sizes):
        return x.reshape(*sizes)

    def expand(self, x, *sizes):
        return x.expand(*sizes)

    def repeat(self, x, *times):
        return x.repeat(*times)

    def permute(self, x, *dims):
        return x.permute(*dims)

    def cat(self, dim, *xs):
        import torch
        return torch.cat(xs, dim)

    def chunk(self, x, n, dim):
        return x.chunk(n, dim)

    def add_scalar(self, x, number):
        return x + number

    def mul_scalar(self, x, number):
        return x * number

    def index_put_(self, x, indices, values, accumulate):
        if accumulate:
            return x.index_put_(indices, values, True)
        x[self.places(indices)] = values
        return x

    def index(self, x, indices):
        return x[self.places(indices)]

    def places(self, indices):
        return tuple(slice(None) if i is None else i for i in indices)

    def longs(self, *values):
        import torch
        return torch.tensor(values)

    def zeros(self, *sizes):
        import torch
        return torch.zeros(*sizes)

    def arange(self, start, end, step):
        import torch
        return torch.arange(start, end, step)

    def full_like(self, x, value):
        import torch
        return torch.full_like(x, value)

    def to_f32(self, x):
        return x.float()

    def sum(self, x, dim):
        return x.sum(dim)

    def int_plus(self, a, b):
        return a + b

    def int_minus(self, a, b):
        return a - b

    def int_times(self, a, b):
        return a * b

    def int_over(self, a, b):
        return a // b


class Calque:
    """The same, by a context of calque."""

    def __init__(self, cx):
        self.cx = cx

    def __getattr__(self, name):
        return getattr(self.cx, name)

    def size(self, x, dim):
        return self.cx.size(x, dim)

    def numel(self, x):
        return self.cx.numel(x)

    def slice(self, x, dim, start, end, step):
        import capi
        return self.cx.slice(x, dim, *capi.ints(start, end), step)

    def select(self, x, dim, index):
        import capi
        return self.cx.select(x, dim, *capi.ints(index))

    def narrow(self, x, dim, start, length):
        import capi
        return self.cx.narrow(x, dim, *capi.ints(start, length))

    def sized(self, call, x, sizes):
        import capi
        return call(x, len(sizes), capi.ints(*sizes))

    def view(self, x, *sizes):
        return self.sized(self.cx.view, x, sizes)

    def reshape(self, x, *sizes):
        return self.sized(self.cx.reshape, x, sizes)

    def expand(self, x, *sizes):
        return self.sized(self.cx.expand, x, sizes)

    def repeat(self, x, *times):
        return self.sized(self.cx.repeat, x, times)

    def permute(self, x, *dims):
        import capi
        return self.cx.permute(x, len(dims), capi.sizes(*dims))

    def cat(self, dim, *xs):
        import capi
        return self.cx.cat(len(xs), capi.handles(xs), dim)

    def chunk(self, x, n, dim):
        import capi
        out = capi.handles([None] * n)
        return out[:self.cx.chunk(x, n, dim, out, n)]

    def index_put_(self, x, indices, values, accumulate):
        import capi
        return self.cx.index_put_(x, len(indices), capi.handles(indices), values, accumulate)

    def index(self, x, indices):
        import capi
        return self.cx.index(x, len(indices), capi.handles(indices))

    def longs(self, *values):
        import capi
        import numpy as np
        t = capi.Tensor(np.array(values))
        capi.lib().cq_tensor_retain(t.handle)
        return self.cx.keep(t.handle)

    def zeros(self, *sizes):
        import capi
        return self.cx.zeros(capi.DTYPES["float32"], len(sizes), capi.ints(*sizes))

    def arange(self, start, end, step):
        import capi
        return self.cx.arange(*capi.ints(start, end), step)

    def to_f32(self, x):
        import capi
        return self.cx.to(x, capi.DTYPES["float32"])

    def sum(self, x, dim):
        import capi
        return self.cx.sum(x, 1, capi.sizes(dim), False)

    def unsqueeze(self, x, dim):
        return self.cx.unsqueeze(x, dim)

    def arithmetic(self, name, a, b):
        import capi
        return getattr(self.cx, name)(*capi.ints(a, b))

    def int_plus(self, a, b):
        return self.arithmetic("int_plus", a, b)

    def int_minus(self, a, b):
        return self.arithmetic("int_minus", a, b)

    def int_times(self, a, b):
        return self.arithmetic("int_times", a, b)

    def int_over(self, a, b):
        return self.arithmetic("int_over", a, b)


# ---- forwards: x is (batch, 4, 6) -----------------------------------------------------

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def in_place_changes_its_input(o, x):
    y = o.add_scalar(x, 1.0)
    o.relu_(x)
    return o.add(x, y)


@case
def result_is_the_same_tensor(o, x):
    y = o.relu_(o.neg(x))
    return o.add(y, o.relu_(y))


@case
def slice_is_written_back(o, x):
    x = o.clone(x)
    part = o.slice(x, 1, 1, 3, 1)
    o.add_(part, part)
    return x


@case
def steps_and_negative_bounds(o, x):
    x = o.clone(x)
    o.fill_(o.slice(x, 2, -5, -1, 2), 7.0)
    return x


@case
def select_is_written_back(o, x):
    x = o.clone(x)
    o.fill_(o.select(x, 1, -2), 3.0)
    return x


@case
def chain_of_views(o, x):
    x = o.clone(x)
    view = o.select(o.transpose(o.slice(x, 2, 1, 5, 1), 1, 2), 1, 2)
    o.mul_(view, o.full_like(view, 10.0))
    return x


@case
def view_notices_a_later_change(o, x):
    x = o.clone(x)
    view = o.select(x, 1, 0)
    o.fill_(x, 2.0)
    return o.add_scalar(view, 1.0)


@case
def two_views_of_the_same_memory(o, x):
    x = o.clone(x)
    a, b = o.slice(x, 1, 0, 3, 1), o.slice(x, 1, 1, 4, 1)
    o.fill_(a, 1.0)
    o.add_(b, b)
    return o.cat(1, a, b, x)


@case
def a_view_of_a_view_changes_its_sibling(o, x):
    x = o.clone(x)
    rows = o.view(x, -1, 6)
    column = o.select(rows, 1, 3)
    o.fill_(column, -1.0)
    return o.add(o.slice(x, 2, 3, 4, 1), o.slice(x, 2, 0, 1, 1))


@case
def clone_is_apart(o, x):
    x = o.clone(x)
    copy = o.clone(o.select(x, 1, 1))
    o.fill_(x, 0.0)
    return o.add_scalar(copy, 0.5)


@case
def reshape_of_contiguous_memory_is_a_view(o, x):
    x = o.clone(x)
    o.fill_(o.select(o.reshape(x, -1, 24), 1, 5), 9.0)
    return x


@case
def reshape_of_other_memory_is_a_copy(o, x):
    x = o.clone(x)
    copy = o.reshape(o.transpose(x, 1, 2), -1, 24)
    o.fill_(o.select(copy, 1, 5), 9.0)
    return o.cat(1, copy, o.reshape(x, -1, 24))


@case
def copy_into_a_part(o, x):
    x = o.clone(x)
    o.copy_(o.narrow(x, 2, 2, 2), o.slice(o.neg(x), 2, 0, 2, 1))
    return x


@case
def copy_broadcasts(o, x):
    x = o.clone(x)
    o.copy_(o.slice(x, 1, 1, 3, 1), o.slice(o.slice(o.exp(x), 1, 0, 2, 1), 2, 0, 1, 1))
    return x


@case
def chunks_are_views(o, x):
    x = o.clone(x)
    a, b = o.chunk(x, 2, 1)
    o.add_(a, b)
    o.fill_(o.select(b, 2, 0), 4.0)
    return o.cat(2, x, x)


@case
def unsqueeze_and_squeeze_are_views(o, x):
    x = o.clone(x)
    o.fill_(o.select(o.unsqueeze(x, 1), 3, 2), 5.0)
    o.fill_(o.squeeze(o.slice(x, 2, 0, 1, 1), 2), 6.0)
    return x


@case
def permuted(o, x):
    x = o.clone(x)
    o.mul_(o.slice(o.permute(x, 2, 0, 1), 0, 0, 2, 1), o.slice(o.permute(x, 2, 0, 1), 0, 4, 6, 1))
    return x


@case
def index_put(o, x):
    x = o.clone(x)
    values = o.slice(o.neg(x), 1, 0, 2, 1)
    return o.index_put_(x, [None, o.longs(3, 0)], values, False)


@case
def index_put_that_adds(o, x):
    x = o.permute(o.clone(x), 1, 0, 2)
    values = o.exp(o.slice(x, 0, 0, 3, 1))
    return o.index_put_(x, [o.longs(1, 3, 1)], values, True)


@case
def index_put_of_negative_indices(o, x):
    x = o.permute(o.clone(x), 1, 2, 0)
    values = o.exp(o.select(o.slice(x, 0, 0, 2, 1), 1, 0))
    return o.index_put_(x, [o.longs(-1, 1), o.longs(0, -2)], values, False)


@case
def index_put_through_a_view(o, x):
    x = o.clone(x)
    view = o.transpose(x, 0, 1)
    o.index_put_(view, [o.longs(2)], o.slice(o.exp(view), 0, 0, 1, 1), False)
    return x


@case
def index_is_a_copy(o, x):
    x = o.clone(x)
    picked = o.index(x, [None, o.longs(1, 1, 0)])
    o.fill_(x, 0.0)
    return o.add_scalar(picked, 1.0)


@case
def change_after_use(o, x):
    y = o.clone(x)
    before = o.mul_scalar(y, 2.0)
    o.add_(y, before)
    after = o.mul_scalar(y, 2.0)
    return o.add(before, after)


@case
def many_changes(o, x):
    x = o.clone(x)
    for i in range(4):
        row = o.select(x, 1, i)
        o.add_(row, o.select(x, 1, (i + 1) % 4))
    return x


# ---- sizes ----------------------------------------------------------------------------


@case
def view_by_size(o, x):
    return o.view(x, o.size(x, 0), o.int_times(o.size(x, 1), o.size(x, 2)))


@case
def view_of_twice_the_size(o, x):
    return o.view(x, o.int_times(o.size(x, 0), 2), 2, 6)


@case
def reshape_by_arithmetic(o, x):
    rows = o.int_over(o.numel(x), 3)
    return o.reshape(x, rows, o.int_over(o.numel(x), rows))


@case
def slice_to_half_the_size(o, x):
    half = o.int_over(o.int_plus(o.size(x, 0), 1), 2)
    return o.slice(x, 0, 0, half, 1)


@case
def slice_from_the_size(o, x):
    return o.slice(x, 0, o.int_minus(o.size(x, 0), 1), o.size(x, 0), 1)


@case
def arange_of_a_size(o, x):
    steps = o.to_f32(o.arange(0, o.size(x, 0), 1))
    return o.add(x, o.view(steps, -1, 1, 1))


@case
def zeros_of_a_size(o, x):
    return o.cat(1, x, o.zeros(o.size(x, 0), 2, 6))


@case
def expand_to_a_size(o, x):
    first = o.slice(x, 0, 0, 1, 1)
    return o.add(o.expand(first, o.size(x, 0), 4, 6), x)


@case
def repeat_by_a_size(o, x):
    return o.repeat(o.sum(x, 0), o.size(x, 0), 1)


@case
def size_of_a_result(o, x):
    y = o.cat(0, x, x)
    return o.view(y, o.size(y, 0), -1)


# ---- running them ---------------------------------------------------------------------


def results_of(function):
    """(PyTorch's result for an array, calque's module)"""
    import capi
    import torch

    def by_torch(x):
        return function(Torch(), torch.from_numpy(x.copy())).numpy()

    return by_torch, capi.module("Net", lambda cx, x: function(Calque(cx), x))


def run_case(report, name, function):
    import numpy as np

    by_torch, net = results_of(function)
    rng = np.random.default_rng(1)
    inputs = {batch: rng.normal(size=(batch, 4, 6)).astype(np.float32) for batch in (3, 5, 1)}
    with report.case(f"{name}: calque"):
        for x in inputs.values():
            expect_close(net.run(x)[0], by_torch(x))
    for opset in OPSETS:
        for dynamic in (False, True):
            axes = [("x", 0, "batch")] if dynamic else []
            with report.case(f"{name}: opset {opset}{' dynamic' if dynamic else ''}"):
                model = net.export([inputs[3]], opset=opset, input_names=["x"], dynamic_axes=axes)
                for batch, x in inputs.items():
                    if dynamic or batch == 3:
                        expect_close(peers.run_ort(model, {"x": x})[0], by_torch(x),
                                     name=f"batch {batch}")


def main():
    report = Report(__file__)
    if report.needs("torch", "onnx", "ort"):
        for name, function in CASES.items():
            if not sys.argv[1:] or name in sys.argv[1:]:
                run_case(report, name, function)
    return report.finish()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

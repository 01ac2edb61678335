"""Writes data.json: small programs that change tensors through views, run by the real PyTorch.

    /usr/bin/python3 tests/mutation/make.py

A program is a list of calls on registers. Register 0 is the input x; each call fills the next
one. At the end every register is looked at again: what PyTorch shows then, views that were taken
before a change included, is what calque must show, with data and in a capture.
"""
import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "ops"))
sys.dont_write_bytecode = True
import make as ops  # noqa: E402

PROGRAMS = []


class R:
    """A register: r[2] is the result of the second call, r[2][1] an item of its list."""

    def __init__(self, number, item=None):
        self.number, self.item = number, item

    def __getitem__(self, item):
        return R(self.number, item)


r = [R(i) for i in range(32)]
x = r[0]


def program(name, value, *calls):
    PROGRAMS.append((name, value, calls))


def t(*values):
    return torch.tensor(values)


def ramp(*sizes):
    n = 1
    for size in sizes:
        n *= size
    return torch.arange(float(n)).reshape(sizes)


X = ramp(4, 5)
ADD = ("aten::add_.Scalar", 100)


def change(view, *more):
    """Adds to the elements of a chain of views; more is the chain."""
    calls, last = [], x
    for op, *args in (view, *more):
        calls.append((op, last, *args))
        last = r[len(calls)]
    return (*calls, ("aten::add_.Scalar", last, 100))


# ---- every view alone, then chains --------------------------------------------------------

VIEWS = [
    (X, ("aten::t",)), (X, ("aten::transpose.int", 0, 1)), (ramp(2, 3, 4), ("aten::permute", [2, 0, 1])),
    (ramp(2, 3, 4), ("aten::movedim.int", 0, 2)), (X, ("aten::view", [2, 10])), (X, ("aten::reshape", [-1])),
    (X, ("aten::flatten.using_ints",)), (ramp(2, 6), ("aten::unflatten.int", 1, [2, 3])),
    (ramp(1, 4, 1), ("aten::squeeze",)), (ramp(1, 4, 1), ("aten::squeeze.dim", 0)), (X, ("aten::unsqueeze", 1)),
    (X, ("aten::expand", [-1, 5])), (X, ("aten::slice.Tensor", 0, 1, 3)), (X, ("aten::slice.Tensor", 1, -4, None, 2)),
    (X, ("aten::slice.Tensor", 1, 3, 1)), (X, ("aten::select.int", 1, -2)), (X, ("aten::narrow", 0, 1, 2)),
    (X, ("aten::diagonal", 1)), (ramp(2, 3, 4), ("aten::diagonal", -1, 2, 1)), (ramp(7), ("aten::unfold", 0, 2, 3)),
    (X, ("aten::as_strided", [2, 3], [6, 2], 1)), (X, ("aten::view.dtype", torch.float32)), (X, ("aten::numpy_T",)),
]
for value, view in VIEWS:
    program(f"{view[0]} changed", value, *change(view))
    program(f"{view[0]} of a changed tensor", value, (view[0], x, *view[1:]), ("aten::mul_.Scalar", x, 2))
program("a chain of views", ramp(3, 5, 4), *change(("aten::transpose.int", 0, 1), ("aten::slice.Tensor", 0, 1, 3),
                                                     ("aten::select.int", 0, 1)))
program("a longer chain", ramp(2, 3, 4), *change(("aten::permute", [2, 0, 1]), ("aten::slice.Tensor", 0, 0, 4, 2),
                                                  ("aten::diagonal", 0, 1, 2), ("aten::t",)))
program("a view of a flat view", X, *change(("aten::view", [-1]), ("aten::slice.Tensor", 0, 3, 17, 3)))
program("a reshape that copies", X, ("aten::t", x), ("aten::reshape", r[1], [-1]), ("aten::add_.Scalar", r[2], 100))

# ---- lists of views -----------------------------------------------------------------------

for op, *args in [("aten::split.Tensor", 2, 1), ("aten::split_with_sizes", [1, 3], 0), ("aten::chunk", 2, 1), ("aten::unbind.int", 0),
                  ("aten::tensor_split.indices", [1, 3], 1)]:
    program(f"{op} changed", X, (op, x, *args), ("aten::add_.Scalar", r[1][1], 100), ("aten::mul_.Scalar", r[1][0], -1))

# ---- several views of the same memory -----------------------------------------------------

program("two views that overlap", X, ("aten::slice.Tensor", x, 0, 0, 3), ("aten::slice.Tensor", x, 0, 2, 4),
        ("aten::add_.Scalar", r[1], 100), ("aten::mul_.Scalar", r[2], 2), ("aten::sum", r[1]), ("aten::select.int", r[1], 0, 2),
        ("aten::zero_", r[6]), ("aten::add.Scalar", r[2], 0))
program("a view read between changes", X, ("aten::select.int", x, 1, 0), ("aten::add.Scalar", r[1], 0), ("aten::fill_.Scalar", x, 3),
        ("aten::add.Scalar", r[1], 0), ("aten::add_.Scalar", r[1], 1), ("aten::add.Scalar", x, 0))
program("a clone is not a view", X, ("aten::clone", x), ("aten::add_.Scalar", r[1], 1), ("aten::select.int", r[1], 0, 0),
        ("aten::fill_.Scalar", r[3], -1))
program("a result of an operator is changed", X, ("aten::mul.Scalar", x, 2), ("aten::slice.Tensor", r[1], 1, 0, 2),
        ("aten::fill_.Scalar", r[2], 0), ("aten::add.Tensor", r[1], x))
program("copied from another part of itself", X, ("aten::select.int", x, 0, 0), ("aten::select.int", x, 0, 3), ("aten::copy_", r[1], r[2]),
        ("aten::add_.Scalar", r[2], 1))

# ---- x[indices] = values ------------------------------------------------------------------

M = torch.tensor([True, False, True, True])
PUTS = [
    (X, [t(0, 2)], torch.tensor(7.0)), (X, [t(0, -1)], -ramp(2, 5)), (X, [None, t(4, -5)], -ramp(4, 2)), (X, [t(0, 3), t(1, -1)], -ramp(2)),
    (X, [t([0], [3]), t(1, 2)], -ramp(2, 2)), (X, [t([0], [3]), t(1, 2)], -ramp(2)), (ramp(2, 3, 4), [t(0, 1), None, t(1, 3)], -ramp(2, 3)),
    (ramp(2, 3, 4), [None, t(0, 2), t(1, 3)], -ramp(2, 2)), (ramp(2, 3, 2, 2), [None, t(0, 2), None, t(1, 0)], -ramp(1, 2)),
    (X, [M], torch.tensor(-1.0)), (X, [M], -ramp(3, 5)), (X, [None, torch.tensor([True, False, False, True, True])], -ramp(3)),
    (X, [X > 7], -ramp(12)), (X, [M, t(1)], -ramp(3)), (X, [M & False], torch.tensor(5.0)),
]
for value, indices, values in PUTS:
    program("index_put_", value, ("aten::index_put_", x, indices, values))
    program("index_put_ into a view", torch.cat([value, value]), ("aten::slice.Tensor", x, 0, value.shape[0]),
            ("aten::index_put_", r[1], indices, values))
program("index_put_ that adds", X, ("aten::index_put_", x, [t(0, 0, 2)], ramp(3, 5), True))
program("index_put_ into a chain", ramp(3, 5, 4), ("aten::transpose.int", x, 0, 1), ("aten::slice.Tensor", r[1], 0, 1, 4),
        ("aten::index_put_", r[2], [t(0, -1), t(1, 2)], -ramp(4)), ("aten::select.int", x, 1, 1))

# ---- other operators in place -------------------------------------------------------------

program("scatter_ into a view", X, ("aten::t", x), ("aten::scatter_.value", r[1], 1, t([0, 2]), -1))
program("masked_fill_ of a view", X, ("aten::select.int", x, 0, 1), ("aten::gt.Scalar", r[1], 6), ("aten::masked_fill_.Scalar", r[1], r[2], 0))
program("index_fill_ of a view", X, ("aten::t", x), ("aten::index_fill_.int_Scalar", r[1], 0, t(1, 3), 9))
program("relu_ of a part", X - 10, ("aten::slice.Tensor", x, 1, 1, 4), ("aten::relu_", r[1]))


def resolve(value, registers):
    if isinstance(value, R):
        held = registers[value.number]
        return held if value.item is None else held[value.item]
    if isinstance(value, list):
        return [resolve(item, registers) for item in value]
    return value


def encode(value):
    if isinstance(value, R):
        return {"r": value.number} if value.item is None else {"r": value.number, "i": value.item}
    if isinstance(value, list):
        return [encode(item) for item in value]
    return ops.encode(value)


def run(name, value, calls):
    registers = [value.clone()]
    for op, *args in calls:
        held = [resolve(arg, registers) for arg in args]
        registers.append(ops.overload_of(op)(*held))
    return {"name": name, "x": ops.encode(value),
            "calls": [{"op": op, "args": [encode(arg) for arg in args]} for op, *args in calls],
            "want": [ops.encode([item.contiguous() for item in held] if isinstance(held, (list, tuple))
                                else held.contiguous()) for held in registers]}


def main():
    lines = []
    for name, value, calls in PROGRAMS:
        try:
            lines.append(json.dumps(run(name, value, calls), separators=(",", ":")))
        except Exception as error:
            raise SystemExit(f"{name}: {error}")
    (HERE / "data.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} programs")


if __name__ == "__main__":
    main()

"""Programs with branches on data. See language_models.py."""
from typing import Dict, List, NamedTuple, Optional

import torch
from torch import Tensor

from language_models import ROWS, count, down, matrix, numbers, program, up

# ---- branches -----------------------------------------------------------------------------


@program(up, down)
def branch_of_numbers(x):
    if x.sum() > 0:
        a, b, c = 1, 2.5, True
    else:
        a, b, c = 5, -1.5, False
    if c:
        x = x * 2
    return x * a + b


@program(up, down)
def branch_of_tuples(x):
    pair = (x, 1)
    if x.sum() > 0:
        pair = (x * 2, 2)
    return pair[0] + pair[1]


@program(up, down)
def branch_of_dicts(x):
    found: Dict[str, Tensor] = {"a": x, "b": x * 2}
    if x.sum() > 0:
        found["a"] = x * 5
    else:
        found["b"] = x * 7
    return found["a"] + found["b"]


class Pair(NamedTuple):
    first: Tensor
    second: int


@program(up, down, kinds=("script",))
def branch_of_named_tuples(x):
    if x.sum() > 0:
        pair = Pair(x, 1)
    else:
        pair = Pair(x * 2, 7)
    return pair.first * pair.second


@program(count(3), count(5), kinds=("script",))
def loop_of_named_tuples(x, n: int):
    pair = Pair(x, 1)
    for i in range(n):
        pair = Pair(pair.first + i, pair.second * 2)
    return pair.first * pair.second


@program(up, down)
def branch_of_sizes(x):
    if x.sum() > 0:
        y = torch.cat([x, x])
    else:
        y = x[1:]
    return y * 2 + y.size(0)


@program(up, down)
def branch_of_dtypes(x):
    flag = x.sum() > 0
    scale = 2 if bool(flag) else 3
    return x * scale


@program(up, down, numbers(0.5, -0.25, 1.0))
def elif_chain(x):
    s = x.sum()
    if s > 2:
        y = x + 1
    elif s > 0:
        y = x * 10
    else:
        y = -x
    return y


@program(up, down)
def conditions(x):
    a, b = x.sum() > 0, x.mean() < 5
    if bool(a) and bool(b):
        x = x + 1
    if bool(a) or bool(b):
        x = x * 2
    if not bool(a):
        x = x - 7
    return x


@program(up, down)
def chained_comparison(x):
    s = float(x.sum())
    if -5.0 < s < 0.0:
        x = x * 3
    return x


@program(up, down)
def none_or_tensor(x):
    y: Optional[Tensor] = None
    if x.sum() > 0:
        y = x * 2
    if y is not None:
        x = x + y
    return x


@program(up, down)
def none_in_else(x):
    y: Optional[Tensor] = x * 3
    if x.sum() > 0:
        y = None
    if y is None:
        z = x
    else:
        z = y * 2
    return z


@program(up, down)
def none_or_number(x):
    scale: Optional[int] = None
    if x.sum() > 0:
        scale = 3
    if scale is None:
        scale = 7
    return x * scale


@program(count(3), count(0))
def none_until_loop(x, n: int):
    y: Optional[Tensor] = None
    for i in range(n):
        if y is None:
            y = x
        else:
            y = y * 2 + i
    if y is None:
        return x * 100
    return y


@program(up, down)
def optional_from_function(x):
    y = maybe(x)
    if y is None:
        return x * 5
    return y + 1


def maybe(x) -> Optional[Tensor]:
    if x.sum() > 0:
        return x * 2
    return None


@program(up)
def raise_on_data(x):
    if x.sum() > 100:
        raise ValueError("too much")
    return x * 2


@program(up)
def raise_in_else(x):
    if x.sum() < 100:
        y = x * 2
    else:
        raise ValueError("too much")
    return y


@program(count(3), count(5))
def raise_in_loop(x, n: int):
    for i in range(n):
        if i > 100:
            raise ValueError("too long")
        x = x + i
    return x


@program(up, down)
def assert_on_data(x):
    assert x.sum() < 100, "too much"
    return x + 1


@program(up, down)
def choice_of_tensors(x):
    return x * 2 if bool(x.sum() > 0) else x - 1


@program(up, down)
def choice_in_arguments(x):
    return torch.add(x, x * 2, alpha=2 if bool(x.sum() > 0) else 5)


@program(up, down)
def mutate_in_branch(x):
    y = x.clone()
    if x.sum() > 0:
        y[0] = 7.0
    else:
        y.mul_(2)
    return y


@program(up, down)
def mutate_view_in_branch(x):
    y = x.clone()
    part = y[1:]
    if x.sum() > 0:
        part += 5
    return y, part


@program(matrix(3), matrix(6), axes=ROWS)
def branch_on_size(x):
    if x.size(0) > 4:
        return x.sum(0)
    return x.mean(0)


@program(matrix(3), matrix(6), axes=ROWS)
def branch_on_even_size(x):
    if x.shape[0] % 2 == 0:
        x = x[::2]
    else:
        x = torch.cat([x, x])
    return x * x.shape[0]


@program(up, down)
def branch_of_ranks(x):
    if x.sum() > 0:
        return x.sum()
    return x * 2


@program(matrix(3), matrix(6), axes=ROWS)
def extend_in_place(x):
    state = torch.zeros(4)
    rows: List[Tensor] = []
    for i in range(x.size(0)):
        state = torch.tanh(state + x[i])
        rows += [state]
    return torch.stack(rows, 1)


@program(count(3), count(8))
def list_made_anew(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        if i == 4:
            rows = []
        rows.append(x + i)
    return torch.stack(rows)


@program(up, down)
def isinstance_of_optional(x):
    y: Optional[Tensor] = None
    if bool(x.sum() > 0):
        y = x * 2
    if isinstance(y, Tensor):
        return y + 1
    return x


@program(up, down)
def unwrapped(x):
    y: Optional[Tensor] = None
    if bool(x.sum() > 0):
        y = x + 5
    else:
        y = x - 5
    return torch.jit._unwrap_optional(y)


# ---- objects of classes ---------------------------------------------------------------------------


@torch.jit.script
class Total:
    def __init__(self, n: int):
        self.n = n
        self.items: List[int] = []

    def add(self, k: int):
        self.n += k
        self.items.append(k)


@program(up, down, kinds=("script",))
def object_of_each_side(x):
    if bool(x.sum() > 0):
        a = Total(1)
        b = a
    else:
        a = Total(5)
        b = a
        a.add(2)
    b.add(3)
    return x * a.n + len(a.items)


@program(up, refused="incompatible values", kinds=("script",))
def object_of_one_side(x):
    b = Total(7)
    if bool(x.sum() > 0):
        a = Total(1)
    else:
        a = b
    a.add(3)
    return x * a.n + b.n

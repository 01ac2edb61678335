"""The programs of language.py: functions of TorchScript that each show one way in which control
flow, containers and numbers go together. A program has several lists of arguments: the first is
the example of the export, the others take other branches and other numbers of rounds."""
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor

PROGRAMS = {}
ROWS = {"in_0": {"0": "rows"}}
SIZES = {"in_0": {"0": "rows", "1": "columns"}}


def program(*sets, axes=None, kinds=("script", "source"), refused=None):
    """sets: functions that make the arguments; kinds: an archive of the scripted function, its
    source, or an archive of a trace; refused: what the error says if it cannot be exported."""
    def add(fn):
        assert fn.__name__ not in PROGRAMS, fn.__name__
        PROGRAMS[fn.__name__] = (fn, sets, axes, kinds, refused)
        return fn
    return add


def x34():
    return [torch.randn(3, 4)]


def up():
    return [torch.ones(3)]


def down():
    return [-torch.ones(3)]


def matrix(n, *rest):
    return lambda: [torch.randn(n, 4), *rest]


def count(n, *rest):
    return lambda: [torch.randn(3, 4), n, *rest]


def numbers(*values):
    return lambda: [torch.tensor(values)]


# ---- lists that grow ---------------------------------------------------------------------


@program(count(2), count(5))
def append_in_loop(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    return torch.stack(rows)


@program(matrix(3), matrix(6), axes=ROWS)
def append_rows(x):
    rows: List[Tensor] = []
    for i in range(x.size(0)):
        rows.append(x[i] * float(i))
    return torch.stack(rows), torch.cat(rows)


@program(count(2), count(4))
def append_to_some(x, n: int):
    rows = [x, x * 2]
    for i in range(n):
        rows.append(x - i)
    return torch.stack(rows, 1)


@program(count(3), count(4))
def append_ints(x, n: int):
    found: List[int] = []
    for i in range(n):
        found.append(i * i)
    return x + found[-1] + len(found) + sum(found)


@program(count(3), count(4))
def append_floats(x, n: int):
    found: List[float] = []
    for i in range(n):
        found.append(i / 2)
    return x * found[0] + found[n - 1] + max(found)


@program(count(3), count(6))
def append_if(x, n: int):
    found: List[int] = []
    for i in range(n):
        if i % 2 == 0:
            found.append(i)
    return x + len(found) + torch.tensor(found).sum()


@program(count(3), count(6))
def append_different_sizes(x, n: int):
    rows: List[Tensor] = []
    for i in range(1, n):
        rows.append(x[:, :i])
    return torch.cat(rows, 1)


@program(count(3), count(6))
def read_back(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    total = torch.zeros(3, 4)
    for i in range(len(rows)):
        total = total + rows[i] * i
    return total, rows[0], rows[-1]


@program(count(3), count(6))
def iterate_over_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    total = torch.zeros(3, 4)
    for row in rows:
        total = total * 2 + row
    return total


@program(count(3), count(6))
def enumerate_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    total = torch.zeros(3, 4)
    for i, row in enumerate(rows):
        total = total + row * i
    return total


@program(count(3), count(6))
def zip_lists(x, n: int):
    rows: List[Tensor] = []
    factors: List[int] = []
    for i in range(n):
        rows.append(x + i)
        factors.append(2 * i)
    total = torch.zeros(3, 4)
    for row, factor in zip(rows, factors):
        total = total + row * factor
    return total


@program(count(3), count(6))
def pop_in_loop(x, n: int):
    rows: List[Tensor] = []
    for i in range(n + 2):
        rows.append(x + i)
    last = x
    for i in range(n):
        last = rows.pop()
    return last, torch.stack(rows)


@program(count(3), count(6))
def pop_front(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    first = rows.pop(0)
    return first + len(rows), rows[0]


@program(count(3), count(5))
def insert_in_loop(x, n: int):
    rows = [x]
    for i in range(n):
        rows.insert(0, x + i)
        rows.insert(1, x - i)
    return torch.stack(rows)


@program(count(3), count(5))
def delete_from_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    del rows[1]
    return torch.stack(rows)


@program(count(3), count(5))
def extend_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    more = [x * 2, x * 3]
    rows.extend(more)
    more.extend(rows)
    return torch.stack(rows), torch.stack(more)


@program(count(3), count(5))
def add_lists(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows = rows + [x + i]
    both = rows + rows
    rows += [x]
    return torch.stack(rows), torch.stack(both)


@program(count(2), count(0))
def assign_items(x, n: int):
    rows = [x, x * 2, x * 3]
    rows[n] = x * 10
    rows[-1 - n] = x * 20
    return torch.stack(rows)


@program(count(3), count(5))
def assign_items_in_loop(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x)
    for i in range(n):
        rows[i] = rows[i] * i
    return torch.stack(rows)


@program(count(2), count(0))
def choose_item(x, n: int):
    rows = [x, x * 2, x * 3]
    sizes = [4, 5, 6]
    return rows[n] * sizes[n]


@program(count(2), count(0))
def choose_by_tensor(x, n: int):
    rows = [x, x * 2, x * 3]
    return rows[torch.tensor(n)] + 1


@program(count(4), count(6))
def slice_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    return torch.stack(rows[1:]), torch.stack(rows[:-1]), torch.stack(rows[::2])


@program(count(3), count(5))
def copy_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    other = rows.copy()
    other.append(x)
    rows.reverse()
    return torch.stack(rows), torch.stack(other)


@program(count(3), count(5))
def shared_list(x, n: int):
    rows: List[Tensor] = []
    same = rows
    for i in range(n):
        rows.append(x + i)
    same.append(x)
    return torch.stack(rows)


@program(count(3), count(5))
def list_in_function(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        fill(rows, x, i)
    return torch.stack(rows)


def fill(rows: List[Tensor], x, i: int):
    rows.append(x + i)
    rows.append(x - i)


@program(count(3), count(0))
def truth_of_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    if len(rows) > 0:
        x = rows[0]
    return x * 2


@program(count(2), count(3))
def nested_growth(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        for j in range(i + 1):
            rows.append(x * i + j)
    return torch.stack(rows)


@program(count(3), count(1))
def clear_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        if i == 2:
            rows.clear()
        rows.append(x + i)
    return torch.stack(rows)


@program(count(3), count(5))
def repeated_list(x, n: int):
    ones = [2] * n
    return x + len(ones) + sum(ones)


@program(count(3), count(5))
def contains(x, n: int):
    found: List[int] = []
    for i in range(n):
        found.append(i * 2)
    if 6 in found:
        x = x * 2
    return x


@program(count(3), count(5))
def comprehension_of_range(x, n: int):
    rows = [x + i for i in range(n)]
    return torch.stack(rows)


@program(matrix(3), matrix(5), axes=ROWS)
def comprehension_of_rows(x):
    return torch.stack([row * 2 for row in x])


@program(matrix(3), matrix(5), axes=ROWS)
def unbind_rows(x):
    rows = torch.unbind(x)
    total = torch.zeros(4)
    for row in rows:
        total = total * 0.5 + row
    return total + len(rows), torch.stack(rows, 1)


@program(matrix(5), matrix(7), axes=ROWS)
def split_rows(x):
    parts = x.split(2)
    return torch.cat(parts) * 2, parts[0], parts[-1]


@program(matrix(3), matrix(5), axes=ROWS)
def unpack_rows(x):
    first, second, third = x[:3].unbind(0)
    return first + second * third


@program(count(3), count(5))
def list_of_bools(x, n: int):
    flags: List[bool] = []
    for i in range(n):
        flags.append(i == 4)
    if any(flags):
        x = x + 1
    if all(flags):
        x = x + 2
    return x


@program(up, down)
def list_from_branch(x):
    rows = [x]
    if x.sum() > 0:
        rows.append(x * 2)
    else:
        rows.append(x * 3)
        rows.append(x * 4)
    return torch.stack(rows)


@program(up, down)
def list_of_one_branch(x):
    rows: List[Tensor] = [x]
    if x.sum() > 0:
        rows.append(x * 2)
    return torch.cat(rows)


@program(up, down)
def list_chosen(x):
    if x.sum() > 0:
        rows = [x]
    else:
        rows = [x, x * 2]
    return torch.stack(rows) + len(rows)


@program(up, down)
def ints_from_branch(x):
    sizes: List[int] = []
    if x.sum() > 0:
        sizes.append(3)
    else:
        sizes.append(4)
    return x * sizes[0]


# ---- loops --------------------------------------------------------------------------------


@program(count(3), count(0))
def carried_tensor(x, n: int):
    for _ in range(n):
        x = torch.tanh(x) * 2
    return x


@program(count(3), count(0))
def carried_numbers(x, n: int):
    a, b, done = 0, 1.5, False
    for i in range(n):
        a += i
        b = b * 2 + a
        done = a > 2
    return x + a, x * b, torch.tensor(done)


@program(count(2), count(4))
def carried_growing(x, n: int):
    for _ in range(n):
        x = torch.cat([x, x], 1)
    return x, x.size(1)


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def while_on_data(x):
    rounds = 0
    while x.sum() < 100:
        x = x * 2
        rounds += 1
    return x, rounds


@program(count(7), count(100), count(1))
def while_on_int(x, n: int):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return x + steps


@program(count(3), count(5))
def loop_in_loop(x, n: int):
    total = torch.zeros_like(x)
    for i in range(n):
        for j in range(i):
            total = total + x * j
        total = total / 2
    return total


@program(count(4), count(6))
def loop_with_steps(x, n: int):
    total = torch.zeros_like(x)
    for i in range(1, n, 2):
        total = total + x * i
    for i in range(n, 0, -2):
        total = total * 0.5 + i
    return total


@program(count(4), count(6))
def loop_with_branch(x, n: int):
    for i in range(n):
        if i < 2:
            x = x + 1
        elif i == 3:
            x = x * 3
        else:
            x = x - 1
    return x


@program(count(4), count(6))
def loop_and_pair(x, n: int):
    state = (x, 0)
    for i in range(n):
        state = (state[0] + i, state[1] + 2)
    return state[0] * state[1]


@program(matrix(3), matrix(6), axes=ROWS)
def loop_over_tensor(x):
    total = torch.zeros(4)
    for row in x:
        total = total.relu() + row
    return total


@program(matrix(3), matrix(6), axes=ROWS)
def enumerate_tensor(x):
    total = torch.zeros(4)
    for i, row in enumerate(x):
        total = total + row * i
    return total


@program(matrix(3), matrix(6), axes=ROWS)
def write_rows_in_loop(x):
    y = torch.zeros_like(x)
    for i in range(x.size(0)):
        y[i] = x[i] * i
    return y


@program(matrix(3), matrix(6), axes=ROWS)
def write_elements_in_loop(x):
    y = x.clone()
    for i in range(x.size(0)):
        for j in range(2):
            y[i, j] += i * 10 + j
    return y


@program(matrix(3), matrix(6), axes=ROWS)
def running_sum(x):
    for i in range(1, x.size(0)):
        x[i] += x[i - 1]
    return x


@program(count(3), count(5))
def in_place_in_loop(x, n: int):
    y = x.clone()
    for i in range(n):
        y.add_(i)
        y[0].mul_(2)
    return y


@program(count(3), refused="a view of another")
def loop_with_view(x, n: int):
    first = x[0]
    for i in range(n):
        first += 1
        x = x * 2
        first = x[0]
    return x, first


@program(count(3), count(8))
def fibonacci(x, n: int):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return x * a


@program(numbers(4), numbers(9))
def range_of_tensor(n):
    total = torch.zeros(1)
    for i in range(int(n[0])):
        total = total + i
    return total


@program(matrix(4), matrix(6), axes=ROWS)
def slices_in_loop(x):
    total = torch.zeros(4)
    for i in range(x.size(0)):
        total = total + x[:i].sum(0)
    return total


@program(count(5), count(2))
def loop_of_known_length(x, n: int):
    for i in range(3):
        if n > i:
            x = x * 2 + i
    return x


# ---- leaving loops ------------------------------------------------------------------------


@program(count(3), count(8))
def break_in_range(x, n: int):
    for i in range(n):
        if i == 5:
            break
        x = x + i
    return x


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def break_in_known_range(x):
    for i in range(6):
        if x.sum() > 50:
            break
        x = x * 2 + i
    return x


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def break_forever(x):
    rounds = 0
    while True:
        x = x * 2
        rounds += 1
        if x.sum() > 100:
            break
    return x + rounds


@program(count(3), count(8))
def continue_in_range(x, n: int):
    for i in range(n):
        if i % 3 == 1:
            continue
        x = x + i
    return x


@program(numbers(1.0, 2.0), numbers(-30.0, 5.0))
def continue_in_known_range(x):
    for i in range(4):
        x = x + 1
        if x.sum() < 0:
            continue
        x = x * 2
    return x


@program(count(3), count(8))
def break_and_continue(x, n: int):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        if i > 5:
            break
        total += i
    return x + total


@program(count(3), count(8))
def break_inner(x, n: int):
    total = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            total += j
        total += 100
    return x + total


@program(count(3), count(8))
def return_in_loop(x, n: int):
    for i in range(n):
        if i == 6:
            return x * 100
        x = x + i
    return x


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def return_in_known_loop(x):
    for i in range(4):
        if x.sum() > 50:
            return x - i
        x = x * 2
    return x * 0


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def return_from_depth(x):
    if x.sum() < 200:
        if x.sum() > 20:
            return x * 2
        x = x + 1
    x = x + 5
    if x.sum() > 250:
        return x - 1
    return x


@program(up, down)
def early_returns(x):
    if x.sum() > 1:
        return x + 1
    y = x * 2
    if y.sum() < -1:
        return y
    return y - 3


@program(up, down)
def return_of_one_side(x):
    y = helper_return(x, 2)
    return y + helper_return(x * 3, 0)


def helper_return(x, n: int):
    if n == 0:
        return x
    if x.sum() > 0:
        return x + n
    return x - n


@program(numbers(1.0, 2.0), numbers(30.0, 5.0), numbers(300.0, 5.0))
def break_in_while(x):
    i = 0
    while i < 10:
        i += 1
        if x.sum() > 100:
            break
        if i == 2:
            continue
        x = x * 2
    return x + i


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


# ---- dicts, texts, functions ----------------------------------------------------------------


@program(count(3), count(5))
def dict_in_loop(x, n: int):
    found = {"sum": x, "last": x}
    for i in range(n):
        found["sum"] = found["sum"] + i
        found["last"] = x * i
    return found["sum"] + found["last"]


@program(count(3), count(5))
def dict_of_numbers_in_loop(x, n: int):
    counts: Dict[int, int] = {0: 0, 1: 10}
    for i in range(n):
        counts[0] += i
        counts[1] = counts[0] * 2
    return x + counts[0] * counts[1]


@program(x34)
def dict_methods(x):
    found = {"a": x, "b": x * 2}
    found.update({"c": x * 3})
    total = found.pop("b")
    for name, value in found.items():
        if name != "a":
            total = total + value
    for value in found.values():
        total = total * value
    missing = found.get("zzz", x)
    return total + len(found) + missing + len(list(found.keys()))


@program(x34)
def text_methods(x):
    name = "Layer_1"
    parts = name.lower().split("_")
    n = int(parts[1])
    if name.startswith("Layer") and "{}-{}".format(parts[0], n) == "layer-1":
        x = x * (n + 1)
    if f"{parts[0]}.{n}" == "layer.1":
        x = x + 1
    if name.replace("_", "").upper().endswith("R1"):
        x = x - 3
    return x * len(name.strip("1"))


@program(x34)
def nested_functions(x):
    return outer(x, 3)


def outer(x, n: int, bias: float = 0.5):
    for i in range(n):
        x = inner(x, scale=i + 1)
    return x + bias


def inner(x, scale: int = 2):
    return x * scale


@program(count(2), count(4))
def recursive_values(x, n: int):
    values = (x, (n, [x, x * 2]))
    a, (b, c) = values
    for i in range(n):
        c = [c[1], c[0] + i]
    return a * b + c[0] - c[1]


@program(x34)
def builtin_functions(x):
    values = [3, 1, 2]
    ordered = sorted(values)
    a = min(values) + max(values) + abs(-4) + round(2.6) + sum(values)
    b = ordered[0] * 100 + ordered[-1]
    for i, (p, q) in enumerate(zip(values, ordered)):
        b += i * p * q
    return x * a + b + int(3.9) + float(2) + divide(7, 2)


def divide(a: int, b: int):
    return a // b + a % b + a / b + (-a) // b + a ** b


@program(x34)
def slices_and_steps(x):
    values = [0, 1, 2, 3, 4, 5]
    values[1] = 10
    part = values[::-1][1:4]
    return x[:, ::2] + part[0] + values[-2], x[..., None, 1:], x[1, :, None]


@program(x34)
def unpacking(x):
    a, b, c = x.unbind(0)
    (p, q), r = (a, b), c
    first, second = [a, b]
    p = q = r
    return p + q * r + first - second


# ---- numbers from data ----------------------------------------------------------------------


@program(numbers(4, 7), numbers(-9, 2), numbers(9, -2))
def integer_arithmetic(x):
    a, b = int(x[0]), int(x[1])
    return (torch.tensor(a // b), torch.tensor(a % b), torch.tensor(a * b - b),
            torch.tensor(a // 4), torch.tensor(a % 4), torch.tensor(-a // 3))


@program(numbers(4, 7), numbers(-9, 2), numbers(9, -2))
def integer_comparisons(x):
    a, b = int(x[0]), int(x[1])
    return (torch.tensor(a < b), torch.tensor(a == b), torch.tensor(a != 9), torch.tensor(a >= -9),
            torch.tensor(min(a, b)), torch.tensor(max(a, b)), torch.tensor(abs(a)))


@program(numbers(4.5, 7.0), numbers(-9.0, 2.0))
def float_arithmetic(x):
    a, b = float(x[0]), float(x[1])
    return x * a / b + (a - b) * 2 + a ** 2, torch.tensor(a < b), torch.tensor(int(a))


@program(numbers(4.5, 7.0), numbers(-9.0, 2.0))
def item_arithmetic(x):
    n = x.max().item()
    return x * n + x.argmax().item()


@program(numbers(2, 3), numbers(3, 5))
def sizes_from_data(x):
    a, b = int(x[0]), int(x[1])
    return torch.ones(a, b) * 2, torch.arange(a * b).reshape(a, b), torch.zeros([a, 1, b])


@program(numbers(2, 1), numbers(3, 0))
def slices_from_data(x):
    a, b = int(x[0]), int(x[1])
    y = torch.arange(10)
    return y[a:], y[b:a], y[a], y[:-a]


@program(numbers(1.0, 0.0, 2.0), numbers(0.0, 0.0, 3.0))
def sizes_of_results(x):
    found = x.nonzero()
    picked = x[x > 0.5]
    return found * 2, picked.sum() * picked.size(0), torch.tensor(found.numel())


@program(numbers(1, 2, 3), numbers(4, 5, 6))
def tolist(x):
    values: List[int] = x.tolist()
    return torch.tensor(values[0] * values[1] + values[2])


@program(count(3), count(4))
def float_of_int(x, n: int):
    return x * float(n) / 2 + n / 4


@program(count(3), count(4))
def format_of_int(x, n: int):
    text = "n is {}".format(n)
    return x * n + len("n is")


@program(count(3), count(4))
def number_in_list(x, n: int):
    if n in [1, 3, 5]:
        x = x * 2
    if n not in (4, 6):
        x = x + 1
    return x


@program(matrix(3), matrix(4), axes=ROWS)
def equal_shapes(x):
    if list(x.shape) == [3, 4]:
        return x * 2
    if list(x.size()) != [5, 4]:
        x = x + 1
    return x


# ---- modules of functions on dynamic sizes ----------------------------------------------------


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def reshape_by_sizes(x):
    n, m = x.shape
    y = x.view(1, n * m).expand(2, n * m)
    return y.reshape(2, m, n).permute(0, 2, 1)


@program(lambda: [torch.randn(4, 6)], lambda: [torch.randn(8, 2)], axes=SIZES)
def halves(x):
    n, m = x.size(0), x.size(1)
    return x[: n // 2], x[n // 2:, : m // 2], x.view(n // 2, 2 * m)


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def masks_by_sizes(x):
    n, m = x.shape[0], x.shape[1]
    mask = torch.arange(m)[None, :] < torch.arange(n)[:, None]
    return x.masked_fill(mask, 0.0), torch.where(mask, x, -x), mask.sum()


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def pad_to_even(x):
    extra = x.size(1) % 4
    if extra != 0:
        x = F.pad(x, [0, 4 - extra])
    return x.reshape(x.size(0), -1, 4)


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def numbers_from_sizes(x):
    n = x.numel() // x.size(0)
    scale = float(n) ** -0.5
    return x * scale + max(x.size(0), x.size(1)) - min(x.shape)

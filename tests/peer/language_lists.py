"""Programs with lists of data-dependent length. See language_models.py."""
from typing import List

import torch
from torch import Tensor

from language_models import ROWS, SIZES, count, down, matrix, program, up

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


@program(matrix(3), matrix(6), axes=ROWS, opset=9)
def append_rows_without_sequences(x):
    rows: List[Tensor] = []
    sums: List[Tensor] = []
    y = x[0]
    for i in range(x.size(0)):
        y = y + x[i]
        rows.append(y * float(i))
        sums.append(y.sum())
    return torch.stack(rows, 1), torch.cat(rows), torch.stack(sums), y


@program(matrix(3), matrix(6), axes=ROWS, opset=11)
def append_rows_and_take_some(x):
    rows: List[Tensor] = []
    for row in x:
        rows.append(row.clamp(0, 2))
    return rows[-1], len(rows), torch.stack(rows)


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


@program(up, down)
def sorted_tensors(x):
    sums: List[Tensor] = []
    for i in range(3):
        sums.append((x * (i - 1)).sum())
    sums.sort()
    last = sums[-1]
    sums.sort(reverse=True)
    return torch.stack(sums), last


@program(up, down)
def sorted_numbers(x):
    numbers = [float(x.sum()), 0.25, float(x.min())]
    numbers.sort()
    return x * numbers[0] + numbers[1] / 2 - numbers[2]


@program(matrix(3), matrix(5), axes=ROWS)
def compared_with_no_items(x):
    rows: List[Tensor] = []
    for i in range(x.size(0)):
        if bool(x[i].sum() > 100):
            rows.append(x[i])
    if rows == []:
        x = x + 1
    if rows != []:
        x = x + 2
    return x


@program(matrix(3), lambda: [torch.randn(5, 9)], axes=SIZES)
def parts_whose_sizes_are_known(x):
    weight = torch.ones([2, 3])
    return torch.nn.functional.linear(x.split(3, 1)[0], weight), x.split(3, 1)[1], x.unbind(0)[2], x.split(2)[1]

"""Programs that change tensors and lists in place where control flow depends on data: all aliases
see the change, or the export is rejected. See language_models.py."""
from typing import List

import torch
from torch import Tensor

from language_models import ROWS, count, down, matrix, program, up

# ---- constants of the program ---------------------------------------------------------------


@program(count(3), count(5))
def constant_read_after_change(x, n: int):
    t = torch.tensor(2)
    t += n
    return x * int(t)


@program(up, down)
def constant_changed_in_branch(x):
    t = torch.tensor([2.0])
    if bool(x.sum() > 0):
        t += 1
    return x * float(t)


@program(count(3), count(5))
def constant_of_each_round(x, n: int):
    for i in range(n):
        t = torch.tensor([1.0])
        t += i
        x = x + t
    return x


@program(count(3), count(5))
def constant_changed_in_loop(x, n: int):
    t = torch.tensor([1.0])
    for i in range(n):
        t += i
        x = x + t
    return x, t


@program(count(3), count(5))
def constant_changed_through_view(x, n: int):
    t = torch.tensor([1, 2, 3])
    v = t[1]
    v += n
    return x * int(t[1]), t


@program(matrix(3), matrix(5), axes=ROWS)
def size_changed_in_place(x):
    n = torch.tensor(x.size(0))
    n += 1
    m = torch.tensor(x.size(0))
    m.fill_(7)
    return x.sum() * int(n) + int(m)


@program(matrix(3), matrix(5), axes=ROWS)
def size_changed_in_branch(x):
    n = torch.tensor(x.size(0))
    if bool(x.sum() > 100):
        n += 1
    else:
        n *= 2
    return torch.ones(int(n))


# ---- rebound tensors -------------------------------------------------------------


@program(lambda: [torch.tensor(4)], lambda: [torch.tensor(7)])
def out_of_other_size(end):
    out = torch.tensor([1])
    torch.arange(end, out=out)
    return out * 2


@program(up, down)
def out_made_in_branch(x):
    y = x
    if bool(x.sum() > 0):
        out = torch.tensor([1.0])
        torch.mul(x, 2.0, out=out)
        y = out
    return y


@program(up, refused="cannot become another one in a branch")
def out_in_branch(x):
    out = torch.tensor([1.0])
    if bool(x.sum() > 0):
        torch.mul(x, 2.0, out=out)
    return out


# ---- aliases ------------------------------------------------------------------


@program(count(3), count(5))
def shared_and_changed_in_loop(x, n: int):
    y = x.clone()
    z = y
    for i in range(n):
        y += i
    return y, z


@program(count(3), refused="may share its memory")
def changed_and_replaced_in_loop(x, n: int):
    y = x.clone()
    z = y
    for i in range(n):
        y += i
        y = y * 2
    return y, z


@program(count(3), count(0))
def replaced_and_changed_in_loop(x, n: int):
    y = x.clone()
    z = y
    for i in range(n):
        y = y * 2
        y += i
    return y, z


@program(count(3), count(1))
def two_buffers(x, n: int):
    now = x.clone()
    then = torch.zeros_like(x)
    for i in range(n):
        then[0] = now[0] + i
        then[1] = now[2] * 2
        now, then = then, now
    return now


@program(count(3), count(1))
def shared_by_the_loop(x, n: int):
    a = x.clone()
    b = x * 2
    for i in range(n):
        b = a
        a += 1
    return a, b


@program(count(3), count(1))
def items_of_known_list(x, n: int):
    a = [x.clone(), x * 2]
    b = a[0]
    for i in range(n):
        b += 1
        a[1] += b
    return a[0], a[1], b


@program(up, refused="may share its memory")
def one_of_two_changed(x):
    a = x.clone()
    b = x * 3
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    c += 1
    return a, b, c


@program(up, refused="may share its memory")
def one_of_two_views_changed(x):
    a = x.clone()
    if bool(x.sum() > 0):
        v = a[1:]
    else:
        v = a[:2]
    v += 10
    return a, v


@program(up, down)
def changed_after_it_was_used(x):
    a = x.clone()
    if bool(x.sum() > 0):
        b = a
    else:
        b = x * 2
    c = b + 1
    a += 5
    return a, c


@program(up, down)
def same_pair_twice(x):
    a = x.clone()
    b = a
    if bool(x.sum() > 0):
        a = x * 2
        b = a
    a += 1
    return a, b


@program(count(3), count(0))
def returned_from_loop(x, n: int):
    y = x.clone()
    for i in range(n):
        if i == 2:
            return y
        y += 1
    return y * 2


# ---- lists ------------------------------------------------------------------------------------


@program(count(3), refused="may share its memory")
def item_changed(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    r = rows[1]
    r += 100
    return torch.stack(rows)


@program(count(3), count(5))
def item_changed_and_put_back(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x + i)
    for i in range(n):
        rows[i] += i
    return torch.stack(rows)


@program(count(3), refused="may share its memory")
def one_tensor_many_times(x, n: int):
    rows: List[Tensor] = []
    h = x.clone()
    for i in range(n):
        h += 1
        rows.append(h)
    return torch.stack(rows)


@program(count(3), count(5))
def copies_of_one_tensor(x, n: int):
    rows: List[Tensor] = []
    h = x.clone()
    for i in range(n):
        h += 1
        rows.append(h.clone())
    return torch.stack(rows), h


@program(matrix(3), refused="may share its memory", axes=ROWS)
def parts_changed(x):
    y = x.clone()
    for r in y.unbind(0):
        r += 1
    return y


@program(count(3), count(6))
def window_of_list(x, n: int):
    rows: List[Tensor] = []
    for i in range(n):
        rows.append(x * i)
        if len(rows) > 3:
            rows = rows[1:]
    return torch.stack(rows)


@program(up, refused="data-dependent")
def one_of_two_lists_changed(x):
    a = [1]
    b = [2, 3]
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    c.append(9)
    return len(a), len(b), len(c)


@program(up, down)
def one_of_two_lists_used(x):
    a = [1]
    b = [2, 3]
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    c.append(9)
    return len(c)


# ---- quantization parameters -------------------------------------------------------------


@program(up, down)
def grid_through_branch(x):
    q = torch.quantize_per_tensor(x * 0.37, 0.1, 3, torch.quint8)
    if bool(x.sum() > 0):
        r = q
    else:
        r = torch.quantize_per_tensor(x * 0.77, 0.1, 3, torch.quint8)
    return torch.dequantize(r), torch.dequantize(torch.relu(r))


@program(up, refused="quantize it in different ways")
def grids_of_branch(x):
    q = torch.quantize_per_tensor(x * 0.37, 0.1, 3, torch.quint8)
    if bool(x.sum() > 0):
        q = torch.quantize_per_tensor(x * 0.77, 0.2, 3, torch.quint8)
    return torch.dequantize(torch.relu(q))


@program(count(3), count(5))
def grid_through_loop(x, n: int):
    q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
    for i in range(n):
        q = torch.quantize_per_tensor(torch.dequantize(q) + 0.33, 0.1, 3, torch.quint8)
    return torch.dequantize(torch.relu(q))


@program(count(3), refused="the quantization parameters of a tensor differ")
def grids_of_loop(x, n: int):
    q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
    for i in range(n):
        q = torch.quantize_per_tensor(torch.dequantize(q) + 0.33, 0.2, 3, torch.quint8)
    return torch.dequantize(torch.relu(q))


@program(count(3), refused="quantize it in different ways", kinds=("source",))
def grids_of_branch_in_loop(x, n: int):
    q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
    for i in range(n):
        if i > 2:
            q = torch.quantize_per_tensor(torch.dequantize(q), 0.2, 3, torch.quint8)
    return torch.dequantize(torch.relu(q))

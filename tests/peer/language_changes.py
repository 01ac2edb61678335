"""Programs that change tensors and lists in place where control flow depends on data: who shares
the memory sees the change, or the export is refused. See language_models.py."""
import torch

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


# ---- tensors that become others -------------------------------------------------------------


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

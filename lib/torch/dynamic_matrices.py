"""Factors and solutions of matrices of a dynamic size: a loop over the rows. The steps of a fixed
size are written out in lib/aten/solve.py."""
import torch


def eliminated(a, b):
    rows = torch.arange(a.size(-1))
    for i in range(a.size(-1)):
        at = a.select(-1, i).abs().masked_fill(rows < i, -1.).argmax(-1, True)
        chosen = (rows == at).unsqueeze(-1)
        top = torch.where(chosen, a, torch.zeros_like(a)).sum([-2], True)
        right = torch.where(chosen, b, torch.zeros_like(b)).sum([-2], True)
        a = torch.where(chosen, a.select(-2, i).unsqueeze(-2), a)
        b = torch.where(chosen, b.select(-2, i).unsqueeze(-2), b)
        pivot = top.select(-1, i).unsqueeze(-1)
        top = top / pivot
        right = right / pivot
        column = a.select(-1, i).unsqueeze(-1)
        here = (rows == i).unsqueeze(-1)
        a = torch.where(here, top, a - column * top)
        b = torch.where(here, right, b - column * right)
    return b


def batch_of(x):
    return torch.zeros_like(x).sum([-2, -1], True)


def solved(a, b):
    if a.dim() > 2 or b.dim() > 2:
        batch = batch_of(a) + batch_of(b)
        a = a + batch
        b = b + batch
    return eliminated(a, b)


def solve(a, b, left: bool, vector: bool):
    if vector:
        return solved(a, b.unsqueeze(-1)).select(-1, 0)
    if left:
        return solved(a, b)
    return solved(a.transpose(-2, -1), b.transpose(-2, -1)).transpose(-2, -1)


def triangle(a, upper: bool, ones: bool):
    t = torch.triu(a, 1 if ones else 0) if upper else torch.tril(a, -1 if ones else 0)
    return t + torch.eye(a.size(-1), dtype=a.dtype) if ones else t


def solve_triangular(a, b, upper: bool, left: bool, ones: bool):
    return solve(triangle(a, upper, ones), b, left, False)


def triangular_solve(b, a, upper: bool, transpose: bool, ones: bool):
    t = triangle(a, upper, ones)
    t = t.transpose(-2, -1) if transpose else t
    return solved(t, b), a + batch_of(b)


def info_of(a):
    return torch.zeros_like(a.select(-1, 0).select(-1, 0), dtype=torch.int32)


def inverse(a):
    return solved(a, torch.eye(a.size(-1), dtype=a.dtype))


def inverse_ex(a):
    return inverse(a), info_of(a)


def solve_ex(a, b, left: bool, vector: bool):
    return solve(a, b, left, vector), info_of(a)


def solve_and_factors(a, b, left: bool, vector: bool):
    lu, pivots = lu_factor(a, True)
    return solve(a, b, left, vector), lu, pivots, info_of(a)


def cholesky(a, upper: bool):
    n = a.size(-1)
    columns = torch.arange(n)
    rows = columns.unsqueeze(-1)
    a = a.transpose(-2, -1) if upper else a
    factor = torch.zeros_like(a)
    for i in range(n):
        t = a.select(-1, i).unsqueeze(-1)
        t = torch.where(rows >= i, t / t.select(-2, i).unsqueeze(-2).sqrt(),
                        torch.zeros_like(t))
        a = a - t * t.transpose(-2, -1)
        factor = torch.where(columns == i, t, factor)
    return factor.transpose(-2, -1) if upper else factor


def by_factor(b, factor, upper: bool):
    low = triangle(factor, upper, False)
    low = low.transpose(-2, -1) if upper else low
    return solved(low.transpose(-2, -1), solved(low, b))


def cholesky_ex(a, upper: bool):
    return cholesky(a, upper), info_of(a)


def inverse_by_factor(factor, upper: bool):
    return by_factor(torch.eye(factor.size(-1), dtype=factor.dtype), factor, upper)


def triangles(m, pivot: bool):
    k = min(m.size(-2), m.size(-1))
    r = torch.arange(m.size(-2)).unsqueeze(-1)
    c = torch.arange(m.size(-1))
    steps = torch.arange(k).unsqueeze(-1)
    zero = torch.zeros_like(m.narrow(-1, 0, 1), dtype=torch.int64)
    order = zero + r
    first = zero.narrow(-2, 0, 1)
    pivots = first + steps
    for i in range(k):
        column = m.select(-1, i).unsqueeze(-1)
        at = first + i
        if pivot:
            at = column.abs().masked_fill(r < i, -1.).argmax(-2, True)
        chosen = r == at
        top = torch.where(chosen, m, torch.zeros_like(m)).sum([-2], True)
        m = torch.where(chosen, m.select(-2, i).unsqueeze(-2), m)
        m = torch.where(r == i, top, m)
        row = torch.where(chosen, order, torch.zeros_like(order)).sum([-2], True)
        order = torch.where(chosen, order.select(-2, i).unsqueeze(-2), order)
        order = torch.where(r == i, row, order)
        largest = top.select(-1, i).unsqueeze(-1)
        part = m.select(-1, i).unsqueeze(-1) / largest
        below = torch.logical_and(r > i, largest != 0)
        part = torch.where(below, part, torch.zeros_like(part))
        m = m - part * torch.where(c > i, top, torch.zeros_like(top))
        m = torch.where(torch.logical_and(r > i, c == i), part, m)
        pivots = torch.where(steps == i, at, pivots)
    return m, (pivots + 1).select(-1, 0).to(torch.int32), order.select(-1, 0)


def order_of(pivots, rows: int):
    r = torch.arange(rows)
    order = torch.zeros_like(pivots.narrow(-1, 0, 1), dtype=torch.int64) + r
    for i in range(pivots.size(-1)):
        at = pivots.select(-1, i).unsqueeze(-1).to(torch.int64) - 1
        new = torch.where(r == at, order.select(-1, i).unsqueeze(-1), order)
        order = torch.where(r == i, order.gather(-1, at), new)
    return order


def permutation(order, like):
    return (order.unsqueeze(-2) == torch.arange(order.size(-1)).unsqueeze(-1)).to(like.dtype)


def factors(lu):
    k = min(lu.size(-2), lu.size(-1))
    low = torch.tril(lu.narrow(-1, 0, k), -1) + torch.eye(lu.size(-2), k, dtype=lu.dtype)
    return low, torch.triu(lu.narrow(-2, 0, k))


def lu_factor(a, pivot: bool):
    lu, pivots, order = triangles(a, pivot)
    return lu, pivots


def lu_factor_ex(a, pivot: bool):
    lu, pivots, order = triangles(a, pivot)
    zeros = (torch.diagonal(lu, 0, -2, -1) == 0).to(torch.int64)
    info = (zeros.argmax(-1) + 1) * zeros.sum([-1]).clamp(max=1)
    return lu, pivots, info.to(torch.int32)


def lu(a, pivot: bool):
    m, pivots, order = triangles(a, pivot)
    low, high = factors(m)
    return permutation(order, a) if pivot else torch.empty([0], dtype=a.dtype), low, high


def lu_unpack(lu, pivots, data: bool, unpack_pivots: bool):
    p = torch.empty([0], dtype=lu.dtype)
    low = p
    high = p
    if unpack_pivots:
        p = permutation(order_of(pivots, lu.size(-2)), lu)
    if data:
        low, high = factors(lu)
    return p, low, high


def lu_solve(b, lu, pivots, left: bool, adjoint: bool):
    if not left:
        b = b.transpose(-2, -1)
        adjoint = not adjoint
    p = permutation(order_of(pivots, lu.size(-2)), lu)
    low, high = factors(lu)
    if adjoint:
        y = solved(low.transpose(-2, -1), solved(high.transpose(-2, -1), b))
        y = torch.matmul(p, y)
    else:
        y = solved(high, solved(low, torch.matmul(p.transpose(-2, -1), b)))
    return y if left else y.transpose(-2, -1)


def reflectors(a):
    k = min(a.size(-2), a.size(-1))
    r = torch.arange(a.size(-2)).unsqueeze(-1)
    c = torch.arange(a.size(-1))
    steps = torch.arange(k)
    taus = torch.zeros_like(a[..., 0, :1]) + torch.zeros([k], dtype=a.dtype)
    for i in range(k):
        x = a.select(-1, i).unsqueeze(-1)
        first = x.select(-2, i).unsqueeze(-2)
        rest = torch.where(r > i, x, torch.zeros_like(x))
        is_done = (rest == 0).all(-2, True)
        beta = torch.hypot(first, (rest * rest).sum([-2], True).sqrt())
        beta = torch.where(first > 0, -beta, beta)
        beta = torch.where(is_done, first, beta)
        tau = torch.where(is_done, torch.zeros_like(beta), (beta - first) / beta)
        v = torch.where(is_done, torch.zeros_like(rest), rest / (first - beta))
        v = torch.where(r == i, torch.ones_like(v), v)
        b = a - tau * v * (v * a).sum([-2], True)
        b = torch.where(torch.logical_and(c == i, r > i), v, b)
        a = torch.where(c < i, a, b)
        taus = torch.where(steps == i, tau.select(-1, 0), taus)
    return a, taus


def reflected_by(a, tau, b, transpose: bool):
    r = torch.arange(a.size(-2)).unsqueeze(-1)
    k = tau.size(-1)
    b = b + batch_of(a)
    for j in range(k):
        i = j if transpose else k - 1 - j
        v = a.select(-1, i).unsqueeze(-1)
        v = torch.where(r > i, v, torch.zeros_like(v))
        v = torch.where(r == i, torch.ones_like(v), v)
        t = tau.select(-1, i).unsqueeze(-1).unsqueeze(-1)
        b = b - t * v * (v * b).sum([-2], True)
    return b


def ormqr(a, tau, b, left: bool, transpose: bool):
    if left:
        return reflected_by(a, tau, b, transpose)
    return reflected_by(a, tau, b.transpose(-2, -1), not transpose).transpose(-2, -1)


def product_of_reflectors(a, tau):
    return reflected_by(a, tau, torch.eye(a.size(-2), a.size(-1), dtype=a.dtype), False)


def qr(a, mode: str):
    k = min(a.size(-2), a.size(-1))
    m, tau = reflectors(a)
    if mode == "r":
        return torch.empty([0], dtype=a.dtype), torch.triu(m.narrow(-2, 0, k))
    n = a.size(-2) if mode == "complete" else k
    q = reflected_by(m, tau, torch.eye(a.size(-2), n, dtype=a.dtype), False)
    return q, torch.triu(m.narrow(-2, 0, n))

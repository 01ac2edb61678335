"""Systems of linear equations and factorizations."""

import math
import torch

from calque import broadcast_shapes, dtype_name, operator, size_hint


def fixed_size(n):
    """The size as a fixed number, because the elimination is unrolled over the rows."""
    n = int(n)
    if n > 64:
        raise NotImplementedError(f"matrices of {n} rows; the limit is 64")
    return n


def rows_of(a):
    assert a.ndim >= 2 and a.shape[-1] == a.shape[-2], "expected square matrices"
    assert a.dtype in [
        torch.float32,
        torch.float64,
    ], f"expected float32 or float64, got {dtype_name(a.dtype)}"
    return fixed_size(a.shape[-1])


def eliminated(m, n):
    """Gauss-Jordan elimination of m [.., n, n + k], matrices with their right-hand sides. Step i
    swaps the remaining row with the largest element in column i with row i, and subtracts multiples
    of it from all other rows."""
    rows = torch.arange(n, dtype=torch.int64)
    for i in range(n):
        chosen = m.select(-1, i).abs().masked_fill(rows < i, -1).argmax(-1, True)
        chosen = (rows == chosen).unsqueeze(-1)
        pivot = torch.where(chosen, m, 0.0).sum(-2, True)
        m = torch.where(chosen, torch.ops.aten.slice(m, -2, i, i + 1), m)
        pivot = pivot / torch.ops.aten.slice(pivot, -1, i, i + 1)
        m = torch.where(
            (rows == i).unsqueeze(-1), pivot, m - torch.ops.aten.slice(m, -1, i, i + 1) * pivot
        )
    return torch.ops.aten.slice(m, -1, n)


def batched(t, other):
    """t expanded to the batch dimensions of other."""
    return t.expand(broadcast_shapes(t.shape[:-2], other.shape[:-2]) + list(t.shape[-2:]))


def solved(a, b, left):
    """X of A X = B, or of X A = B."""
    n = rows_of(a)
    assert (
        b.ndim > 1 and b.dtype == a.dtype and (b.shape[-2 if left else -1] == n)
    ), f"the right-hand sides do not match matrices of {n} rows"
    if not left:
        return solved(a.transpose(-2, -1), b.transpose(-2, -1), True).transpose(-2, -1)
    return eliminated(torch.cat([batched(a, b), batched(b, a)], -1), n)


def identity_like(a):
    return torch.eye(a.shape[-1], dtype=a.dtype)


def triangle(a, upper, ones):
    """The triangle that a solver reads, optionally with a diagonal of ones."""
    n = rows_of(a)
    t = a.triu(1 if ones else 0) if upper else a.tril(-1 if ones else 0)
    return t + identity_like(a) if ones else t


def by_factor(factor, b, upper):
    """Solves L L' x = b (or U' U x = b) by two triangular systems."""
    low = triangle(factor, upper, False)
    low = low.transpose(-2, -1) if upper else low
    return solved(low.transpose(-2, -1), solved(low, b, True), True)


def magnitude(x):
    """What LAPACK compares to choose a pivot."""
    return torch.real(x).abs() + torch.imag(x).abs() if x.is_complex() else x.abs()


def triangles(a, pivot):
    """LU factors in one matrix, the pivots in LAPACK's numbering (from 1), and the permutation of
    rows. Step i swaps the row with the largest element in column i with row i and stores the
    quotients below it; a column of zeros is unchanged. The permutation is kept in an additional
    column."""
    rows = fixed_size(a.shape[-2])
    columns = fixed_size(a.shape[-1])
    k = min(rows, columns)
    assert a.is_floating_point() or a.is_complex(), "expected floats"
    zero = torch.zeros([1], dtype=a.dtype) if a.is_complex() else 0.0
    r = torch.arange(rows).unsqueeze(-1)
    c = torch.arange(columns + 1)
    order = r.to(a.dtype).expand(list(a.shape[:-1]) + [1])
    m = torch.cat([a, order], -1)
    pivots = [torch.zeros(list(a.shape[:-2]) + [0], dtype=torch.int32)]
    for i in range(k):
        column = torch.ops.aten.slice(m, -1, i, i + 1)
        at = (
            magnitude(column).masked_fill(r < i, -1.0).argmax(-2, True)
            if pivot
            else torch.full(list(a.shape[:-2]) + [1, 1], i, dtype=torch.int64)
        )
        top = torch.where(r == at, m, zero).sum(-2, True)
        m = torch.where(r == at, torch.ops.aten.slice(m, -2, i, i + 1), m)
        m = torch.where(r == i, top, m)
        largest = torch.ops.aten.slice(top, -1, i, i + 1)
        part = torch.where(
            (r > i).logical_and((magnitude(largest) if a.is_complex() else largest) != 0),
            torch.ops.aten.slice(m, -1, i, i + 1) / largest,
            zero,
        )
        m = m - part * torch.where((c > i).logical_and(c < columns), top, zero)
        m = torch.where((r > i).logical_and(c == i), part, m)
        pivots = pivots + [(at.squeeze(-1) + 1).to(torch.int32)]
    return (
        torch.ops.aten.slice(m, -1, 0, columns),
        torch.cat(pivots, -1),
        m.select(-1, columns).to(torch.int64),
    )


def first_zero_pivot(lu):
    """The index of the first pivot that is 0, from 1 as in LAPACK; 0 if there is none."""
    if min(size_hint(lu.shape[-2]), size_hint(lu.shape[-1])) == 0:
        return torch.zeros(lu.shape[:-2], dtype=torch.int32)
    d = lu.diagonal(0, -2, -1)
    is_zero = ((magnitude(d) if lu.is_complex() else d) == 0).to(torch.int64)
    return ((is_zero.argmax(-1) + 1) * is_zero.amax(-1)).to(torch.int32)


def order_of(pivots, rows):
    """The permutation of rows that the pivots describe."""
    r = torch.arange(rows)
    order = r.expand(list(pivots.shape[:-1]) + [rows])
    for i in range(fixed_size(pivots.shape[-1])):
        at = torch.ops.aten.slice(pivots, -1, i, i + 1).to(torch.int64) - 1
        new = torch.where(r == at, torch.ops.aten.slice(order, -1, i, i + 1), order)
        order = torch.where(r == i, order.gather(-1, at), new)
    return order


def permutation(order, dtype):
    return (order.unsqueeze(-2) == torch.arange(order.shape[-1]).unsqueeze(-1)).to(dtype)


def lower_part(lu):
    k = min(lu.shape[-2], lu.shape[-1])
    ones = torch.eye(lu.shape[-2], k, dtype=torch.float32 if lu.is_complex() else lu.dtype)
    low = torch.ops.aten.slice(lu, -1, 0, k).tril(-1)
    return low + (ones.to(lu.dtype) if lu.is_complex() else ones)


def upper_part(lu):
    return torch.ops.aten.slice(lu, -2, 0, min(lu.shape[-2], lu.shape[-1])).triu()


def reflectors(a):
    """Householder QR: reflector i, I - tau v v', zeroes column i below the diagonal. v begins with
    a 1; the rest is stored below the diagonal."""
    rows = fixed_size(a.shape[-2])
    columns = fixed_size(a.shape[-1])
    k = min(rows, columns)
    assert a.is_floating_point(), "expected floats"
    r = torch.arange(rows).unsqueeze(-1)
    c = torch.arange(columns)
    taus = [torch.zeros(list(a.shape[:-2]) + [0], dtype=a.dtype)]
    for i in range(k):
        x = torch.ops.aten.slice(a, -1, i, i + 1)
        first = torch.ops.aten.slice(x, -2, i, i + 1)
        rest = torch.where(r > i, x, 0.0)
        none = (rest == 0.0).all(-2, True)
        beta = torch.hypot(first, (rest * rest).sum(-2, True).sqrt())
        beta = torch.where(first > 0, -beta, beta)
        beta = torch.where(none, first, beta)
        tau = torch.where(none, torch.zeros_like(beta), (beta - first) / beta)
        v = torch.where(none, torch.zeros_like(rest), rest / (first - beta))
        v = torch.where(r == i, 1.0, v)
        b = a - tau * v * (v * a).sum(-2, True)
        b = torch.where((c == i).logical_and(r > i), v, b)
        a = torch.where(c < i, a, b)
        taus = taus + [tau.squeeze(-1)]
    return (a, torch.cat(taus, -1))


def reflected_by(a, tau, b, left, transpose):
    """b times the product of the reflectors of a, or times its transpose."""
    if not left:
        return reflected_by(a, tau, b.transpose(-2, -1), True, not transpose).transpose(-2, -1)
    r = torch.arange(a.shape[-2]).unsqueeze(-1)
    k = fixed_size(tau.shape[-1])
    b = batched(b, a)
    for j in range(k):
        i = j if transpose else k - 1 - j
        v = torch.where(r > i, torch.ops.aten.slice(a, -1, i, i + 1), 0.0)
        v = torch.where(r == i, 1.0, v)
        t = torch.ops.aten.slice(tau, -1, i, i + 1).unsqueeze(-1)
        b = b - t * v * (v * b).sum(-2, True)
    return b


@operator(
    "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    autocast="float32",
)
def linalg_solve(A, B, left):
    """Solutions of linear equations."""
    vectors = B.ndim == 1 or (B.ndim + 1 == A.ndim and B.shape == A.shape[:-1])
    assert left or not vectors, "expected left=True for a vector B"
    return solved(A, B.unsqueeze(-1), True).squeeze(-1) if vectors else solved(A, B, left)


@operator(
    "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor info)",
    complex=True,
)
def linalg_solve_ex(A, B, left, check_errors):
    """Solutions of linear equations."""
    return (
        torch.ops.aten.linalg_solve(A, B, left=left),
        torch.zeros(A.shape[:-2], dtype=torch.int32),
    )


@operator(
    "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    complex=True,
)
def linalg_inv_ex(A, check_errors):
    """Inverses of matrices."""
    return (torch.ops.aten.linalg_inv(A), torch.zeros(A.shape[:-2], dtype=torch.int32))


@operator(
    "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor"
)
def linalg_solve_triangular(self, B, upper, left, unitriangular):
    """Solutions of triangular equations."""
    return solved(triangle(self, upper, unitriangular), B, left)


@operator(
    "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    complex=True,
)
def triangular_solve(self, A, upper, transpose, unitriangular):
    """Solutions of triangular equations."""
    x = torch.ops.aten.linalg_solve_triangular(
        A.transpose(-2, -1) if transpose else A,
        self,
        upper=upper != transpose,
        unitriangular=unitriangular,
    )
    return (x, batched(A, self).clone())


@operator("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", autocast="float32")
def linalg_cholesky(self, upper):
    """The Cholesky factor.

    Column i of the factor is the remainder of column i of A divided by the square root of its first
    element; its outer product is subtracted from A.
    """
    n = rows_of(self)
    if n == 0:
        return self.clone()
    rows = torch.arange(n, dtype=torch.int64).unsqueeze(-1)
    a = self.transpose(-2, -1) if upper else self
    columns = []
    for i in range(n):
        t = torch.ops.aten.slice(a, -1, i, i + 1)
        t = torch.where(rows >= i, t / torch.ops.aten.slice(t, -2, i, i + 1).sqrt(), 0.0)
        a = a - t * t.transpose(-2, -1)
        columns = columns + [t]
    factor = torch.cat(columns, -1)
    return factor.transpose(-2, -1) if upper else factor


@operator(
    "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) "
    "-> (Tensor L, Tensor info)"
)
def linalg_cholesky_ex(self, upper, check_errors):
    """The Cholesky factor."""
    return (
        torch.ops.aten.linalg_cholesky(self, upper=upper),
        torch.zeros(self.shape[:-2], dtype=torch.int32),
    )


@operator("aten::cholesky(Tensor self, bool upper=False) -> Tensor", autocast="float32")
def cholesky(self, upper):
    """The Cholesky factor."""
    return torch.ops.aten.linalg_cholesky(self, upper=upper)


@operator(
    "aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    autocast="float32",
)
def cholesky_solve(self, input2, upper):
    """Solutions of linear equations, given the Cholesky factor."""
    return by_factor(input2, self, upper)


@operator("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", autocast="float32")
def cholesky_inverse(self, upper):
    """Inverses of matrices, given the Cholesky factor."""
    n = rows_of(self)
    return by_factor(self, identity_like(self), upper)


@operator(
    "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    complex=True,
)
def linalg_lu_factor_ex(A, pivot, check_errors):
    """LU factors in one matrix, and the row pivots."""
    lu, pivots, order = triangles(A, pivot)
    return (lu, pivots, first_zero_pivot(lu))


@operator(
    "aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    complex=True,
)
def linalg_lu_factor(A, pivot):
    """LU factors in one matrix, and the row pivots."""
    lu, pivots, order = triangles(A, pivot)
    return (lu, pivots)


@operator(
    "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    complex=True,
)
def _lu_with_info(self, pivot, check_errors):
    """The same as aten::linalg_lu_factor_ex."""
    return torch.ops.aten.linalg_lu_factor_ex(self, pivot=pivot)


@operator(
    "aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    complex=True,
)
def linalg_lu(A, pivot):
    """LU decomposition: permutation and triangular factors."""
    lu, pivots, order = triangles(A, pivot)
    p = permutation(order, A.dtype) if pivot else A.new_empty([0])
    return (p, lower_part(lu), upper_part(lu))


@operator(
    "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, "
    "bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    complex=True,
)
def lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots):
    """Permutation and triangular factors from LU factors in one matrix."""
    nothing = LU_data.new_empty([0])
    p = (
        permutation(order_of(LU_pivots, LU_data.shape[-2]), LU_data.dtype)
        if unpack_pivots
        else nothing
    )
    return (
        p,
        lower_part(LU_data) if unpack_data else nothing,
        upper_part(LU_data) if unpack_data else nothing,
    )


@operator(
    "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, "
    "bool adjoint=False) -> Tensor"
)
def linalg_lu_solve(LU, pivots, B, left, adjoint):
    """Solutions of linear equations, given the LU factors."""
    if not left:
        return torch.ops.aten.linalg_lu_solve(
            LU, pivots, B.transpose(-2, -1), adjoint=not adjoint
        ).transpose(-2, -1)
    p = permutation(order_of(pivots, LU.shape[-2]), LU.dtype)
    low = lower_part(LU)
    high = upper_part(LU)
    if adjoint:
        return p @ solved(low.transpose(-2, -1), solved(high.transpose(-2, -1), B, True), True)
    return solved(high, solved(low, p.transpose(-2, -1) @ B, True), True)


@operator("aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor")
def lu_solve(self, LU_data, LU_pivots):
    """Solutions of linear equations, given the LU factors."""
    return torch.ops.aten.linalg_lu_solve(LU_data, LU_pivots, self)


@operator("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", complex=True)
def _linalg_det(A):
    """Determinants, and the LU factors.

    PyTorch factors the transpose of a row-major matrix.
    """
    lu, pivots, order = triangles(A.transpose(-2, -1), True)
    return (torch.ops.aten.linalg_det(A), lu, pivots)


@operator(
    "aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, "
    "Tensor pivots)",
    complex=True,
)
def _linalg_slogdet(A):
    """Signs and logarithms of determinants, and the LU factors."""
    sign, log = torch.ops.aten.linalg_slogdet(A)
    lu, pivots, order = triangles(A.transpose(-2, -1), True)
    return (sign, log, lu, pivots)


@operator(
    "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    complex=True,
)
def _linalg_solve_ex(A, B, left, check_errors):
    """Solutions of linear equations, and the LU factors."""
    lu, pivots, order = triangles(A, True)
    return (
        torch.ops.aten.linalg_solve(A, B, left=left),
        lu,
        pivots,
        torch.zeros(A.shape[:-2], dtype=torch.int32),
    )


@operator("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)")
def geqrf(self):
    """QR decomposition with Householder reflectors stored below the triangle."""
    return reflectors(self)


@operator("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor")
def linalg_householder_product(input, tau):
    """The first columns of a product of Householder reflectors."""
    return reflected_by(
        input, tau, torch.eye(input.shape[-2], input.shape[-1], dtype=input.dtype), True, False
    )


@operator("aten::orgqr(Tensor self, Tensor input2) -> Tensor")
def orgqr(self, input2):
    """The first columns of a product of Householder reflectors."""
    return torch.ops.aten.linalg_householder_product(self, input2)


@operator(
    "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, "
    "bool transpose=False) -> Tensor"
)
def ormqr(self, input2, input3, left, transpose):
    """Multiplication by a product of Householder reflectors."""
    return reflected_by(self, input2, input3, left, transpose)


@operator("aten::linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)")
def linalg_qr(A, mode):
    """QR decomposition."""
    assert mode in ["reduced", "complete", "r"], f"unknown mode {mode}"
    rows = A.shape[-2]
    k = min(rows, A.shape[-1])
    a, tau = reflectors(A)
    if mode == "r":
        return (A.new_empty([0]), torch.ops.aten.slice(a, -2, 0, k).triu())
    n = rows if mode == "complete" else k
    q = reflected_by(a, tau, torch.eye(rows, n, dtype=A.dtype), True, False)
    return (q, torch.ops.aten.slice(a, -2, 0, n).triu())


@operator("aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)")
def qr(self, some):
    """QR decomposition."""
    return torch.ops.aten.linalg_qr(self, "reduced" if some else "complete")


@operator("aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor", complex=True)
def linalg_tensorinv(self, ind):
    """Inverses of tensors viewed as matrices."""
    assert ind > 0, f"expected ind above 0, got {ind}"
    n = math.prod(self.shape[:ind])
    return torch.ops.aten.linalg_inv(self.reshape([n, n])).reshape(
        list(self.shape[ind:]) + list(self.shape[:ind])
    )


@operator(
    "aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", complex=True
)
def linalg_tensorsolve(self, other, dims):
    """Solutions of linear equations of tensors."""
    a = self if dims is None else self.movedim(dims, list(range(self.ndim - len(dims), self.ndim)))
    n = other.numel()
    x = torch.ops.aten.linalg_solve(a.reshape([n, n]), other.reshape([n]))
    return x.reshape(a.shape[other.ndim :])


@operator("aten::linalg_matrix_exp(Tensor self) -> Tensor")
def linalg_matrix_exp(self):
    """The exponential function of matrices.

    By scaling and squaring: exp(A) = exp(A / 2^s)^(2^s), with s such that a short series suffices.
    """
    n = self.shape[-1]
    assert self.ndim >= 2 and self.shape[-2] == n, "expected square matrices"
    if size_hint(self.numel()) == 0:
        return self.clone()
    a = self.to(torch.float64)
    norm = a.abs().sum([-2], True).amax([-1], True)
    s = (norm.log2().ceil() + 1).clamp(0, 20)
    x = a / torch.pow(2.0, s)
    one = identity_like(a)
    y = batched(one, a)
    for k in reversed(range(1, 19)):
        y = one + x @ y / k
    for k in range(20):
        y = torch.where(s > k, y @ y, y)
    return y.to(self.dtype)


@operator("aten::matrix_exp(Tensor self) -> Tensor", of_views=True)
def matrix_exp(self):
    """The same as aten::linalg_matrix_exp."""
    return torch.ops.aten.linalg_matrix_exp(self)

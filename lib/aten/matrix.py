"""Parts, powers and inverses of matrices."""

import torch

from calque import decomposition, operator, size_hint, traits, wrap_dim
from aten.common import in_float
from aten.solve import triangles


def square_matrix(x):
    assert x.ndim > 1 and x.shape[-1] == x.shape[-2], "expected square matrices"
    return x


def power_of(x, n):
    """The n-th power, by repeated squaring."""
    assert abs(n) <= 1048576, f"the exponent {n} is out of range; the limit is 1048576"
    if n == 0:
        return torch.eye(x.shape[-1]).to(x.dtype).expand(x.shape).clone()
    if n == 1:
        return x.clone()
    if n < 0:
        x = torch.ops.aten.linalg_inv(x)
    left = abs(n)
    y = x
    first = True
    for i in range(21):
        y = y if left % 2 == 0 else x if first else y @ x
        first = first and left % 2 == 0
        left = left // 2
        x = x @ x if left > 0 else x
    return y


def minor(e, rows, columns):
    """The determinant of a submatrix of e, expanded along its first row."""
    a = e[rows[0]]
    if len(rows) == 1:
        return a[columns[0]]
    b = e[rows[1]]
    i = columns[0]
    k = columns[1]
    if len(rows) == 2:
        return a[i] * b[k] - a[k] * b[i]
    parts = [a[c] * minor(e, rows[1:], [d for d in columns if d != c]) for c in columns]
    y = parts[0]
    for i in range(1, len(parts)):
        y = y - parts[i] if i % 2 == 1 else y + parts[i]
    return y


def cofactor(e, n, column, row):
    if n == 1:
        return torch.ones_like(e[0][0])
    y = minor(e, [i for i in range(n) if i != row], [i for i in range(n) if i != column])
    return -y if (row + column) % 2 == 1 else y


def embedded(x, k):
    """The last dimension as the k-th diagonal of a matrix of zeros. Above the main diagonal,
    elements are indexed by row, below it by column."""
    i = torch.arange(x.shape[-1] + abs(k))
    on_diagonal = i - i.unsqueeze(1) == k
    if k != 0:
        x = torch.constant_pad_nd(x, [0, abs(k)], 0)
    return torch.where(
        on_diagonal, x.unsqueeze(-2 if k < 0 else -1), torch.zeros([], dtype=x.dtype)
    )


def observations(w, aweights, correction):
    """The divisor of a covariance, at least 0: the sum n of the weights minus correction, which is
    scaled by the mean weight if there are aweights."""
    n = w.sum()
    if aweights is None or correction == 0:
        return (n - correction).clamp_min(0)
    return (n - (w * aweights).sum() / n * correction).clamp_min(0)


def covariance(x, correction, fweights, aweights):
    """Weights of observations: frequencies (fweights) times importance (aweights)."""
    assert x.ndim <= 2, f"expected at most 2 dimensions, got {x.ndim}"
    x = in_float(x.reshape([1, -1]) if x.ndim < 2 else x)
    if fweights is None and aweights is None:
        x = x - x.mean(1, True)
        return x @ x.t() / (x.shape[1] - correction)
    if fweights is not None and aweights is not None:
        w = fweights * aweights
    elif aweights is None:
        w = fweights
    else:
        w = aweights
    x = x - (x * w).sum(1, True) / w.sum()
    return x @ (x * w).t() / observations(w, aweights, correction)


def number_if_one(x):
    """The covariance of a single row is a number."""
    return x.squeeze() if size_hint(x.shape[0]) == 1 else x


@operator("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
def diag_embed(self, offset, dim1, dim2):
    """Matrices with these diagonals."""
    assert self.ndim > 0, "expected at least one dimension"
    rank = self.ndim + 1
    a = wrap_dim(dim1, rank)
    b = wrap_dim(dim2, rank)
    assert a != b, f"expected two different dimensions, got {a} twice"
    t = embedded(self, offset)
    return t if a == rank - 2 and b == rank - 1 else t.movedim([-2, -1], [a, b])


@operator("aten::diag(Tensor self, int diagonal=0) -> Tensor")
def diag(self, diagonal):
    """The diagonal of a matrix, or a matrix with a given diagonal."""
    if self.ndim == 1:
        return embedded(self, diagonal)
    assert self.ndim == 2, f"expected a vector or a matrix, got {self.ndim} dimensions"
    return self.diagonal(diagonal).clone()


@operator("aten::diagflat(Tensor self, int offset=0) -> Tensor", complex=True)
def diagflat(self, offset):
    """A matrix with all elements as its diagonal."""
    return embedded(self.reshape([-1]), offset)


@operator(
    "aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) " "-> Tensor(a)",
    of_views=True,
)
def linalg_diagonal(A, offset, dim1, dim2):
    """Diagonal of the last dimensions."""
    return torch.diagonal(A, offset, dim1, dim2)


@operator("aten::trace(Tensor self) -> Tensor", autocast="float32")
def trace(self):
    """The sum of the diagonal."""
    assert self.ndim == 2, f"expected a matrix, got {self.ndim} dimensions"
    return self.diagonal().sum()


@operator("aten::adjoint(Tensor(a) self) -> Tensor(a)", of_views=True, vmap="last")
def adjoint(self):
    """The conjugate transpose of matrices."""
    assert self.ndim >= 2, "expected matrices"
    return self.transpose(-2, -1).conj()


@operator("aten::mH(Tensor(a) self) -> Tensor(a)", of_views=True, vmap="last")
@operator("aten::matrix_H(Tensor(a) self) -> Tensor(a)", of_views=True, vmap="last")
def mH(self):
    """The same as aten::adjoint."""
    return torch.ops.aten.adjoint(self)


@operator("aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", autocast="lower")
def linalg_vecdot(x, y, dim):
    """Inner products of vectors."""
    return (x * y).sum(dim)


@operator("aten::matrix_power(Tensor self, int n) -> Tensor")
@operator("aten::linalg_matrix_power(Tensor self, int n) -> Tensor", complex=True)
def matrix_power(self, n):
    """The n-th power of matrices."""
    return power_of(square_matrix(self), n)


@operator("aten::det(Tensor self) -> Tensor", of_views=True)
def det(self):
    """The same as aten::linalg_det."""
    return torch.ops.aten.linalg_det(self)


@operator("aten::logdet(Tensor self) -> Tensor")
def logdet(self):
    """Logarithms of determinants."""
    return torch.ops.aten.linalg_det(self).log()


@operator("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", complex=True)
def slogdet(self):
    """Signs and logarithms of determinants."""
    return torch.ops.aten.linalg_slogdet(self)


@operator("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)")
def linalg_slogdet(A):
    """Signs and logarithms of determinants."""
    d = torch.ops.aten.linalg_det(A)
    return (d.sign(), d.abs().log())


@operator("aten::linalg_inv(Tensor A) -> Tensor", autocast="float32")
def linalg_inv(A):
    """Inverses of matrices.

    Up to 4 rows by cofactors, otherwise by linalg_solve.
    """
    if not square_matrix(A).is_floating_point():
        raise TypeError("expected floats")
    n = int(A.shape[-1])
    if n == 0:
        return A.clone()
    if n > 4:
        return torch.ops.aten.linalg_solve(A, torch.eye(n, dtype=A.dtype))
    e = [[A.select(-2, i).select(-1, k) for k in range(n)] for i in range(n)]
    rows = [torch.stack([cofactor(e, n, i, k) for k in range(n)], -1) for i in range(n)]
    d = minor(e, list(range(n)), list(range(n))).unsqueeze(-1).unsqueeze(-1)
    return torch.stack(rows, -2) / d


@operator("aten::inverse(Tensor self) -> Tensor", of_views=True, autocast="float32", complex=True)
def inverse(self):
    """The same as aten::linalg_inv."""
    return torch.ops.aten.linalg_inv(self)


@operator(
    "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, "
    "Tensor? aweights=None) -> Tensor"
)
def cov(self, correction, fweights, aweights):
    """Covariances of rows."""
    return number_if_one(covariance(self, correction, fweights, aweights))


@operator("aten::corrcoef(Tensor self) -> Tensor")
def corrcoef(self):
    """Correlations of rows."""
    x = covariance(self, 1, None, None)
    deviation = x.diagonal().sqrt()
    return number_if_one((x / deviation.unsqueeze(1) / deviation).clamp(-1, 1))


@operator("aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor")
def vander(x, N, increasing):
    """Powers of each element.

    Exponents are 0, 1, … N - 1.
    """
    assert x.ndim == 1, "expected a vector"
    powers = torch.arange(x.shape[0] if N is None else N, dtype=x.dtype)
    return torch.pow(x.unsqueeze(-1), powers if increasing else powers.flip([0]))


@operator("aten::linalg_vander(Tensor x, *, int? N=None) -> Tensor")
def linalg_vander(x, N):
    """Powers of each element."""
    assert x.ndim > 0 or N is not None, "expected a vector"
    if x.ndim == 0:
        x = x.reshape([1])
    if not x.is_floating_point() and (not x.is_complex()) and (x.dtype != torch.bool):
        x = x.to(torch.int64)
    return torch.pow(x.unsqueeze(-1), torch.arange(x.shape[-1] if N is None else N, dtype=x.dtype))


@decomposition("aten::linalg_det")
def linalg_det_parts(A):
    n = A.shape[-1]
    lu, pivots, order = triangles(A, True)
    changes = (pivots != torch.arange(1, n + 1)).sum([-1])
    d = lu.diagonal(0, -2, -1).prod(-1)
    return torch.where(changes % 2 == 0, d, -d)


# ---- traits of operators whose rows are in C ----

traits("aten::linalg_det", cost="by_last_size")

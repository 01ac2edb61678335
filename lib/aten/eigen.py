"""Eigenvalues and singular values of small matrices."""

import torch

from calque import gradient, is_known, operator
from aten.common import number_like
from aten.solve import fixed_size


def partners(n, step):
    """The pairs of rows that one step of Jacobi's method rotates at the same time. In step r row i
    is paired with (r - i) mod m. If the number of rows is even, the last row is paired with the row
    that would be its own partner."""
    i = torch.arange(n)
    m = n if n % 2 == 0 else n + 1
    r = step % (m - 1)
    alone = r * (m // 2) % (m - 1)
    partner = (r - i) % (m - 1)
    if n % 2 == 1:
        return partner
    return torch.where(i == n - 1, alone, torch.where(i == alone, n - 1, partner))


def rotations(own, both, partner):
    """The rotations [.., n, n] of pairs, given the squares and products of their rows: cosines on
    the diagonal, sines and their negatives off it."""
    n = own.shape[-1]
    i = torch.arange(n)
    other = own.index_select(-1, partner)
    side = torch.where(i < partner, 1.0, torch.where(i > partner, -1.0, 0.0)).to(own.dtype)
    none = (both == 0).logical_or(side == 0)
    angle = side * (other - own) / torch.where(none, 1.0, both * 2)
    t = 1 / (angle.abs() + torch.hypot(angle, torch.ones_like(angle)))
    t = torch.where(angle < 0, -t, t)
    t = torch.where(none, torch.zeros_like(t), t)
    c = 1 / (t.square() + 1).sqrt()
    s = t * c * side
    diagonal = c.unsqueeze(-1) * torch.eye(n, dtype=own.dtype)
    beside = s.unsqueeze(-1) * (partner.unsqueeze(-1) == i).to(own.dtype)
    return (diagonal + beside, diagonal - beside)


def small_size(n):
    n = fixed_size(n)
    if n > 16:
        raise NotImplementedError(f"expected matrices of at most 16 rows, got {n}")
    return n


def eigen(a, uplo):
    assert a.is_floating_point(), "expected floats"
    n = small_size(a.shape[-1])
    if is_known(a.numel()) and a.numel() == 0:
        return (a.sum(-1), a.clone())
    low = a.tril() if uplo == "L" or uplo == "l" else a.triu().transpose(-2, -1)
    m = low + low.tril(-1).transpose(-2, -1)
    v = torch.eye(n, dtype=a.dtype).expand(a.shape)
    for step in range(0 if n < 2 else 9 * (n - 1 if n % 2 == 0 else n)):
        partner = partners(n, step)
        # Rounding makes m unsymmetric. Both rows of a pair must use the same product: if its sign
        # differed, the result would not be a rotation for equal eigenvalues.
        even = (m + m.transpose(-2, -1)) * 0.5
        both = (even * (partner.unsqueeze(-1) == torch.arange(n)).to(a.dtype)).sum(-1)
        turn, back = rotations(m.diagonal(0, -2, -1), both, partner)
        m = back @ m @ turn
        v = v @ turn
    w, order = m.diagonal(0, -2, -1).sort(-1)
    return (w, v.gather(-1, order.unsqueeze(-2).expand(v.shape)))


def singular(a):
    """Rotates columns until they are orthogonal; their lengths are the singular values (one-sided
    Jacobi)."""
    assert a.is_floating_point(), "expected floats"
    if a.shape[-2] < a.shape[-1]:
        v, s, u = singular(a.transpose(-2, -1))
        return (u, s, v)
    n = small_size(a.shape[-1])
    v = torch.eye(n, dtype=a.dtype).expand(list(a.shape[:-2]) + [n, n])
    if is_known(a.numel()) and a.numel() == 0:
        return (a.clone(), a.sum(-2), v)
    w = a
    for step in range(0 if n < 2 else 9 * (n - 1 if n % 2 == 0 else n)):
        partner = partners(n, step)
        both = (w * w.index_select(-1, partner)).sum(-2)
        turn, back = rotations(w.square().sum(-2), both, partner)
        w = w @ turn
        v = v @ turn
    s, order = w.square().sum(-2).sqrt().sort(-1, True)
    w = w.gather(-1, order.unsqueeze(-2).expand(w.shape))
    v = v.gather(-1, order.unsqueeze(-2).expand(v.shape))
    return (w / torch.where(s == 0, 1.0, s).unsqueeze(-2), s, v)


def completed(u):
    """Completes the columns of u to an orthonormal basis."""
    k = u.shape[-1]
    if u.shape[-2] == k:
        return u
    q, r = torch.ops.aten.linalg_qr(u, "complete")
    return torch.cat([u, torch.ops.aten.slice(q, -1, k)], -1)


def least_value(x, s, atol, rtol, given):
    """The threshold below which a singular value counts as 0."""
    eps = 2.220446049250313e-16 if x.dtype == torch.float64 else 1.1920928955078125e-07
    usual = torch.scalar_tensor(max(x.shape[-2], x.shape[-1]), dtype=x.dtype) * eps
    if rtol is None and given:
        r = torch.where(atol > 0, 0.0, usual)
    elif rtol is None:
        r = usual
    else:
        r = rtol.to(x.dtype)
    top = s.amax(-1, True) if s.shape[-1] > 0 else s.sum(-1, True)
    return torch.maximum(atol.to(x.dtype).unsqueeze(-1), r.unsqueeze(-1) * top)


def pseudo_inverse(a, atol, rtol, hermitian):
    if is_known(a.numel()) and a.numel() == 0:
        return torch.zeros(list(a.shape[:-2]) + [a.shape[-1], a.shape[-2]], dtype=a.dtype)
    u, s, v = singular(a.tril() + a.tril(-1).transpose(-2, -1) if hermitian else a)
    least = least_value(a, s, number_like(a, 0.0) if atol is None else atol, rtol, atol is not None)
    i = torch.where(s > least, 1 / torch.where(s == 0, 1.0, s), 0.0)
    return ((v * i.unsqueeze(-2)).unsqueeze(-2) * u.unsqueeze(-3)).sum(-1)


def rank_of(a, atol, rtol, hermitian):
    if is_known(a.numel()) and a.numel() == 0:
        return torch.zeros(a.shape[:-2], dtype=torch.int64)
    u, s, v = singular(a.tril() + a.tril(-1).transpose(-2, -1) if hermitian else a)
    least = least_value(a, s, number_like(a, 0.0) if atol is None else atol, rtol, atol is not None)
    return (s > least).sum(-1)


@operator(
    'aten::linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, ' "Tensor eigenvectors)"
)
def linalg_eigh(self, UPLO):
    """Eigenvalues and eigenvectors of symmetric matrices."""
    return eigen(self, UPLO)


@operator(
    'aten::_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, '
    "Tensor eigenvectors)"
)
def _linalg_eigh(A, UPLO, compute_v):
    """Eigenvalues and eigenvectors of symmetric matrices."""
    w, v = eigen(A, UPLO)
    return (w, v if compute_v else torch.zeros([0], dtype=A.dtype))


@operator('aten::linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor')
def linalg_eigvalsh(self, UPLO):
    """Eigenvalues of symmetric matrices."""
    w, v = eigen(self, UPLO)
    return w


@operator(
    "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, "
    "str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)"
)
def _linalg_svd(A, full_matrices, compute_uv, driver):
    """Singular value decomposition."""
    u, s, v = singular(A)
    if not compute_uv:
        return (torch.zeros([0], dtype=A.dtype), s, torch.zeros([0], dtype=A.dtype))
    if full_matrices:
        u = completed(u)
        v = completed(v)
    return (u, s, v.transpose(-2, -1))


@operator(
    "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, "
    "Tensor S, Tensor Vh)"
)
def linalg_svd(A, full_matrices, driver):
    """Singular value decomposition."""
    u, s, v = singular(A)
    if full_matrices:
        u = completed(u)
        v = completed(v)
    return (u, s, v.transpose(-2, -1))


@operator("aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor")
def linalg_svdvals(A, driver):
    """Singular values."""
    u, s, v = singular(A)
    return s


@operator("aten::linalg_polar(Tensor A) -> (Tensor U, Tensor H)")
def linalg_polar(A):
    """Polar decomposition A = U H: orthonormal columns times a positive semidefinite matrix."""
    assert A.shape[-2] >= A.shape[-1], "expected at least as many rows as columns"
    u, s, v = singular(A)
    return (u @ v.transpose(-2, -1), (v * s.unsqueeze(-2)) @ v.transpose(-2, -1))


@operator("aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor", complex=True)
def linalg_cond(self, p):
    """Condition numbers: norms of matrices times those of their inverses."""
    if p is None or p == 2 or p == -2:
        s = torch.ops.aten.linalg_svdvals(self)
        return s.select(-1, 0) / s.select(-1, -1) if p != -2 else s.select(-1, -1) / s.select(-1, 0)
    norm = torch.ops.aten.linalg_matrix_norm(self, p)
    return norm * torch.ops.aten.linalg_matrix_norm(torch.ops.aten.linalg_inv(self), p)


@operator("aten::linalg_cond.p_str(Tensor self, str p) -> Tensor", complex=True)
def linalg_cond_p_str(self, p):
    """Condition numbers: norms of matrices times those of their inverses."""
    norm = torch.ops.aten.linalg_matrix_norm.str_ord(self, p)
    return norm * torch.ops.aten.linalg_matrix_norm.str_ord(torch.ops.aten.linalg_inv(self), p)


@operator(
    "aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, "
    "Tensor V)"
)
def svd(self, some, compute_uv):
    """Singular value decomposition."""
    u, s, v = singular(self)
    m = self.shape[-2]
    n = self.shape[-1]
    if not compute_uv:
        return (
            torch.zeros(list(self.shape[:-2]) + [m, m], dtype=self.dtype),
            s,
            torch.zeros(list(self.shape[:-2]) + [n, n], dtype=self.dtype),
        )
    if not some:
        u = completed(u)
        v = completed(v)
    return (u, s, v)


@operator(
    "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, "
    "Tensor? rtol=None, bool hermitian=False) -> Tensor"
)
def linalg_pinv_atol_rtol_tensor(self, atol, rtol, hermitian):
    """Pseudo-inverses."""
    return pseudo_inverse(self, atol, rtol, hermitian)


@operator(
    "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
    "bool hermitian=False) -> Tensor"
)
def linalg_pinv_atol_rtol_float(self, atol, rtol, hermitian):
    """Pseudo-inverses."""
    return pseudo_inverse(
        self,
        None if atol is None else number_like(self, atol),
        None if rtol is None else number_like(self, rtol),
        hermitian,
    )


@operator("aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor")
def linalg_pinv(self, rcond, hermitian):
    """Pseudo-inverses."""
    return pseudo_inverse(self, None, number_like(self, rcond), hermitian)


@operator(
    "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) " "-> Tensor"
)
def linalg_pinv_rcond_tensor(self, rcond, hermitian):
    """Pseudo-inverses."""
    return pseudo_inverse(self, None, rcond, hermitian)


@operator("aten::pinverse(Tensor self, float rcond=1e-15) -> Tensor")
def pinverse(self, rcond):
    """Pseudo-inverses."""
    return pseudo_inverse(self, None, number_like(self, rcond), False)


@operator(
    "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, "
    "Tensor? rtol=None, bool hermitian=False) -> Tensor"
)
def linalg_matrix_rank_atol_rtol_tensor(input, atol, rtol, hermitian):
    """The number of singular values that are not 0."""
    return rank_of(input, atol, rtol, hermitian)


@operator(
    "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, "
    "float? rtol=None, bool hermitian=False) -> Tensor"
)
def linalg_matrix_rank_atol_rtol_float(self, atol, rtol, hermitian):
    """The number of singular values that are not 0."""
    return rank_of(
        self,
        None if atol is None else number_like(self, atol),
        None if rtol is None else number_like(self, rtol),
        hermitian,
    )


@operator("aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor")
def linalg_matrix_rank(self, tol, hermitian):
    """The number of singular values that are not 0."""
    return rank_of(self, number_like(self, tol), number_like(self, 0.0), hermitian)


@operator(
    "aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) "
    "-> Tensor"
)
def linalg_matrix_rank_tol_tensor(input, tol, hermitian):
    """The number of singular values that are not 0."""
    return rank_of(input, tol, number_like(input, 0.0), hermitian)


@gradient("aten::linalg_eigvalsh")
def linalg_eigvalsh_gradient(grad, self, UPLO):
    """Computed from the eigenvectors: the rotations have no gradient where an angle is 0."""
    w, v = eigen(self, UPLO)
    return {"self": v * grad.unsqueeze(-2) @ v.transpose(-2, -1)}


@gradient("aten::linalg_svdvals")
def linalg_svdvals_gradient(grad, A):
    u, s, v = singular(A)
    return {"A": u * grad.unsqueeze(-2) @ v.transpose(-2, -1)}


@gradient("aten::linalg_eigh")
@gradient("aten::svd")
@gradient("aten::linalg_pinv")
@gradient("aten::linalg_pinv.atol_rtol_tensor")
@gradient("aten::linalg_pinv.atol_rtol_float")
@gradient("aten::linalg_pinv.rcond_tensor")
@gradient("aten::pinverse")
def linalg_eigh_gradient(grad):
    raise NotImplementedError(
        "gradients of eigenvectors, singular vectors and pseudo-inverses are not implemented"
    )
    return {"self": grad}


@gradient("aten::_linalg_eigh")
@gradient("aten::linalg_svd")
@gradient("aten::_linalg_svd")
def _linalg_eigh_gradient(grad):
    raise NotImplementedError(
        "gradients of eigenvectors, singular vectors and pseudo-inverses are not implemented"
    )
    return {"A": grad}

"""Eigenvalues and singular values. Vectors have any sign: tests/peer/eigen.py compares what does not depend on it."""
from cases import *


def symmetric(*sizes, of=f32):
    x = of(*sizes)
    return (x + x.mT).contiguous()


for x in (symmetric(3, 3), symmetric(2, 5, 5), symmetric(4, 4, of=f64), f32(1, 1), torch.zeros(3, 3), torch.eye(4), f32(0, 3, 3),
          symmetric(8, 8, of=f64), t([[2.0, 1], [1, 2]])):
    tol = (1e-4, 1e-5) if x.dtype == torch.float32 else (1e-10, 1e-11)
    case("aten::linalg_eigvalsh", x, tol=tol)
    case("aten::linalg_eigvalsh", x, "U", tol=tol)
    case("aten::linalg_eigh", x, values=False)
    case("aten::_linalg_eigh", x, values=False)
    case("aten::_linalg_eigh", x, "L", False, tol=tol, alias=False)
singular = f32(4, 2) @ f32(2, 5)
for x in (f32(3, 3), f32(2, 5, 3), f32(3, 5), f64(4, 3), f32(1, 1), torch.zeros(3, 2), f32(0, 3, 2), f64(3, 8), singular):
    tol = (1e-4, 1e-5) if x.dtype == torch.float32 else (1e-10, 1e-11)
    if x.any() and x is not singular:  # else PyTorch's gradient is one of many
        case("aten::linalg_svdvals", x, tol=tol)
    case("aten::linalg_svd", x, values=False)
    case("aten::linalg_svd", x, False, values=False)
    case("aten::_linalg_svd", x, False, False, tol=tol, alias=False)
    case("aten::_linalg_svd", x, True, values=False)
    case("aten::svd", x, values=False)
    case("aten::svd", x, False, values=False)
    case("aten::svd", x, True, False, tol=tol)
    loose = (1e-3, 1e-4) if x.dtype == torch.float32 else (1e-9, 1e-10)
    case("aten::linalg_pinv.atol_rtol_tensor", x, tol=loose)
    case("aten::linalg_pinv.atol_rtol_tensor", x, atol=t(0.5), tol=loose)
    case("aten::linalg_pinv.atol_rtol_tensor", x, rtol=t(0.5), tol=loose)
    case("aten::linalg_pinv.atol_rtol_float", x, atol=0.5, tol=loose)
    case("aten::linalg_pinv.atol_rtol_float", x, rtol=0.5, tol=loose)
    case("aten::linalg_pinv", x, 1e-4, tol=loose)
    case("aten::linalg_pinv.rcond_tensor", x, t(1e-4), tol=loose)
    case("aten::pinverse", x, 1e-4, tol=loose)
    case("aten::linalg_matrix_rank.atol_rtol_tensor", x)
    case("aten::linalg_matrix_rank.atol_rtol_tensor", x, atol=t(0.9))
    case("aten::linalg_matrix_rank.atol_rtol_float", x, atol=0.9)
    case("aten::linalg_matrix_rank.atol_rtol_float", x, rtol=0.5)
    case("aten::linalg_matrix_rank", x, 0.9)
    case("aten::linalg_matrix_rank.tol_tensor", x, t(0.9))
case("aten::linalg_pinv.atol_rtol_tensor", symmetric(4, 4), hermitian=True, tol=(1e-3, 1e-4))
case("aten::linalg_matrix_rank.atol_rtol_tensor", symmetric(4, 4), hermitian=True)
fails("aten::linalg_eigh", i64(3, 3))
for x in (f32(3, 3), f32(2, 5, 3), f64(4, 3), f32(1, 1)):
    tol = (1e-3, 1e-4) if x.dtype == torch.float32 else (1e-9, 1e-10)
    case("aten::linalg_polar", x, tol=tol)
    case("aten::linalg_cond", x, tol=tol)
    case("aten::linalg_cond", x, -2, tol=tol)
for x in (f32(3, 3) + 2 * torch.eye(3), f64(2, 4, 4) + 3 * torch.eye(4, dtype=torch.float64)):
    for p in (1, -1, float("inf"), -float("inf")):
        case("aten::linalg_cond", x, p, tol=(1e-3, 1e-4))
    for p in ("fro", "nuc"):
        case("aten::linalg_cond.p_str", x, p, tol=(1e-3, 1e-4))
# Eigenvalues that occur twice: the real form of a Hermitian matrix.
half = f32(3, 3)
even, odd = half + half.t(), half - half.t()
twice = torch.cat([torch.cat([even, -odd], 1), torch.cat([odd, even], 1)], 0)
case("aten::linalg_eigvalsh", twice, tol=(1e-4, 1e-4))
case("aten::linalg_svdvals", twice, tol=(1e-4, 1e-4))

"""Diagonals, powers, determinants and inverses of matrices."""
from cases import *

for k in [0, 1, -2]:
    case("aten::diag", f32(3), k)
    case("aten::diag", f32(3, 4), k)
    case("aten::diag", i64(3), k)
    case("aten::diagflat", f32(2, 2), k)
    case("aten::diag_embed", f32(2, 3), k)
    case("aten::diag_embed", f32(2, 3), k, 0, 2)
    case("aten::diag_embed", f32(2, 3), k, 2, 0)
    case("aten::linalg_diagonal", f32(2, 3, 4), offset=k)
case("aten::diag_embed", t([nan, inf, 1.]))
fails("aten::diag_embed", f32())
fails("aten::diag", f32(2, 2, 2))
case("aten::trace", f32(3, 4))
case("aten::trace", i64(3, 3))
fails("aten::trace", f32(3))
case("aten::adjoint", f32(2, 3, 4))
case("aten::linalg_vecdot", f32(2, 3), f32(2, 3))
case("aten::linalg_vecdot", f32(2, 3), f32(2, 3), dim=0)
for op in ["matrix_power", "linalg_matrix_power"]:
    for n in [0, 1, 2, 5]:
        case(f"aten::{op}", f32(2, 3, 3), n)
    case(f"aten::{op}", f32(2, 2), -2, tol=(1e-3, 1e-4))
    fails(f"aten::{op}", f32(2, 3), 2)
for n in [1, 2, 3, 5]:
    case("aten::linalg_det", f32(n, n))
    case("aten::det", f64(2, n, n))
    case("aten::logdet", torch.eye(n) * 2 + f32(n, n, low=0, high=0.1))
    case("aten::slogdet", f32(2, n, n), tol=(1e-4, 1e-5))
    case("aten::linalg_slogdet", f32(n, n), tol=(1e-4, 1e-5))
fails("aten::linalg_det", f32(2, 3))
for n in [1, 2, 3, 4]:
    case("aten::linalg_inv", f32(n, n), tol=(1e-4, 1e-4))
    case("aten::inverse", torch.eye(n, dtype=torch.float64) * 2 + f64(3, n, n, low=0, high=0.5))
fails("aten::linalg_inv", f32(2, 3))
case("aten::cov", f32(3, 5))
case("aten::cov", f32(3, 5), correction=0)
case("aten::cov", f32(5))
case("aten::cov", i64(3, 5))
case("aten::corrcoef", f32(3, 5))
case("aten::corrcoef", f32(5))
for x in [f32(4), i64(3)]:
    case("aten::vander", x)
    case("aten::vander", x, 3)
    case("aten::vander", x, 5, True)
case("aten::linalg_vander", f32(2, 3))
case("aten::linalg_vander", f32(3), N=5)

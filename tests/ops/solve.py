"""Systems of linear equations."""
from cases import *

NEAR = (1e-4, 1e-4)  # matrices that are not far from singular ones lose digits


def definite(make, *sizes):
    """A matrix that has a Cholesky factor."""
    a = make(*sizes)
    return a @ a.transpose(-2, -1) + torch.eye(sizes[-1], dtype=a.dtype)


def lower(make, *sizes):
    return torch.linalg.cholesky(definite(make, *sizes))


swapped = t([[0., 2, 1], [3, 0, 1], [1, 1, 0]])  # no step works without changing rows
for a in [f32(3, 3), f64(7, 7), f32(2, 5, 5), swapped, f32(1, 1)]:
    n = a.shape[-1]
    make = f64 if a.dtype == torch.float64 else f32
    case("aten::linalg_solve", a, make(n, 2), tol=NEAR)
    case("aten::linalg_solve", a, make(1, 3, n), left=False, tol=NEAR)
    if a.dim() == 2:
        case("aten::linalg_solve", a, make(n), tol=NEAR)
case("aten::linalg_solve", f32(2, 1, 3, 3), f32(4, 3, 2), tol=NEAR)
case("aten::linalg_solve", f32(2, 3, 3), f32(2, 3), tol=NEAR)
case("aten::linalg_solve_ex", f32(2, 3, 3), f32(3, 1), tol=NEAR)
fails("aten::linalg_solve", f32(2, 3), f32(3, 1))
fails("aten::linalg_solve", f32(3, 3), f32(2, 1))
fails("aten::linalg_solve", i64(3, 3), i64(3, 1))
case("aten::linalg_inv", f32(6, 6), tol=NEAR)
case("aten::linalg_inv", f64(2, 9, 9), tol=NEAR)
case("aten::linalg_inv", f32(0, 0))
case("aten::linalg_inv_ex", f32(2, 3, 3), tol=NEAR)
for upper in [False, True]:
    for ones in [False, True]:
        case("aten::linalg_solve_triangular", f32(4, 4), f32(4, 2), upper=upper, unitriangular=ones, tol=NEAR)
        case("aten::linalg_solve_triangular", f32(4, 4), f32(2, 4), upper=upper, left=False, unitriangular=ones,
             tol=NEAR)
        case("aten::triangular_solve", f32(3, 2), f32(2, 3, 3), upper, True, ones, tol=NEAR)
    case("aten::triangular_solve", f32(3, 2), f32(3, 3), upper, tol=NEAR)
    case("aten::linalg_cholesky", definite(f32, 2, 4, 4), upper=upper, tol=NEAR)
    case("aten::cholesky", definite(f64, 5, 5), upper, tol=NEAR)
    factor = lower(f32, 3, 3)
    factor = factor.t().contiguous() if upper else factor
    case("aten::cholesky_solve", f32(3, 2), factor, upper, tol=NEAR)
    case("aten::cholesky_inverse", factor, upper, tol=NEAR)
case("aten::linalg_cholesky_ex", definite(f32, 2, 3, 3), tol=NEAR)
fails("aten::linalg_cholesky", f32(2, 3))
case("aten::qr", f32(4, 3), tol=NEAR)
case("aten::qr", f32(4, 3), False, tol=NEAR)
lu, pivots = torch.linalg.lu_factor(f32(3, 3))
case("aten::lu_solve", f32(3, 2), lu, pivots, tol=NEAR)

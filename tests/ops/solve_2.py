"""Matrix factorizations as in LAPACK, and operators composed of them."""
from cases import *

NEAR = (1e-4, 1e-4)
shapes = [(3, 3), (2, 4, 4), (4, 2), (2, 3, 5), (1, 1), (2, 0, 0)]
for make in (f32, f64):
    for sizes in shapes:
        a = make(*sizes)
        case("aten::linalg_lu_factor_ex", a, tol=NEAR)
        case("aten::linalg_lu", a, tol=NEAR)
        case("aten::geqrf", a, tol=NEAR)
        for mode in ("reduced", "complete", "r"):
            case("aten::linalg_qr", a, mode, tol=NEAR)
dominant = f32(3, 3) + 4 * torch.eye(3)  # no pivots are needed
case("aten::linalg_lu_factor", f32(4, 4), tol=NEAR)
case("aten::linalg_lu", f32(3, 3)[[1, 0, 2]], tol=NEAR)
case("aten::_lu_with_info", f32(2, 3, 3), tol=NEAR)
fails("aten::linalg_lu", i64(3, 3))
for a in (f32(4, 4), f64(2, 3, 3)):
    make = f64 if a.dtype == torch.float64 else f32
    lu, pivots = torch.linalg.lu_factor(a)
    n = a.shape[-1]
    for left in (True, False):
        for adjoint in (True, False):
            b = make(*a.shape[:-2], n, 2) if left else make(*a.shape[:-2], 2, n)
            case("aten::linalg_lu_solve", lu, pivots, b, left=left, adjoint=adjoint, tol=NEAR)
    case("aten::lu_unpack", lu, pivots, tol=NEAR)
    case("aten::_linalg_det", a, tol=NEAR)
    case("aten::_linalg_slogdet", a, tol=NEAR)
    case("aten::_linalg_solve_ex", a, make(*a.shape[:-2], n, 2), tol=NEAR)
a, tau = torch.geqrf(f32(4, 3))
for op in ("linalg_householder_product", "orgqr"):
    case("aten::" + op, a, tau, tol=NEAR)
for left in (True, False):
    for turned in (True, False):
        case("aten::ormqr", a, tau, f32(4, 2) if left else f32(2, 4), left, turned, tol=NEAR)
case("aten::linalg_tensorinv", f32(4, 6, 8, 3), tol=(1e-3, 1e-3))
case("aten::linalg_tensorinv", f64(6, 2, 3), 1, tol=NEAR)
case("aten::linalg_tensorsolve", f64(2, 3, 6), f64(2, 3), tol=NEAR)
case("aten::linalg_tensorsolve", f64(6, 2, 3), f64(2, 3), [0], tol=NEAR)
for op in ("aten::linalg_matrix_exp", "aten::matrix_exp"):
    for a in (f32(3, 3), f64(2, 4, 4) * 5, f32(2, 1, 1), torch.zeros(3, 3), f32(2, 0, 0)):
        case(op, a, tol=NEAR)
fails("aten::linalg_matrix_exp", f32(2, 3))
for a in (f32(3, 4), f64(2, 5, 3), torch.zeros(2, 3), f32(3, 1) @ f32(1, 4)):
    case("aten::linalg_matrix_norm", a, 2, tol=NEAR)
    case("aten::linalg_matrix_norm.str_ord", a, "nuc", tol=NEAR)
    case("aten::nuclear_norm", a, True, tol=NEAR)
case("aten::nuclear_norm.dim", f32(3, 2, 4), [2, 0], tol=NEAR)
case("aten::linalg_matrix_norm", f32(3, 2, 4), 2, [0, 2], True, tol=NEAR)
for singular in (torch.zeros(2, 2), torch.ones(3, 3), t([[[1, 2], [2, 4]], [[0, 1], [1, 0]]]), torch.zeros(2, 3, 4), f32(0, 0)):
    case("aten::linalg_lu_factor_ex", singular)
    case("aten::linalg_lu", singular)

"""Orthogonal polynomials."""
from cases import *

degrees = t([-2, 0, 1, 2, 3, 5, 8, 13])
for name in ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
             "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
             "shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
             "legendre_polynomial_p"):
    op, tol = f"aten::special_{name}", (1e-3, 1e-4)
    for x in (0.3, -0.6, 1.0, -1.0, 0.0, 1.7, -2.2):
        case(op, t([x]), degrees, tol=tol)
        case(op, t([x], torch.float64), degrees.double(), tol=(1e-10, 1e-10))
    case(op, f32(3, 1, low=-2, high=2), t([1.0, 2.9, 4.0]), tol=tol)
    case(op, i64(3, low=-2, high=2), i64(3, low=0, high=4), tol=tol)
    case(f"{op}.n_scalar", f32(2, 3), 4, tol=tol)
    case(f"{op}.n_scalar", f64(2, 3), 7, tol=(1e-10, 1e-10))
    case(f"{op}.x_scalar", 0.7, t([0.0, 1, 2, 6]), tol=tol)

"""Functions around the gamma function."""
from cases import *

a = t([0.1, 0.5, 1, 2.5, 7, 20, 45, 90, 140, 300, 2000])
for name in ("igamma", "igammac", "special_gammainc", "special_gammaincc"):
    op = f"aten::{name}"
    for share in (0.05, 0.5, 0.9, 1.0, 1.1, 1.5, 3.0):
        case(op, a, a * share, tol=(1e-4, 2e-6))
        case(op, a.double(), a.double() * share, tol=(1e-6, 1e-7))
    case(op, t([0.0, 0, 0, 1, 2, -1, 1, inf, inf, 3, nan]), t([0.0, 1, inf, 0, inf, 1, -1, 1, inf, 400, 1]))
    case(op, f32(3, 1, low=0.1, high=5), f32(4, low=0.1, high=8), tol=(1e-5, 2e-6))
q = t([0.1, 0.5, 1, 2.5, 7, 20, 300, -0.5, -2.3, -11.7, 0, -3, nan])
for s in (1.0, 1.5, 2.0, 3.0, 6.0, 0.5):
    case("aten::special_zeta", t([s]), q, tol=(1e-4, 1e-6))
    case("aten::special_zeta", t([s], torch.float64), q.double(), tol=(1e-11, 1e-12))
case("aten::special_zeta.self_scalar", 2.5, f32(2, 3, low=0.1, high=4), tol=(1e-5, 1e-6))
case("aten::special_zeta.other_scalar", f32(2, 3, low=1.5, high=4), 0.7, tol=(1e-5, 1e-6))
smooth = t([0.1, 0.5, 1, 2.5, 7, 20, 300, -0.5, -2.3, -11.7])
for n in (0, 1, 2, 3, 5, 8):
    for op in ("aten::polygamma", "aten::special_polygamma"):
        case(op, n, smooth, tol=(1e-4, 1e-5))
        case(op, n, smooth.double(), tol=(1e-9, 1e-10))
        case(op, n, i64(3, low=1, high=9), tol=(1e-4, 1e-5))
fails("aten::polygamma", -1, f32(3))

"""Functions that are computed by fitted polynomials."""
from cases import *

places = t([0, -0.0, 0.3, -1.5, 3, 7.9, -8, 8.1, -20, 60, nan])
for name in ("i0", "special_i0", "special_i0e", "special_i1", "special_i1e"):
    for x in (places, places.double(), f32(2, 3).t(), i64(4), boolean(3), f32(0, 2)):
        # Slopes are differences, in float32 with fewer figures.
        case(f"aten::{name}", x, tol=(5e-5, 1e-7) if x.dtype != torch.float64 else None)
    case(f"aten::{name}", f16(4))
wide = t([-5, -1.5, -0.2, 0, 0.2, 1, 3.75, 9, 40, 1e6, inf, nan])
for x in (wide, wide.double(), f32(2, 3), i64(4)):
    case("aten::special_erfcx", x, tol=(1e-5, 1e-7) if x.dtype != torch.float64 else None)
deep = t([-30, -5.5, -1.001, -1, -0.999, 0, 0.5, 3, 6, nan])
for x in (deep, deep.double(), f32(2, 3), i64(4)):
    case("aten::special_log_ndtr", x, tol=(5e-5, 1e-7) if x.dtype != torch.float64 else None)
shares = t([0, 1e-30, 1e-9, 0.01, 0.149, 0.151, 0.3, 0.5, 0.84, 0.86, 0.999, 1, -0.5, 2, nan])
for x in (shares, shares.double(), t([0.2, 0.9], torch.float16)):
    case("aten::special_ndtri", x, tol=(1e-5, 1e-6) if x.dtype == torch.float32 else None)
case("aten::special_ndtri", f64(6, low=0.02, high=0.98))

"""Bessel's functions."""
from cases import *

places = t([0, -0.0, 1e-3, 0.3, 1.5, 2, 2.1, 3, 7.9, 8, 8.1, 20, 60, 300, inf, nan])
# Far out the phase of a wave is known to as many digits as float32 has left.
for name in ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
             "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
             "spherical_bessel_j0"):
    ends = places[:12] if "bessel_i" in name else places
    # PyTorch's waves of float64 are off by up to 4e-7: J0(5.5) is -0.00684386942.
    double = (1e-4, 1e-6) if "bessel_j" in name or "bessel_y" in name else (1e-12, 1e-13)
    case(f"aten::special_{name}", ends, tol=(5e-5, 5e-6))
    case(f"aten::special_{name}", ends.double(), tol=double)
    case(f"aten::special_{name}", f64(40, low=-12, high=30), tol=double)
    case(f"aten::special_{name}", f32(2, 3, low=0.1, high=9).t(), tol=(5e-5, 5e-6))
    case(f"aten::special_{name}", i64(4), tol=(5e-5, 5e-6))
    case(f"aten::special_{name}", boolean(3), tol=(5e-5, 5e-6))
    case(f"aten::special_{name}", f32(0, 2))

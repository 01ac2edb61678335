"""Functions of one number."""
from cases import *

special = t([nan, inf, -inf, -0.0, 0.0, 1.0, -1.0])
DOMAINS = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-0.99, 0.99), "acosh": (1, 5),
           "erfinv": (-0.99, 0.99), "logit": (0.01, 0.99), "log": (0.01, 5), "log2": (0.01, 5),
           "log10": (0.01, 5), "log1p": (-0.9, 5), "sqrt": (0, 5), "rsqrt": (0.01, 5),
           "lgamma": (0.1, 5), "digamma": (0.1, 5)}
FLOAT = ("sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
         "asinh acosh atanh sigmoid erf erfc erfinv lgamma digamma reciprocal").split()
PIECEWISE = ["erfinv", "lgamma", "digamma"]  # fitted, and less exact
SAME = "neg abs floor ceil round trunc frac sign".split()

for name in FLOAT + SAME + ["signbit"]:
    low, high = DOMAINS.get(name, (-3, 3))
    for of in (f32, f64, f16, bf16):
        case(f"aten::{name}", of(2, 3, low=low, high=high))
    case(f"aten::{name}", f32(4, 6, low=low, high=high)[1:, ::2])
    case(f"aten::{name}", f32(3, 4, low=low, high=high).t())
    case(f"aten::{name}", f32(low=low, high=high))
    case(f"aten::{name}", f32(0, 3))
    case(f"aten::{name}", special)
    if name != "frac":
        case(f"aten::{name}", i64(4))
        case(f"aten::{name}", i32(4, low=0))
    if name in FLOAT:
        case(f"aten::{name}", boolean(3))
        fails(f"aten::{name}_", i64(3))
    if name != "signbit":
        case(f"aten::{name}_", f32(3, 4, low=low, high=high).t())
# Float64 to its last digits: where forms change over, near 0, in the tails, and at the ends.
for name in FLOAT:
    low, high = DOMAINS.get(name, (-8, 8))
    case(f"aten::{name}", f64(40, low=low, high=high), tol=(1e-12, 1e-14) if name not in PIECEWISE else None)
    if low < 0:
        case(f"aten::{name}", t([1e-3, -1e-5, 1e-9, -1e-12], torch.float64),
             tol=(1e-12, 1e-16) if name not in PIECEWISE else None, ort=name not in PIECEWISE)
    if name not in PIECEWISE:
        case(f"aten::{name}", special.double())
for name in ["floor", "ceil", "round", "trunc"]:
    case(f"aten::{name}", t([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e10, 0.49999997]))
for alias in ("negative absolute arcsin arccos arctan arcsinh arccosh arctanh special_expit fix "
              "sgn").split():
    case(f"aten::{alias}", f32(5, low=1, high=2) if alias == "arccosh" else f32(5, low=-1, high=1))
case("aten::sigmoid", t([-100.0, -20.0, 20.0, 100.0]))
case("aten::lgamma", t([-1.5, 0.0, 1.0, 2.0, -2.0]))
case("aten::digamma", t([-1.5, 0.5, 1.0, 2.0]))
for decimals in [0, 2, -1]:
    case("aten::round.decimals", f32(2, 3, low=-50, high=50), decimals=decimals)
fails("aten::round.decimals", i64(3), decimals=1)

for x in [special, special.double(), special.half(), special.bfloat16(), i64(3), f32(2, 3)]:
    case("aten::nan_to_num", x)
case("aten::nan_to_num", special, 1.5, 10.0, -10.0)
case("aten::nan_to_num_", special, nan=2.0)
for x in [f32(2, 3, low=0.01, high=0.99), f64(3, low=0.01, high=0.99), special]:
    case("aten::logit", x)
    case("aten::logit", x, 0.1)
    case("aten::logit", x, 0.6)
case("aten::logit", t([0, 1], torch.int64), 0.2)
for name in ["deg2rad", "rad2deg"]:
    case(f"aten::{name}", f32(2, 3))
    case(f"aten::{name}", i64(3))

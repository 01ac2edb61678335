"""Functions of torch.special, and identities on real numbers."""
from cases import *

for op in ["sinc", "special_sinc", "special_entr", "special_ndtr", "special_erf", "special_erfc",
           "special_exp2", "special_expm1", "angle"]:
    for x in shapes() + [t([0., -0., nan, inf, -inf]), i64(3), f64(2)]:
        case(f"aten::{op}", x)
for op in ["special_erfinv", "special_log1p", "special_logit"]:
    case(f"aten::{op}", f32(3, low=0.1, high=0.9))
case("aten::special_logit", f32(3), 0.1)
for op in ["special_gammaln", "special_digamma", "special_psi"]:
    case(f"aten::{op}", f32(3, low=0.5, high=3))
case("aten::special_round", f32(3), decimals=2)
case("aten::special_logsumexp", f32(2, 3), [1])
case("aten::special_softmax", f32(2, 3), 1)
case("aten::special_log_softmax", f32(2, 3), 1)
for op in ["special_xlogy", "special_xlog1py"]:
    case(f"aten::{op}", f32(2, 3), f32(3, low=0.1))
    case(f"aten::{op}", t([0., 0., 1., nan]), t([nan, -1., 2., 1.]))
case("aten::ldexp.Tensor", f32(2, 3), i64(3))
case("aten::ldexp.Tensor", i64(2, 3), i64(3, low=0))
for op in ["conj", "real", "conj_physical", "isreal"]:
    case(f"aten::{op}", f32(2, 3))
    case(f"aten::{op}", i64(2))
for op in ["mvlgamma", "special_multigammaln"]:
    for p in [1, 3]:
        case(f"aten::{op}", f32(4, low=1.5, high=9), p)
fails("aten::mvlgamma", f32(4), 0)

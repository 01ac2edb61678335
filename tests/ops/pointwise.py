"""Arithmetic and functions of numbers."""
from cases import *

for name in ["neg", "abs", "exp"]:
    for x in shapes() + [f64(3), f16(4), bf16(4), i64(4), t([nan, inf, -inf, -0.0])]:
        case(f"aten::{name}", x)
    case(f"aten::{name}_", f32(3, 4).t())

case("aten::add.Tensor", f32(2, 3), f32(3), alpha=2)
case("aten::add.Scalar", i32(2, 3), 3, 2)
case("aten::add.Scalar", i32(2, 3), 1.5)
case("aten::add_.Tensor", f32(3, 4).t(), i64(3))
fails("aten::add.Tensor", f32(2), f32(3))
fails("aten::add.Tensor", i64(2), i64(2), alpha=1.5)

"""Comparisons, logic, bits and choices."""
from cases import *

special = t([nan, inf, -inf, -0.0, 0.0, 1.0])

for op in ["eq", "ne", "gt", "lt", "ge", "le"]:
    case(f"aten::{op}.Tensor", f32(2, 3), f32(3))
    case(f"aten::{op}.Tensor", f32(3, 4).t(), f32(4, 6)[:, ::2])
    case(f"aten::{op}.Tensor", i64(2, 6, low=0, high=2), i64(6, low=0, high=2))
    case(f"aten::{op}.Tensor", i32(4, low=0, high=2), f32(4))
    case(f"aten::{op}.Tensor", u8(4, high=2), i64(4, low=0, high=2))
    case(f"aten::{op}.Tensor", boolean(4), boolean(4))
    case(f"aten::{op}.Tensor", f16(4), f16(4))
    case(f"aten::{op}.Tensor", f32(), f64(3))
    case(f"aten::{op}.Tensor", f32(0, 3), f32(3))
    case(f"aten::{op}.Tensor", special, special.flip(0))
    case(f"aten::{op}.Tensor", special, special)
    case(f"aten::{op}.Scalar", f32(2, 3), 0.5)
    case(f"aten::{op}.Scalar", f16(3), 0.1)
    case(f"aten::{op}.Scalar", i64(5, low=0, high=3), 1)
    case(f"aten::{op}.Scalar", i64(5, low=0, high=3), 1.5)
    case(f"aten::{op}.Scalar", boolean(4), 1)
    case(f"aten::{op}_.Scalar", f32(4), 0)
    fails(f"aten::{op}.Tensor", f32(2), f32(3))
for alias in ["not_equal", "greater", "less", "greater_equal", "less_equal"]:
    case(f"aten::{alias}.Tensor", i64(4, low=0, high=2), i64(4, low=0, high=2))
    case(f"aten::{alias}.Scalar", i64(4, low=0, high=2), 1)

for op in ["logical_and", "logical_or", "logical_xor"]:
    case(f"aten::{op}", boolean(2, 3), boolean(3))
    case(f"aten::{op}", f32(2, 3), boolean(3))
    case(f"aten::{op}", i64(6, low=0, high=1), i32(6, low=0, high=1))
    case(f"aten::{op}", special, special.flip(0))
    case(f"aten::{op}_", boolean(4), boolean(4))
for op in ["logical_not", "isnan", "isinf", "isfinite", "isposinf", "isneginf"]:
    for x in [special, special.double(), special.half(), special.reshape(2, 3).t(), i64(4, low=0, high=1)]:
        case(f"aten::{op}", x)
    case(f"aten::{op}", f32(0, 2))
case("aten::logical_not", boolean(4))
case("aten::logical_not_", f32(4))
case("aten::isclose", special, special.flip(0))
case("aten::isclose", f32(4), f32(4) + 1e-6)
case("aten::isclose", special, special, equal_nan=True)
case("aten::isclose", f32(4), f32(4), 0.1, 0.5)
case("aten::isclose", boolean(4), t([True, True, False, False], torch.bool))

for op in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
    case(f"aten::{op}.Tensor", i64(2, 3), i64(3))
    case(f"aten::{op}.Tensor", i32(4), i64(4))
    case(f"aten::{op}.Tensor", u8(4), u8(4))
    case(f"aten::{op}.Tensor", boolean(2, 3), boolean(3))
    case(f"aten::{op}.Scalar", i64(4), 5)
    case(f"aten::{op}.Scalar", boolean(4), True)
    case(f"aten::{op}.Scalar_Tensor", 5, i32(4))
    case(f"aten::{op}_.Tensor", i64(4), i64(4))
    fails(f"aten::{op}.Tensor", f32(3), f32(3))
for op in ["__and__", "__or__", "__xor__"]:
    case(f"aten::{op}.Tensor", boolean(4), boolean(4))
    case(f"aten::{op}.Tensor", i64(4), i64(4))
    case(f"aten::{op}.Scalar", i64(4), 6)
for x in [i64(4), i32(4), u8(4), i8(4), boolean(4)]:
    case("aten::bitwise_not", x)
fails("aten::bitwise_not", f32(3))
for op in ["left", "right"]:
    for of in [i64, i32, u8]:
        case(f"aten::bitwise_{op}_shift.Tensor", of(2, 3), of(3, low=0, high=3))
        case(f"aten::bitwise_{op}_shift.Tensor_Scalar", of(4), 2)
    case(f"aten::bitwise_{op}_shift.Scalar_Tensor", 100, i64(4, low=0, high=3))
for op in ["__iand__", "__ior__", "__ixor__"]:
    case(f"aten::{op}.Tensor", i64(2, 3), i64(3))
    case(f"aten::{op}.Tensor", boolean(2, 3), boolean(3))
    case(f"aten::{op}.Scalar", i32(2, 3), 5)
for op in ["__ilshift__", "__irshift__"]:
    case(f"aten::{op}.Tensor", i64(2, 3), t([1, 0, 3], torch.int64))
    case(f"aten::{op}.Scalar", i64(2, 3), 2)
for op in ["__lshift__", "__rshift__"]:
    case(f"aten::{op}.Tensor", i64(4), i64(4, low=0, high=3))
    case(f"aten::{op}.Scalar", i64(4), 2)
    fails(f"aten::{op}.Tensor", f32(4), f32(4, low=0, high=3))

for x, y in [(f32(2, 3), f32(3)), (f32(2, 3), f64(3)), (i64(3), f32(2, 1)), (i32(3), i32(3)),
             (f16(3), f16(3)), (boolean(3), boolean(3)), (f32(3), f64()), (f32(4, 3).t(), f32(4)[:4])]:
    size = x.shape[-1] if x.dim() else 1
    case("aten::where.self", boolean(2, 4)[:, :size] if size > 1 else boolean(2, 1), x, y) \
        if x.shape != (3, 4) else case("aten::where.self", boolean(3, 4), x, y)
case("aten::where.self", boolean(2, 1, 3), f32(4, 1), f32())
case("aten::where.ScalarOther", boolean(3), f32(3), 1.5)
case("aten::where.ScalarOther", boolean(3), i64(3), 2)
case("aten::where.ScalarSelf", boolean(3), 2, f32(3))
case("aten::where.ScalarSelf", boolean(3), 2.5, f64(3))
case("aten::where.Scalar", boolean(3), 1, 2)
case("aten::where.Scalar", boolean(3), 1.5, 2.5)
case("aten::where", boolean(2, 3))
case("aten::where", i64(6, low=0, high=1))
fails("aten::where.self", f32(3), f32(3), f32(3))
for x in [f32(2, 3), f32(3, 2).t(), i64(2, 3), f16(2, 3), boolean(2, 3)]:
    case("aten::masked_fill.Scalar", x, boolean(2, 3), 1)
    case("aten::masked_fill.Scalar", x, boolean(3), True)
case("aten::masked_fill.Scalar", f32(2, 3), boolean(2, 1), -inf)
case("aten::masked_fill.Scalar", f32(3), boolean(2, 3), 2.5)
case("aten::masked_fill_.Scalar", f32(3, 2).t(), boolean(3), 2.5)
case("aten::masked_fill.Tensor", f32(2, 3), boolean(2, 3), f32())
case("aten::masked_fill.Tensor", i64(2, 3), boolean(3), i64())
fails("aten::masked_fill.Tensor", f32(2, 3), boolean(2, 3), f32(1))
fails("aten::masked_fill.Scalar", f32(2, 3), f32(2, 3), 1)

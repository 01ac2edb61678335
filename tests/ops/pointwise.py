"""Arithmetic of two and three operands, powers and bounds."""
from cases import *

special = t([nan, inf, -inf, -0.0, 0.0, 1.0])


def pairs(op, numbers=(2, 1.5), integers=True, **kwargs):
    """Two tensors that broadcast, of the dtypes that promote, with strides and without."""
    case(op, f32(2, 3), f32(3), **kwargs)
    case(op, f32(2, 1, 3), f32(4, 1), **kwargs)
    case(op, f32(), f32(3), **kwargs)
    case(op, f32(3), f32(2, 3), **kwargs)
    case(op, f32(3, 4).t(), f32(4, 6)[:, ::2], **kwargs)
    case(op, f32(0, 3), f32(3), **kwargs)
    case(op, f64(3), f32(3), **kwargs)
    case(op, f16(3), f16(3), **kwargs)
    case(op, bf16(3), f32(3), **kwargs)
    case(op, f32(3), f64(), **kwargs)
    if integers:
        case(op, i64(5), i64(5, low=1), **kwargs)
        case(op, i32(2, 3), i64(3, low=1), **kwargs)
        case(op, u8(4), u8(4, low=1), **kwargs)
        case(op, i64(3), f32(3), **kwargs)
        case(op, i32(3), i64(low=1), **kwargs)


def scalars(op, integers=(2, -3), **kwargs):
    case(op, f32(2, 3), 2, **kwargs)
    case(op, f32(2, 3), -1.5, **kwargs)
    case(op, f16(3), 1.5, **kwargs)
    for n in integers:
        case(op, i64(5), n, **kwargs)
        case(op, i32(5), n, **kwargs)
    case(op, i64(5), 1.5, **kwargs)
    case(op, u8(5), 3, **kwargs)
    case(op, f64(), 3, **kwargs)


for op in ["add", "sub", "mul", "div", "floor_divide", "remainder", "fmod"]:
    overload = "" if op == "floor_divide" else ".Tensor"
    pairs(f"aten::{op}{overload}")
    scalars(f"aten::{op}.Scalar")
    case(f"aten::{op}_.Tensor", f32(2, 3), f32(3))
    case(f"aten::{op}_.Scalar", f32(3, 4).t(), 2.5)
    case(f"aten::{op}{overload}", special, special.flip(0))
    fails(f"aten::{op}{overload}", f32(2), f32(3))
for op in ["add.Tensor", "mul.Tensor"]:
    case(f"aten::{op}", boolean(4), boolean(4))
    case(f"aten::{op}", boolean(4), i64(4))
    case(f"aten::{op}", boolean(4), f32(4))
for op in ["add", "sub", "rsub"]:
    case(f"aten::{op}.Tensor", f32(2, 3), f32(3), alpha=2)
    case(f"aten::{op}.Tensor", f32(2, 3), i64(3), alpha=-0.5)
    case(f"aten::{op}.Tensor", i64(2, 3), i64(3), alpha=3)
    case(f"aten::{op}.Scalar", f32(2, 3), 1.25, 2)
    case(f"aten::{op}.Scalar", i32(4), 7, 2)
    case(f"aten::{op}.Scalar", i32(4), 7.5, 2)
    fails(f"aten::{op}.Tensor", i64(2), i64(2), alpha=1.5)
    for x in [boolean(4), u8(4), i8(4), i16(4), i64(4)]:
        for number in [0.001, -0.5, 1e-20] + ([] if x.dtype == torch.bool else [3]):
            if not (x.dtype == torch.bool and op != "add"):
                case(f"aten::{op}.Scalar", x, number)
                case(f"aten::{op}.Tensor", x, t(number, torch.float32))
case("aten::add_.Tensor", f32(3), i64(3))
fails("aten::add_.Tensor", i64(3), f32(3))
fails("aten::add_.Tensor", f32(3), f32(2, 3))
fails("aten::div_.Tensor", i64(3), i64(3, low=1))
fails("aten::sub.Tensor", boolean(3), boolean(3))
pairs("aten::rsub.Tensor")
case("aten::_test_serialization_subcmul", f32(2, 3), f32(3), 2)
scalars("aten::rsub.Scalar")
fails("aten::remainder.Tensor", i64(3), i64(3, low=0, high=0))
fails("aten::floor_divide", i64(3), i64(3, low=0, high=0))
case("aten::remainder.Scalar_Tensor", 7, i64(4, low=1))
case("aten::remainder.Scalar_Tensor", -7.5, f32(4))
for mode in [None, "trunc", "floor"]:
    pairs("aten::div.Tensor_mode", rounding_mode=mode)
    scalars("aten::div.Scalar_mode", rounding_mode=mode)
    case("aten::div.Tensor_mode", special, special.flip(0), rounding_mode=mode)
case("aten::div_.Tensor_mode", f32(4), f32(4), rounding_mode="floor")
fails("aten::div.Tensor_mode", f32(3), f32(3), rounding_mode="up")

for alias in ["subtract.Tensor", "multiply.Tensor", "divide.Tensor", "true_divide.Tensor"]:
    case(f"aten::{alias}", f32(2, 3), f32(3))
for alias in ["subtract.Scalar", "multiply.Scalar", "divide.Scalar", "true_divide.Scalar"]:
    case(f"aten::{alias}", i64(2, 3), 2)
case("aten::divide.Tensor_mode", i64(4), i64(4, low=1), rounding_mode="floor")
case("aten::divide.Scalar_mode", i64(4), 3, rounding_mode="trunc")

pairs("aten::pow.Tensor_Tensor")
case("aten::pow.Tensor_Tensor", i64(6), i64(6, low=-3, high=3))
case("aten::pow.Tensor_Tensor", t([0, 0, 0, 1, -1, 2], torch.int64), t([-2, 0, 3, -1, -3, -1], torch.int64))
case("aten::pow.Tensor_Tensor", special, t([0.5, 0.5, -1, 2, -2, nan]))
for exponent in [0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.7, 4]:
    case("aten::pow.Tensor_Scalar", f32(2, 3, low=0), exponent)
for exponent in [0, 1, 2, 3, 0.5, -1.0, 2.0]:
    case("aten::pow.Tensor_Scalar", i64(5), exponent)
case("aten::pow.Tensor_Scalar", special, 0.5)
case("aten::pow.Tensor_Scalar", special, 2)
case("aten::pow.Tensor_Scalar", boolean(3), 2)
case("aten::pow.Tensor_Scalar", f16(3), 2)
case("aten::pow_.Scalar", f32(3), 2)
fails("aten::pow.Tensor_Scalar", i64(3), -1)
case("aten::pow.Scalar", 2, f32(4))
case("aten::pow.Scalar", 2.5, i64(4))
case("aten::pow.Scalar", 2, i64(4, low=0))
case("aten::pow.Scalar", 1, f32(4))
case("aten::float_power.Tensor_Tensor", f32(2, 3, low=0), i64(3))
case("aten::float_power.Tensor_Scalar", i64(4, low=1), -2)
case("aten::float_power.Scalar", 2, f32(4))
for x in [f32(2, 3), i64(4), boolean(3), special]:
    case("aten::square", x)

for op in ["atan2", "minimum", "maximum"]:
    pairs(f"aten::{op}")
    case(f"aten::{op}", special, special.flip(0))
for op in ["fmin", "fmax"]:
    pairs(f"aten::{op}")
    case(f"aten::{op}", special, special.flip(0))
for op in ["copysign.Tensor", "xlogy.Tensor"]:
    pairs(f"aten::{op}")
case("aten::nextafter", t([1.0, 0.0, -1.0, 2.0, inf]), t([2.0, -1.0, nan, 2.0, 0.0]))
case("aten::nextafter", special, special.flip(0))
case("aten::nextafter", f32(2, 1), f64(3))
fails("aten::nextafter", i64(3), i64(3))
for op in ["hypot", "logaddexp", "logaddexp2"]:
    pairs(f"aten::{op}", integers=False)
case("aten::logaddexp", special, special.flip(0))
case("aten::xlogy.Tensor", special, special.flip(0))
case("aten::copysign.Scalar", f32(3), -2)
case("aten::xlogy.Scalar_Other", f32(3), 2.5)
case("aten::xlogy.Scalar_Self", 2.5, f32(3, low=0))
case("aten::heaviside", t([-1.0, 0.0, 2.0, nan]), f32(4))
case("aten::heaviside", i64(4, low=-1, high=1), i64(4))
fails("aten::heaviside", f32(3), i64(3))
for alias in ["min.other", "max.other", "arctan2", "clamp_min.Tensor", "clamp_max.Tensor"]:
    case(f"aten::{alias}", f32(2, 3), f32(3))

for x in [f32(2, 3), f32(3, 4).t(), f32(), f16(4), special]:
    case("aten::clamp", x, -0.5, 0.75)
    case("aten::clamp", x, min=0)
    case("aten::clamp", x, max=0.25)
    case("aten::clamp", x, 1, -1)
for x in [i64(5), i32(5), u8(5)]:
    case("aten::clamp", x, 1, 4)
    case("aten::clamp", x, max=3)
case("aten::clamp", i64(5), 0.5, 2.5)
case("aten::clamp", i64(5), -1.5)
case("aten::clamp_", f32(2, 3), -0.5, 0.5)
case("aten::clamp_", i64(5), 1, 4)
fails("aten::clamp", f32(3))
case("aten::clip", f32(5), -0.5, 0.5)
case("aten::clip.Tensor", f32(5), f32(5), f32(5))
case("aten::clamp_min", f32(5), 0.5)
case("aten::clamp_min", i64(5), 2)
case("aten::clamp_min_", i64(5), 2)
case("aten::clamp_max", f32(5), 0.5)
case("aten::clamp_max", i64(5), 2)
case("aten::clamp.Tensor", f32(2, 3), f32(3), f32(2, 1))
case("aten::clamp.Tensor", f32(2, 3), f32(3))
case("aten::clamp.Tensor", f32(2, 3), max=f32())
case("aten::clamp.Tensor", i64(4), i64(4), i64(4))
case("aten::clamp.Tensor", special, t(-1.0), t(1.0))
case("aten::clamp_min.Tensor", special, special.flip(0))

for op in ["addcmul", "addcdiv"]:
    case(f"aten::{op}", f32(2, 3), f32(3), f32(2, 1), value=0.5)
    case(f"aten::{op}", f32(2, 3), f32(3), f32(2, 1))
    case(f"aten::{op}", f64(3), f64(3), f64(3), value=-2)
    case(f"aten::{op}_", f32(2, 3), f32(3), f32(2, 1), value=2)
case("aten::addcmul", i64(3), i64(3), i64(3), value=3)
case("aten::addcmul", i64(3), i64(3), i64(3), value=0.5)
fails("aten::addcdiv", i64(3), i64(3), i64(3))
case("aten::lerp.Scalar", f32(2, 3), f32(3), 0.25)
case("aten::lerp.Scalar", f32(2, 3), f32(3), 0.75)
case("aten::lerp.Tensor", f32(2, 3), f32(3), f32(2, 1))
case("aten::lerp_.Scalar", f32(3), f32(3), 2)
fails("aten::lerp.Scalar", f32(3), f64(3), 0.5)

"""Arithmetic and functions, element by element."""

import math
import torch

from calque import derived, dtype_name, gradient, operator, result_type, traits
from aten.linalg import factor_in, times


@operator("aten::_test_serialization_subcmul(Tensor self, Tensor other, Scalar alpha=1) -> Tensor")
def _test_serialization_subcmul(self, other, alpha):
    """Self - other * alpha, an operator of PyTorch's own tests."""
    return self - times(other, factor_in(alpha, other.dtype))


@operator(
    "aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    of_views=True,
)
def subtract_Tensor(self, other, alpha):
    """The same as aten::sub.Tensor."""
    return torch.ops.aten.sub.Tensor(self, other, alpha=alpha)


@operator(
    "aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    of_views=True,
)
def subtract_Scalar(self, other, alpha):
    """The same as aten::sub.Scalar."""
    return torch.ops.aten.sub.Scalar(self, other, alpha)


@operator("aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def multiply_Tensor(self, other):
    """The same as aten::mul.Tensor."""
    return torch.ops.aten.mul.Tensor(self, other)


@operator("aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def multiply_Scalar(self, other):
    """The same as aten::mul.Scalar."""
    return torch.ops.aten.mul.Scalar(self, other)


@operator("aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
@operator("aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def divide_Tensor(self, other):
    """The same as aten::div.Tensor."""
    return torch.ops.aten.div.Tensor(self, other)


@operator("aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
@operator("aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def divide_Scalar(self, other):
    """The same as aten::div.Scalar."""
    return torch.ops.aten.div.Scalar(self, other)


@operator(
    "aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    of_views=True,
)
def divide_Tensor_mode(self, other, rounding_mode):
    """The same as aten::div.Tensor_mode."""
    return torch.ops.aten.div.Tensor_mode(self, other, rounding_mode=rounding_mode)


@operator(
    "aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
    of_views=True,
)
def divide_Scalar_mode(self, other, rounding_mode):
    """The same as aten::div.Scalar_mode."""
    return torch.ops.aten.div.Scalar_mode(self, other, rounding_mode=rounding_mode)


@operator("aten::square(Tensor self) -> Tensor", of_views=True, vmap="elementwise")
def square(self):
    """The second power."""
    return torch.pow(self, 2)


@operator(
    "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    of_views=True,
)
def float_power_Tensor_Tensor(self, exponent):
    """The power in double precision."""
    return torch.pow(self.to(torch.float64), exponent.to(torch.float64))


@operator("aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", of_views=True)
def float_power_Scalar(self, exponent):
    """The power in double precision."""
    return torch.pow(float(self), exponent.to(torch.float64))


@operator(
    "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    of_views=True,
)
def float_power_Tensor_Scalar(self, exponent):
    """The power in double precision."""
    return torch.pow(self.to(torch.float64), float(exponent))


@operator("aten::logaddexp2(Tensor self, Tensor other) -> Tensor")
def logaddexp2(self, other):
    """Log2(2 ** self + 2 ** other).

    In float32 at least: rounding to half precision three times would be visible.
    """
    dtype = result_type(self, other)
    wide = torch.float32 if dtype in [torch.float16, torch.bfloat16] else dtype
    ln2 = math.log(2)
    return (torch.logaddexp(self.to(wide) * ln2, other.to(wide) * ln2) * (1 / ln2)).to(dtype)


@operator("aten::heaviside(Tensor self, Tensor values) -> Tensor")
def heaviside(self, values):
    """0 below zero, 1 above it, values at it."""
    assert (
        self.dtype == values.dtype
    ), f"expected {dtype_name(self.dtype)} values, got {dtype_name(values.dtype)}"
    return torch.where(self == 0, values, (self > 0).to(self.dtype))


@operator("aten::min.other(Tensor self, Tensor other) -> Tensor", of_views=True)
def min_other(self, other):
    """The same as aten::minimum."""
    return torch.ops.aten.minimum(self, other)


@operator("aten::max.other(Tensor self, Tensor other) -> Tensor", of_views=True)
def max_other(self, other):
    """The same as aten::maximum."""
    return torch.ops.aten.maximum(self, other)


@operator("aten::arctan2(Tensor self, Tensor other) -> Tensor", of_views=True)
def arctan2(self, other):
    """The same as aten::atan2."""
    return torch.ops.aten.atan2(self, other)


@operator("aten::clamp_min(Tensor self, Scalar min) -> Tensor", of_views=True)
def clamp_min(self, min):
    """The elements, at least min."""
    return torch.clamp(self, min)


@operator("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", of_views=True)
def clamp_min_Tensor(self, min):
    """The same as aten::maximum."""
    return torch.ops.aten.maximum(self, min)


@operator("aten::clamp_max(Tensor self, Scalar max) -> Tensor", of_views=True)
def clamp_max(self, max):
    """The elements, at most max."""
    return torch.clamp(self, None, max)


@operator("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", of_views=True)
def clamp_max_Tensor(self, max):
    """The same as aten::minimum."""
    return torch.ops.aten.minimum(self, max)


@operator("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", of_views=True)
def clip(self, min, max):
    """The same as aten::clamp."""
    return torch.ops.aten.clamp(self, min, max)


@operator(
    "aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    of_views=True,
)
def clip_Tensor(self, min, max):
    """The same as aten::clamp.Tensor."""
    return torch.ops.aten.clamp.Tensor(self, min, max)


@operator("aten::deg2rad(Tensor self) -> Tensor", of_views=True)
def deg2rad(self):
    """Degrees to radians."""
    return self * (math.pi / 180)


@operator("aten::rad2deg(Tensor self) -> Tensor", of_views=True)
def rad2deg(self):
    """Radians to degrees."""
    return self * (180 / math.pi)


@operator("aten::round.decimals(Tensor self, *, int decimals) -> Tensor", of_views=True)
def round_decimals(self, decimals):
    """The nearest multiple of a power of ten."""
    if decimals == 0:
        return self.round()
    assert self.is_floating_point(), f"expected floats, got {dtype_name(self.dtype)}"
    ten = 10.0 ** abs(decimals)
    return (self * ten).round() / ten if decimals > 0 else (self / ten).round() * ten


@operator("aten::negative(Tensor self) -> Tensor", of_views=True)
def negative(self):
    """The same as aten::neg."""
    return torch.ops.aten.neg(self)


@operator("aten::absolute(Tensor self) -> Tensor", of_views=True)
def absolute(self):
    """The same as aten::abs."""
    return torch.ops.aten.abs(self)


@operator("aten::arcsin(Tensor self) -> Tensor", of_views=True)
def arcsin(self):
    """The same as aten::asin."""
    return torch.ops.aten.asin(self)


@operator("aten::arccos(Tensor self) -> Tensor", of_views=True)
def arccos(self):
    """The same as aten::acos."""
    return torch.ops.aten.acos(self)


@operator("aten::arctan(Tensor self) -> Tensor", of_views=True)
def arctan(self):
    """The same as aten::atan."""
    return torch.ops.aten.atan(self)


@operator("aten::arcsinh(Tensor self) -> Tensor", of_views=True)
def arcsinh(self):
    """The same as aten::asinh."""
    return torch.ops.aten.asinh(self)


@operator("aten::arccosh(Tensor self) -> Tensor", of_views=True)
def arccosh(self):
    """The same as aten::acosh."""
    return torch.ops.aten.acosh(self)


@operator("aten::arctanh(Tensor self) -> Tensor", of_views=True)
def arctanh(self):
    """The same as aten::atanh."""
    return torch.ops.aten.atanh(self)


@operator("aten::special_expit(Tensor self) -> Tensor", of_views=True)
def special_expit(self):
    """The same as aten::sigmoid."""
    return torch.ops.aten.sigmoid(self)


@operator("aten::fix(Tensor self) -> Tensor", of_views=True)
def fix(self):
    """The same as aten::trunc."""
    return torch.ops.aten.trunc(self)


@operator("aten::sgn(Tensor self) -> Tensor", of_views=True)
def sgn(self):
    """The same as aten::sign."""
    return torch.ops.aten.sign(self)


@gradient("aten::add.Tensor")
def add_Tensor_gradient(grad, alpha):
    return {"self": grad, "other": grad * alpha}


@gradient("aten::add.Scalar")
@gradient("aten::sub.Scalar")
@gradient("aten::remainder.Scalar")
@gradient("aten::fmod.Scalar")
@gradient("aten::frac")
def add_Scalar_gradient(grad):
    return {"self": grad}


@gradient("aten::sub.Tensor")
def sub_Tensor_gradient(grad, alpha):
    return {"self": grad, "other": -grad * alpha}


@gradient("aten::rsub.Tensor")
def rsub_Tensor_gradient(grad, alpha):
    return {"self": -grad * alpha, "other": grad}


@gradient("aten::rsub.Scalar")
def rsub_Scalar_gradient(grad, alpha):
    return {"self": -grad * alpha}


@gradient("aten::mul.Tensor")
def mul_Tensor_gradient(grad, self, other):
    return {"self": grad * other, "other": grad * self}


@gradient("aten::mul.Scalar")
def mul_Scalar_gradient(grad, other):
    return {"self": grad * other}


@gradient("aten::div.Tensor")
def div_Tensor_gradient(grad, self, other):
    return {"self": grad / other, "other": -grad * (self / other / other)}


@gradient("aten::div.Scalar")
def div_Scalar_gradient(grad, other):
    return {"self": grad / other}


@gradient("aten::div.Tensor_mode")
def div_Tensor_mode_gradient(grad, self, other, rounding_mode):
    if rounding_mode is None:
        return {"self": grad / other, "other": -grad * (self / other / other)}
    else:
        return {"self": torch.zeros_like(self), "other": torch.zeros_like(other)}


@gradient("aten::div.Scalar_mode")
def div_Scalar_mode_gradient(grad, self, other, rounding_mode):
    return {"self": grad / other if rounding_mode is None else torch.zeros_like(self)}


@gradient("aten::remainder.Tensor")
def remainder_Tensor_gradient(grad, self, other):
    return {"self": grad, "other": -grad * torch.floor(self / other)}


@gradient("aten::remainder.Scalar_Tensor")
def remainder_Scalar_Tensor_gradient(grad, self, other):
    return {"other": -grad * torch.floor(self / other)}


@gradient("aten::fmod.Tensor")
def fmod_Tensor_gradient(grad, self, other):
    return {"self": grad, "other": -grad * torch.trunc(self / other)}


@gradient("aten::pow.Tensor_Tensor")
def pow_Tensor_Tensor_gradient(grad, result, self, exponent):
    return {
        "self": torch.where(exponent == 0, 0, grad * (exponent * torch.pow(self, exponent - 1))),
        "exponent": torch.where(
            torch.logical_and(self == 0, exponent >= 0), 0, grad * (result * torch.log(self))
        ),
    }


@gradient("aten::pow.Tensor_Scalar")
def pow_Tensor_Scalar_gradient(grad, self, exponent):
    """x ** 0 is 1 even where x ** -1 is infinite."""
    return {
        "self": torch.zeros_like(self)
        if exponent == 0
        else grad * (exponent * torch.pow(self, exponent - 1))
    }


@gradient("aten::pow.Scalar")
def pow_Scalar_gradient(grad, result, self, exponent):
    return {
        "exponent": torch.where(
            torch.logical_and(torch.full_like(exponent, self) == 0, exponent >= 0),
            0,
            grad * (result * torch.log(torch.full_like(exponent, self))),
        )
    }


@gradient("aten::atan2")
def atan2_gradient(grad, self, other):
    return {
        "self": grad * (other / (self * self + other * other)),
        "other": grad * (-self / (self * self + other * other)),
    }


@gradient("aten::hypot")
def hypot_gradient(grad, result, self, other):
    return {"self": grad * (self / result), "other": grad * (other / result)}


@gradient("aten::copysign.Tensor")
def copysign_Tensor_gradient(grad, result, self, other):
    return {
        "self": torch.where(self == 0, 0, grad * (result / self)),
        "other": torch.zeros_like(other),
    }


@gradient("aten::copysign.Scalar")
def copysign_Scalar_gradient(grad, result, self):
    return {"self": torch.where(self == 0, 0, grad * (result / self))}


@gradient("aten::xlogy.Tensor")
def xlogy_Tensor_gradient(grad, self, other):
    return {
        "self": torch.where(torch.logical_and(self == 0, other <= 0), 0, torch.xlogy(grad, other)),
        "other": grad * self / other,
    }


@gradient("aten::xlogy.Scalar_Other")
def xlogy_Scalar_Other_gradient(grad, self, other):
    return {
        "self": torch.where(
            torch.logical_and(self == 0, torch.full_like(self, other) <= 0),
            0,
            torch.xlogy(grad, other),
        )
    }


@gradient("aten::xlogy.Scalar_Self")
def xlogy_Scalar_Self_gradient(grad, self, other):
    return {"other": grad * self / other}


@gradient("aten::logaddexp")
def logaddexp_gradient(grad, self, other):
    return {
        "self": grad / (1 + torch.exp(other - self)),
        "other": grad / (1 + torch.exp(self - other)),
    }


@gradient("aten::minimum")
def minimum_gradient(grad, self, other):
    return {
        "self": torch.where(self == other, grad / 2, torch.where(self > other, 0, grad)),
        "other": torch.where(self == other, grad / 2, torch.where(self < other, 0, grad)),
    }


@gradient("aten::maximum")
def maximum_gradient(grad, self, other):
    return {
        "self": torch.where(self == other, grad / 2, torch.where(self < other, 0, grad)),
        "other": torch.where(self == other, grad / 2, torch.where(self > other, 0, grad)),
    }


@gradient("aten::fmin")
def fmin_gradient(grad, self, other):
    return {
        "self": torch.where(torch.logical_or(self <= other, torch.isnan(other)), grad, 0),
        "other": torch.where(torch.logical_or(self <= other, torch.isnan(other)), 0, grad),
    }


@gradient("aten::fmax")
def fmax_gradient(grad, self, other):
    return {
        "self": torch.where(torch.logical_or(self >= other, torch.isnan(other)), grad, 0),
        "other": torch.where(torch.logical_or(self >= other, torch.isnan(other)), 0, grad),
    }


@gradient("aten::clamp")
def clamp_gradient(grad, self, min, max):
    if min is None:
        return {"self": torch.where(self <= max, grad, 0)}
    elif max is None:
        return {"self": torch.where(self >= min, grad, 0)}
    else:
        return {"self": torch.where(torch.logical_and(self >= min, self <= max), grad, 0)}


@gradient("aten::clamp.Tensor")
def clamp_Tensor_gradient(grad, self, min, max):
    """Where the bounds cross, max wins."""
    if min is None:
        return {"self": torch.where(self <= max, grad, 0), "max": torch.where(self > max, grad, 0)}
    elif max is None:
        return {"self": torch.where(self >= min, grad, 0), "min": torch.where(self < min, grad, 0)}
    else:
        return {
            "self": torch.where(torch.logical_and(self >= min, self <= max), grad, 0),
            "min": torch.where(torch.logical_and(self < min, min < max), grad, 0),
            "max": torch.where(torch.logical_or(self > max, max < min), grad, 0),
        }


@gradient("aten::clamp_min.Tensor")
def clamp_min_Tensor_gradient(grad, self, min):
    return {"self": torch.where(self >= min, grad, 0), "min": torch.where(self < min, grad, 0)}


@gradient("aten::clamp_max.Tensor")
def clamp_max_Tensor_gradient(grad, self, max):
    return {"self": torch.where(self <= max, grad, 0), "max": torch.where(self > max, grad, 0)}


@gradient("aten::addcmul")
def addcmul_gradient(grad, tensor1, tensor2, value):
    return {"self": grad, "tensor1": grad * (tensor2 * value), "tensor2": grad * (tensor1 * value)}


@gradient("aten::addcdiv")
def addcdiv_gradient(grad, tensor1, tensor2, value):
    return {
        "self": grad,
        "tensor1": grad * (value / tensor2),
        "tensor2": -grad * (value * tensor1 / (tensor2 * tensor2)),
    }


@gradient("aten::lerp.Scalar")
def lerp_Scalar_gradient(grad, weight):
    return {"self": grad * (1 - weight), "end": grad * weight}


@gradient("aten::lerp.Tensor")
def lerp_Tensor_gradient(grad, self, end, weight):
    return {"self": grad * (1 - weight), "end": grad * weight, "weight": grad * (end - self)}


@gradient("aten::nan_to_num")
def nan_to_num_gradient(grad, self):
    return {"self": torch.where(torch.isfinite(self), grad, 0)}


@gradient("aten::logit")
def logit_gradient(grad, self, eps):
    """Logit is undefined outside of 0 … 1, unless eps clamps the argument; the gradient is then 0.
    """
    return {
        "self": torch.where(
            torch.logical_or(self < 0, self > 1), math.nan, grad / torch.abs(self * (1 - self))
        )
        if eps is None
        else torch.where(
            torch.logical_or(self < eps, self > 1 - eps), 0, grad / (self * (1 - self))
        )
    }


@gradient("aten::neg")
def neg_gradient(grad):
    return {"self": -grad}


@gradient("aten::abs")
def abs_gradient(grad, self):
    return {"self": grad * torch.sign(self)}


@gradient("aten::sqrt")
def sqrt_gradient(grad, result):
    return {"self": grad / (2 * result)}


@gradient("aten::rsqrt")
def rsqrt_gradient(grad, result):
    return {"self": -0.5 * grad * torch.pow(result, 3)}


@gradient("aten::log2")
def log2_gradient(grad, self):
    return {"self": grad / (self * 0.6931471805599453)}


@gradient("aten::log10")
def log10_gradient(grad, self):
    return {"self": grad / (self * 2.302585092994046)}


@gradient("aten::cos")
def cos_gradient(grad, self):
    return {"self": grad * -torch.sin(self)}


@gradient("aten::tan")
def tan_gradient(grad, result):
    return {"self": grad * (1 + result * result)}


@gradient("aten::asin")
def asin_gradient(grad, self):
    return {"self": grad * torch.rsqrt(1 - self * self)}


@gradient("aten::acos")
def acos_gradient(grad, self):
    return {"self": grad * -torch.rsqrt(1 - self * self)}


@gradient("aten::atan")
def atan_gradient(grad, self):
    return {"self": grad / (self * self + 1)}


@gradient("aten::sinh")
def sinh_gradient(grad, self):
    return {"self": grad * torch.cosh(self)}


@gradient("aten::cosh")
def cosh_gradient(grad, self):
    return {"self": grad * torch.sinh(self)}


@gradient("aten::asinh")
def asinh_gradient(grad, self):
    return {"self": grad * torch.rsqrt(self * self + 1)}


@gradient("aten::acosh")
def acosh_gradient(grad, self):
    return {"self": grad * torch.rsqrt(self * self - 1)}


@gradient("aten::atanh")
def atanh_gradient(grad, self):
    return {"self": grad / (1 - self * self)}


@gradient("aten::reciprocal")
def reciprocal_gradient(grad, result):
    return {"self": -grad * result * result}


# ---- traits of operators whose rows are in C ----

traits("aten::pow.*", cost="function", vmap="elementwise")
traits("aten::add.*", on_sizes="add", reflected="aten::add", vmap="elementwise", with_numbers=True)
traits("aten::sub.*", on_sizes="sub", reflected="aten::rsub", vmap="elementwise", with_numbers=True)
traits("aten::mul.*", on_sizes="mul", reflected="aten::mul", vmap="elementwise", with_numbers=True)
traits("aten::div.*", on_sizes="floordiv", vmap="elementwise", with_numbers=True)
traits("aten::div.*", upgrade="integer_division", until=3)
traits("aten::clamp.*", quantized="round", vmap="elementwise")
traits("aten::round.*", vmap="elementwise")
traits("aten::remainder.*", on_sizes="mod", vmap="elementwise")
traits("aten::bitwise_and.*", vmap="elementwise")
traits("aten::bitwise_or.*", vmap="elementwise")
traits("aten::lerp.*", vmap="elementwise")
traits("aten::max.dim", vmap="by_axes")
traits("aten::min.dim", vmap="by_axes")
traits("aten::neg", complex_pairs=True, vmap="elementwise")
traits("aten::atan2", cost="function", vmap="elementwise")
traits("aten::nextafter", vmap="elementwise")
traits("aten::cos", cost="function", vmap="elementwise")
traits("aten::tan", cost="function", vmap="elementwise")
traits("aten::abs", vmap="elementwise")
traits("aten::log2", vmap="elementwise")
traits("aten::sqrt", vmap="elementwise")
traits("aten::rsqrt", vmap="elementwise")
traits("aten::reciprocal", vmap="elementwise")
traits("aten::asin", vmap="elementwise")
traits("aten::acos", vmap="elementwise")
traits("aten::atan", vmap="elementwise")
traits("aten::sinh", vmap="elementwise")
traits("aten::cosh", vmap="elementwise")
traits("aten::maximum", vmap="elementwise")
traits("aten::minimum", vmap="elementwise")
traits("aten::sign", vmap="elementwise")
traits("aten::floor", vmap="elementwise")
traits("aten::ceil", vmap="elementwise")
traits("aten::trunc", vmap="elementwise")
traits("aten::bitwise_not", vmap="elementwise")
traits("aten::addcmul", vmap="elementwise")
traits("aten::addcdiv", vmap="elementwise")
traits("aten::max.*", quantized="keep")
traits("aten::min.*", quantized="keep")
traits("aten::clamp_min.*", quantized="round")
traits("aten::clamp_max.*", quantized="round")
traits("aten::floor_divide.*", on_sizes="floordiv")

derived("aten::floor_divide_.Tensor", of="aten::floor_divide")
derived("aten::pow_.Tensor", of="aten::pow.Tensor_Tensor")
derived("aten::pow_.Scalar", of="aten::pow.Tensor_Scalar")
derived("aten::float_power_.Tensor", of="aten::float_power.Tensor_Tensor")
derived("aten::float_power_.Scalar", of="aten::float_power.Tensor_Scalar")
derived("aten::__iand__.Tensor", of="aten::bitwise_and.Tensor")
derived("aten::__iand__.Scalar", of="aten::bitwise_and.Scalar")
derived("aten::__ior__.Tensor", of="aten::bitwise_or.Tensor")
derived("aten::__ior__.Scalar", of="aten::bitwise_or.Scalar")
derived("aten::__ixor__.Tensor", of="aten::bitwise_xor.Tensor")
derived("aten::__ixor__.Scalar", of="aten::bitwise_xor.Scalar")
derived("aten::__ilshift__.Tensor", of="aten::bitwise_left_shift.Tensor")
derived("aten::__ilshift__.Scalar", of="aten::bitwise_left_shift.Tensor_Scalar")
derived("aten::__irshift__.Tensor", of="aten::bitwise_right_shift.Tensor")
derived("aten::__irshift__.Scalar", of="aten::bitwise_right_shift.Tensor_Scalar")

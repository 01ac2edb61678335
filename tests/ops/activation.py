"""Activations and dropout."""
from cases import *

special = t([nan, inf, -inf, -0.0, 0.0, 1.0, -1.0, 30.0, -30.0])


def every(op, *args, **kwargs):
    for x in [f32(2, 3, low=-8, high=8), f32(3, 4, low=-8, high=8).t(), f32(), f32(0, 3), f64(4),
              f16(4), bf16(4), special]:
        case(op, x, *args, **kwargs)


for op in ["relu", "relu6", "selu", "celu", "silu", "mish", "hardswish", "hardsigmoid", "hardtanh",
           "leaky_relu", "elu", "gelu", "softplus", "log_sigmoid", "softshrink", "hardshrink", "rrelu"]:
    every(f"aten::{op}")
    if op not in ("log_sigmoid", "softplus", "softshrink", "hardshrink"):
        case(f"aten::{op}_", f32(3, 4).t())
every("aten::log_sigmoid_forward")
fails("aten::log_sigmoid_forward", i64(3))
for approximate in ("none", "tanh"):
    case("aten::gelu_backward", f32(2, 3), f32(2, 3), approximate=approximate)
    case("aten::gelu_backward", f64(4), special.double()[:4], approximate=approximate)
case("aten::threshold_backward", f32(2, 3), f32(2, 3), 0)
case("aten::threshold_backward", f32(3, 4).t(), f32(4, 3), 0.5)
case("aten::threshold_backward", f32(9), special, 0)
for x in [i64(5), i32(5), u8(5)]:
    case("aten::relu", x)
    case("aten::hardtanh", x, 0, 6)
    case("aten::threshold", x, 2, 7)
case("aten::relu6", i64(5))
fails("aten::silu", i64(3))
fails("aten::gelu", i64(3))
fails("aten::leaky_relu", i64(3))
case("aten::leaky_relu", f32(2, 3), 0.2)
case("aten::elu", f32(2, 3), 0.5)
case("aten::elu", f32(2, 3), 0.5, 2, 1.5)
case("aten::celu", f32(2, 3), 0.7)
fails("aten::celu", f32(3), 0)
case("aten::gelu", f32(2, 3), approximate="tanh")
case("aten::gelu", special, approximate="tanh")
case("aten::gelu", f64(3), approximate="tanh")
fails("aten::gelu", f32(3), approximate="sin")
case("aten::hardtanh", f32(2, 3), -0.5, 0.75)
case("aten::softplus", f32(2, 3), 2, 1)
case("aten::softplus", f32(2, 3), 0.5, 20)
case("aten::softshrink", f32(2, 3), 0.25)
fails("aten::softshrink", f32(3), -1)
case("aten::hardshrink", f32(2, 3), 1)
every("aten::threshold", 0.1, 20)
case("aten::threshold_", f32(3), 0.5, -1)
case("aten::prelu", f32(2, 3), f32(3))
case("aten::prelu", f32(2, 3, 2), f32(3))
case("aten::prelu", f32(2, 3, 2, 2), f32(1))
case("aten::prelu", f32(4), f32(1))
case("aten::prelu", f32(), f32(1))
case("aten::prelu", f32(3, 2, 2).transpose(0, 1), f32(3))
case("aten::prelu", f64(2, 3), f64(6)[::2])
fails("aten::prelu", f32(2, 3), f32(2))
case("aten::glu", f32(2, 4))
case("aten::glu", f32(4, 3), 0)
case("aten::glu", f32(2, 4, 3), -2)
fails("aten::glu", f32(2, 3))
case("aten::rrelu", f32(4), 0.1, 0.3)

case("aten::native_dropout", f32(2, 3), 0.5, False)
case("aten::native_dropout", i64(4), 0.5, False)
case("aten::native_dropout", f32(2, 3), 0.0, True)
case("aten::native_dropout", f32(2, 3), 1.0, None)
case("aten::native_dropout", f32(2, 3), 0.5, True, values=False)
fails("aten::native_dropout", f32(3), 1.5, True)
fails("aten::native_dropout", i64(3), 0.5, True)
for op in ["dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"]:
    case(f"aten::{op}", f32(2, 3, 2), 0.5, False)
    case(f"aten::{op}", f32(2, 3, 2), 0.0, True)
    case(f"aten::{op}", f32(2, 3, 2), 1.0, True)
    case(f"aten::{op}", f32(2, 3, 2), 0.4, True, values=False)
    fails(f"aten::{op}", f32(2, 3, 2), 1.5, True)
case("aten::dropout", i64(3), 0.5, False)

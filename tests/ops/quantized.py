"""Quantized tensors. PyTorch's engines differ in how they round a half, so the numbers keep clear
of it: weights are whole multiples of their scale, and so are inputs."""
from cases import *

torch.backends.quantized.engine = "onednn"
q8, qs8 = torch.quint8, torch.qint8


def qx(*sizes, scale=0.25, zero_point=100, dtype=q8, low=-2, high=2):
    return quantized(f32(*sizes, low=low, high=high), scale, zero_point, dtype)


# ---- rounded to a grid ----

for x in shapes():
    case("aten::fake_quantize_per_tensor_affine", x, 0.1, 3, 0, 255)
    case("aten::fake_quantize_per_tensor_affine", x, 0.013, 0, -128, 127)
for low, high in [(0, 127), (-127, 127), (-8, 7), (0, 15), (0, 65535), (-32768, 32767)]:
    case("aten::fake_quantize_per_tensor_affine", f32(3, 5), 0.07, 2, low, high)
    case("aten::fake_quantize_per_tensor_affine.tensor_qparams", f32(3, 5), t([0.07]),
         t([2], torch.int32), low, high)
case("aten::fake_quantize_per_tensor_affine", f64(3, 5), 0.07, 0, -128, 127)
case("aten::fake_quantize_per_tensor_affine", t([100., -100., 0.2, -0.2]), 0.07, 2, 0, 255)
case("aten::fake_quantize_per_tensor_affine.tensor_qparams", f32(2, 3), t(0.07),
     t(2, torch.int32), 0, 255)
fails("aten::fake_quantize_per_tensor_affine", f32(3), 0.1, 300, 0, 255)
fails("aten::fake_quantize_per_tensor_affine", f32(3), 0.1, 0, 5, 4)
for axis in [0, 1, 2]:
    x = f32(2, 3, 4)
    n = x.shape[axis]
    case("aten::fake_quantize_per_channel_affine", x, t([0.1, 0.2, 0.05, 0.3][:n]),
         t([0, 3, 100, 7][:n], torch.int32), axis, 0, 255)
case("aten::fake_quantize_per_channel_affine", f32(2, 3), t([0.1, 0.2]), t([0, 0], torch.int32), 0,
     -127, 127)
fails("aten::fake_quantize_per_channel_affine", f32(2, 3), t([0.1]), t([0], torch.int32), 0, 0, 255)

# ---- quantized, and back ----

for dtype, zero in [(q8, 100), (qs8, -3), (torch.qint32, 5)]:
    case("aten::quantize_per_tensor", f32(3, 4), 0.03, zero, dtype)
    case("aten::quantize_per_tensor.tensor_qparams", f32(3, 4), t(0.03), t(zero, torch.int64), dtype,
         fake=False)
    case("aten::dequantize.self", qx(2, 3, dtype=dtype))
    case("aten::int_repr", qx(2, 3, dtype=dtype))
case("aten::quantize_per_tensor", f32(2, 3, 4).transpose(0, 2), 0.03, 9, q8)
fails("aten::quantize_per_tensor", i64(3), 0.03, 9, q8)
case("aten::quantize_per_channel", f32(3, 4), t([0.1, 0.2, 0.05]), t([0, 9, 3], torch.int64), 0, q8)
case("aten::quantize_per_channel", f32(3, 4), t([0.1, 0.2, 0.05, 0.7]),
     t([0, 9, 3, 0], torch.int64), 1, qs8)
case("aten::dequantize.tensor", qx(3))
for x in [boolean(3), u8(3), i64(3), f16(3), f32(3), f64(3)]:  # not quantized: float32
    case("aten::dequantize.self", x, alias=False)
    case("aten::dequantize.tensors", [x, qx(2)], alias=False)
case("aten::dequantize.tensors", [qx(3), qx(2)])
case("aten::dequantize.list", [qx(3), qx(2)])
case("aten::_make_per_tensor_quantized_tensor", u8(2, 3), 0.3, 4)
case("aten::_make_per_tensor_quantized_tensor", i8(2, 3), 0.3, -4)
case("aten::_make_per_tensor_quantized_tensor", i32(2, 3), 0.3, 4)
case("aten::_make_per_channel_quantized_tensor", i8(2, 3), t([0.3, 0.1]), t([4, 0], torch.int32), 0)
case("aten::int_repr", quantized(f32(2, 3), [0.3, 0.1], [4, 0]))
case("aten::q_scale", qx(3))
case("aten::q_zero_point", qx(3))
case("aten::q_per_channel_axis", quantized(f32(2, 3), [0.3, 0.1], [4, 0]))
case("aten::q_per_channel_scales", quantized(f32(2, 3), [0.5, 0.25], [4, 0]))
case("aten::q_per_channel_zero_points", quantized(f32(2, 3), [0.3, 0.1], [4, 0]))
fails("aten::q_scale", f32(3))

# ---- operators of all tensors ----

case("aten::relu", qx(2, 3))
case("aten::view", qx(2, 3), [3, 2])
case("aten::transpose.int", qx(2, 3), 0, 1)
case("aten::max_pool2d", qx(1, 2, 4, 4), [2, 2], [2, 2])
case("aten::avg_pool2d", qx(1, 2, 4, 4, scale=0.031), [2, 2], [2, 2], tol=(0, 0.0311))
case("aten::adaptive_avg_pool2d", qx(1, 2, 5, 4, scale=0.031), [2, 2], tol=(0, 0.0311))
case("aten::sigmoid", qx(2, 3))
case("aten::tanh", qx(2, 3))
case("aten::hardtanh", qx(2, 3), -0.9, 0.9)
case("aten::clamp", qx(2, 3), -0.9, 0.9)
case("aten::leaky_relu", qx(2, 3, scale=0.031), 0.3, tol=(0, 0.0311))
case("aten::upsample_nearest2d", qx(1, 2, 3, 3), [6, 6])
case("aten::flip", qx(2, 3), [1])

# ---- layers ----

for op in ["add", "add_relu", "mul", "mul_relu"]:
    case(f"quantized::{op}", qx(2, 3), qx(2, 3, scale=0.5, zero_point=3), 0.0301, 90)
    case(f"quantized::{op}", qx(2, 3, dtype=qs8, zero_point=0), qx(2, 3, dtype=qs8, zero_point=3),
         0.0301, -5)
case("quantized::matmul", qx(1, 2, 3), qx(1, 3, 2), 0.0301, 90)
for op in ["add_scalar", "add_scalar_relu", "mul_scalar", "mul_scalar_relu"]:
    for number in [0.5, -1.5]:
        case(f"quantized::{op}", qx(2, 3), number)
case("quantized::add_scalar", qx(2, 3), 40., tol=(0, 0.3))
case("quantized::add_scalar", qx(2, 3), -50., tol=(0, 0.4))
case("quantized::cat", [qx(2, 3), qx(1, 3, scale=0.5)], 0, 0.301, 90)
case("quantized::cat", [qx(2, 3), qx(2, 1)], 1, None, None)
case("quantized::cat_relu", [qx(2, 3), qx(1, 3)], 0, 0.301, 90)
case("quantized::sigmoid", qx(2, 3), 1 / 256, 0)
case("quantized::hardswish", qx(2, 3), 0.0301, 90)
case("quantized::leaky_relu", qx(2, 3), 0.21, False, 0.0301, 90)
case("quantized::elu", qx(2, 3), 0.0301, 90, 1.1, 1.0, 1.0)
case("quantized::celu", qx(2, 3), 0.0301, 90, 1.1)
case("quantized::prelu", qx(1, 3, 2), quantized(t([0.1, 0.2, 0.3]), 0.1, 0), 0.0301, 90)
case("quantized::softmax", qx(2, 3), 1, 1 / 256, 0)
case("quantized::relu6", qx(2, 3, low=-8, high=8))
case("quantized::clamp", qx(2, 3), -0.9, 0.9)
case("quantized::threshold", qx(2, 3), 0.3, 0.5)
case("quantized::max_pool1d", qx(1, 2, 6), [2], [2], [0], [1], False)
case("quantized::max_pool2d", qx(1, 2, 4, 4), [2, 2], [1, 1], [0, 0], [1, 1], False)
case("quantized::layer_norm", qx(2, 3), [3], t([1., 2., 0.5]), t([0., 1., 0.1]), 1e-5, 0.0301, 90)
case("quantized::group_norm", qx(2, 4, 3), 2, t([1., 2., 0.5, 1.]), t([0., 1., 0.1, 0.]), 1e-5,
     0.0301, 90)
case("quantized::instance_norm", qx(2, 2, 3, 3), t([1., 2.]), t([0., 1.]), 1e-5, 0.0301, 90)
for relu in ["", "_relu"]:
    for n, sizes in [("", (2, 2, 3, 3)), ("1d", (2, 2, 3)), ("2d", (2, 2, 3, 3)),
                     ("3d", (1, 2, 2, 3, 2))]:
        case(f"quantized::batch_norm{n}{relu}", qx(*sizes), t([1., 2.]), t([0., 1.]), t([0.2, -0.1]),
             t([1.1, 0.8]), 1e-5, 0.0301, 90)


def weight(*sizes, per_channel=False):
    w = f32(*sizes, low=-1, high=1)
    if per_channel:
        return torch.quantize_per_channel(w, torch.tensor([0.0625, 0.03125, 0.125, 0.0625][:sizes[0]]),
                                          torch.zeros(sizes[0], dtype=torch.int64), 0, qs8)
    return quantized(w, 0.0625, 0, qs8)


bias = t([0.25, -0.5, 1., 0.])
for per_channel in [False, True]:
    for b in [None, bias]:
        w = packed("quantized::linear_prepack", weight(4, 3, per_channel=per_channel), b)
        case("quantized::linear", qx(2, 3), w, 0.0301, 90)
        case("quantized::linear_relu", qx(5, 2, 3), w, 0.0301, 90)
        w = packed("quantized::conv2d_prepack", weight(4, 2, 3, 3, per_channel=per_channel), b, [1, 1],
                   [1, 1], [1, 1], 1)
        case("quantized::conv2d.new", qx(1, 2, 5, 5), w, 0.0701, 90)
        case("quantized::conv2d_relu.new", qx(1, 2, 5, 5), w, 0.0701, 90)
        w = packed("quantized::conv1d_prepack", weight(4, 1, 3, per_channel=per_channel), b, [2], [1],
                   [1], 2)
        case("quantized::conv1d", qx(1, 2, 6), w, 0.0301, 90)
        case("quantized::conv1d_relu", qx(1, 2, 6), w, 0.0301, 90)
w = packed("quantized::conv3d_prepack", weight(4, 2, 2, 2, 2), bias, [1, 1, 1], [0, 0, 0], [1, 1, 1], 1)
case("quantized::conv3d.new", qx(1, 2, 3, 3, 3), w, 0.0701, 90)
case("quantized::conv3d_relu.new", qx(1, 2, 3, 3, 3), w, 0.0701, 90)
case("quantized::conv_transpose1d", qx(1, 2, 4),
     packed("quantized::conv_transpose1d_prepack", weight(2, 4, 3), bias, [2], [1], [0], [1], 1),
     0.0701, 90)
case("quantized::conv_transpose2d", qx(1, 2, 4, 3),
     packed("quantized::conv_transpose2d_prepack", weight(2, 4, 3, 3), bias, [2, 2], [1, 1], [0, 0],
            [1, 1], 1), 0.0701, 90)
case("quantized::conv_transpose3d", qx(1, 2, 2, 3, 3),
     packed("quantized::conv_transpose3d_prepack", weight(2, 4, 2, 2, 2), bias, [1, 1, 1], [0, 0, 0],
            [0, 0, 0], [1, 1, 1], 1), 0.0701, 90)
for x in [f32(2, 3), f32(4, 3, low=0.5, high=3)]:
    w = packed("quantized::linear_prepack", weight(4, 3), bias)
    case("quantized::linear_dynamic", x, w, tol=(1e-4, 1e-4))
    case("quantized::linear_relu_dynamic", x, w, tol=(1e-4, 1e-4))
case("quantized::linear_unpack", packed("quantized::linear_prepack", weight(4, 3), bias))
for n in [1, 2, 3]:
    sizes, ones = [2] * n, [1] * n
    case(f"quantized::conv{n}d_unpack",
         packed(f"quantized::conv{n}d_prepack", weight(4, 2, *sizes), bias, ones, ones, ones, 1))
    case(f"quantized::conv_transpose{n}d_unpack",
         packed(f"quantized::conv_transpose{n}d_prepack", weight(2, 4, *sizes), bias, ones, [0] * n,
                [0] * n, ones, 1))

"""Layers packed for mobile: a convolution or linear layer, and a clamp."""
from cases import *

for limits in [(None, None), (0., None), (-0.5, 0.5), (None, 0.3)]:
    w = packed("prepacked::linear_clamp_prepack", f32(4, 3), f32(4), *limits)
    case("prepacked::linear_clamp_run", f32(2, 3), w)
    w = packed("prepacked::conv2d_clamp_prepack", f32(4, 1, 3, 3), f32(4), [1, 2], [1, 0], [1, 2], 2,
               *limits)
    case("prepacked::conv2d_clamp_run", f32(1, 2, 6, 7), w)
    w = packed("prepacked::conv2d_transpose_clamp_prepack", f32(4, 1, 3, 3), f32(2), [2, 2], [1, 0],
               [1, 0], [1, 1], 2, *limits)
    case("prepacked::conv2d_transpose_clamp_run", f32(1, 4, 3, 3), w)
case("prepacked::linear_clamp_run", f32(2, 5, 3),
     packed("prepacked::linear_clamp_prepack", f32(4, 3), None, None, None))

case("aten::_add_relu.Tensor", f32(2, 3), f32(3))
case("aten::_add_relu.Tensor", f32(2, 3), f32(2, 3), alpha=-0.5)
case("aten::_add_relu_.Tensor", f32(2, 3), f32(3))
case("aten::_add_relu.Scalar", f32(2, 3), 0.5)

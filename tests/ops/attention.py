"""Attention and the layers around it."""
from cases import *

for op in ("aten::_scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math"):
    case(op, f32(2, 3, 4), f32(2, 5, 4), f32(2, 5, 3), None, 0.0, True)
    case(op, f32(1, 2, 3, 4), f32(1, 2, 3, 4), f32(1, 2, 3, 4), None, 0.0, True, True)
    case(op, f32(3, 4), f32(2, 4), f32(2, 3), f32(3, 2), 0.0, True)
    case(op, f32(3, 4), f32(2, 4), f32(2, 3), t([[1, 0], [1, 1], [0, 1]], torch.bool), 0.0, True)


def layer(size, heads):
    return size, heads, f32(3 * size, size), f32(3 * size), f32(size, size), f32(size)


padding = t([[0, 0, 1], [0, 0, 0]], torch.bool)
x = f32(2, 3, 4)
for more in ([None, True, True], [None, True, False], [padding, True, True, 1]):
    case("aten::_native_multi_head_attention", x, x, x, *layer(4, 2), *more)
for gelu, first in ((False, False), (True, True), (True, False)):
    rest = [gelu, first, 1e-5, f32(4), f32(4), f32(4), f32(4), f32(6, 4), f32(6), f32(4, 6), f32(4)]
    case("aten::_transformer_encoder_layer_fwd", x, *layer(4, 2), *rest, tol=(1e-4, 1e-5))
case("aten::_transformer_encoder_layer_fwd", x, *layer(4, 2), *rest, padding, 1, tol=(1e-4, 1e-5))
fails("aten::_native_multi_head_attention", x, x, x, *layer(4, 3))

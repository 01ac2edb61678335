"""Attention as PyTorch 2 calls it. A query that a mask lets look nowhere gets 0."""
from cases import *

op = "aten::scaled_dot_product_attention"
q, k, v = f32(1, 4, 3, 8), f32(1, 4, 5, 8), f32(1, 4, 5, 6)
case(op, q, k, v)
case(op, q, k, v, None, 0.0, True)
case(op, q, k, v, scale=0.3)
case(op, f32(2, 3, 4), f32(2, 5, 4), f32(2, 5, 3))
case(op, f32(3, 4), f32(2, 4), f32(2, 3), t([[1, 0], [0, 0], [0, 1]], torch.bool))
case(op, q, k, v, boolean(3, 5))
case(op, q, k, v, t([[True] * 5, [False] * 5, [False] * 4 + [True]], torch.bool))
case(op, q, k, v, t([[[0.5] * 5, [-inf] * 5, [-inf] * 4 + [0]]]))
case(op, f64(1, 2, 3, 4), f64(1, 2, 3, 4), f64(1, 2, 3, 4), t([[-inf] * 3, [0] * 3, [1] * 3], torch.float64))
for mask in (None, t([[True] * 5, [False] * 5, [False] * 4 + [True]], torch.bool)):
    case(op, f32(2, 4, 3, 8), f32(2, 2, 5, 8), f32(2, 2, 5, 6), mask, enable_gqa=True)
case(op, f32(2, 4, 3, 8), f32(2, 1, 5, 8), f32(2, 1, 5, 6), None, 0.0, True, enable_gqa=True)
fails(op, q, k, v, boolean(3, 5), 0.0, True)

op = "aten::_safe_softmax"
rows = t([[1, -inf, 2], [-inf, -inf, -inf], [0, 1, inf], [-inf, nan, -inf]])
for x in (f32(2, 3), f32(3, 4).t(), rows, rows.double()):
    for dim in (0, -1):
        case(op, x, dim)
case(op, f32(), 0)
case(op, f16(2, 3), 1, torch.float32)
case(op, t([[1, -inf], [-inf, -inf]], torch.float16), 1)

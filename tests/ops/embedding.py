"""Bags of embeddings."""
from cases import *

W = f32(6, 3)
I = t([1, 2, 4, 5, 4, 3], torch.int64)
O = t([0, 2, 2], torch.int64)
L = t([0, 2, 2, 6], torch.int64)
for mode in [0, 1, 2]:
    case("aten::embedding_bag", W, I, O, False, mode)
    case("aten::_embedding_bag", W, I, L, False, mode, False, None, True)
    for padding in [None, 4, -2]:
        case("aten::embedding_bag.padding_idx", W, I, O, False, mode, False, None, False, padding)
    case("aten::_embedding_bag", W, I, O, False, mode, False, None, False, 4)
case("aten::embedding_bag", W, I, O, False, 0, False, f32(6))
case("aten::_embedding_bag", W, I, O, False, 0, False, f32(6), False, 4)
case("aten::embedding_bag", W, t([1, 1, 0], torch.int64), t([0, 1], torch.int64))
# Indices behind the last offset belong to no bag. (PyTorch 1.13 divides a mean by their number all
# the same, and the maximum is written behind its memory.)
case("aten::_embedding_bag", W, I, t([0, 2, 2, 4], torch.int64), False, 0, False, None, True)
case("aten::_embedding_bag", W, I, t([0, 3], torch.int64), False, 0, False, f32(6), True)
case("aten::_embedding_bag", W, I, t([0, 0], torch.int64), False, 0, False, None, True)
case("aten::embedding_renorm", W, t([1, 2, 1], torch.int64), 0.5, 2.0)
case("aten::embedding_renorm_", f64(4, 3), t([[3], [0]], torch.int64), 1.0, 1.0)

"""Products of matrices in groups. PyTorch expects rows that begin at multiples of 16 bytes."""
from cases import *

op = "aten::_grouped_mm"


def ends(*values):
    return t(values, torch.int32)


for offs in (ends(2, 2, 6), ends(0, 0, 6), ends(1, 3, 6)):
    case(op, f32(6, 4), f32(3, 4, 8), offs)
    case(op, f32(6, 4), f32(3, 8, 4).transpose(1, 2), offs)
case(op, f32(3, 8, 4), f32(4, 12), ends(4, 4, 12))
case(op, f32(8, 12), f32(12, 4), ends(4, 8, 12))
case(op, f32(3, 8, 4), f32(3, 4, 8))
fails(op, f32(6, 4), f32(3, 4, 8))
fails(op, f32(6, 8), f32(3, 4, 8), ends(1, 3, 6))

import transformers.integrations.moe  # noqa: E402, which registers it

op = "transformers::grouped_mm_fallback"
case(op, f32(5, 3), f32(2, 3, 2), ends(2, 5))
case(op, f32(5, 3), f32(2, 3, 2), ends(2, 4))

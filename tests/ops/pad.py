"""Padding."""
from cases import *

for x, pad, value in [(f32(2, 3), [1, 2], 0), (f32(2, 3), [1, 0, 0, 2], 1.5), (i64(3), [2, 1], 7), (f32(2, 4), [-1, -1], 0),
                      (f32(2, 4), [1, -2, -1, 1], -1), (boolean(2), [1, 1], 1), (f32(0, 2), [1, 0, 1, 1], 2), (f32(2, 3), [], 0),
                      (f32(3, 2).t(), [1, 1], 3), (f16(2), [1, 0], 0.1)]:
    case("aten::constant_pad_nd", x, pad, value)
    case("aten::pad", x, pad, "constant", value if value else None)
fails("aten::constant_pad_nd", f32(3), [1, 1, 1])
fails("aten::constant_pad_nd", f32(3), [1, 1, 1, 1])
fails("aten::constant_pad_nd", f32(3), [-2, -2])

OWN = [(1, f32(2, 3), [2, 1]), (1, f32(1, 2, 4), [0, 3]), (1, f32(2, 5), [-1, 2]), (2, f32(1, 3, 3), [1, 2, 2, 0]), (2, f32(1, 2, 3, 2), [1, 1, 0, 1]),
       (2, f64(4, 3, 2).transpose(0, 2), [1, 0, 2, 1]), (3, f32(1, 2, 2, 3), [1, 1, 1, 0, 0, 1]), (3, f32(1, 1, 2, 2, 2), [1, 1, 1, 1, 1, 1])]
for dims, x, pad in OWN:
    for name, mode in [("reflection", "reflect"), ("replication", "replicate")]:
        case(f"aten::{name}_pad{dims}d", x, pad)
        case("aten::pad", x, pad, mode)
for x, pad in [(f32(1, 2, 3), [2, 1]), (f32(1, 1, 3, 2), [1, 2, 0, 3]), (f32(1, 1, 2, 2, 2), [1, 1, 2, 0, 0, 1]), (f32(1, 2, 4), [-1, 1])]:
    case("aten::_pad_circular", x, pad)
    case("aten::pad", x, pad, "circular")
    case("aten::_pad_enum", x, pad, 2)
case("aten::_pad_enum", f32(2, 3), [1, 1], 3, 2.0)
case("aten::_pad_enum", f32(2, 3), [1, 1], 0)
case("aten::_pad_enum", f32(2, 3), [1, 1], 1)
fails("aten::reflection_pad1d", f32(2, 3), [3, 0])
fails("aten::reflection_pad1d", f32(3), [1, 1])
fails("aten::reflection_pad2d", f32(1, 3, 3), [1, 1])
fails("aten::_pad_circular", f32(1, 1, 3), [4, 0])
fails("aten::pad", f32(2, 3), [1, 1], "no")

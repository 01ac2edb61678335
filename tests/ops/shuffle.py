"""The same elements in another order."""
from cases import *

for x, args in [(f32(5), (2,)), (f32(2, 3), (1,)), (f32(2, 3), (-1, 1)), (f32(3, 4), ([1, -2], [0, 1])), (f32(3), (7, 0)),
                (f32(3), (-4, 0)), (f32(0, 2), (1, 0)), (f32(2, 3).t(), (1, -1)), (f32(3), (0, 0)), (f32(3), (3, 0))]:
    args = [a if isinstance(a, list) else [a] for a in args]
    case("aten::roll", x, *args)
fails("aten::roll", f32(2, 3), [1, 2], [0])
for x, dims in [(f32(2, 3), [0]), (f32(2, 3), [0, -1]), (f32(2, 3), []), (f32(3, 2).t(), [1]), (f32(0, 2), [0]), (f32(), []),
                (i64(2, 2, 2), [0, 2])]:
    case("aten::flip", x, dims)
fails("aten::flip", f32(2, 3), [0, 0])
fails("aten::flip", f32(2, 3), [2])
case("aten::fliplr", f32(2, 3))
case("aten::flipud", f32(2, 3))
case("aten::flipud", f32(3))
fails("aten::fliplr", f32(3))
for k in range(-1, 5):
    case("aten::rot90", f32(2, 3), k)
case("aten::rot90", f32(2, 3, 2), 1, [-1, 0])
fails("aten::rot90", f32(2, 3), 1, [0, 0])

case("aten::pixel_shuffle", f32(1, 8, 2, 3), 2)
case("aten::pixel_shuffle", f32(4, 1, 2), 2)
case("aten::pixel_shuffle", f32(2, 1, 9, 1, 1), 3)
case("aten::pixel_shuffle", f32(1, 2, 2, 2), 1)
fails("aten::pixel_shuffle", f32(1, 6, 2, 2), 2)
case("aten::pixel_unshuffle", f32(1, 2, 4, 6), 2)
case("aten::pixel_unshuffle", f32(1, 3, 3), 3)
fails("aten::pixel_unshuffle", f32(1, 2, 3, 4), 2)
for op in ["channel_shuffle", "native_channel_shuffle"]:
    case(f"aten::{op}", f32(1, 6, 2, 2), 3)
    case(f"aten::{op}", f32(2, 4, 3), 2)
fails("aten::channel_shuffle", f32(1, 5, 2, 2), 2)

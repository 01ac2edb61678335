"""Reductions into segments given by indices or lengths."""
from cases import *

for reduce in ("prod", "mean", "amax", "amin"):
    op = "aten::index_reduce"
    case(op, f32(3, 4), 0, t([2, 0, 2], torch.int64), f32(3, 4), reduce)
    case(op, f32(3, 4), -1, t([1, 1], torch.int64), f32(3, 2), reduce, include_self=False)
    case(op, i64(3, 4), 1, t([1, 3], torch.int64), i64(3, 2), reduce)
case("aten::index_reduce_", f32(3), 0, t([1, 1], torch.int64), f32(2), "amax")
fails("aten::index_reduce", f32(3), 0, t([1, 1], torch.int64), f32(2), "sum")

op = "aten::segment_reduce"
for reduce in ("sum", "mean", "max", "min", "prod"):
    case(op, f32(6), reduce, lengths=t([2, 0, 4], torch.int64))
    case(op, f32(6, 2), reduce, lengths=t([1, 3, 2], torch.int64))
    case(op, f32(5, 2), reduce, offsets=t([0, 2, 2, 5], torch.int64), initial=1)
    case(op, f32(2, 4), reduce, lengths=t([[2, 2], [1, 3]], torch.int64), axis=1)
fails(op, f32(6), "sum")

op = "aten::nonzero_static"
for size in (0, 2, 9):
    case(op, t([[1, 0, 3], [0, 0, 2]]), size=size)
case(op, boolean(4), size=3, fill_value=7)

op = "aten::combinations"
for x in (f32(4), i64(3), f32(1), f16(3)):
    case(op, x)
case(op, f32(4), 3)
case(op, f32(3), 2, True)
case(op, f32(3), 1)
fails(op, f32(2, 2))

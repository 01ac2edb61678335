"""Tensors put together or repeated."""
from cases import *

for op in ["cat", "concat", "concatenate"]:
    case(f"aten::{op}", [f32(2, 3), f32(1, 3)])
    case(f"aten::{op}", [f32(2, 3), f32(2, 1), f32(2, 0)], -1)
case("aten::cat", [f32(2, 3), f32(0), f32(1, 3)])
case("aten::cat", [f32(0), i64(0)], 0)
case("aten::cat", [i64(2), f32(3), f16(1)])
case("aten::cat", [boolean(2), u8(3)])
case("aten::cat", [f32(3, 2).t(), f32(4, 6)[::2, ::2]], 0)
case("aten::cat", [f32(2, 1, 2), f32(2, 3, 2)], 1)
fails("aten::cat", [f32(2, 3), f32(3, 2)])
fails("aten::cat", [f32(), f32()])
fails("aten::cat", [f32(2), f32(2, 1)])
fails("aten::cat", [])
fails("aten::cat", [f32(2)], 1)
for dim in [0, 1, 2, -1]:
    case("aten::stack", [f32(2, 3), i64(2, 3)], dim)
case("aten::stack", [f32(), f32()])
fails("aten::stack", [f32(2), f32(3)])
fails("aten::stack", [])
for op in ["hstack", "vstack", "row_stack", "dstack", "column_stack"]:
    case(f"aten::{op}", [f32(2), f32(2)])
    case(f"aten::{op}", [f32(2, 3), f32(2, 3)])
    case(f"aten::{op}", [f32(), f32()])
    case(f"aten::{op}", [f32(2, 1, 2), f32(2, 1, 2)])
for op in ["atleast_1d", "atleast_2d", "atleast_3d"]:
    for x in [f32(), f32(2), f32(2, 3), f32(2, 1, 2)]:
        case(f"aten::{op}", x)
    case(f"aten::{op}.Sequence", [f32(), f32(2), f32(2, 2)])
case("aten::block_diag", [f32(2, 3), f32(), i64(2), f32(1, 2)])
fails("aten::block_diag", [f32(2, 3, 1)])
case("aten::pad_sequence", [f32(2, 3), f32(4, 3), f32(0, 3)])
case("aten::pad_sequence", [i64(3), i64(1)], True, 7.0)
case("aten::pad_sequence", [f32(3, 1, 2)], True)
fails("aten::pad_sequence", [])
fails("aten::pad_sequence", [f32(2, 3), f32(2, 4)])

for x, by in [(f32(2, 3), [2, 1]), (f32(2, 3), [2, 1, 3]), (f32(3), [0]), (f32(), [2]), (f32(), []), (i64(3, 2).t(), [1, 2]),
              (f32(0, 2), [2, 2])]:
    case("aten::repeat", x, by)
case("aten::repeat", f32(3, 0, 1), [2, 1, 1, 1])
case("aten::repeat", f32(3, 0), [2, 1, 1, 2])
fails("aten::repeat", f32(2, 3), [2])
fails("aten::repeat", f32(2), [-1])
for x, by in [(f32(2, 3), [2]), (f32(2, 3), [2, 1, 3]), (f32(3), [])]:
    case("aten::tile", x, by)
for x, args in [(f32(2, 3), (2,)), (f32(2, 3), (2, 1)), (f32(2, 3), (3, 0)), (f32(3, 2).t(), (1, -1)), (f32(), (3,)),
                (f32(2), (0, 0))]:
    case("aten::repeat_interleave.self_int", x, *args)
fails("aten::repeat_interleave.self_int", f32(2), -1)

case("aten::broadcast_tensors", [f32(3, 1), f32(2), f32()])
fails("aten::broadcast_tensors", [f32(3), f32(2)])
for tensors in [[f32(2), f32(3)], [i64(2), i64(1), i64(3)], [f32(3)], [f32(), f32(2)]]:
    case("aten::meshgrid", tensors)
    for indexing in ["ij", "xy"]:
        case("aten::meshgrid.indexing", tensors, indexing=indexing)
fails("aten::meshgrid", [f32(2, 2)])
case("aten::cartesian_prod", [f32(2), f32(3)])
case("aten::cartesian_prod", [i64(2), i64(1), i64(3)])
case("aten::cartesian_prod", [f32(3)])
for op in ["tril_indices", "triu_indices"]:
    for args in [(3, 4), (4, 3, 1), (3, 3, -1), (0, 3), (2, 3, -5)]:
        case(f"aten::{op}", *args)
    case(f"aten::{op}", 2, 3, dtype=torch.int32)

"""Views of whole tensors."""
from cases import *

for x in [f32(2, 3), f32(3), f32(), i64(3, 4)[:, 1:3]]:
    case("aten::t", x)
fails("aten::t", f32(2, 3, 4))
for x in [f32(2, 3), f32(2, 3, 4), f32()]:
    case("aten::numpy_T", x)
case("aten::mT", f32(2, 3, 4))
fails("aten::mT", f32(3))
for op in ["transpose.int", "swapaxes", "swapdims"]:
    case(f"aten::{op}", f32(2, 3, 4), 0, -1)
    case(f"aten::{op}", f32(), 0, -1)
    fails(f"aten::{op}", f32(2, 3), 0, 2)
case("aten::permute", f32(2, 3, 4), [2, 0, -2])
case("aten::permute", f32(), [])
case("aten::permute", f32(2, 3, 4).transpose(0, 1)[1:], [0, 2, 1])
fails("aten::permute", f32(2, 3), [0, 0])
fails("aten::permute", f32(2, 3), [0])
for op in ["movedim", "moveaxis"]:
    case(f"aten::{op}.intlist", f32(2, 3, 4, 1), [0, 1], [-1, 0])
    case(f"aten::{op}.int", f32(2, 3, 4), 0, 2)
    case(f"aten::{op}.int", f32(2, 3, 4), -1, 0)
    fails(f"aten::{op}.intlist", f32(2, 3, 4), [0, 0], [1, 2])

for x, size in [(f32(2, 3, 4), [6, 4]), (f32(2, 3, 4), [-1, 12]), (f32(2, 3, 4), [2, -1]),
                (f32(2, 3, 4), [2, 3, 2, 2]), (f32(), [1, 1]), (f32(1, 1), []), (f32(0, 3), [3, 0]),
                (f32(0, 3), [-1, 3]), (f32(4, 6)[:, ::2], [2, 2, 3]), (f32(2, 3, 4).transpose(0, 1), [3, 2, 2, 2]),
                (f32(6, 1, 4)[::2], [3, 4])]:
    case("aten::view", x, size)
    case("aten::_unsafe_view", x, size)
    case("aten::reshape", x, size)
case("aten::reshape", f32(2, 3, 4).transpose(0, 1), [6, 4])
case("aten::reshape", f32(4, 6)[1:, ::2], [-1])
case("aten::_reshape_alias", f32(2, 6), [3, 4], [4, 1])
fails("aten::view", f32(3, 4).t(), [12])
fails("aten::view", f32(3, 4), [5, -1])
fails("aten::view", f32(3, 4), [13])
fails("aten::view", f32(0, 4), [-1, 0])
fails("aten::reshape", f32(3, 4), [-1, -1])
fails("aten::reshape", f32(3, 4), [-3, -4])
case("aten::view.dtype", f32(2, 3), torch.int32)
case("aten::view.dtype", f64(2, 3), torch.float32)
case("aten::view.dtype", i16(2, 4), torch.int64)
fails("aten::view.dtype", i16(2, 3), torch.int32)
case("aten::view_as", f32(2, 6), f32(3, 4))
case("aten::reshape_as", f32(2, 6).t(), f32(3, 4))
case("aten::_reshape_from_tensor", f32(2, 6), torch.tensor([3, -1]), fake=False)
for args in [(), (1,), (0, 1), (1, 2), (-2, -1), (2, 2)]:
    case("aten::flatten.using_ints", f32(2, 3, 4), *args)
case("aten::flatten.using_ints", f32())
case("aten::flatten.using_ints", f32(5))
case("aten::flatten.using_ints", f32(2, 3, 4).transpose(1, 2), 1)
case("aten::flatten.using_ints", f32(2, 0, 4), 1)
fails("aten::flatten.using_ints", f32(2, 3), 1, 0)
case("aten::unflatten.int", f32(2, 12), 1, [3, 4])
case("aten::unflatten.int", f32(2, 12, 2), -2, [3, -1])
fails("aten::unflatten.int", f32(2, 12), 1, [5, 2])
case("aten::ravel", f32(2, 3).t())
case("aten::ravel", f32())

for x in [f32(1, 3, 1, 2), f32(), f32(1), f32(2, 3), f32(0, 1)]:
    case("aten::squeeze", x)
for x, dim in [(f32(1, 3, 1), 0), (f32(1, 3, 1), -1), (f32(1, 3, 1), 1), (f32(), 0)]:
    case("aten::squeeze.dim", x, dim)
fails("aten::squeeze.dim", f32(2), 1)
for x, dim in [(f32(2, 3), 0), (f32(2, 3), 2), (f32(2, 3), -1), (f32(2, 3).t(), 1), (f32(), 0), (f32(), -1)]:
    case("aten::unsqueeze", x, dim)
fails("aten::unsqueeze", f32(2), 2)

for op in ["expand", "broadcast_to"]:
    for x, size in [(f32(3, 1), [3, 4]), (f32(3, 1), [2, -1, 4]), (f32(), [2, 3]), (f32(1, 3), [0, 3]),
                    (f32(2, 3), [2, 3]), (f32(2, 1).t(), [3, 2])]:
        if op == "expand" or -1 not in size:
            case(f"aten::{op}", x, size)
    fails(f"aten::{op}", f32(2, 3), [4, 3])
    fails(f"aten::{op}", f32(2, 3), [3])
fails("aten::expand", f32(2), [-1, 2])
case("aten::expand_as", f32(3, 1), f32(2, 3, 4))

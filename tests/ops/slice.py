"""Views of parts of tensors, and tensors with a part replaced."""
from cases import *

SLICES = [(0, 1, 3), (1, None, None), (-1, -3, None), (0, None, -1), (1, 1, 100, 2), (0, -100, 2), (1, 3, 1),
          (1, 0, 9223372036854775807, 3), (0, 2, 2)]
for args in SLICES:
    case("aten::slice.Tensor", f32(4, 5), *args)
    part = f32(4, 5).numpy()[tuple([slice(None)] * (args[0] % 2) + [slice(*args[1:])])]
    case("aten::slice_scatter", i64(4, 5), i64(*part.shape), *args)
case("aten::slice.Tensor", f32(4, 5).t(), 0, 1, 4, 2)
case("aten::slice.Tensor", f32(0, 5), 0, 1, 4)
case("aten::slice_scatter", f32(5, 4).t(), f64(3, 5), 0, 1)
fails("aten::slice.Tensor", f32(), 0, 0, 1)
fails("aten::slice.Tensor", f32(4), 0, 0, 1, 0)
fails("aten::slice_scatter", f32(4, 5), f32(2, 5), 0, 0, 1)

case("aten::narrow", f32(4, 5), 1, 2, 3)
case("aten::narrow", f32(4, 5), 0, -2, 1)
case("aten::narrow", f32(4, 5), 0, 4, 0)
fails("aten::narrow", f32(4, 5), 0, 3, 2)
fails("aten::narrow", f32(4, 5), 0, 0, -1)
case("aten::narrow.Tensor", f32(4, 5), 0, t(1, torch.int64), 2, fake=False)

for x, dim, index in [(f32(4, 5), 0, 2), (f32(4, 5), 1, -1), (f32(2, 3, 4).transpose(0, 2), 1, 1), (f32(3), 0, 0)]:
    case("aten::select.int", x, dim, index)
    sizes = list(x.shape)
    del sizes[dim]
    case("aten::select_scatter", x, f32(*sizes), dim, index)
fails("aten::select.int", f32(3), 0, 3)
fails("aten::select.int", f32(), 0, 0)

for x, dim in [(f32(2, 3), 0), (f32(2, 3), -1), (f32(3), 0), (f32(0, 2), 1), (f32(2, 3, 2).transpose(0, 1), 0)]:
    case("aten::unbind.int", x, dim)
for op in ["split.Tensor", "unsafe_split.Tensor"]:
    for x, size, dim in [(f32(5, 2), 2, 0), (f32(2, 6), 3, 1), (f32(2, 3), 7, -1), (f32(0, 2), 3, 0), (f32(0, 2), 0, 0)]:
        case(f"aten::{op}", x, size, dim)
    fails(f"aten::{op}", f32(3), 0)
for op in ["split.sizes", "split", "split_with_sizes", "unsafe_split_with_sizes"]:
    case(f"aten::{op}", f32(5, 2), [2, 0, 3])
    case(f"aten::{op}", f32(2, 6), [1, 5], -1)
    fails(f"aten::{op}", f32(3), [1, 1])
for op in ["chunk", "unsafe_chunk"]:
    for x, n, dim in [(f32(5, 2), 2, 0), (f32(2, 6), 4, 1), (f32(2, 3), 7, -1), (f32(0, 2), 3, 0), (f32(4, 1), 1, 0)]:
        case(f"aten::{op}", x, n, dim)
    fails(f"aten::{op}", f32(3), 0)
for x, n, dim in [(f32(7, 2), 3, 0), (f32(2, 2), 3, -1), (f32(4, 2), 2, 0)]:
    case("aten::tensor_split.sections", x, n, dim)
    case("aten::tensor_split.tensor_indices_or_sections", x, t(n, torch.int64), dim, fake=False)
for x, at, dim in [(f32(7, 2), [1, 3, 6], 0), (f32(2, 5), [-2, 9], 1), (f32(2, 5), [3, 1], 1), (f32(4), [], 0)]:
    case("aten::tensor_split.indices", x, at, dim)
    case("aten::tensor_split.tensor_indices_or_sections", x, t(at, torch.int64), dim, fake=False)
fails("aten::tensor_split.sections", f32(3), 0)
case("aten::hsplit.int", f32(2, 6), 3)
case("aten::hsplit.int", f32(6), 3)
case("aten::hsplit.array", f32(2, 6), [1, 4])
case("aten::vsplit.int", f32(4, 2), 2)
case("aten::vsplit.array", f32(4, 2), [3])
case("aten::dsplit.int", f32(1, 2, 4), 2)
case("aten::dsplit.array", f32(1, 2, 4), [1])
fails("aten::hsplit.int", f32(2, 5), 3)

for x, args in [(f32(3, 4), ()), (f32(3, 4), (1,)), (f32(3, 4), (-2,)), (f32(3, 4), (5,)), (f32(2, 3, 4), (1, 0, 2)),
                (f32(2, 3, 4), (0, -1, 1)), (f32(3, 4).t(), (-1, 1, 0))]:
    case("aten::diagonal", x, *args)
    case("aten::diagonal_scatter", x, f32(*torch.diagonal(x, *args).shape), *args)
fails("aten::diagonal", f32(3, 3), 0, 0, 0)
for x, args in [(f32(7), (0, 3, 2)), (f32(2, 6), (1, 2, 1)), (f32(4, 2, 3), (0, 4, 1)), (f32(5, 2).t(), (-1, 2, 3)), (f32(), (0, 1, 1)), (f32(), (0, 0, 1))]:
    case("aten::unfold", x, *args)
fails("aten::unfold", f32(3), 0, 4, 1)
case("aten::as_strided", f32(4, 5), [2, 3], [5, 1])
case("aten::as_strided", f32(4, 5), [3, 3], [1, 2], 4)
case("aten::as_strided", f32(12), [5, 2], [2, 3])
fails("aten::as_strided", f32(4), [2, 3], [2, 1])
fails("aten::as_strided", f32(6), [3], [1], 4)
fails("aten::as_strided", f32(6), [3], [1], -1)
case("aten::as_strided", f32(6), [3], [1], 3)
case("aten::as_strided", f32(6), [0], [1], 3)
case("aten::as_strided_scatter", f32(4, 5), f32(2, 3), [2, 3], [5, 1], 1)
case("aten::narrow_copy", f32(4, 3), 0, 1, 2)
case("aten::narrow_copy", f32(4, 3), -1, -2, 1)

"""Selection by value."""
from cases import *

M = t([True, False, True], torch.bool)
for x in [M, f32(2, 3), t([[0, 3], [0, 0]], torch.int64), t([0.0, -0.0, nan]), t(1.0), t(0.0), f32(0, 2)]:
    case("aten::nonzero", x)
    case("aten::argwhere", x, fake=False)
    if x.dim():
        case("aten::nonzero_numpy", x, fake=False)
for x, mask in [(f32(3), M), (f32(2, 3), M), (f32(3, 1), t([[True, False]], torch.bool)), (f32(3), M & False), (f32(), t(True, torch.bool)),
                (i64(3, 2).t(), M), (f32(2, 3), boolean(2, 3))]:
    case("aten::masked_select", x, mask)
    case("aten::masked_scatter", x, mask, x.new_zeros(6).copy_(f32(6)))
fails("aten::masked_select", f32(3), i64(3))
fails("aten::masked_scatter", f32(3), M, f32(1))
fails("aten::masked_scatter", f32(3), M, i64(3))
case("aten::masked_scatter_", f32(2, 3), M, f32(4))  # in memory order if strided, a bug of PyTorch
case("aten::bincount", t([1, 3, 1], torch.int64))
case("aten::bincount", t([1, 3, 1], torch.int32), minlength=6)
case("aten::bincount", t([1, 3, 1], torch.int64), t([0.5, 1.0, 2.0]))
case("aten::bincount", t([1, 0, 1], torch.int64), t([1, 2, 3], torch.int64))
case("aten::bincount", t([], torch.int64))
fails("aten::bincount", t([-1], torch.int64))
fails("aten::bincount", f32(3))
for by in [t([2, 0, 1], torch.int64), t([1, 1, 1], torch.int32)]:
    case("aten::repeat_interleave.Tensor", by)
    case("aten::repeat_interleave.self_Tensor", f32(3, 2), by, 0, fake=False)
    case("aten::repeat_interleave.self_Tensor", f32(3), by, fake=False)
    case("aten::repeat_interleave.self_Tensor", f32(2, 3), by, -1, output_size=3)
case("aten::repeat_interleave.self_Tensor", f32(2, 3), t([2], torch.int64), 1, fake=False)
case("aten::repeat_interleave.self_Tensor", f32(2, 3), t(2, torch.int64), fake=False)
fails("aten::repeat_interleave.self_Tensor", f32(2, 3), t([1, 2], torch.int64), 1)
fails("aten::repeat_interleave.Tensor", t([-1], torch.int64))
for index in [t([0, 3, 3], torch.int64), t([[1], [2]], torch.int32), t(2, torch.int64), t([], torch.int64)]:
    case("aten::embedding", f32(4, 3), index)
    case("aten::embedding", f16(4, 3), index, 1)
case("aten::embedding", f32(3, 4).t(), t([[0, 1], [3, 2]], torch.int64), -1, True, False)
fails("aten::embedding", f32(4, 3), t([4], torch.int64))
fails("aten::embedding", f32(4, 3), t([-1], torch.int64))
fails("aten::embedding", f32(4, 3), f32(2))
case("aten::masked_select", bf16(5), t([True, False, True, True, False], torch.bool))

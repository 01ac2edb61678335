"""Reading and writing at indices given by tensors."""
from cases import *


def ix(*values):
    return t(list(values), torch.int64)


M = t([True, False, True], torch.bool)
M23 = t([[True, False, True], [False, False, True]], torch.bool)
# x, indices: every pattern of x[...].
PATTERNS = [
    (f32(4, 3), [ix(0, 2, -1)]),
    (f32(4, 3), [None, ix(2, 0)]),
    (f32(4, 3), [ix(0, 3), ix(1, -1)]),
    (f32(4, 3), [t([[0], [3]], torch.int64), ix(1, 2)]),
    (f32(2, 3, 4), [ix(0, 1), None, ix(1, 3)]),
    (f32(2, 3, 4), [None, ix(0, 2), ix(1, 3)]),
    (f32(2, 3, 2, 2), [None, ix(0, 2), None, ix(1, 0)]),
    (f32(2, 3, 4), [None, t([[0, 2], [1, 1]], torch.int64)]),
    (f32(4, 3), [t(1, torch.int64)]),
    (f32(4, 3), [t(1, torch.int64), ix(0, 2)]),
    (f32(4, 3), [t([], torch.int64)]),
    (f32(3, 4).t(), [ix(3, 0)]),
    (i64(3, 2), [ix(1, 1)]),
    (f32(3), [ix(2, -3)]),
]
MASKS = [
    (f32(3, 2), [M]),
    (f32(2, 3), [None, M]),
    (f32(2, 3), [M23]),
    (f32(2, 3, 2), [M23]),
    (f32(2, 2, 3), [None, M23]),
    (f32(3, 3), [M, ix(1, 0)]),
    (f32(3, 3), [ix(1), M]),
    (f32(3, 2, 3), [M, None, ix(2)]),
    (f32(3, 2), [M & False]),
    (f32(3, 2), [M.to(torch.uint8)]),
]
for x, indices in PATTERNS + MASKS:
    fake = not any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in indices)
    case("aten::index.Tensor", x, indices, fake=fake)
    whole = torch.ops.aten.index(x, indices)
    values = x.new_zeros(whole.shape).copy_(i64(*whole.shape))
    case("aten::index_put", x, indices, values)
    case("aten::index_put_", x.clone(), indices, x.new_tensor(7))
case("aten::index.Tensor_hacked_twin", f32(4, 3), [ix(0, 2), ix(1, 1)])
case("aten::index_put.hacked_twin", f32(4, 3), [ix(0, 2), ix(1, 1)], f32(2))
case("aten::_index_put_impl_", f32(4, 3), [ix(0, 2), ix(1, 1)], f32(2))
case("aten::_index_put_impl", f32(4, 3), [ix(0, 2)], f32(3))
case("aten::index_put", f32(4, 3), [ix(0, 2, 0)], f32(3, 3), True)
case("aten::index_put", i64(4), [ix(1, 1, 1)], i64(1), True)
case("aten::index_put", f32(2, 3, 4), [None, ix(0, 2)], f32(2, 1, 4))
case("aten::index_put", f32(4, 3), [t([[0], [3]], torch.int64), ix(1, 2)], f32(2))
case("aten::index_put_", f32(3, 4).t(), [ix(0, -1)], f32(3))
fails("aten::index.Tensor", f32(3), [ix(3)])
fails("aten::index.Tensor", f32(3), [ix(0), ix(0)])
fails("aten::index.Tensor", f32(3), [M[:2]])
fails("aten::index.Tensor", f32(3), [t([0.0])])
fails("aten::index.Tensor", f32(4, 3), [ix(0, 1), ix(0, 1, 2)])
fails("aten::index_put", f32(4, 3), [ix(0, 1)], f32(4))
fails("aten::index_put", f32(4, 3), [ix(0, 1)], i64(3))

for x, dim, index in [(f32(4, 3), 0, ix(3, 0, 3)), (f32(4, 3), -1, ix(2)), (f32(4, 3).t(), 1, ix(1, 2)), (f32(3), 0, t(2, torch.int64)),
                      (f32(), 0, ix(0)), (f32(3, 2), 0, t([1, 0], torch.int32)), (f32(2, 3, 2), 1, ix()), (boolean(4), 0, ix(1, 3))]:
    case("aten::index_select", x, dim, index)
    if x.dim():
        case("aten::index_fill.int_Scalar", x, dim, index.long(), 2)
        case("aten::index_fill.int_Tensor", x, dim, index.long(), t(1.5) if x.is_floating_point() else t(True))
        sizes = list(x.shape)
        sizes[dim] = index.numel()
        source = x.new_zeros(sizes).copy_(f32(*sizes))
        if index.numel() == index.unique().numel():
            case("aten::index_copy", x, dim, index.long(), source)
        if x.dtype != torch.bool:
            case("aten::index_add", x, dim, index, source)
            case("aten::index_add", x, dim, index, source, alpha=2)
case("aten::index_fill.int_Scalar", i64(3, 2), 1, ix(-1), 5)
case("aten::index_fill.int_Scalar", f32(), 0, ix(0), 5)
case("aten::index_copy", f32(), 0, ix(0), f32())
case("aten::index_add_", f32(3), 0, ix(0, 0, 2), f32(3))
case("aten::index_add", i64(3), 0, ix(0, 0, 2), i64(3), alpha=-2)
fails("aten::index_select", f32(3), 0, ix(3))
fails("aten::index_select", f32(3), 0, ix(-1))
fails("aten::index_select", f32(3), 0, t([[0]], torch.int64))
fails("aten::index_add", f32(3), 0, ix(0), f32(2))

for x, dim, index in [(f32(3, 4), 0, t([[0, 1, 2, 0]], torch.int64)), (f32(3, 4), 1, t([[3, 0], [1, 1], [2, 2]], torch.int64)),
                      (f32(3), 0, ix(2, 0, 1, 1)), (f32(), 0, t(0, torch.int64)), (f32(4, 2).t(), -1, t([[3], [0]], torch.int64)),
                      (i64(2, 2, 2), 1, t([[[0, 1]], [[1, 0]]], torch.int64)), (f32(2, 3), 0, t([], torch.int64).reshape(0, 3))]:
    case("aten::gather", x, dim, index)
    src = x.new_zeros(index.shape).copy_(f32(*index.shape) * 3)
    unique = index.numel() < 2 or index.shape[dim] == 1 or x.dim() == 3 or x.dim() == 1
    case("aten::scatter.value", x, dim, index, 2)
    if not (x.dim() == 1 and x.numel() == 3):
        case("aten::scatter.src", x, dim, index, src)
    case("aten::scatter_add", x, dim, index, src)
    for reduce in ["add", "multiply"]:
        case("aten::scatter.reduce", x, dim, index, src, reduce=reduce)
        case("aten::scatter.value_reduce", x, dim, index, 3, reduce=reduce)
    for reduce in ["sum", "prod", "mean", "amax", "amin"]:
        for include_self in [True, False]:
            if not (reduce == "mean" and not x.is_floating_point()):
                case("aten::scatter_reduce.two", x, dim, index, src, reduce, include_self=include_self)
case("aten::scatter.src", f32(3, 4), 1, t([[3, 0], [1, 2]], torch.int64), f32(3, 3))
case("aten::scatter_.value", f32(3, 4), 1, t([[3, 0], [1, 2]], torch.int64), 1.5)
case("aten::scatter_add_", f32(2, 4).t(), 1, t([[1, 1]], torch.int64), f32(4, 2))
case("aten::gather", f32(3, 4), 1, t([[3, 0]], torch.int64))
fails("aten::gather", f32(3), 0, ix(3))
fails("aten::gather", f32(3), 0, ix(-1))
fails("aten::gather", f32(3, 2), 0, ix(0))
fails("aten::gather", f32(3, 2), 0, t([[0, 0, 0]], torch.int64))
fails("aten::gather", f32(3), 0, t([0], torch.int16))
fails("aten::scatter.src", f32(3), 0, ix(0, 1), f32(1))
fails("aten::scatter.src", f32(3), 0, ix(0), i64(1))
fails("aten::scatter_reduce.two", f32(3), 0, ix(0), f32(1), "no")

case("aten::take", f32(3, 4), t([[0, 11], [-1, 5]], torch.int64))
case("aten::take", f32(4, 3).t(), ix(1, 2))
fails("aten::take", f32(3), ix(3))
case("aten::put", f32(3, 4), ix(0, 11, -2), f32(3))
case("aten::put", f32(3, 4), ix(0, 0, 2), f32(3), True)
case("aten::take_along_dim", f32(3, 4), t([[0], [2], [1]], torch.int64), 1)
case("aten::take_along_dim", f32(3, 4), t([[0, 2]], torch.int64), 1)
case("aten::take_along_dim", f32(3, 4), ix(0, 11, 5))
for sizes in [(3, 2, 1), (1, 2, 4), (1, 2, 1)]:
    case("aten::index_add", f32(3, 5, 4), 1, ix(0, 3), f32(*sizes))
case("aten::index_add", f32(3, 5), 0, ix(0, 2), f32(2, 1), alpha=2)
case("aten::index_add", f32(5, 4, 3), 0, ix(0, 3), f32(2, 1))
case("aten::index_add", f32(5, 4, 3), 0, ix(0, 3), f32(2, 3))
for name in ["amax", "amin", "mean", "sum", "prod"]:
    for self in [True, False]:
        for x in [boolean(3, 4), u8(3, 4), i32(3, 4), f16(3, 4)]:
            if not (x.dtype == torch.bool and name == "mean"):
                case("aten::scatter_reduce.two", x, 0, ix(0, 2, 2, 0, 1, 1, 0, 0).reshape(2, 4), x[:2].flip(0), name,
                     include_self=self)
case("aten::index_add", f16(3, 2), 0, ix(0, 2), f16(2, 2))
# Sums of small integers wrap around before they are divided by the count.
for x in [t([200, 100, 250, 7], torch.uint8), t([100, 120, -128, -3], torch.int8), t([30000, 30000, -9, 4], torch.int16),
          t([2000000000, 2000000000, -9, 4], torch.int32)]:
    for self in [True, False]:
        case("aten::scatter_reduce.two", x, 0, ix(0, 0, 1, 1), x.flip(0), "mean", include_self=self)
        case("aten::scatter_reduce.two", x, 0, ix(3, 3, 3), x[:3], "mean", include_self=self)
        # Before opset 16 a product is ReduceProd, which ONNX Runtime computes in float64.
        case("aten::scatter_reduce.two", x, 0, ix(3, 3, 3), x[:3], "prod", include_self=self, ort=x.dtype != torch.int32)
case("aten::index_put", f16(3, 2), [ix(0, 2)], f16(2, 2), True)
case("aten::index_add", f16(), 0, ix(0), f16())

"""Order along a dimension, running sums, searching."""
from cases import *

NANS = t([[3.0, 1.0, 3.0, 1.0], [nan, 2.0, -inf, 2.0]])  # ONNX says nothing of their order
for x, args in [(f32(3, 4), ()), (f32(3, 4), (0,)), (f32(3, 4), (-1, True)), (f32(), ()), (i64(2, 5), (1,)), (f32(0, 3), (0,)),
                (f32(4, 3).t(), (1,)), (u8(5), (0, True)), (boolean(4), ()), (f16(4), ()), (f64(2, 3), (0,))]:
    case("aten::sort", x, *args)
    case("aten::argsort", x, *args)
    case("aten::msort", x) if x.dim() else None
for x in [NANS, t([[3.0, 1.0, 3.0, 1.0], [inf, 2.0, -inf, 2.0]]), i64(2, 5, low=0, high=2)]:
    for descending in [False, True]:
        case("aten::sort.stable", x, stable=True, dim=1, descending=descending, ort=x is not NANS)
        case("aten::sort.stable", x, stable=False, dim=0, descending=descending, ort=x is not NANS)
        case("aten::argsort.stable", x, stable=True, dim=1, descending=descending, ort=x is not NANS)
fails("aten::sort", f32(3), 1)
for x, args in [(f32(3, 5), (2,)), (f32(3, 5), (2, 0)), (f32(3, 5), (3, 1, False)), (f32(5), (5,)), (f32(5), (0,)), (f32(), (1,)), (f32(4, 3).t(), (2, 1)),
                (f16(5), (2,)), (f64(2, 4), (1, 1, False, False))]:
    case("aten::topk", x, *args)
fails("aten::topk", f32(3), 4)
fails("aten::topk", f32(3), -1)
for x, args in [(f32(3, 5), (2,)), (f32(3, 5), (1, 0)), (f32(3, 5), (5, 1, True)), (f32(), (1,)), (f64(4, 3).t(), (2, 0))]:
    case("aten::kthvalue", x, *args)
fails("aten::kthvalue", f32(3), 0)
fails("aten::kthvalue", f32(3), 4)
for op in ["median", "nanmedian"]:
    for x in [f32(5), f32(2, 3), f32(), t([1.0, nan, 2.0, 0.0]), f32(0), i64(3), t([nan, nan])]:
        case(f"aten::{op}", x) if not (x.numel() == 0 and op == "x") else None
    for x, args in [(f32(3, 4), (1,)), (f32(3, 5), (0, True)), (f32(), (0,)), (t([[1.0, nan, 2.0], [3.0, 5.0, 4.0]]), (1,)), (f32(4, 3).t(), (-1,))]:
        case(f"aten::{op}.dim", x, *args)
    fails(f"aten::{op}.dim", f32(0, 2), 0)
for x, args in [(t([1.0, 2.0, 2.0, 1.0, 3.0, 2.0]), ()), (t([[1, 1, 2], [2, 3, 3]], torch.int64), (0,)), (t([[1, 1, 2], [2, 3, 3]], torch.int64), (1, True)),
                (f32(), ()), (t([3, 1, 3, 1], torch.int64), (0,))]:
    case("aten::mode", x, *args)

for op in ["cumsum", "cumprod"]:
    for x, dim in [(f32(2, 3), 0), (f32(2, 3), -1), (f32(), 0), (f32(0, 2), 0), (i32(4), 0), (boolean(4), 0), (f32(3, 2).t(), 1), (f16(4), 0)]:
        case(f"aten::{op}", x, dim)
    case(f"aten::{op}", i64(3), 0, dtype=torch.float32)
    case(f"aten::{op}", t([1.7, 1.6, -2.9]), 0, dtype=torch.int64)
    case(f"aten::{op}_", f32(2, 3), 1)
for x, dim in [(f32(2, 3), 0), (f32(4), -1), (f32(), 0), (t([-inf, -inf, 1.0, inf, 2.0]), 0), (f64(3, 2).t(), 1)]:
    case("aten::logcumsumexp", x, dim)
for op in ["cummax", "cummin"]:
    for x, dim in [(f32(2, 4), 1), (f32(4, 2), 0), (f32(), 0), (t([2, 2, 1, 1, 2], torch.int64), 0), (f32(0, 2), 1)]:
        case(f"aten::{op}", x, dim)
    case(f"aten::{op}", t([1.0, 1.0, nan, 2.0, nan]), 0, ort=False)

B = t([1.0, 3.0, 3.0, 7.0])
X = t([[0.0, 1.0, 3.0], [4.0, 7.0, 8.0]])
for kw in [dict(), dict(right=True), dict(out_int32=True), dict(side="right"), dict(side="left")]:
    case("aten::searchsorted.Tensor", B, X, **kw)
    case("aten::searchsorted.Scalar", B, 3.0, **kw)
    if "side" not in kw:
        case("aten::bucketize.Tensor", X, B, **kw)
        case("aten::bucketize.Scalar", 3.0, B, **kw)
case("aten::searchsorted.Tensor", t([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), t([[2.0, 5.0], [2.0, 5.0]]))
case("aten::searchsorted.Tensor", t([1, 3, 5], torch.int64), t([3, 6, 0], torch.int64))
case("aten::searchsorted.Tensor", t([5.0, 1.0, 3.0]), t([2.0, 4.0]), sorter=t([1, 2, 0], torch.int64))
fails("aten::bucketize.Tensor", X, X)
fails("aten::searchsorted.Tensor", B, X, right=True, side="left")

"""Reductions over all or some dimensions."""
from cases import *

DIMS = [0, -1, [0, 2], [], None]


def spread(op, of=f32, keepdim=True, **more):
    """Every form of the dim argument, on a small cube."""
    for dim in DIMS:
        case(op, of(2, 3, 2), dim, **more)
    if keepdim:
        case(op, of(2, 3, 2), [1, -1], keepdim=True, **more)
        case(op, of(2, 3, 2), None, keepdim=True, **more)
    case(op, of(), 0, **more)
    case(op, of(3, 2).t(), 1, **more)


for x in shapes():
    case("aten::sum", x)
    case("aten::mean", x)
    case("aten::prod", x)
for of in (f16, bf16, f64, i8, i16, i32, i64, u8, boolean):
    case("aten::sum", of(2, 3))
    if of is not bf16:
        case("aten::prod", of(2, 2))
spread("aten::sum.dim_IntList")
case("aten::sum.dim_IntList", i8(2, 3), [1])
case("aten::sum.dim_IntList", boolean(2, 3), [0])
case("aten::sum.dim_IntList", f32(2, 3), [0], dtype=torch.int32)
case("aten::sum.dim_IntList", i32(2, 3), [0], dtype=torch.float32)
case("aten::sum.dim_IntList", u8(20, 3, low=200, high=255), [0], dtype=torch.uint8)
case("aten::sum", f16(4), dtype=torch.float32)
case("aten::sum.dim_IntList", f32(2, 0), [1])
fails("aten::sum.dim_IntList", f32(2, 3), [2])
spread("aten::mean.dim")
case("aten::mean.dim", i64(2, 3), [0], dtype=torch.float32)
case("aten::mean.dim", f32(0, 3), [0])
case("aten::mean", f16(2, 3))
fails("aten::mean", i64(2, 3))
for dim in (0, -1):
    case("aten::prod.dim_int", f32(2, 3, 2), dim)
    case("aten::prod.dim_int", i32(2, 3), dim, True)
case("aten::prod.dim_int", f32(2, 0), 1)
case("aten::prod.dim_int", f32(2, 2), 1, dtype=torch.float64)

for op in ("var", "std"):
    case(f"aten::{op}", f32(2, 3))
    case(f"aten::{op}", f32(2, 3), False)
    case(f"aten::{op}", f64(3, 2).t())
    case(f"aten::{op}", f32(1))
    fails(f"aten::{op}", i64(2, 3))
    spread(f"aten::{op}.dim")
    case(f"aten::{op}.dim", f32(4, 3), [0], False)
    case(f"aten::{op}.dim", f16(4, 3), [0], False)
    spread(f"aten::{op}.correction", correction=1)
    case(f"aten::{op}.correction", f32(4, 3), [0], correction=0)
    case(f"aten::{op}.correction", f32(4, 3), [0], correction=2, keepdim=True)
    case(f"aten::{op}.correction", f32(4, 3), None, correction=None)
    case(f"aten::{op}_mean", f32(2, 3))
    case(f"aten::{op}_mean", f32(2, 3), False)
    spread(f"aten::{op}_mean.dim")
    case(f"aten::{op}_mean.correction", f32(4, 3), [0], correction=0)
    case(f"aten::{op}_mean.correction", f32(4, 3), [1], correction=None, keepdim=True)

# A NaN wins in PyTorch; ONNX Runtime passes over it, or not, by the axis.
ties = t([[1, 3, 3], [2, 2, -1]])
holes = t([[1, nan, 3], [-inf, 2, inf]])
for op in ("max", "min"):
    for x in (f32(2, 3), f32(), f32(3, 2).t(), holes, i64(5), u8(3), boolean(2, 2), f16(4), bf16(4)):
        case(f"aten::{op}", x, ort=x is not holes)
    fails(f"aten::{op}", f32(0))
    for x in (f32(2, 3), f32(3, 2).t(), ties, holes, i32(2, 3), boolean(2, 3), f16(2, 3)):
        case(f"aten::{op}.dim", x, 0, ort=x is not holes)
        case(f"aten::{op}.dim", x, -1, True, ort=x is not holes)
    case(f"aten::{op}.dim", f32(), 0)
    case(f"aten::{op}.dim", f32(0, 3), 1)
    fails(f"aten::{op}.dim", f32(0, 3), 0)
    fails(f"aten::{op}.dim", f32(2, 3), 2)
for op in ("amax", "amin"):
    for dim in (0, -1, [0, 2], []):
        case(f"aten::{op}", f32(2, 3, 2), dim)
    case(f"aten::{op}", i64(2, 3), [1], True)
    case(f"aten::{op}", boolean(2, 3), [1])
    case(f"aten::{op}", holes, [0], ort=False)
    case(f"aten::{op}", f32())
    fails(f"aten::{op}", f32(0, 3), [0])
case("aten::aminmax", f32(2, 3))
case("aten::aminmax", i64(2, 3), dim=1)
case("aten::aminmax", f32(2, 3), dim=0, keepdim=True)
case("aten::aminmax", f32(), dim=0)
case("aten::aminmax", f32(), dim=0, keepdim=True)
case("aten::aminmax", i64(), keepdim=True)
for op in ("argmax", "argmin"):
    for x in (f32(2, 3), ties, holes, f32(3, 2).t(), i64(2, 3), f16(2, 3)):
        case(f"aten::{op}", x, ort=x is not holes)
        case(f"aten::{op}", x, 0, ort=x is not holes)
        case(f"aten::{op}", x, -1, True, ort=x is not holes)
    case(f"aten::{op}", f32(2, 3), None, True)
    case(f"aten::{op}", f32())
    case(f"aten::{op}", f32(), 0)
    fails(f"aten::{op}", f32(0))

for op in ("all", "any"):
    for x in (boolean(2, 3), f32(2, 3), t([[0.0, nan], [0.0, 1.0]]), u8(2, 2), i64(2, 2),
              boolean(0, 3), boolean(), boolean(3, 2).t()):
        case(f"aten::{op}", x)
        case(f"aten::{op}.dim", x, 0)
        case(f"aten::{op}.dim", x, -1, True)
case("aten::count_nonzero", i64(2, 3, low=0, high=1))
case("aten::count_nonzero", i64(2, 3, low=0, high=1), 1)
case("aten::count_nonzero", t([0.0, nan, 1.0]))
case("aten::count_nonzero.dim_IntList", boolean(2, 3, 2), [0, 2])
case("aten::count_nonzero.dim_IntList", boolean(2, 3, 2), [-2])

for dim in (0, -1, [0, 2]):
    case("aten::logsumexp", f32(2, 3, 2), dim)
    case("aten::logsumexp", f32(2, 3, 2), dim, True)
case("aten::logsumexp", t([[1000.0, 1001.0], [-inf, -inf], [inf, 0.0]]), [1])
case("aten::logsumexp", i64(2, 3), [1])
case("aten::logsumexp", f32(0, 3), [0])
case("aten::logsumexp", f32(), [0])
case("aten::nansum", holes[:, :2], [1])
case("aten::nansum", i64(2, 3))
case("aten::nansum", holes[0], None, False, dtype=torch.float64)
case("aten::nanmean", t([[1, nan, 3], [nan, nan, nan]]), [1], True)
case("aten::nanmean", t([[1, nan, 3], [nan, 2, nan]]))

for p in (0, 1, 2, 3, 2.5, -1, inf, -inf):
    case("aten::norm.Scalar", f32(2, 3), p)
    case("aten::norm.ScalarOpt_dim", f32(2, 3, 2), p, [1], tol=(2e-5, 1e-6))
    case("aten::linalg_vector_norm", f32(2, 3, 2), p, [0, -1], True, tol=(2e-5, 1e-6))
case("aten::norm.Scalar", f32(3, 2).t())
case("aten::norm.Scalar", f32())
case("aten::norm.ScalarOpt_dim", f32(2, 3), None, [0, 1], True)
case("aten::norm.ScalarOpt_dim", f32(2, 3), None, [])
case("aten::norm.ScalarOpt_dim_dtype", f32(2, 3), 2, [1], True, dtype=torch.float64)
case("aten::norm.ScalarOpt_dtype", f16(2, 3), None, dtype=torch.float32)
case("aten::linalg_vector_norm", f32(2, 3))
case("aten::linalg_vector_norm", f64(2, 3), 2, None, False, dtype=torch.float64)
case("aten::linalg_vector_norm", f32(0), 2)
for factor in [1e30, 1e-30]:  # squares overflow, or are 0
    for p in [1, 2, 3]:
        case("aten::norm.Scalar", f32(2, 3) * factor, p)
        case("aten::linalg_vector_norm", f32(2, 40) * factor, p, [1])
        case("aten::linalg_vector_norm", f64(2, 3) * factor ** 7, p, [0])
fails("aten::linalg_vector_norm", i64(2, 3))
fails("aten::linalg_vector_norm", f32(0, 2), inf, [0])
for size in [[3], [1, 3], [2, 1], [2, 3], []]:
    case("aten::sum_to_size", f32(2, 3), size, alias=False)
case("aten::sum_to_size", i32(4, 2, 3), [2, 1])
fails("aten::sum_to_size", f32(2, 3), [2])
case("aten::sum_to_size", i32(), [], alias=False)

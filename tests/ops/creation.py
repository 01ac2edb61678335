"""Tensors from nothing."""
from cases import *

for op in ["zeros", "ones"]:
    for size in [[2, 3], [], [0, 2]]:
        case(f"aten::{op}", size)
    for dtype in [torch.int64, torch.bool, torch.float16, torch.float64]:
        case(f"aten::{op}", [2], dtype=dtype)
        case(f"aten::{op}_like", f32(2), dtype=dtype)
        case(f"aten::new_{op}", f32(2), [3], dtype=dtype)
    for x in [f32(2, 3), i64(3), f64(), f32(3, 2).t(), boolean(2)]:
        case(f"aten::{op}_like", x)
        case(f"aten::new_{op}", x, [2, 2])
    fails(f"aten::{op}", [-1])
for value in [2, 1.5, True]:
    case("aten::full", [2, 3], value)
    case("aten::full", [2], value, dtype=torch.float64)
    case("aten::full", [], value, dtype=torch.int32)
    case("aten::full_like", f32(2, 3), value)
    case("aten::full_like", i64(2), value, dtype=torch.float16)
    case("aten::new_full", f32(2), [3], value)
    case("aten::new_full", i64(2), [3], value, dtype=torch.bool)
case("aten::full", [2], inf)
case("aten::full_like", f32(2), -inf)
case("aten::empty.memory_format", [2, 3], values=False)
case("aten::empty.memory_format", [2], dtype=torch.int32, values=False)
case("aten::empty_like", i64(2, 3), values=False)
case("aten::new_empty", f32(2), [3, 1], values=False)
case("aten::fill.Scalar", f32(2, 3), 1.5)
case("aten::fill.Scalar", i64(3), 4)
case("aten::fill.Tensor", f32(2, 3), f64())
case("aten::fill.Tensor", i64(2, 3), i32())
case("aten::fill_.Scalar", f32(3, 4).t(), 2.5)
case("aten::fill_.Tensor", f32(4, 6)[:, ::2], f32())
case("aten::zero", i64(3))
case("aten::zero_", f32(4, 6)[:, ::2])
fails("aten::fill.Tensor", f32(2), f32(1))
case("aten::copy_", f32(2, 3), f32(3))
case("aten::copy_", f32(3, 2).t(), i64(2, 3))
case("aten::copy_", i64(2, 3), f32(1, 3))
case("aten::copy_", boolean(3), f32(3))
case("aten::copy", f32(2, 3), f64())
fails("aten::copy_", f32(3), f32(2, 3))
fails("aten::copy_", f32(2), f32(3))

for dim in (0, 1, -1):
    case("aten::_dim_arange", f32(2, 4), dim)
fails("aten::_dim_arange", f32(2, 4), 2)
for end in [5, 0, 4.5, 2.0]:
    case("aten::arange", end)
    case("aten::arange", end, dtype=torch.float32)
    case("aten::arange", end, dtype=torch.int64)
case("aten::arange.start", 2, 7)
case("aten::arange.start", -1.5, 2)
case("aten::arange.start", 3, 3)
case("aten::arange.start", 1, 5, dtype=torch.float16)
case("aten::arange.start", 1, 5, dtype=torch.int32)
for start, end, step in [(0, 10, 3), (10, 0, -3), (0, 9, 3), (5, -1, -1), (0, 1, 0.25),
                         (1.0, 0.0, -0.3), (0.5, 3.7, 1), (0, 7, 2)]:
    case("aten::arange.start_step", start, end, step)
    case("aten::arange.start_step", start, end, step, dtype=torch.float64)
fails("aten::arange.start_step", 0, 5, -1)
fails("aten::arange.start_step", 0, 5, 0)
fails("aten::arange", -1)
case("aten::range", 1, 4)
case("aten::range", 1, 4, dtype=torch.int64)
case("aten::range.step", 0, 2, 0.5)
case("aten::range.step", 5, 1, -2, dtype=torch.int64)
for args in [(0, 1, 5), (1, -1, 4), (3, 3, 1), (0, 10, 0), (-2.5, 7.25, 6)]:
    case("aten::linspace", *args)
case("aten::linspace", 0, 10, 4, dtype=torch.float64)
case("aten::linspace", 0, 10, 4, dtype=torch.int64)
fails("aten::linspace", 0, 1, -1)
case("aten::logspace", 0, 2, 3)
case("aten::logspace", -1, 1, 5, 2.0)
for args in [(3,), (0,)]:
    case("aten::eye", *args)
    case("aten::eye", *args, dtype=torch.int64)
case("aten::eye.m", 2, 3)
case("aten::eye.m", 3, 2, dtype=torch.bool)
for op in ["tril", "triu"]:
    for k in [0, 1, -1, 5, -5]:
        case(f"aten::{op}", f32(3, 4), k)
    case(f"aten::{op}", f32(2, 3, 3))
    case(f"aten::{op}", f32(4, 3).t(), 1)
    case(f"aten::{op}", i64(3, 3), -1)
    case(f"aten::{op}", boolean(3, 3))
    case(f"aten::{op}", f64(2, 2))
    case(f"aten::{op}_", f32(3, 3))
    fails(f"aten::{op}", f32(3))

for value in [3, 2.5, True]:
    case("aten::scalar_tensor", value)
    case("aten::scalar_tensor", value, dtype=torch.int64)
    case("aten::scalar_tensor", value, dtype=torch.float64)
for op in ["tensor", "as_tensor"]:
    case(f"aten::{op}.int", 3)
    case(f"aten::{op}.float", 2.5)
    case(f"aten::{op}.bool", True)
    case(f"aten::{op}.int", 3, dtype=torch.float32)
    case(f"aten::{op}.float", 2.5, dtype=torch.float64)
for op in ["tensor", "as_tensor.list"]:
    for data in [[1, 2, 3], [[1.5, 2.0], [3.0, 4.0]], [True, False], [], [[1], [2]], [0.5, inf]]:
        case(f"aten::{op}", data)
    case(f"aten::{op}", [1, 2], dtype=torch.float16)
    case(f"aten::{op}", [1.5, -2.5], dtype=torch.int32)
    fails(f"aten::{op}", [[1, 2], [3]])
    fails(f"aten::{op}", [[1, 2], 3])
case("aten::one_hot", t([0, 2, 1], torch.int64), 4)
case("aten::one_hot", t([[0, 2], [1, 1]], torch.int64), 3)
case("aten::one_hot", t([0, 2, 1], torch.int64), fake=False)
case("aten::one_hot", t(1, torch.int64), 3)
fails("aten::one_hot", t([0, 4], torch.int64), 3)
fails("aten::one_hot", f32(3), 3)

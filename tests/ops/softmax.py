"""Softmax and its logarithm."""
from cases import *

for op in ("softmax", "log_softmax"):
    for dim in (0, 1, -1):
        case(f"aten::{op}.int", f32(2, 3, 2), dim)
    case(f"aten::{op}.int", f32(3, 4).t(), 0)
    case(f"aten::{op}.int", f32(), 0)
    case(f"aten::{op}.int", f32(0, 3), 1)
    case(f"aten::{op}.int", f32(3, 0), 1)
    case(f"aten::{op}.int", f64(2, 3), 1)
    case(f"aten::{op}.int", bf16(2, 3), 1)
    case(f"aten::{op}.int", f16(2, 3), 1, torch.float32)
    case(f"aten::{op}.int", i64(2, 3), 0, torch.float32)
    case(f"aten::{op}.int", t([[1000.0, 0.0, -1000.0], [-inf, 0.0, 1.0], [nan, 0.0, 1.0]]), 1)
    fails(f"aten::{op}.int", i64(2, 3), 1)
    fails(f"aten::{op}.int", f32(2, 3), 2)
    case(f"aten::_{op}", f32(2, 3), 1, False)

"""Conversions of dtype, device and handle."""
from cases import *

special = t([nan, inf, -inf, -0.0, 2.75, -2.75])
ALL = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
       torch.int16, torch.int8, torch.uint8, torch.bool]

for dtype in ALL:
    for of in [f32, f16, i64, i32, u8, boolean]:
        case("aten::to.dtype", of(2, 3), dtype)
    case("aten::to.dtype", f32(3, 4).t(), dtype)
    case("aten::to.dtype", f64(), dtype)
    case("aten::to.dtype", bf16(3), dtype)
for dtype in [torch.float64, torch.float16, torch.bool]:
    case("aten::to.dtype", special, dtype)
case("aten::to.dtype", f32(3), torch.float32, False, True)
case("aten::to.dtype", f32(3, 4).t(), torch.float32, False, True)
case("aten::to.dtype", t([70000.0, 1e-8, 6e-8]), torch.float16)
case("aten::to.dtype", t([300, -1], torch.int64), torch.uint8)
cpu = torch.device("cpu")
case("aten::to.device", f32(3), cpu, torch.int64)
case("aten::to.device", f32(3), cpu, torch.float32)
case("aten::to.other", f32(3), i64(2))
case("aten::to.other", f32(3), f32(2))
case("aten::to.dtype_layout", f32(3), dtype=torch.float64)
case("aten::to.dtype_layout", f32(3), device=cpu)
case("aten::to.dtype_layout", f32(3), dtype=torch.int32, copy=True)
case("aten::to.prim_Device", f32(3), cpu, torch.float64)
case("aten::to.prim_Device", f32(3), cpu)
case("aten::to.prim_dtype", f32(3), torch.int64)
case("aten::to.prim_dtype", f32(3))
case("aten::to.prim_other", f32(3))
case("aten::_to_copy", f32(3))
case("aten::_to_copy", f32(3), dtype=torch.int64)
case("aten::type_as", f32(3), i64(1))
case("aten::type_as", f32(3), f32(1))
for name in ["Byte", "Char", "Double", "Float", "Int", "Long", "Short", "Half"]:
    case(f"aten::_cast_{name}", f32(2, 3, low=0, high=9))
for x in [f32(2, 3), f32(3, 4).t(), i64(3), boolean(2), f32(), f32(0, 2), f32(4, 6)[:, ::2]]:
    case("aten::clone", x)
    case("aten::contiguous", x)
    for op in ["detach", "alias", "lift_fresh", "positive", "lift", "cpu", "resolve_conj",
               "resolve_neg"]:
        if op != "positive" or x.dtype != torch.bool:
            case(f"aten::{op}", x)
case("aten::clone", f32(1, 2, 2, 2), memory_format=torch.channels_last)
case("aten::contiguous", f32(1, 2, 2, 2), memory_format=torch.channels_last)
case("aten::contiguous", f32(1, 2, 2, 2).permute(0, 2, 3, 1))
case("aten::detach_copy", f32(3))
case("aten::data", f32(3, 2).t())
case("aten::as_tensor", f32(3))
case("aten::as_tensor", f32(3), dtype=torch.int64)

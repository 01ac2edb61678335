"""Questions about tensors."""
from cases import *

for x in [f32(2, 3, 4), f32(), f32(0, 3), f32(3, 4).t(), f32(4, 6)[1:, ::2]]:
    for op in ["size", "sym_size", "numel", "sym_numel", "dim", "stride", "storage_offset", "is_contiguous",
               "is_floating_point", "is_complex", "is_signed", "element_size"]:
        if op not in ("is_complex", "is_signed", "element_size", "sym_numel", "is_floating_point") or x.dim() == 3:
            case(f"aten::{op}", x)
    case("aten::_shape_as_tensor", x)
    if x.dim():
        for op in ["size.int", "stride.int"]:
            case(f"aten::{op}", x, -1)
        case("aten::sym_size.int", x, 1)  # PyTorch 1.13 forgets to wrap it
        case("aten::len.Tensor", x)
fails("aten::size.int", f32(), 0)
fails("aten::size.int", f32(2), 1)
fails("aten::len.Tensor", f32())
for x in [u8(2), boolean(2), f16(2), i32(2), c64(2)]:
    for op in ["is_floating_point", "is_complex", "is_signed", "element_size"]:
        case(f"aten::{op}", x)
for x in [f32(1), i64(), boolean(1, 1), f16(), t(-2.75), t(0.0)]:
    for op in ["item", "_local_scalar_dense", "is_nonzero", "Bool.Tensor", "Int.Tensor", "Float.Tensor", "ScalarImplicit"]:
        if op != "ScalarImplicit" or x.dim() == 0:
            case(f"aten::{op}", x, fake=False)
case("aten::IntImplicit", i64(), fake=False)
case("aten::FloatImplicit", t(1.25), fake=False)
fails("aten::item", f32(2))
case("aten::is_same_size", f32(2, 3), f32(2, 3))
case("aten::is_same_size", f32(2, 3), f32(3, 2))
case("aten::equal", i64(2, 3), i64(2, 3).flip(0), fake=False)
case("aten::equal", i64(2, 3) * 0, i64(2, 3) * 0, fake=False)
case("aten::equal", t([1.0, nan]), t([1.0, nan]), fake=False)
case("aten::equal", t([0.0]), t([-0.0]), fake=False)
case("aten::equal", f32(2), f32(3), fake=False)
case("aten::allclose", t([1.0, 2.0]), t([1.000001, 2.0]), fake=False)
case("aten::allclose", t([1.0, 2.0]), t([1.001, 2.0]), fake=False)
case("aten::allclose", t([1.0, nan, inf]), t([1.0, nan, inf]), 1e-5, 1e-8, True, fake=False)
case("aten::allclose", t([1.0, nan]), t([1.0, nan]), fake=False)
case("aten::allclose", f32(2, 3), t(0.0), 0.0, 3.0, fake=False)
case("aten::allclose", i64(2, 3), i64(2, 3).flip(0), 0.0, 30.0, fake=False)

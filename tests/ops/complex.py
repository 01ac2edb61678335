"""Complex numbers: the two looks at them, and the operators that know what to do with pairs."""
from cases import *

case("aten::view_as_real", c64(2, 3))
case("aten::view_as_real", c64())
case("aten::view_as_real", c64(4, 3).t())
case("aten::view_as_real", c64(4, 3)[1:, ::2])
fails("aten::view_as_real", f32(2))
case("aten::view_as_complex", f32(2, 3, 2))
case("aten::view_as_complex", f64(2))
case("aten::view_as_complex", f32(4, 3, 2).transpose(0, 1))
fails("aten::view_as_complex", f32(2, 3))
fails("aten::view_as_complex", f32(2, 3).t())
fails("aten::view_as_complex", i64(3, 2))
case("aten::complex", f32(2, 3), f32(3))
case("aten::complex", f64(2), f64(2))
fails("aten::complex", f32(2), f64(2))
case("aten::polar", f32(2, 3), f32(2, 3))

for op in ["abs", "angle", "neg", "reciprocal", "exp", "log", "sum", "mean", "clone", "contiguous", "squeeze"]:
    case(f"aten::{op}", c64(2, 1, 3))
    case(f"aten::{op}", c64(2, 3).t())
for op in ["real", "imag"]:
    case(f"aten::{op}", c64(2, 3))
for op in ["conj", "_conj", "conj_physical", "resolve_conj", "resolve_neg"]:
    case(f"aten::{op}", c64(2, 3), alias=False)
case("aten::resolve_neg", f32(2))
fails("aten::imag", f32(2))
case("aten::adjoint", c64(2, 3), alias=False)
for op in ["mH", "matrix_H"]:
    case(f"aten::{op}", f32(2, 3))

for op in ["add", "sub"]:
    for y in [c64(3), f32(2, 3), f32(3)]:
        case(f"aten::{op}.Tensor", c64(2, 3), y)
    case(f"aten::{op}.Tensor", f32(2, 3), c64(3), alpha=2)
    case(f"aten::{op}.Scalar", c64(2, 3), 2)
    case(f"aten::{op}.Scalar", c64(2, 3), 2 + 1j)
for op in ["mul", "div"]:
    for y in [c64(3), f32(2, 3), f32(3), f32()]:
        case(f"aten::{op}.Tensor", c64(2, 3), y)
    case(f"aten::{op}.Tensor", f32(2, 3), c64(3))
    case(f"aten::{op}.Scalar", c64(2, 3), 2.5)
    case(f"aten::{op}.Scalar", c64(2, 3), 2 + 1j)
case("aten::mul_.Tensor", c64(2, 3), c64(3))
case("aten::matmul", c64(2, 3, 4), c64(4, 2))
case("aten::mm", c64(3, 4), c64(4, 2))
case("aten::bmm", c64(2, 3, 4), c64(2, 4, 2))
for op in ["eq", "ne"]:
    case(f"aten::{op}.Tensor", c64(2, 3), c64(2, 3))
    case(f"aten::{op}.Tensor", c64(2, 3), c64(3).add(1))

for op in ["sum.dim_IntList", "mean.dim"]:
    case(f"aten::{op}", c64(2, 3), [-1])
    case(f"aten::{op}", c64(2, 3, 2), [0, 2], True)
case("aten::view", c64(2, 6), [3, -1])
case("aten::reshape", c64(2, 6).t(), [3, 4])
case("aten::permute", c64(2, 3, 4), [2, 0, -2])
case("aten::transpose.int", c64(2, 3, 4), -1, 0)
case("aten::flatten.using_ints", c64(2, 3, 4), 1, -1)
case("aten::expand", c64(2, 1), [3, 2, 4])
case("aten::unsqueeze", c64(2, 3), -1)
case("aten::squeeze.dim", c64(2, 1, 3), -2)
case("aten::select.int", c64(2, 3), -1, 1)
case("aten::slice.Tensor", c64(5, 3), -2, 1, 5, 2)
case("aten::unbind.int", c64(2, 3), 1)
case("aten::split.Tensor", c64(5, 2), 2)
case("aten::split_with_sizes", c64(2, 5), [2, 3], -1)
case("aten::chunk", c64(4, 2), 2, -1)
case("aten::cat", [c64(2, 3), c64(2, 1)], -1)
case("aten::stack", [c64(2), c64(2)], -1)
case("aten::flip", c64(2, 3), [-1])
case("aten::roll", c64(2, 3), [1], [-1])
case("aten::repeat", c64(2, 3), [2, 1, 2])
case("aten::cumsum", c64(2, 3), -1)
case("aten::index.Tensor", c64(4, 3), [t([2, 0], torch.int64)])
case("aten::index_select", c64(4, 3), -1, t([2, 0], torch.int64))
case("aten::where.self", boolean(2, 3), c64(2, 3), c64(3))
case("aten::to.dtype", c64(2), torch.complex128)

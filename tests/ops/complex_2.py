"""Complex numbers, said in terms of other operators (src/aten/complex_text.c)."""
from cases import *

for name in ("acos acosh asin asinh atan atanh cos cosh exp2 log10 log1p log2 rsqrt sigmoid sin sinh sqrt "
             "square tan tanh").split():
    case(f"aten::{name}", c64(2, 3), tol=(1e-4, 1e-5))
zero = torch.complex(t([0, 0, 1]), t([0, 2, 0]))
for name in ("all", "any", "logical_not"):
    case(f"aten::{name}", zero)
for name in ("logical_and", "logical_or", "logical_xor"):
    case(f"aten::{name}", zero, zero.flip(0))
case("aten::all.dim", c64(2, 3), 1)
case("aten::any.dim", c64(2, 3), 0, True)
case("aten::addmm", c64(2, 4), c64(2, 3), c64(3, 4), beta=2, alpha=0.5)
case("aten::baddbmm", c64(2, 2, 4), c64(2, 2, 3), c64(2, 3, 4), beta=2, alpha=0.5)
case("aten::dot", c64(4), c64(4))
case("aten::vdot", c64(4), c64(4))
case("aten::constant_pad_nd", c64(2, 3), [1, 2], 5)
case("aten::cumprod", c64(3, 2), 0)
case("aten::prod", c64(2, 2))
case("aten::prod.dim_int", c64(3, 2), 0, True)
case("aten::diag_embed", c64(3), 1)
case("aten::gather", c64(2, 3), 1, t([[0, 2], [1, 1]], torch.int64))
case("aten::index_add", c64(3, 2), 0, t([2, 0], torch.int64), c64(2, 2))
case("aten::linalg_vector_norm", c64(2, 3), 2, [1])
case("aten::masked_fill.Scalar", c64(2, 3), boolean(2, 3), 7)
for name in ("new_ones", "new_zeros"):
    case(f"aten::{name}", c64(2), [2, 3])
for name in ("ones_like", "zeros_like", "fliplr", "flipud", "tril", "triu"):
    case(f"aten::{name}", c64(2, 3))
case("aten::rot90", c64(2, 3))
case("aten::pow.Scalar", 2.5, c64(3))
case("aten::pow.Tensor_Tensor", f32(3, low=0.5, high=2), c64(3), tol=(1e-4, 1e-5))
case("aten::pow.Tensor_Tensor", c64(3), c64(3), tol=(1e-4, 1e-5))
case("aten::scatter_add", c64(2, 3), 1, t([[0, 2], [1, 1]], torch.int64), c64(2, 2))
case("aten::unfold", c64(5), 0, 2, 1)
case("aten::cross", c64(2, 3), c64(2, 3), 1)
case("aten::linalg_cross", c64(2, 3), c64(2, 3))
case("aten::linalg_multi_dot", [c64(2, 3), c64(3, 2), c64(2, 2)])
case("aten::combinations", c64(3))
case("aten::to.dtype", c64(3), torch.float32)
case("aten::to.dtype", c64(3), torch.int64)
case("aten::to.dtype", f32(3), torch.complex64)
case("aten::to.dtype", i64(3), torch.complex128)
case("aten::silu", c64(2, 3), tol=(1e-4, 1e-5))
case("aten::_conj_physical", c64(2, 3))
case("aten::chalf", f32(2, 3))
case("aten::chalf", i64(3))

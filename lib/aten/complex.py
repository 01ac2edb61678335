"""Complex tensors.

Kernels see a complex tensor as pairs of real numbers. A function with @complex_rule computes an
operator on complex tensors from real and imaginary parts, or by other operators with rules.
"""

import math
import torch

from calque import complex_rule, dtype_name, is_complex, is_known, operator, size_hint, traits
from calque import unview, wrap_dim, wrap_dims
from aten.common import real_form
from aten.fft import complex_of
from aten.matrix import square_matrix
from aten.solve import triangles


def truth(x):
    return torch.logical_or(torch.real(x) != 0, torch.imag(x) != 0) if x.is_complex() else x != 0


def from_pairs(x):
    return torch.view_as_complex(x.contiguous())


def both_complex(x, y):
    return (
        isinstance(x, torch.Tensor)
        and is_complex(x)
        and isinstance(y, torch.Tensor)
        and is_complex(y)
    )


def part_dtype(dtype):
    if dtype == torch.complex128:
        return torch.float64
    if dtype == torch.complex64:
        return torch.float32
    return torch.float16


def dtype_of_parts(x, y):
    """The real dtype of the complex operand, or of the real tensor if the other operand is a
    complex number."""
    if isinstance(x, torch.Tensor) and is_complex(x):
        return part_dtype(x.dtype)
    if isinstance(y, torch.Tensor) and is_complex(y):
        return part_dtype(y.dtype)
    d = x.dtype if isinstance(x, torch.Tensor) else y.dtype
    return d if d.is_floating_point else torch.float32


def real_part(x, dtype):
    if isinstance(x, torch.Tensor):
        return torch.real(x) if is_complex(x) else x
    return torch.scalar_tensor(torch.real(x), dtype=dtype)


def imag_part(x, dtype):
    if isinstance(x, torch.Tensor):
        return torch.imag(x) if is_complex(x) else torch.zeros_like(x)
    return torch.scalar_tensor(torch.imag(x), dtype=dtype)


def beside_pairs(x):
    """A real operand in the form that broadcasts over pairs."""
    return x.unsqueeze(-1) if isinstance(x, torch.Tensor) and x.ndim > 0 else x


def times_real(z, by):
    return from_pairs(torch.view_as_real(z) * beside_pairs(by))


def product(x, y, u, v):
    """(x + yi)(u + vi)."""
    a = x * u
    b = x * v
    c = y * u
    d = y * v
    return complex_of(a - d, b + c)


def as_complex(x):
    return x if x.is_complex() else torch.complex(x, torch.zeros_like(x))


def beside_complex(x, other):
    """x as a complex tensor like other."""
    if is_complex(x):
        return x
    if x.ndim > 0 and x.dtype != part_dtype(other.dtype):
        raise NotImplementedError("a real tensor of another precision is not supported")
    return x.to(other.dtype)


@unview("aten::view_as_real")
def view_as_real_unview(changed):
    return from_pairs(changed)


@unview("aten::view_as_complex")
def view_as_complex_unview(changed):
    return torch.view_as_real(changed)


@operator("aten::complex(Tensor real, Tensor imag) -> Tensor", of_views=True)
def complex(real, imag):
    """Complex numbers from real and imaginary parts."""
    assert real.dtype == imag.dtype, "expected real and imaginary parts of one dtype"
    return torch.view_as_complex(torch.stack(torch.ops.aten.broadcast_tensors([real, imag]), -1))


@operator("aten::polar(Tensor abs, Tensor angle) -> Tensor", of_views=True)
def polar(abs, angle):
    """Complex numbers from absolute values and angles."""
    return torch.view_as_complex(torch.stack([abs * angle.cos(), abs * angle.sin()], -1))


@operator("aten::imag(Tensor(a) self) -> Tensor(a)", of_views=True)
def imag(self):
    """The imaginary parts of complex numbers."""
    raise TypeError(f"expected complex numbers, got {dtype_name(self.dtype)}")


@complex_rule("aten::_conj")
@complex_rule("aten::_conj_physical")
@complex_rule("aten::conj")
@complex_rule("aten::conj_physical")
def _conj_complex(self):
    return torch.complex(torch.real(self), -torch.imag(self))


@complex_rule("aten::_pad_circular")
def _pad_circular_complex(self, pad):
    return torch.complex(
        torch.ops.aten._pad_circular(torch.real(self), pad),
        torch.ops.aten._pad_circular(torch.imag(self), pad),
    )


@complex_rule("aten::abs")
def abs_complex(self):
    x = torch.real(self)
    y = torch.imag(self)
    return torch.sqrt(x * x + y * y)


@complex_rule("aten::acos")
def acos_complex(self):
    return math.pi / 2 - torch.asin(self)


@complex_rule("aten::acosh")
def acosh_complex(self):
    return torch.log(self + torch.sqrt(self + 1) * torch.sqrt(self - 1))


@complex_rule("aten::add.Scalar")
@complex_rule("aten::add.Tensor")
def add_Scalar_complex(self, other, alpha):
    if is_complex(alpha):
        raise NotImplementedError("a complex alpha is not supported")
    if both_complex(self, other):
        return from_pairs(
            torch.ops.aten.add.Tensor(
                torch.view_as_real(self), torch.view_as_real(other), alpha=alpha
            )
        )
    t = dtype_of_parts(self, other)
    x = torch.ops.aten.add.Tensor(real_part(self, t), real_part(other, t), alpha=alpha)
    y = torch.ops.aten.add.Tensor(imag_part(self, t), imag_part(other, t), alpha=alpha)
    return complex_of(x, y)


@complex_rule("aten::addcdiv")
def addcdiv_complex(self, tensor1, tensor2, value):
    return self + tensor1 / tensor2 * value


@complex_rule("aten::addcmul")
def addcmul_complex(self, tensor1, tensor2, value):
    return self + tensor1 * tensor2 * value


@complex_rule("aten::addmm")
def addmm_complex(self, mat1, mat2, beta, alpha):
    return self * beta + torch.mm(mat1, mat2) * alpha


@complex_rule("aten::all")
def all_complex(self):
    return torch.all(truth(self))


@complex_rule("aten::all.dim")
def all_dim_complex(self, dim, keepdim):
    return torch.all(truth(self), dim, keepdim)


@complex_rule("aten::angle")
def angle_complex(self):
    return torch.atan2(torch.imag(self), torch.real(self))


@complex_rule("aten::any")
def any_complex(self):
    return torch.any(truth(self))


@complex_rule("aten::any.dim")
def any_dim_complex(self, dim, keepdim):
    return torch.any(truth(self), dim, keepdim)


@complex_rule("aten::argwhere")
def argwhere_complex(self):
    return torch.argwhere(truth(self))


@complex_rule("aten::asin")
def asin_complex(self):
    y = torch.asinh(torch.complex(-torch.imag(self), torch.real(self)))
    return torch.complex(torch.imag(y), -torch.real(y))


@complex_rule("aten::asinh")
def asinh_complex(self):
    return torch.log(self + torch.sqrt(self * self + 1))


@complex_rule("aten::atan")
def atan_complex(self):
    y = torch.atanh(torch.complex(-torch.imag(self), torch.real(self)))
    return torch.complex(torch.imag(y), -torch.real(y))


@complex_rule("aten::atanh")
def atanh_complex(self):
    return (torch.log(self + 1) - torch.log(1 - self)) * 0.5


@complex_rule("aten::baddbmm")
def baddbmm_complex(self, batch1, batch2, beta, alpha):
    return self * beta + torch.bmm(batch1, batch2) * alpha


@complex_rule("aten::bmm")
def bmm_complex(self, mat2):
    assert self.is_complex() and mat2.is_complex(), "expected two complex matrices, got a real one"
    x = torch.real(self)
    y = torch.imag(self)
    u = torch.real(mat2)
    v = torch.imag(mat2)
    return torch.complex(torch.bmm(x, u) - torch.bmm(y, v), torch.bmm(x, v) + torch.bmm(y, u))


@complex_rule("aten::constant_pad_nd")
def constant_pad_nd_complex(self, pad, value):
    return torch.complex(
        torch.constant_pad_nd(torch.real(self), pad, value),
        torch.constant_pad_nd(torch.imag(self), pad, 0),
    )


@complex_rule("aten::conv1d")
def conv1d_complex(input, weight, bias, stride, padding, dilation, groups):
    x = torch.real(input)
    y = torch.imag(input)
    u = torch.real(weight)
    v = torch.imag(weight)
    z = torch.complex(
        torch.conv1d(x, u, None, stride, padding, dilation, groups)
        - torch.conv1d(y, v, None, stride, padding, dilation, groups),
        torch.conv1d(x, v, None, stride, padding, dilation, groups)
        + torch.conv1d(y, u, None, stride, padding, dilation, groups),
    )
    return z if bias is None else z + bias.reshape([-1, 1])


@complex_rule("aten::conv2d")
def conv2d_complex(input, weight, bias, stride, padding, dilation, groups):
    x = torch.real(input)
    y = torch.imag(input)
    u = torch.real(weight)
    v = torch.imag(weight)
    z = torch.complex(
        torch.conv2d(x, u, None, stride, padding, dilation, groups)
        - torch.conv2d(y, v, None, stride, padding, dilation, groups),
        torch.conv2d(x, v, None, stride, padding, dilation, groups)
        + torch.conv2d(y, u, None, stride, padding, dilation, groups),
    )
    return z if bias is None else z + bias.reshape([-1, 1, 1])


@complex_rule("aten::conv3d")
def conv3d_complex(input, weight, bias, stride, padding, dilation, groups):
    x = torch.real(input)
    y = torch.imag(input)
    u = torch.real(weight)
    v = torch.imag(weight)
    z = torch.complex(
        torch.conv3d(x, u, None, stride, padding, dilation, groups)
        - torch.conv3d(y, v, None, stride, padding, dilation, groups),
        torch.conv3d(x, v, None, stride, padding, dilation, groups)
        + torch.conv3d(y, u, None, stride, padding, dilation, groups),
    )
    return z if bias is None else z + bias.reshape([-1, 1, 1, 1])


@complex_rule("aten::conv_transpose1d")
def conv_transpose1d_complex(
    input, weight, bias, stride, padding, output_padding, groups, dilation
):
    x = torch.real(input)
    y = torch.imag(input)
    u = torch.real(weight)
    v = torch.imag(weight)
    z = torch.complex(
        torch.conv_transpose1d(x, u, None, stride, padding, output_padding, groups, dilation)
        - torch.conv_transpose1d(y, v, None, stride, padding, output_padding, groups, dilation),
        torch.conv_transpose1d(x, v, None, stride, padding, output_padding, groups, dilation)
        + torch.conv_transpose1d(y, u, None, stride, padding, output_padding, groups, dilation),
    )
    return z if bias is None else z + bias.reshape([-1, 1])


@complex_rule("aten::conv_transpose2d.input")
def conv_transpose2d_input_complex(
    input, weight, bias, stride, padding, output_padding, groups, dilation
):
    x = torch.real(input)
    y = torch.imag(input)
    u = torch.real(weight)
    v = torch.imag(weight)
    z = torch.complex(
        torch.ops.aten.conv_transpose2d.input(
            x, u, None, stride, padding, output_padding, groups, dilation
        )
        - torch.ops.aten.conv_transpose2d.input(
            y, v, None, stride, padding, output_padding, groups, dilation
        ),
        torch.ops.aten.conv_transpose2d.input(
            x, v, None, stride, padding, output_padding, groups, dilation
        )
        + torch.ops.aten.conv_transpose2d.input(
            y, u, None, stride, padding, output_padding, groups, dilation
        ),
    )
    return z if bias is None else z + bias.reshape([-1, 1, 1])


@complex_rule("aten::conv_transpose3d.input")
def conv_transpose3d_input_complex(
    input, weight, bias, stride, padding, output_padding, groups, dilation
):
    x = torch.real(input)
    y = torch.imag(input)
    u = torch.real(weight)
    v = torch.imag(weight)
    z = torch.complex(
        torch.ops.aten.conv_transpose3d.input(
            x, u, None, stride, padding, output_padding, groups, dilation
        )
        - torch.ops.aten.conv_transpose3d.input(
            y, v, None, stride, padding, output_padding, groups, dilation
        ),
        torch.ops.aten.conv_transpose3d.input(
            x, v, None, stride, padding, output_padding, groups, dilation
        )
        + torch.ops.aten.conv_transpose3d.input(
            y, u, None, stride, padding, output_padding, groups, dilation
        ),
    )
    return z if bias is None else z + bias.reshape([-1, 1, 1, 1])


@complex_rule("aten::copy")
def copy_complex(self, src, non_blocking):
    if not self.is_complex():
        return torch.ops.aten.copy(self, torch.real(src))
    if src.is_complex():
        return from_pairs(torch.ops.aten.copy(torch.view_as_real(self), torch.view_as_real(src)))
    return complex_of(
        torch.ops.aten.copy(torch.real(self), src), torch.zeros_like(torch.real(self))
    )


@complex_rule("aten::cos")
def cos_complex(self):
    x = torch.real(self)
    y = torch.imag(self)
    return torch.complex(torch.cos(x) * torch.cosh(y), -(torch.sin(x) * torch.sinh(y)))


@complex_rule("aten::cosh")
def cosh_complex(self):
    x = torch.real(self)
    y = torch.imag(self)
    return torch.complex(torch.cosh(x) * torch.cos(y), torch.sinh(x) * torch.sin(y))


@complex_rule("aten::count_nonzero")
def count_nonzero_complex(self, dim):
    return torch.count_nonzero(truth(self))


@complex_rule("aten::count_nonzero.dim_IntList")
def count_nonzero_dim_IntList_complex(self, dim):
    return torch.count_nonzero(truth(self), dim)


@complex_rule("aten::cumprod")
def cumprod_complex(self, dim, dtype):
    d = wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self
    if not is_known(self.shape[d]):
        return torch.polar(torch.cumprod(torch.abs(self), d), torch.cumsum(torch.angle(self), d))
    y = self.select(d, 0)
    all = [y]
    for i in range(1, int(self.shape[d])):
        y = y * self.select(d, i)
        all = all + [y]
    return torch.stack(all, d)


@complex_rule("aten::cumsum")
def cumsum_complex(self, dim, dtype):
    y = self if dtype is None else self.to(dtype)
    d = wrap_dim(dim, y.ndim)
    if y.ndim == 0:
        return y.clone()
    if not y.is_complex():
        return torch.cumsum(y, d)
    return from_pairs(torch.cumsum(torch.view_as_real(y), d))



@complex_rule("aten::diag")
def diag_complex(self, diagonal):
    return torch.complex(
        torch.diag(torch.real(self), diagonal), torch.diag(torch.imag(self), diagonal)
    )


@complex_rule("aten::diag_embed")
def diag_embed_complex(self, offset, dim1, dim2):
    return torch.complex(
        torch.diag_embed(torch.real(self), offset, dim1, dim2),
        torch.diag_embed(torch.imag(self), offset, dim1, dim2),
    )


@complex_rule("aten::diagonal")
def diagonal_complex(self, offset, dim1, dim2):
    a = wrap_dim(dim1, self.ndim)
    b = wrap_dim(dim2, self.ndim)
    pairs = torch.diagonal(torch.view_as_real(self), offset, a, b)
    return torch.view_as_complex(pairs.transpose(-1, -2))


@complex_rule("aten::diagonal_scatter")
def diagonal_scatter_complex(self, src, offset, dim1, dim2):
    t = part_dtype(self.dtype)
    return complex_of(
        torch.diagonal_scatter(torch.real(self), real_part(src, t), offset, dim1, dim2),
        torch.diagonal_scatter(torch.imag(self), imag_part(src, t), offset, dim1, dim2),
    )



@complex_rule("aten::div.Scalar")
@complex_rule("aten::div.Tensor")
def div_Scalar_complex(self, other):
    if not is_complex(other):
        return from_pairs(torch.view_as_real(self) / beside_pairs(other))
    t = dtype_of_parts(self, other)
    x = real_part(self, t)
    y = imag_part(self, t)
    u = real_part(other, t)
    v = imag_part(other, t)
    square = u * u + v * v
    return from_pairs(torch.view_as_real(product(x, y, u, -v)) / beside_pairs(square))


@complex_rule("aten::dot")
def dot_complex(self, tensor):
    return torch.sum(self * tensor)


@complex_rule("aten::empty.memory_format")
def empty_memory_format_complex(size, dtype, layout, device, pin_memory, memory_format):
    t = torch.float32 if dtype is None else part_dtype(dtype)
    return complex_of(torch.full(size, 0, dtype=t), torch.full(size, 0, dtype=t))


@complex_rule("aten::empty_like")
@complex_rule("aten::zeros_like")
def empty_like_complex(self, dtype, layout, device, pin_memory, memory_format):
    d = self.dtype if dtype is None else dtype
    if not d.is_complex:
        return torch.full(self.shape, 0, dtype=d)
    t = part_dtype(d)
    return complex_of(torch.full(self.shape, 0, dtype=t), torch.full(self.shape, 0, dtype=t))


@complex_rule("aten::eq.Tensor")
def eq_Tensor_complex(self, other):
    a = as_complex(self)
    b = as_complex(other)
    return torch.logical_and(torch.real(a) == torch.real(b), torch.imag(a) == torch.imag(b))


@complex_rule("aten::exp")
def exp_complex(self):
    size = torch.exp(torch.real(self))
    turn = torch.imag(self)
    return torch.complex(size * torch.cos(turn), size * torch.sin(turn))


@complex_rule("aten::exp2")
def exp2_complex(self):
    return torch.exp(self * 0.6931471805599453)


@complex_rule("aten::expm1")
def expm1_complex(self):
    return torch.exp(self) - 1


@complex_rule("aten::fill.Scalar")
def fill_Scalar_complex(self, value):
    return complex_of(
        torch.full_like(torch.real(self), torch.real(value)),
        torch.full_like(torch.real(self), torch.imag(value)),
    )


@complex_rule("aten::fill.Tensor")
def fill_Tensor_complex(self, value):
    return torch.ops.aten.copy(self, value)


@complex_rule("aten::full")
def full_complex(size, fill_value, dtype, layout, device, pin_memory):
    t = torch.float32 if dtype is None else part_dtype(dtype)
    return complex_of(
        torch.full(size, torch.real(fill_value), dtype=t),
        torch.full(size, torch.imag(fill_value), dtype=t),
    )


@complex_rule("aten::full_like")
def full_like_complex(self, fill_value, dtype, layout, device, pin_memory, memory_format):
    d = self.dtype if dtype is None else dtype
    if not d.is_complex:
        return torch.full(self.shape, torch.real(fill_value), dtype=d)
    t = part_dtype(d)
    return complex_of(
        torch.full(self.shape, torch.real(fill_value), dtype=t),
        torch.full(self.shape, torch.imag(fill_value), dtype=t),
    )


@complex_rule("aten::gather")
def gather_complex(self, dim, index, sparse_grad):
    return torch.complex(
        torch.gather(torch.real(self), dim, index), torch.gather(torch.imag(self), dim, index)
    )


@complex_rule("aten::im2col")
def im2col_complex(self, kernel_size, dilation, padding, stride):
    return torch.complex(
        torch.ops.aten.im2col(torch.real(self), kernel_size, dilation, padding, stride),
        torch.ops.aten.im2col(torch.imag(self), kernel_size, dilation, padding, stride),
    )


@complex_rule("aten::imag")
def imag_complex(self):
    return torch.view_as_real(self).select(-1, 1)


@complex_rule("aten::index_add")
def index_add_complex(self, dim, index, source, alpha):
    return torch.complex(
        torch.index_add(torch.real(self), dim, index, torch.real(source), alpha=alpha),
        torch.index_add(torch.imag(self), dim, index, torch.imag(source), alpha=alpha),
    )


@complex_rule("aten::index_copy")
def index_copy_complex(self, dim, index, source):
    return torch.complex(
        torch.index_copy(torch.real(self), dim, index, torch.real(source)),
        torch.index_copy(torch.imag(self), dim, index, torch.imag(source)),
    )


@complex_rule("aten::index_put")
def index_put_complex(self, indices, values, accumulate):
    return torch.complex(
        torch.index_put(torch.real(self), indices, torch.real(values), accumulate),
        torch.index_put(torch.imag(self), indices, torch.imag(values), accumulate),
    )


@complex_rule("aten::isfinite")
def isfinite_complex(self):
    return torch.logical_and(torch.isfinite(torch.real(self)), torch.isfinite(torch.imag(self)))


@complex_rule("aten::isinf")
def isinf_complex(self):
    return torch.logical_or(torch.isinf(torch.real(self)), torch.isinf(torch.imag(self)))


@complex_rule("aten::isnan")
def isnan_complex(self):
    return torch.logical_or(torch.isnan(torch.real(self)), torch.isnan(torch.imag(self)))


@complex_rule("aten::isreal")
def isreal_complex(self):
    return torch.imag(self) == 0


@complex_rule("aten::lerp.Scalar")
def lerp_Scalar_complex(self, end, weight):
    return self + (end - self) * weight


@complex_rule("aten::linalg_det")
def linalg_det_complex(A):
    lu, pivots, order = triangles(square_matrix(A), True)
    changes = (pivots != torch.arange(1, A.shape[-1] + 1)).sum([-1])
    d = lu.diagonal(0, -2, -1).prod(-1)
    return times_real(d, (1 - 2 * (changes % 2)).to(part_dtype(A.dtype)))


def matrix_solution(A, B, left):
    """Solutions for matrices B, also of sizes that linalg_solve would treat as batches of
    vectors."""
    if B.ndim < A.ndim:
        B = B.expand(list(A.shape[:-2]) + list(B.shape[-2:]))
    return torch.ops.aten.linalg_solve(A, B, left=left)


def complex_identity(A):
    n = square_matrix(A).shape[-1]
    return torch.eye(n, dtype=part_dtype(A.dtype)).to(A.dtype)


def complex_triangle(A, upper, is_unit):
    t = A.triu(1 if is_unit else 0) if upper else A.tril(-1 if is_unit else 0)
    return t + complex_identity(A) if is_unit else t


@complex_rule("aten::linalg_inv")
def linalg_inv_complex(A):
    return matrix_solution(A, complex_identity(A), True)


@complex_rule("aten::linalg_solve_triangular")
def linalg_solve_triangular_complex(self, B, upper, left, unitriangular):
    return matrix_solution(complex_triangle(self, upper, unitriangular), B, left)


@complex_rule("aten::cholesky_solve")
def cholesky_solve_complex(self, input2, upper):
    factor = complex_triangle(input2, upper, False)
    turned = factor.transpose(-2, -1).conj()
    lower = turned if upper else factor
    return matrix_solution(
        factor if upper else turned, matrix_solution(lower, self, True), True
    )


@complex_rule("aten::linalg_solve")
def linalg_solve_complex(A, B, left):
    n = square_matrix(A).shape[-1]
    if B.ndim == 1 or (B.ndim + 1 == A.ndim and B.shape == A.shape[:-1]):
        assert left, "expected left=True for a vector B"
        return torch.ops.aten.linalg_solve(A, B.unsqueeze(-1)).squeeze(-1)
    if not left:
        x = torch.ops.aten.linalg_solve(A.transpose(-2, -1), B.transpose(-2, -1))
        return x.transpose(-2, -1)
    parts = torch.cat([torch.real(B), torch.imag(B)], -2)
    if B.ndim < A.ndim:  # prevents linalg_solve from treating it as vectors
        parts = parts.expand(list(A.shape[:-2]) + list(parts.shape[-2:]))
    x = torch.ops.aten.linalg_solve(real_form(A), parts)
    return torch.complex(torch.ops.aten.slice(x, -2, 0, n), torch.ops.aten.slice(x, -2, n))


@complex_rule("aten::linalg_slogdet")
def linalg_slogdet_complex(A):
    """The logarithms are summed: a product of pivots overflows where PyTorch's result is finite."""
    lu, pivots, order = triangles(square_matrix(A), True)
    changes = (pivots != torch.arange(1, A.shape[-1] + 1)).sum([-1])
    d = lu.diagonal(0, -2, -1)
    sign = times_real(torch.sgn(d).prod(-1), (1 - 2 * (changes % 2)).to(part_dtype(A.dtype)))
    return (sign, torch.abs(d).log().sum(-1))



@complex_rule("aten::linalg_vecdot")
def linalg_vecdot_complex(x, y, dim):
    return torch.sum(torch.conj(x) * y, [dim])


@complex_rule("aten::linalg_svdvals")
def linalg_svdvals_complex(A, driver):
    """The real form has every singular value twice."""
    twice = torch.ops.aten.linalg_svdvals(real_form(A))
    return torch.ops.aten.slice(twice, -1, 0, None, 2)


@complex_rule("aten::linalg_eigvalsh")
def linalg_eigvalsh_complex(self, UPLO):
    """The real form has every eigenvalue twice. PyTorch reads one triangle only."""
    rest = self.tril(-1) if UPLO == "L" else self.triu(1)
    diagonal = torch.real(self).diagonal(0, -2, -1).diag_embed()
    whole = torch.complex(diagonal, torch.zeros_like(diagonal)) + rest
    twice = torch.ops.aten.linalg_eigvalsh(real_form(whole + rest.transpose(-2, -1).conj()))
    return torch.ops.aten.slice(twice, -1, 0, None, 2)


@complex_rule("aten::norm.Scalar")
def norm_Scalar_complex(self, p):
    return torch.ops.aten.norm(torch.abs(self), p)


@complex_rule("aten::norm.ScalarOpt_dim")
def norm_ScalarOpt_dim_complex(self, p, dim, keepdim):
    return torch.ops.aten.norm(torch.abs(self), p, dim, keepdim)


@complex_rule("aten::linalg_vector_norm")
def linalg_vector_norm_complex(self, ord, dim, keepdim, dtype):
    return torch.ops.aten.linalg_vector_norm(torch.abs(self), ord, dim, keepdim)


@complex_rule("aten::linear")
def linear_complex(input, weight, bias):
    y = torch.matmul(input, weight.t())
    return y if bias is None else y + bias


@complex_rule("aten::log")
def log_complex(self):
    return torch.complex(torch.log(torch.abs(self)), torch.angle(self))


@complex_rule("aten::log10")
def log10_complex(self):
    return torch.log(self) * 0.4342944819032518


@complex_rule("aten::log1p")
def log1p_complex(self):
    return torch.log(self + 1)


@complex_rule("aten::log2")
def log2_complex(self):
    return torch.log(self) / math.log(2)


@complex_rule("aten::logaddexp")
def logaddexp_complex(self, other):
    return torch.log(torch.exp(self) + torch.exp(other))


@complex_rule("aten::logcumsumexp")
def logcumsumexp_complex(self, dim):
    """The largest real part is subtracted first, as in logsumexp."""
    if self.ndim == 0:
        return self.clone()
    m = torch.amax(torch.real(self), dim, True)
    return torch.log(torch.cumsum(torch.exp(self - m), dim)) + m


@complex_rule("aten::logdet")
def logdet_complex(self):
    sign, logarithm = torch.ops.aten.linalg_slogdet(self)
    return complex_of(logarithm, torch.angle(sign))



@complex_rule("aten::logical_and")
def logical_and_complex(self, other):
    return torch.logical_and(truth(self), truth(other))


@complex_rule("aten::logical_not")
def logical_not_complex(self):
    return torch.logical_not(truth(self))


@complex_rule("aten::logical_or")
def logical_or_complex(self, other):
    return torch.logical_or(truth(self), truth(other))


@complex_rule("aten::logical_xor")
def logical_xor_complex(self, other):
    return torch.logical_xor(truth(self), truth(other))


@complex_rule("aten::logsumexp")
def logsumexp_complex(self, dim, keepdim):
    m = torch.amax(torch.real(self), dim, True)
    y = torch.log(torch.sum(torch.exp(self - m), dim, keepdim))
    return y + (m if keepdim else torch.amax(torch.real(self), dim, False))


@complex_rule("aten::masked_fill.Scalar")
def masked_fill_Scalar_complex(self, mask, value):
    return torch.complex(
        torch.masked_fill(torch.real(self), mask, value),
        torch.masked_fill(torch.imag(self), mask, 0),
    )


@complex_rule("aten::index_fill.int_Scalar")
def index_fill_Scalar_complex(self, dim, index, value):
    re = value.real if is_complex(value) else value
    im = value.imag if is_complex(value) else 0
    return torch.complex(
        torch.index_fill(torch.real(self), dim, index, re),
        torch.index_fill(torch.imag(self), dim, index, im),
    )


@complex_rule("aten::index_fill.int_Tensor")
def index_fill_Tensor_complex(self, dim, index, value):
    t = part_dtype(self.dtype)
    return torch.complex(
        torch.index_fill(torch.real(self), dim, index, real_part(value, t)),
        torch.index_fill(torch.imag(self), dim, index, imag_part(value, t)),
    )


@complex_rule("aten::masked_scatter")
def masked_scatter_complex(self, mask, source):
    return torch.complex(
        torch.masked_scatter(torch.real(self), mask, torch.real(source)),
        torch.masked_scatter(torch.imag(self), mask, torch.imag(source)),
    )


@complex_rule("aten::masked_select")
def masked_select_complex(self, mask):
    return torch.complex(
        torch.masked_select(torch.real(self), mask), torch.masked_select(torch.imag(self), mask)
    )


@complex_rule("aten::matmul")
def matmul_complex(self, other):
    assert self.is_complex() and other.is_complex(), "expected two complex matrices, got a real one"
    x = torch.real(self)
    y = torch.imag(self)
    u = torch.real(other)
    v = torch.imag(other)
    return torch.complex(
        torch.matmul(x, u) - torch.matmul(y, v), torch.matmul(x, v) + torch.matmul(y, u)
    )


@complex_rule("aten::mean")
def mean_complex(self, dtype):
    if dtype is not None and dtype != self.dtype:
        raise NotImplementedError("dtype= is not supported for complex tensors")
    if self.ndim == 0:
        return self
    return from_pairs(
        torch.ops.aten.mean.dim(torch.view_as_real(self), list(range(self.ndim)), False)
    )


@complex_rule("aten::mean.dim")
def mean_dim_complex(self, dim, keepdim, dtype):
    if dtype is not None and dtype != self.dtype:
        raise NotImplementedError("dtype= is not supported for complex tensors")
    if self.ndim == 0:
        return self
    return from_pairs(
        torch.ops.aten.mean.dim(
            torch.view_as_real(self),
            wrap_dims(dim, self.ndim) if dim is not None and len(dim) > 0 else range(self.ndim),
            keepdim,
        )
    )


@complex_rule("aten::mm")
def mm_complex(self, mat2):
    assert self.is_complex() and mat2.is_complex(), "expected two complex matrices, got a real one"
    x = torch.real(self)
    y = torch.imag(self)
    u = torch.real(mat2)
    v = torch.imag(mat2)
    return torch.complex(torch.mm(x, u) - torch.mm(y, v), torch.mm(x, v) + torch.mm(y, u))


@complex_rule("aten::mul.Scalar")
@complex_rule("aten::mul.Tensor")
def mul_Scalar_complex(self, other):
    if not is_complex(self) and (not isinstance(other, torch.Tensor)):
        return complex_of(self * torch.real(other), self * torch.imag(other))
    if not is_complex(self):
        return times_real(other, self)
    if not is_complex(other):
        return times_real(self, other)
    t = dtype_of_parts(self, other)
    return product(real_part(self, t), imag_part(self, t), real_part(other, t), imag_part(other, t))


@complex_rule("aten::mv")
def mv_complex(self, vec):
    return torch.matmul(self, vec)


@complex_rule("aten::ne.Tensor")
def ne_Tensor_complex(self, other):
    a = as_complex(self)
    b = as_complex(other)
    return torch.logical_or(torch.real(a) != torch.real(b), torch.imag(a) != torch.imag(b))


@complex_rule("aten::new_empty")
@complex_rule("aten::new_zeros")
def new_empty_complex(self, size, dtype, layout, device, pin_memory):
    d = self.dtype if dtype is None else dtype
    if not d.is_complex:
        return torch.full(size, 0, dtype=d)
    t = part_dtype(d)
    return complex_of(torch.full(size, 0, dtype=t), torch.full(size, 0, dtype=t))


@complex_rule("aten::new_full")
def new_full_complex(self, size, fill_value, dtype, layout, device, pin_memory):
    d = self.dtype if dtype is None else dtype
    if not d.is_complex:
        return torch.full(size, torch.real(fill_value), dtype=d)
    t = part_dtype(d)
    return complex_of(
        torch.full(size, torch.real(fill_value), dtype=t),
        torch.full(size, torch.imag(fill_value), dtype=t),
    )


@complex_rule("aten::new_ones")
def new_ones_complex(self, size, dtype, layout, device, pin_memory):
    d = self.dtype if dtype is None else dtype
    if not d.is_complex:
        return torch.full(size, 1, dtype=d)
    t = part_dtype(d)
    return complex_of(torch.full(size, 1, dtype=t), torch.full(size, 0, dtype=t))


@complex_rule("aten::nonzero")
def nonzero_complex(self):
    return torch.nonzero(truth(self))


@complex_rule("aten::nonzero_static")
def nonzero_static_complex(self, size, fill_value):
    return torch.ops.aten.nonzero_static(truth(self), size=size, fill_value=fill_value)


@complex_rule("aten::ones")
def ones_complex(size, dtype, layout, device, pin_memory):
    t = torch.float32 if dtype is None else part_dtype(dtype)
    return complex_of(torch.full(size, 1, dtype=t), torch.full(size, 0, dtype=t))


@complex_rule("aten::ones_like")
def ones_like_complex(self, dtype, layout, device, pin_memory, memory_format):
    d = self.dtype if dtype is None else dtype
    if not d.is_complex:
        return torch.full(self.shape, 1, dtype=d)
    t = part_dtype(d)
    return complex_of(torch.full(self.shape, 1, dtype=t), torch.full(self.shape, 0, dtype=t))


@complex_rule("aten::pow.Scalar")
def pow_Scalar_complex(self, exponent):
    return torch.exp(
        exponent
        * torch.log(
            torch.complex(
                torch.full_like(torch.real(exponent), self), torch.zeros_like(torch.real(exponent))
            )
        )
    )


@complex_rule("aten::pow.Tensor_Scalar")
def pow_Tensor_Scalar_complex(self, exponent):
    """Small integer exponents become products, which are exact for 0 and cheaper."""
    if exponent == 0.5:
        return torch.sqrt(self)
    n = abs(int(exponent))
    if exponent == int(exponent) and n <= 16:
        y = torch.ones_like(self)
        for i in range(n):
            y = y * self if i > 0 else self
        return torch.reciprocal(y) if exponent < 0 else y
    y = torch.exp(torch.log(self) * exponent)
    return torch.where(truth(self), y, 0) if exponent > 0 else y


@complex_rule("aten::pow.Tensor_Tensor")
def pow_Tensor_Tensor_complex(self, exponent):
    return torch.exp(torch.log(as_complex(self)) * exponent)


def product_by_angles(x, dim, keepdim):
    """The product by absolute values and angles: a dynamic number of factors cannot be multiplied
    one by one."""
    return torch.polar(torch.abs(x).prod(dim, keepdim), torch.angle(x).sum([dim], keepdim))


@complex_rule("aten::prod")
def prod_complex(self, dtype):
    y = self.reshape([-1])
    if not is_known(y.shape[0]):
        return product_by_angles(y, 0, False)
    if size_hint(y.shape[0]) == 0:
        return torch.ones([], dtype=self.dtype)
    z = y.select(0, 0)
    for i in range(1, int(y.shape[0])):
        z = z * y.select(0, i)
    return z


@complex_rule("aten::prod.dim_int")
def prod_dim_int_complex(self, dim, keepdim, dtype):
    d = wrap_dim(dim, self.ndim)
    if not is_known(self.shape[d]):
        return product_by_angles(self, d, keepdim)
    if size_hint(self.shape[d]) == 0:
        rest = [1 if i == d else self.shape[i] for i in range(self.ndim) if keepdim or i != d]
        return torch.ones(rest, dtype=self.dtype)
    y = self.select(d, 0)
    for i in range(1, int(self.shape[d])):
        y = y * self.select(d, i)
    return y.unsqueeze(d) if keepdim else y


@complex_rule("aten::put")
def put_complex(self, index, source, accumulate):
    return torch.complex(
        torch.put(torch.real(self), index, torch.real(source), accumulate),
        torch.put(torch.imag(self), index, torch.imag(source), accumulate),
    )


@complex_rule("aten::real")
def real_complex(self):
    return torch.view_as_real(self).select(-1, 0)


@complex_rule("aten::reciprocal")
def reciprocal_complex(self):
    x = torch.real(self)
    y = torch.imag(self)
    t = x * x + y * y
    return torch.complex(x / t, -(y / t))


@complex_rule("aten::reflection_pad1d")
def reflection_pad1d_complex(self, padding):
    return torch.complex(
        torch.ops.aten.reflection_pad1d(torch.real(self), padding),
        torch.ops.aten.reflection_pad1d(torch.imag(self), padding),
    )


@complex_rule("aten::reflection_pad2d")
def reflection_pad2d_complex(self, padding):
    return torch.complex(
        torch.ops.aten.reflection_pad2d(torch.real(self), padding),
        torch.ops.aten.reflection_pad2d(torch.imag(self), padding),
    )


@complex_rule("aten::reflection_pad3d")
def reflection_pad3d_complex(self, padding):
    return torch.complex(
        torch.ops.aten.reflection_pad3d(torch.real(self), padding),
        torch.ops.aten.reflection_pad3d(torch.imag(self), padding),
    )


@complex_rule("aten::replication_pad1d")
def replication_pad1d_complex(self, padding):
    return torch.complex(
        torch.ops.aten.replication_pad1d(torch.real(self), padding),
        torch.ops.aten.replication_pad1d(torch.imag(self), padding),
    )


@complex_rule("aten::replication_pad2d")
def replication_pad2d_complex(self, padding):
    return torch.complex(
        torch.ops.aten.replication_pad2d(torch.real(self), padding),
        torch.ops.aten.replication_pad2d(torch.imag(self), padding),
    )


@complex_rule("aten::replication_pad3d")
def replication_pad3d_complex(self, padding):
    return torch.complex(
        torch.ops.aten.replication_pad3d(torch.real(self), padding),
        torch.ops.aten.replication_pad3d(torch.imag(self), padding),
    )


@complex_rule("aten::rsqrt")
def rsqrt_complex(self):
    return torch.reciprocal(torch.sqrt(self))


@complex_rule("aten::rsub.Scalar")
def rsub_Scalar_complex(self, other, alpha):
    return self * -alpha + other


@complex_rule("aten::rsub.Tensor")
def rsub_Tensor_complex(self, other, alpha):
    return other - self * alpha


@complex_rule("aten::scalar_tensor")
def scalar_tensor_complex(s, dtype, layout, device, pin_memory):
    return torch.full([], s, dtype=torch.complex64 if dtype is None else dtype)


@complex_rule("aten::scatter.src")
def scatter_src_complex(self, dim, index, src):
    return torch.complex(
        torch.scatter(torch.real(self), dim, index, torch.real(src)),
        torch.scatter(torch.imag(self), dim, index, torch.imag(src)),
    )


@complex_rule("aten::scatter_add")
def scatter_add_complex(self, dim, index, src):
    return torch.complex(
        torch.scatter_add(torch.real(self), dim, index, torch.real(src)),
        torch.scatter_add(torch.imag(self), dim, index, torch.imag(src)),
    )


@complex_rule("aten::sgn")
def sgn_complex(self):
    a = torch.abs(self)
    return self / a.masked_fill(a == 0, 1.0)


@complex_rule("aten::sigmoid")
def sigmoid_complex(self):
    return torch.reciprocal(torch.exp(-self) + 1)


@complex_rule("aten::sinc")
def sinc_complex(self):
    t = self * math.pi
    is_zero = torch.abs(self) == 0
    return (torch.sin(t) / t.masked_fill(is_zero, 1.0)).masked_fill(is_zero, 1.0)


@complex_rule("aten::silu")
def silu_complex(self):
    return self / (torch.exp(-self) + 1)


@complex_rule("aten::sin")
def sin_complex(self):
    x = torch.real(self)
    y = torch.imag(self)
    return torch.complex(torch.sin(x) * torch.cosh(y), torch.cos(x) * torch.sinh(y))


@complex_rule("aten::sinh")
def sinh_complex(self):
    x = torch.real(self)
    y = torch.imag(self)
    return torch.complex(torch.sinh(x) * torch.cos(y), torch.cosh(x) * torch.sin(y))


@complex_rule("aten::sqrt")
def sqrt_complex(self):
    return torch.polar(torch.sqrt(torch.abs(self)), torch.angle(self) / 2)


@complex_rule("aten::square")
def square_complex(self):
    return self * self


@complex_rule("aten::std")
def std_complex(self, unbiased):
    return torch.sqrt(torch.var(torch.real(self), unbiased) + torch.var(torch.imag(self), unbiased))


@complex_rule("aten::std.correction")
def std_correction_complex(self, dim, correction, keepdim):
    return torch.sqrt(
        torch.ops.aten.var.correction(torch.real(self), dim, correction=correction, keepdim=keepdim)
        + torch.ops.aten.var.correction(
            torch.imag(self), dim, correction=correction, keepdim=keepdim
        )
    )


@complex_rule("aten::std.dim")
def std_dim_complex(self, dim, unbiased, keepdim):
    return torch.sqrt(
        torch.ops.aten.var.dim(torch.real(self), dim, unbiased, keepdim)
        + torch.ops.aten.var.dim(torch.imag(self), dim, unbiased, keepdim)
    )


@complex_rule("aten::std_mean")
def std_mean_complex(self, unbiased):
    return (
        torch.sqrt(torch.var(torch.real(self), unbiased) + torch.var(torch.imag(self), unbiased)),
        torch.mean(self),
    )


@complex_rule("aten::std_mean.correction")
def std_mean_correction_complex(self, dim, correction, keepdim):
    return (
        torch.sqrt(
            torch.ops.aten.var.correction(
                torch.real(self), dim, correction=correction, keepdim=keepdim
            )
            + torch.ops.aten.var.correction(
                torch.imag(self), dim, correction=correction, keepdim=keepdim
            )
        ),
        torch.mean(self, dim, keepdim),
    )


@complex_rule("aten::std_mean.dim")
def std_mean_dim_complex(self, dim, unbiased, keepdim):
    return (
        torch.sqrt(
            torch.ops.aten.var.dim(torch.real(self), dim, unbiased, keepdim)
            + torch.ops.aten.var.dim(torch.imag(self), dim, unbiased, keepdim)
        ),
        torch.mean(self, dim, keepdim),
    )


@complex_rule("aten::sub.Scalar")
@complex_rule("aten::sub.Tensor")
def sub_Scalar_complex(self, other, alpha):
    if is_complex(alpha):
        raise NotImplementedError("a complex alpha is not supported")
    if both_complex(self, other):
        return from_pairs(
            torch.ops.aten.sub.Tensor(
                torch.view_as_real(self), torch.view_as_real(other), alpha=alpha
            )
        )
    t = dtype_of_parts(self, other)
    x = torch.ops.aten.sub.Tensor(real_part(self, t), real_part(other, t), alpha=alpha)
    y = torch.ops.aten.sub.Tensor(imag_part(self, t), imag_part(other, t), alpha=alpha)
    return complex_of(x, y)


@complex_rule("aten::sum")
def sum_complex(self, dtype):
    if dtype is not None and dtype != self.dtype:
        raise NotImplementedError("dtype= is not supported for complex tensors")
    if self.ndim == 0:
        return self
    return from_pairs(
        torch.ops.aten.sum.dim_IntList(torch.view_as_real(self), list(range(self.ndim)), False)
    )


@complex_rule("aten::sum.dim_IntList")
def sum_dim_IntList_complex(self, dim, keepdim, dtype):
    if dtype is not None and dtype != self.dtype:
        raise NotImplementedError("dtype= is not supported for complex tensors")
    if self.ndim == 0:
        return self
    return from_pairs(
        torch.ops.aten.sum.dim_IntList(
            torch.view_as_real(self),
            wrap_dims(dim, self.ndim) if dim is not None and len(dim) > 0 else range(self.ndim),
            keepdim,
        )
    )


@complex_rule("aten::t")
def t_complex(self):
    return torch.transpose(self, 0, 1) if self.ndim == 2 else self


@complex_rule("aten::take")
def take_complex(self, index):
    return torch.complex(torch.take(torch.real(self), index), torch.take(torch.imag(self), index))


@complex_rule("aten::tan")
def tan_complex(self):
    return torch.sin(self) / torch.cos(self)


@complex_rule("aten::tanh")
def tanh_complex(self):
    return torch.sinh(self) / torch.cosh(self)


@complex_rule("aten::to.dtype")
def to_dtype_complex(self, dtype, non_blocking, copy, memory_format):
    if not dtype.is_complex:
        return torch.real(self).to(dtype)
    if dtype == self.dtype:
        return self
    if self.is_complex():
        return from_pairs(torch.view_as_real(self).to(part_dtype(dtype)))
    x = self.to(part_dtype(dtype))
    return complex_of(x, torch.zeros_like(x))


@complex_rule("aten::trace")
def trace_complex(self):
    return torch.complex(torch.trace(torch.real(self)), torch.trace(torch.imag(self)))


@complex_rule("aten::tril")
def tril_complex(self, diagonal):
    return torch.complex(
        torch.tril(torch.real(self), diagonal), torch.tril(torch.imag(self), diagonal)
    )


@complex_rule("aten::triu")
def triu_complex(self, diagonal):
    return torch.complex(
        torch.triu(torch.real(self), diagonal), torch.triu(torch.imag(self), diagonal)
    )


@complex_rule("aten::unfold")
def unfold_complex(self, dimension, size, step):
    pairs = torch.view_as_real(self).unfold(wrap_dim(dimension, self.ndim), size, step)
    return torch.view_as_complex(pairs.transpose(-1, -2))


@complex_rule("aten::var")
def var_complex(self, unbiased):
    return torch.var(torch.real(self), unbiased) + torch.var(torch.imag(self), unbiased)


@complex_rule("aten::var.correction")
def var_correction_complex(self, dim, correction, keepdim):
    return torch.ops.aten.var.correction(
        torch.real(self), dim, correction=correction, keepdim=keepdim
    ) + torch.ops.aten.var.correction(torch.imag(self), dim, correction=correction, keepdim=keepdim)


@complex_rule("aten::var.dim")
def var_dim_complex(self, dim, unbiased, keepdim):
    return torch.ops.aten.var.dim(
        torch.real(self), dim, unbiased, keepdim
    ) + torch.ops.aten.var.dim(torch.imag(self), dim, unbiased, keepdim)


@complex_rule("aten::var_mean")
def var_mean_complex(self, unbiased):
    return (
        torch.var(torch.real(self), unbiased) + torch.var(torch.imag(self), unbiased),
        torch.mean(self),
    )


@complex_rule("aten::var_mean.correction")
def var_mean_correction_complex(self, dim, correction, keepdim):
    return (
        torch.ops.aten.var.correction(torch.real(self), dim, correction=correction, keepdim=keepdim)
        + torch.ops.aten.var.correction(
            torch.imag(self), dim, correction=correction, keepdim=keepdim
        ),
        torch.mean(self, dim, keepdim),
    )


@complex_rule("aten::var_mean.dim")
def var_mean_dim_complex(self, dim, unbiased, keepdim):
    return (
        torch.ops.aten.var.dim(torch.real(self), dim, unbiased, keepdim)
        + torch.ops.aten.var.dim(torch.imag(self), dim, unbiased, keepdim),
        torch.mean(self, dim, keepdim),
    )


@complex_rule("aten::vdot")
def vdot_complex(self, other):
    return torch.sum(torch.conj(self) * other)


@complex_rule("aten::where.ScalarOther")
def where_ScalarOther_complex(condition, self, other):
    return torch.ops.aten.where.self(condition, self, torch.full([], other, dtype=self.dtype))


@complex_rule("aten::where.ScalarSelf")
def where_ScalarSelf_complex(condition, self, other):
    return torch.ops.aten.where.self(condition, torch.full([], self, dtype=other.dtype), other)


@complex_rule("aten::where.self")
def where_self_complex(condition, self, other):
    x = beside_complex(self, other)
    y = beside_complex(other, self)
    return from_pairs(
        torch.ops.aten.where.self(
            condition.unsqueeze(-1), torch.view_as_real(x), torch.view_as_real(y)
        )
    )


@complex_rule("aten::zero")
def zero_complex(self):
    return torch.complex(torch.zeros_like(torch.real(self)), torch.zeros_like(torch.real(self)))


@complex_rule("aten::zeros")
def zeros_complex(size, dtype, layout, device, pin_memory):
    t = torch.float32 if dtype is None else part_dtype(dtype)
    return complex_of(torch.full(size, 0, dtype=t), torch.full(size, 0, dtype=t))


# ---- traits of operators whose rows are in C ----

traits("aten::eq.*", vmap="elementwise")
traits("aten::ne.*", vmap="elementwise")
traits("aten::any.dim", vmap="by_axes")
traits("aten::all.dim", vmap="by_axes")
traits("aten::logical_not", vmap="elementwise")
traits("aten::zeros_like", vmap="elementwise")
traits("aten::ones_like", vmap="elementwise")
traits("aten::full_like", vmap="elementwise")
traits("aten::isnan", vmap="elementwise")

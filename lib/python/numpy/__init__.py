"""numpy, for sizes and small constant arrays: an array is a tensor under the hood."""
import math as _math

import torch as _torch
from . import linalg, random
from .array import (
    ndarray, _array as array, _wrap, _unwrap, asarray, bool_, complex64, complex128, float16,
    float32, float64, int8, int16, int32, int64, uint8)

pi = _math.pi
e = _math.e
inf = _math.inf
Inf = _math.inf
nan = _math.nan
newaxis = None
int_ = int64
long = int64
float_ = float64
intp = int64
double = float64
single = float32
integer = (int,)
floating = (float,)
number = (int, float)
generic = ndarray
bool = bool_
ascontiguousarray = asarray
asanyarray = asarray


# ---- new arrays ----


def _shape(shape):
    return [shape] if isinstance(shape, int) else list(shape)


def zeros(shape, dtype=float64):
    return _wrap(_torch.zeros(_shape(shape), dtype=_dtype(dtype)))


def ones(shape, dtype=float64):
    return _wrap(_torch.ones(_shape(shape), dtype=_dtype(dtype)))


def empty(shape, dtype=float64):
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None):
    if dtype is None:
        dtype = float64 if isinstance(fill_value, float) else int64
    return _wrap(_torch.full(_shape(shape), fill_value, dtype=_dtype(dtype)))


def zeros_like(a, dtype=None):
    return zeros(asarray(a).shape, asarray(a).dtype if dtype is None else dtype)


def ones_like(a, dtype=None):
    return ones(asarray(a).shape, asarray(a).dtype if dtype is None else dtype)


def full_like(a, fill_value, dtype=None):
    return full(asarray(a).shape, fill_value, asarray(a).dtype if dtype is None else dtype)


def eye(N, M=None, k=0, dtype=float64):
    if k != 0:
        raise NotImplementedError("numpy.eye: k is not implemented")
    return _wrap(_torch.eye(N, N if M is None else M, dtype=_dtype(dtype)))


def identity(n, dtype=float64):
    return eye(n, dtype=dtype)


def arange(start, stop=None, step=1, dtype=None):
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        is_real = isinstance(start, float) or isinstance(stop, float) or isinstance(step, float)
        dtype = float64 if is_real else int64
    return _wrap(_torch.arange(start, stop, step, dtype=_dtype(dtype)))


def linspace(start, stop, num=50, endpoint=True, dtype=None):
    n = num - 1 if endpoint else num
    step = (stop - start) / n if n > 0 else 0.0
    x = _torch.arange(0, num, 1, dtype=_torch.float64) * step + start
    if endpoint and num > 1:
        x[-1] = stop
    return _wrap(x if dtype is None else x.to(_dtype(dtype)))


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    return power(base, linspace(start, stop, num, endpoint))


def meshgrid(*xi, indexing="xy"):
    tensors = [_unwrap(x) for x in xi]
    return [_wrap(t) for t in _torch.meshgrid(*tensors, indexing=indexing)]


def _dtype(dtype):
    return asarray(0).dtype_of(dtype)


# ---- shapes ----


def shape(a):
    return asarray(a).shape


def ndim(a):
    return asarray(a).ndim


def size(a, axis=None):
    a = asarray(a)
    return a.size if axis is None else a.shape[axis]


def reshape(a, newshape):
    return asarray(a).reshape(newshape)


def transpose(a, axes=None):
    return asarray(a).transpose(axes)


def swapaxes(a, axis1, axis2):
    return asarray(a).swapaxes(axis1, axis2)


def moveaxis(a, source, destination):
    return _wrap(_unwrap(a).movedim(source, destination))


def squeeze(a, axis=None):
    t = _unwrap(a)
    return _wrap(t.squeeze() if axis is None else t.squeeze(axis))


def expand_dims(a, axis):
    return _wrap(_unwrap(a).unsqueeze(axis))


def concatenate(arrays, axis=0):
    return _wrap(_torch.cat(_common(arrays), axis))


def stack(arrays, axis=0):
    return _wrap(_torch.stack(_common(arrays), axis))


def _common(arrays):
    tensors = [_unwrap(a) for a in arrays]
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = _torch.promote_types(dtype, t.dtype)
    return [t.to(dtype) for t in tensors]


def hstack(arrays):
    tensors = _common(arrays)
    return _wrap(_torch.cat(tensors, 0 if tensors[0].dim() == 1 else 1))


def vstack(arrays):
    return _wrap(_torch.cat([t.unsqueeze(0) if t.dim() == 1 else t for t in _common(arrays)], 0))


def repeat(a, repeats, axis=None):
    t = _unwrap(a)
    if axis is None:
        return _wrap(t.reshape(-1).repeat_interleave(repeats))
    return _wrap(t.repeat_interleave(repeats, axis))


def tile(a, reps):
    return _wrap(_unwrap(a).tile(_shape(reps)))


def flip(a, axis=None):
    t = _unwrap(a)
    axes = list(range(t.dim())) if axis is None else _shape(axis)
    return _wrap(t.flip(axes))


def roll(a, shift, axis=None):
    t = _unwrap(a)
    if axis is None:
        return _wrap(t.reshape(-1).roll([shift], [0]).reshape(t.shape))
    return _wrap(t.roll(_shape(shift), _shape(axis)))


def split(a, n, axis=0):
    t = _unwrap(a)
    return [_wrap(part) for part in t.split(t.size(axis) // n, axis)]


def triu(m, k=0):
    return _wrap(_unwrap(m).triu(k))


def tril(m, k=0):
    return _wrap(_unwrap(m).tril(k))


def diag(v, k=0):
    return _wrap(_unwrap(v).diag(k))


def fill_diagonal(a, val):
    t = _unwrap(a)
    rows, columns = t.shape
    for i in range(rows if rows < columns else columns):
        t[i, i] = val


def broadcast_to(a, shape):
    return _wrap(_unwrap(a).expand(_shape(shape)))


# ---- element by element ----


def _is_number(x):
    return isinstance(x, (int, float))


def sqrt(x):
    return _math.sqrt(x) if _is_number(x) else _wrap(_floats(x).sqrt())


def exp(x):
    return _math.exp(x) if _is_number(x) else _wrap(_floats(x).exp())


def log(x):
    return _math.log(x) if _is_number(x) else _wrap(_floats(x).log())


def log2(x):
    return _math.log2(x) if _is_number(x) else _wrap(_floats(x).log2())


def log10(x):
    return _math.log10(x) if _is_number(x) else _wrap(_floats(x).log10())


def sin(x):
    return _math.sin(x) if _is_number(x) else _wrap(_floats(x).sin())


def cos(x):
    return _math.cos(x) if _is_number(x) else _wrap(_floats(x).cos())


def log1p(x):
    return _math.log1p(x) if _is_number(x) else _wrap(_floats(x).log1p())


def expm1(x):
    return _math.expm1(x) if _is_number(x) else _wrap(_floats(x).expm1())


def arcsin(x):
    return _math.asin(x) if _is_number(x) else _wrap(_floats(x).asin())


def arccos(x):
    return _math.acos(x) if _is_number(x) else _wrap(_floats(x).acos())


def arctan(x):
    return _math.atan(x) if _is_number(x) else _wrap(_floats(x).atan())


def sinh(x):
    return _math.sinh(x) if _is_number(x) else _wrap(_floats(x).sinh())


def cosh(x):
    return _math.cosh(x) if _is_number(x) else _wrap(_floats(x).cosh())


def tan(x):
    return _math.tan(x) if _is_number(x) else _wrap(_floats(x).tan())


def tanh(x):
    return _math.tanh(x) if _is_number(x) else _wrap(_floats(x).tanh())


def arctan2(y, x):
    return _math.atan2(y, x) if _is_number(x) else _wrap(_torch.atan2(_floats(y), _floats(x)))


def floor(x):
    return float(_math.floor(x)) if _is_number(x) else _wrap(_floats(x).floor())


def ceil(x):
    return float(_math.ceil(x)) if _is_number(x) else _wrap(_floats(x).ceil())


def round(x, decimals=0):
    if _is_number(x):
        from builtins import round as plain
        return plain(x, decimals)
    return _wrap(_unwrap(x).round(decimals=decimals))


around = round
rint = round


def abs(x):
    if _is_number(x):
        return -x if x < 0 else x
    return _wrap(_unwrap(x).abs())


absolute = abs


def sign(x):
    if _is_number(x):
        return (x > 0) - (x < 0)
    return _wrap(_unwrap(x).sign())


def square(x):
    return x * x


def add(x, y):
    return _operands(x) + y


def subtract(x, y):
    return _operands(x) - y


def multiply(x, y):
    return _operands(x) * y


def divide(x, y):
    return _operands(x) / y


true_divide = divide


def _operands(x):
    return x if _is_number(x) else asarray(x)


def power(x, y):
    if _is_number(x) and _is_number(y):
        return x ** y
    return _wrap(_torch.pow(_operand(x), _operand(y)))


def mod(x, y):
    return x % y


def _operand(x):
    return x if _is_number(x) else _unwrap(x)


def _floats(x):
    t = _unwrap(x)
    return t if t.is_floating_point() or t.is_complex() else t.to(_torch.float64)


def maximum(x, y):
    if _is_number(x) and _is_number(y):
        return x if x > y else y
    return _wrap(_torch.maximum(_unwrap(x), _unwrap(y)))


def minimum(x, y):
    if _is_number(x) and _is_number(y):
        return x if x < y else y
    return _wrap(_torch.minimum(_unwrap(x), _unwrap(y)))


def clip(a, a_min, a_max):
    if _is_number(a):
        return minimum(maximum(a, a_min), a_max)
    return _wrap(_unwrap(a).clamp(a_min, a_max))


def where(condition, x=None, y=None):
    if x is None:
        return tuple(_wrap(t) for t in _torch.where(_unwrap(condition)))
    return _wrap(_torch.where(_unwrap(condition), _operand(x), _operand(y)))


def isnan(x):
    return _math.isnan(x) if _is_number(x) else _wrap(_unwrap(x).isnan())


def logical_not(x):
    return _wrap(_unwrap(x).logical_not())


def logical_and(x, y):
    return _wrap(_torch.logical_and(_unwrap(x), _unwrap(y)))


def logical_or(x, y):
    return _wrap(_torch.logical_or(_unwrap(x), _unwrap(y)))


# ---- reductions and products ----


def prod(a, axis=None):
    return asarray(a).prod(axis)


def sum(a, axis=None, keepdims=False):
    return asarray(a).sum(axis, keepdims)


def mean(a, axis=None, keepdims=False):
    return asarray(a).mean(axis, keepdims)


def std(a, axis=None, ddof=0):
    return asarray(a).std(axis, ddof)


def var(a, axis=None, ddof=0):
    return asarray(a).var(axis, ddof)


def max(a, axis=None):
    return asarray(a).max(axis)


def min(a, axis=None):
    return asarray(a).min(axis)


amax = max
amin = min


def argmax(a, axis=None):
    return asarray(a).argmax(axis)


def argmin(a, axis=None):
    return asarray(a).argmin(axis)


def cumsum(a, axis=None):
    t = _unwrap(a)
    return _wrap(t.reshape(-1).cumsum(0) if axis is None else t.cumsum(axis))


def cumprod(a, axis=None):
    t = _unwrap(a)
    return _wrap(t.reshape(-1).cumprod(0) if axis is None else t.cumprod(axis))


cumproduct = cumprod
product = prod


def any(a):
    return asarray(a).any()


def all(a):
    return asarray(a).all()


def diff(a, n=1, axis=-1):
    t = _unwrap(a)
    for _ in range(n):
        t = t.narrow(axis, 1, t.size(axis) - 1) - t.narrow(axis, 0, t.size(axis) - 1)
    return _wrap(t)


def nonzero(a):
    return where(a)


def argwhere(a):
    return _wrap(_unwrap(a).nonzero())


def count_nonzero(a):
    return int((_unwrap(a) != 0).sum().item())


def sort(a, axis=-1):
    return _wrap(_unwrap(a).sort(axis)[0])


def argsort(a, axis=-1):
    return _wrap(_unwrap(a).argsort(axis))


def unique(a, return_index=False, return_inverse=False, return_counts=False):
    found = _torch.unique(_unwrap(a), return_inverse=True, return_counts=True)
    values, inverse, counts = [_wrap(part) for part in found]
    if not (return_index or return_inverse or return_counts):
        return values
    inverse = inverse.reshape(-1)
    first = array([inverse.tolist().index(i) for i in range(len(values))] if return_index else [])
    chosen = [(return_index, first), (return_inverse, inverse), (return_counts, counts)]
    return (values, *[part for is_asked, part in chosen if is_asked])


def dot(a, b):
    return asarray(a) @ asarray(b)


def matmul(a, b):
    return asarray(a) @ asarray(b)


def outer(a, b):
    return _wrap(_torch.outer(_unwrap(a).reshape(-1), _unwrap(b).reshape(-1)))


def einsum(subscripts, *operands):
    return _wrap(_torch.einsum(subscripts, *[_unwrap(x) for x in operands]))


def allclose(a, b, rtol=1e-05, atol=1e-08):
    return _torch.allclose(_floats(a), _floats(b), rtol, atol)


def array_equal(a1, a2):
    return _torch.equal(_unwrap(a1), _unwrap(a2))


def isscalar(x):
    return isinstance(x, (int, float, str))


def issubdtype(arg1, arg2):
    return arg1 == arg2


def set_printoptions(**kwargs):
    return None


def load(file, **kwargs):
    raise NotImplementedError("numpy.load is not implemented")

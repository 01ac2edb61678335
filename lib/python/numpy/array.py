"""numpy.ndarray on a tensor. A result without axes is a number of Python."""
import torch as _torch


class _Type:
    """A dtype, which also converts numbers: np.float32(2)."""

    def __init__(self, name, dtype, convert):
        self.name = name
        self.torch = dtype
        self.convert = convert

    def __call__(self, x=0):
        if isinstance(x, ndarray):
            return x.astype(self)
        if isinstance(x, (list, tuple)):
            return _array(x, self)
        return self.convert(x)

    def __eq__(self, other):
        return isinstance(other, _Type) and self.name == other.name or other == self.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype('{self.name}')"


float16 = _Type("float16", _torch.float16, float)
float32 = _Type("float32", _torch.float32, float)
float64 = _Type("float64", _torch.float64, float)
int8 = _Type("int8", _torch.int8, int)
int16 = _Type("int16", _torch.int16, int)
int32 = _Type("int32", _torch.int32, int)
int64 = _Type("int64", _torch.int64, int)
uint8 = _Type("uint8", _torch.uint8, int)
bool_ = _Type("bool", _torch.bool, bool)
complex64 = _Type("complex64", _torch.complex64, complex)
complex128 = _Type("complex128", _torch.complex128, complex)

_TYPES = [float16, float32, float64, int8, int16, int32, int64, uint8, bool_, complex64, complex128]


def _torch_dtype(dtype):
    if isinstance(dtype, _Type):
        return dtype.torch
    if dtype is float or dtype == "float":
        return _torch.float64
    if dtype is int or dtype == "int":
        return _torch.int64
    if dtype is bool:
        return _torch.bool
    for one in _TYPES:
        if one.name == dtype:
            return one.torch
    raise TypeError(f"data type {dtype!r} not understood")


def _convert_number(x, dtype):
    """x.astype(dtype) of a number"""
    kind = _torch_dtype(dtype)
    for one in _TYPES:
        if one.torch == kind:
            return one.convert(x)


def _wrap(t):
    return ndarray(t)


def _unwrap(a):
    return asarray(a).tensor


def _scalar(t):
    """A number for a result without axes."""
    return t.item() if t.dim() == 0 else ndarray(t)


def _nested(a):
    if isinstance(a, ndarray):
        return a.tensor.tolist()
    if isinstance(a, _torch.Tensor):
        return a.tolist()
    if isinstance(a, (list, tuple, range)):
        return [_nested(x) for x in a]
    return a


def _has_float(a):
    if isinstance(a, list):
        return any(_has_float(x) for x in a)
    return isinstance(a, float)


def _array(a, dtype=None, copy=True, ndmin=0):
    if isinstance(a, ndarray):
        t = a.tensor.clone() if copy else a.tensor
    elif isinstance(a, _torch.Tensor):
        t = a
    else:
        values = _nested(a)
        t = _torch.tensor(values, dtype=_torch.float64) if _has_float(values) \
            else _torch.tensor(values)
    if dtype is not None:
        t = t.to(_torch_dtype(dtype))
    while t.dim() < ndmin:
        t = t.unsqueeze(0)
    return ndarray(t)


def asarray(a, dtype=None):
    return _array(a, dtype, copy=False)


class ndarray:
    def __init__(self, tensor):
        self.tensor = tensor

    def dtype_of(self, dtype):
        return _torch_dtype(dtype)

    @property
    def shape(self):
        return tuple(self.tensor.shape)

    @property
    def ndim(self):
        return self.tensor.dim()

    @property
    def size(self):
        return self.tensor.numel()

    @property
    def dtype(self):
        for one in _TYPES:
            if one.torch == self.tensor.dtype:
                return one
        raise TypeError(f"numpy has no dtype {self.tensor.dtype}")

    @property
    def T(self):
        return self.transpose()

    @property
    def flat(self):
        return self.tensor.reshape(-1).tolist()

    def astype(self, dtype, copy=True):
        return ndarray(self.tensor.to(_torch_dtype(dtype)))

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 else shape
        return ndarray(self.tensor.reshape([shape] if isinstance(shape, int) else list(shape)))

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 else axes
        if not axes:
            axes = list(range(self.ndim - 1, -1, -1))
        return ndarray(self.tensor.permute(list(axes)))

    def swapaxes(self, axis1, axis2):
        return ndarray(self.tensor.transpose(axis1, axis2))

    def flatten(self):
        return ndarray(self.tensor.reshape(-1).clone())

    def ravel(self):
        return ndarray(self.tensor.reshape(-1))

    def copy(self):
        return ndarray(self.tensor.clone())

    def tolist(self):
        return self.tensor.tolist()

    def item(self, *index):
        return self[index].item() if index else self.tensor.item()

    def fill(self, value):
        self.tensor.fill_(value)

    def repeat(self, repeats, axis=None):
        t = self.tensor.reshape(-1) if axis is None else self.tensor
        return ndarray(t.repeat_interleave(repeats, 0 if axis is None else axis))

    def squeeze(self, axis=None):
        return ndarray(self.tensor.squeeze() if axis is None else self.tensor.squeeze(axis))

    # ---- reductions ----

    def _axes(self, axis):
        if axis is None:
            return list(range(self.ndim))
        return [axis] if isinstance(axis, int) else list(axis)

    def _floats(self):
        t = self.tensor
        return t if t.is_floating_point() else t.to(_torch.float64)

    def sum(self, axis=None, keepdims=False):
        if self.ndim == 0:
            return self.item()
        return _scalar(self.tensor.sum(self._axes(axis), keepdim=keepdims))

    def mean(self, axis=None, keepdims=False):
        if self.ndim == 0:
            return float(self.item())
        return _scalar(self._floats().mean(self._axes(axis), keepdim=keepdims))

    def var(self, axis=None, ddof=0):
        return _scalar(self._floats().var(self._axes(axis), correction=ddof))

    def std(self, axis=None, ddof=0):
        return _scalar(self._floats().std(self._axes(axis), correction=ddof))

    def prod(self, axis=None):
        return _scalar(self.tensor.prod() if axis is None else self.tensor.prod(axis))

    def max(self, axis=None):
        return _scalar(self.tensor.max() if axis is None else self.tensor.amax(self._axes(axis)))

    def min(self, axis=None):
        return _scalar(self.tensor.min() if axis is None else self.tensor.amin(self._axes(axis)))

    def argmax(self, axis=None):
        return _scalar(self.tensor.argmax() if axis is None else self.tensor.argmax(axis))

    def argmin(self, axis=None):
        return _scalar(self.tensor.argmin() if axis is None else self.tensor.argmin(axis))

    def cumsum(self, axis=None):
        t = self.tensor
        return ndarray(t.reshape(-1).cumsum(0) if axis is None else t.cumsum(axis))

    def any(self):
        return bool(self.tensor.any().item())

    def all(self):
        return bool(self.tensor.all().item())

    def round(self, decimals=0):
        return ndarray(self.tensor.round(decimals=decimals))

    def dot(self, other):
        return self @ other

    # ---- items ----

    def _index(self, index):
        if isinstance(index, tuple):
            return tuple(self._index(i) for i in index)
        return index.tensor if isinstance(index, ndarray) else index

    def __getitem__(self, index):
        return _scalar(self.tensor[self._index(index)])

    def __setitem__(self, index, value):
        self.tensor[self._index(index)] = value.tensor if isinstance(value, ndarray) else value

    def __len__(self):
        return self.tensor.size(0)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    # ---- operators ----

    def _other(self, other):
        """A number stays one, so that it does not change the dtype of the result."""
        if isinstance(other, (list, tuple)):
            other = _array(other)
        return other.tensor if isinstance(other, ndarray) else other

    def __add__(self, other):
        return ndarray(self.tensor + self._other(other))

    def __radd__(self, other):
        return ndarray(self._other(other) + self.tensor)

    def __sub__(self, other):
        return ndarray(self.tensor - self._other(other))

    def __rsub__(self, other):
        return ndarray(self._other(other) - self.tensor)

    def __mul__(self, other):
        return ndarray(self.tensor * self._other(other))

    def __rmul__(self, other):
        return ndarray(self._other(other) * self.tensor)

    def __truediv__(self, other):
        return ndarray(self._floats() / self._other(other))

    def __rtruediv__(self, other):
        return ndarray(self._other(other) / self._floats())

    def __floordiv__(self, other):
        return ndarray(self.tensor // self._other(other))

    def __mod__(self, other):
        return ndarray(self.tensor % self._other(other))

    def __pow__(self, other):
        return ndarray(self.tensor ** self._other(other))

    def __rpow__(self, other):
        return ndarray(_torch.pow(self._other(other), self.tensor))

    def __matmul__(self, other):
        return _scalar(self.tensor @ self._other(other))

    def __neg__(self):
        return ndarray(-self.tensor)

    def __abs__(self):
        return ndarray(self.tensor.abs())

    def __invert__(self):
        return ndarray(~self.tensor)

    def __and__(self, other):
        return ndarray(self.tensor & self._other(other))

    def __or__(self, other):
        return ndarray(self.tensor | self._other(other))

    def __eq__(self, other):
        return ndarray(self.tensor == self._other(other))

    def __ne__(self, other):
        return ndarray(self.tensor != self._other(other))

    def __lt__(self, other):
        return ndarray(self.tensor < self._other(other))

    def __le__(self, other):
        return ndarray(self.tensor <= self._other(other))

    def __gt__(self, other):
        return ndarray(self.tensor > self._other(other))

    def __ge__(self, other):
        return ndarray(self.tensor >= self._other(other))

    def __float__(self):
        return float(self.tensor.item())

    def __int__(self):
        return int(self.tensor.item())

    def __bool__(self):
        return bool(self.tensor.item())

    def __repr__(self):
        return f"array({self.tensor.tolist()!r})"

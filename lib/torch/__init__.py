"""torch: what is not an operator of the table.

A name that is not defined here is an operator (`torch.cat`), a dtype, or a submodule.
"""
from calque import (
    Parameter, Size, Tensor, default_dtype as get_default_dtype, device, dtype as _dtype,
    manual_seed as _seed, operator as _operator, set_default_dtype)
from .autograd_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .functional import norm, stft, tensordot, unique, unique_consecutive

__version__ = "2.6.0"

float32 = float = _dtype("float32")
float64 = double = _dtype("float64")
float16 = half = _dtype("float16")
bfloat16 = _dtype("bfloat16")
float8_e4m3fn = _dtype("float8_e4m3fn")
float8_e5m2 = _dtype("float8_e5m2")
complex64 = cfloat = _dtype("complex64")
complex128 = cdouble = _dtype("complex128")
uint8 = _dtype("uint8")
int8 = _dtype("int8")
int16 = short = _dtype("int16")
int32 = int = _dtype("int32")
int64 = long = _dtype("int64")
bool = _dtype("bool")
qint8 = _dtype("qint8")
quint8 = _dtype("quint8")
qint32 = _dtype("qint32")

pi = 3.141592653589793
e = 2.718281828459045
tau = 6.283185307179586
inf = 1e999
nan = inf - inf
newaxis = None

strided = 0
contiguous_format = 0
preserve_format = 1
channels_last = 2
channels_last_3d = 3
per_tensor_affine = 0
per_channel_affine = 1


class dtype:
    """The class of dtypes, for isinstance."""

    __natives__ = ["dtype"]


class finfo:
    """Limits of a floating-point dtype: bits, eps, max, tiny."""

    _limits = [
        (float64, 64, 2.0 ** -52, 1.7976931348623157e308, 2.2250738585072014e-308),
        (float32, 32, 2.0 ** -23, 3.4028234663852886e38, 1.1754943508222875e-38),
        (bfloat16, 16, 2.0 ** -7, 3.3895313892515355e38, 1.1754943508222875e-38),
        (float16, 16, 2.0 ** -10, 65504.0, 6.103515625e-05),
    ]

    def __init__(self, type=None):
        kind = get_default_dtype() if type is None else type
        limits = [entry[1:] for entry in finfo._limits if entry[0] == kind]
        if not limits:
            raise TypeError("torch.finfo() requires a floating point input type. "
                            "Use torch.iinfo to handle 'torch.iinfo'")
        self.dtype = kind
        self.bits, self.eps, self.max, self.tiny = limits[0]
        self.min = -self.max
        self.smallest_normal = self.tiny
        self.resolution = {64: 1e-15, 32: 1e-6}.get(self.bits, 0.01 if kind == bfloat16 else 1e-3)


class iinfo:
    """Limits of an integer dtype: bits, min, max."""

    _bits = [(uint8, 8), (int8, 8), (int16, 16), (int32, 32), (int64, 64)]

    def __init__(self, type):
        bits = [entry[1] for entry in iinfo._bits if entry[0] == type]
        if not bits:
            raise TypeError("torch.iinfo() requires an integer input type. "
                            "Use torch.finfo to handle 'torch.finfo'")
        self.dtype = type
        self.bits = bits[0]
        self.max = 255 if type == uint8 else 2 * (2 ** (self.bits - 2) - 1) + 1
        self.min = 0 if type == uint8 else -self.max - 1


def __getattr__(name):
    return _operator("aten::" + name)


# ---- tensors ----


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def is_storage(obj):
    return False


def numel(input):
    return input.numel()


class _TensorType:
    """torch.FloatTensor and the like: called with sizes, or with one list of elements."""

    def __init__(self, dtype, device="cpu"):
        self.dtype = dtype
        self.device = device

    def __instancecheck__(self, instance):
        """A tensor is never one of torch.cuda.FloatTensor."""
        matches = isinstance(instance, Tensor) and instance.dtype == self.dtype
        return matches and self.device == "cpu"

    def __call__(self, *args):
        if len(args) == 1:
            data = args[0]
            if isinstance(data, Size):
                return _operator("aten::empty")(data, dtype=self.dtype)
            if isinstance(data, Tensor):
                return data.to(self.dtype)
            if type(data).__name__ == "ndarray":
                return data.tensor.to(self.dtype)
            if isinstance(data, range):
                return _operator("aten::arange")(data.start, data.stop, data.step,
                                                 dtype=self.dtype)
            if isinstance(data, (list, tuple)):
                return _operator("aten::tensor")(data, dtype=self.dtype)
        return _operator("aten::empty")(list(args), dtype=self.dtype)


FloatTensor = _TensorType(float32)
DoubleTensor = _TensorType(float64)
HalfTensor = _TensorType(float16)
BFloat16Tensor = _TensorType(bfloat16)
LongTensor = _TensorType(int64)
IntTensor = _TensorType(int32)
CharTensor = _TensorType(int8)
ShortTensor = _TensorType(int16)
ByteTensor = _TensorType(uint8)
BoolTensor = _TensorType(bool)


def _new_tensor(*args):
    """torch.Tensor(…)"""
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0]
    return _TensorType(get_default_dtype())(*args)


def _new(self, *args, device=None):
    """x.new(…)"""
    return _TensorType(self.dtype)(*(args or [0]))


def _new_tensor_like(self, data, dtype=None, device=None, requires_grad=False):
    """x.new_tensor(data)"""
    kind = self.dtype if dtype is None else dtype
    if isinstance(data, Tensor):
        return data.to(kind)
    return _operator("aten::tensor")(data, dtype=kind)


def _convert_type(self, kind=None):
    """x.type(kind), where kind is torch.LongTensor or its name; x.type() is the name"""
    names = {"Float": float32, "Double": float64, "Half": float16, "BFloat16": bfloat16,
             "Long": int64, "Int": int32, "Short": int16, "Char": int8, "Byte": uint8,
             "Bool": bool}
    if kind is None:
        return [f"torch.{name}Tensor" for name in names if names[name] == self.dtype][0]
    if isinstance(kind, str):
        name = kind.replace("torch.", "").replace("cuda.", "").replace("Tensor", "")
        if name not in names:
            raise ValueError(f"invalid type: '{kind}'")
        return self.to(names[name])
    return self.to(kind.dtype)


def promote_types(type1, type2):
    zeros = _operator("aten::zeros")
    return (zeros([1], dtype=type1) + zeros([1], dtype=type2)).dtype


def from_numpy(ndarray):
    return ndarray.tensor if hasattr(ndarray, "tensor") else ndarray


def set_default_tensor_type(t):
    names = {"Float": float32, "Double": float64, "Half": float16, "BFloat16": bfloat16}
    kinds = [(FloatTensor, float32), (DoubleTensor, float64), (HalfTensor, float16),
             (BFloat16Tensor, bfloat16)]
    if isinstance(t, str):
        set_default_dtype(names[t.split(".")[-1].removesuffix("Tensor")])
    else:
        set_default_dtype([kind for make, kind in kinds if make is t][0])


def broadcast_shapes(*shapes):
    result = []
    for shape in shapes:
        shape = [shape] if isinstance(shape, type(0)) else list(shape)
        n = max(len(result), len(shape))
        a = [1] * (n - len(result)) + result
        b = [1] * (n - len(shape)) + shape
        result = []
        for x, y in zip(a, b):
            if x != y and x != 1 and y != 1:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            result.append(y if x == 1 else x)
    return Size(result)


def meshgrid(*tensors, indexing="ij"):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return tuple(_operator("aten::meshgrid")(list(tensors), indexing=indexing))


def broadcast_tensors(*tensors):
    return tuple(_operator("aten::broadcast_tensors")(_items(tensors)))


def atleast_1d(*tensors):
    return _each("aten::atleast_1d", tensors)


def atleast_2d(*tensors):
    return _each("aten::atleast_2d", tensors)


def atleast_3d(*tensors):
    return _each("aten::atleast_3d", tensors)


def block_diag(*tensors):
    return _operator("aten::block_diag")(_items(tensors))


def cartesian_prod(*tensors):
    return _operator("aten::cartesian_prod")(_items(tensors))


def chain_matmul(*matrices):
    return _operator("aten::chain_matmul")(_items(matrices))


def einsum(equation, *operands):
    return _operator("aten::einsum")(equation, _items(operands))


def _items(args):
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        return list(args[0])
    return list(args)


def _each(name, tensors):
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _operator(name)(tensors[0])
    return tuple(_operator(name)(_items(tensors)))


def sparse_coo_tensor(indices, values, size=None, dtype=None, device=None, requires_grad=False,
                      **options):
    """A dense tensor: the values at equal indices are added."""
    indices = _operator("aten::as_tensor")(indices)
    values = _operator("aten::as_tensor")(values)
    if size is None:
        size = [int(n) for n in indices.max(1).values + 1] + list(values.shape[1:])
    dense = _operator("aten::zeros")(list(size), dtype=values.dtype if dtype is None else dtype)
    return dense.index_put(list(indices.unbind(0)), values.to(dense.dtype), accumulate=True)


def spmm(input, mat2):
    """The only layout is dense."""
    return input @ mat2


def split(tensor, split_size_or_sections, dim=0):
    return tensor.split(split_size_or_sections, dim)


# ---- random numbers ----


class Generator:
    """Draws come from one generator, which manual_seed sets."""

    def __init__(self, device="cpu"):
        self.device = device

    def manual_seed(self, seed):
        _seed(seed)
        return self

    def initial_seed(self):
        return initial_seed()


_initial = [0]


def manual_seed(seed):
    _initial[0] = seed
    _seed(seed)
    return default_generator


def seed():
    """A fixed seed: the same input gives the same bytes."""
    manual_seed(0)
    return 0


def initial_seed():
    return _initial[0]


default_generator = Generator()


# ---- modes and settings ----


def is_grad_enabled():
    return False


def is_inference_mode_enabled():
    return True


def is_autocast_enabled(device_type=None):
    return False


def is_autocast_cache_enabled():
    return False


def get_autocast_gpu_dtype():
    return float16


def clear_autocast_cache():
    return None


def get_num_threads():
    return 1


def set_num_threads(n):
    return None


def get_num_interop_threads():
    return 1


def set_num_interop_threads(n):
    return None


def set_printoptions(**options):
    return None


def set_default_device(device):
    return None


def get_default_device():
    return device("cpu")


def set_float32_matmul_precision(precision):
    return None


def get_float32_matmul_precision():
    return "highest"


def use_deterministic_algorithms(mode, *, warn_only=False):
    return None


def are_deterministic_algorithms_enabled():
    return False


def set_flush_denormal(mode):
    return True


def compile(model=None, **options):
    """The exporter sees the same operators with and without compilation."""
    if model is None:
        return lambda fn: fn
    return model


def autocast(device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
    from .amp import autocast as mode
    return mode(device_type, dtype, enabled, cache_enabled)


# ---- files ----


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    from calque import host
    if hasattr(f, "write"):
        f.write(host("torch.save", obj, None))
    else:
        host("torch.save", obj, _file(f))


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None,
         **pickle_load_args):
    from calque import host
    return host("torch.load", _file(f))


def _file(f):
    """A path as a text, or the contents of a buffer."""
    if hasattr(f, "getvalue"):
        return f.getvalue()
    return f if isinstance(f, str) else f.__fspath__()


def _assert(condition, message):
    assert condition, message


def typename(o):
    if isinstance(o, Tensor):
        return "torch.Tensor"
    return type(o).__name__

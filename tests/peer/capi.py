"""The C API of calque from Python, for tests, by ctypes, as other languages would call it.

    net = zoo("resnet18")
    net.load(state_dict)
    y, = net.run(x)
    model = net.export([x], opset=13, dynamic_axes=[("input", 0, "batch")])

    def forward(cx, x):                          # a custom model: cx has all functions of nn.h
        return cx.relu(cx.call(net.child("conv"), x))
    net = module("Net", forward, {"conv": layer("conv2d", conv(3, 8, 3))})

Prototypes are read from the headers, so that they cannot be out of date.
"""
import ctypes
import functools
import pathlib
import re

import numpy as np

from peers import BUILD, ROOT

INCLUDE = ROOT / "include" / "calque"
DTYPES = {"bool": 1, "uint8": 2, "int8": 3, "int16": 4, "int32": 5, "int64": 6, "float16": 7,
          "float32": 9, "float64": 10, "complex64": 11, "complex128": 12}
NAMES = {number: name for name, number in DTYPES.items()}


class Error(Exception):
    """A call failed: its message, and the status, where and hint of cq_last_error."""

    def __init__(self, status, message, where, hint):
        super().__init__(message)
        self.status, self.message, self.where, self.hint = status, message, where, hint


class Int(ctypes.Structure):
    """cq_int: a size, perhaps symbolic."""
    _fields_ = [("value", ctypes.c_int64), ("expr", ctypes.c_void_p)]


class LastError(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char_p), ("where", ctypes.c_char_p),
                ("hint", ctypes.c_char_p), ("excerpt", ctypes.c_char_p)]


class StateEntry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.c_void_p),
                ("is_buffer", ctypes.c_bool)]


FORWARD = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
FORWARD_N = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p,
                             ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t,
                             ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t)


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


SIZE = [("struct_size", ctypes.c_size_t)]


class Class(Sized):
    _fields_ = SIZE + [
        ("name", ctypes.c_char_p), ("self_size", ctypes.c_size_t), ("forward", FORWARD),
        ("forward_n", FORWARD_N), ("destroy", ctypes.c_void_p), ("n_out", ctypes.c_size_t),
        ("forward_nested", ctypes.c_void_p)]


class ConvSpec(Sized):
    _fields_ = SIZE + [("in_", ctypes.c_int64), ("out", ctypes.c_int64)] + \
        [(name, ctypes.c_int64 * 3) for name in
         ("kernel", "stride", "padding", "dilation", "output_padding")] + \
        [("groups", ctypes.c_int64), ("no_bias", ctypes.c_bool)]


class RnnSpec(Sized):
    _fields_ = SIZE + [(name, ctypes.c_int64) for name in ("input", "hidden", "layers", "projection")] + \
        [(name, ctypes.c_bool) for name in ("bidirectional", "batch_first", "no_bias", "relu")] + \
        [("dropout", ctypes.c_double)]


def pool_type(n):
    return type(f"Pool{n}d", (ctypes.Structure,), {"_fields_": [
        (name, ctypes.c_int64 * n) for name in ("kernel", "stride", "padding", "dilation")] +
        [("ceil_mode", ctypes.c_bool), ("exclude_pad", ctypes.c_bool)]})


POOLS = {n: pool_type(n) for n in (1, 2, 3)}


class DynamicAxis(ctypes.Structure):
    _fields_ = [("value", ctypes.c_char_p), ("axis", ctypes.c_int32), ("name", ctypes.c_char_p)]


class CustomOpset(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_char_p), ("version", ctypes.c_int64)]


class ZooInput(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("sizes", ctypes.c_int64 * 6), ("below", ctypes.c_int64),
                ("batch_axis", ctypes.c_int)]


class ZooModel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("about", ctypes.c_char_p),
                ("make", ctypes.CFUNCTYPE(ctypes.c_void_p)), ("n_inputs", ctypes.c_size_t),
                ("n_outputs", ctypes.c_size_t), ("inputs", ZooInput * 3),
                ("output_names", ctypes.c_char_p * 3), ("output_batch_axes", ctypes.c_int * 3)]


FLAGS = {"no_params": 1, "no_constant_folding": 2, "keep_initializers_as_inputs": 4,
         "no_initializers_as_inputs": 8, "verbose": 16, "external_data": 32,
         "all_modules_as_functions": 64, "no_autograd_inlining": 128}

# ---- the library ----------------------------------------------------------------------

PLAIN = {"void": None, "double": ctypes.c_double, "bool": ctypes.c_bool, "int": ctypes.c_int,
         "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
         "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "cq_int": Int,
         "cq_status": ctypes.c_int, "cq_dtype": ctypes.c_int, "cq_onnx_side": ctypes.c_int}
PROTOTYPE = re.compile(r"CQ_API\s+([^;{}()]+?)(\**)\s*(cq_\w+)\(([^;{]*)\)[^;{]*;", re.S)


def type_of(text):
    """The ctypes type of a C declaration, `const char *name` or `int64_t pads[4]`."""
    text = text.strip()
    if "..." in text or "(*" in text:
        return ctypes.c_void_p
    if "*" in text or "[" in text:
        return ctypes.c_char_p if re.match(r"const char\s*\*\s*\w*$", text) else ctypes.c_void_p
    words = [word for word in text.split() if word != "const"]
    return PLAIN.get(words[0], ctypes.c_void_p)


@functools.lru_cache(maxsize=None)
def lib():
    library = ctypes.CDLL(str(BUILD / "libcalque.so"))
    for header in sorted(INCLUDE.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for result, stars, name, args in PROTOTYPE.findall(text):
            if not hasattr(library, name):
                continue
            function = getattr(library, name)
            function.restype = type_of(f"{result} {stars}")
            if "..." not in args:
                function.argtypes = [type_of(arg) for arg in args.split(",")
                                     if arg.strip() not in ("", "void")]
    library.cq_last_error.restype = ctypes.POINTER(LastError)
    library.cq_zoo_at.restype = library.cq_zoo_find.restype = ctypes.POINTER(ZooModel)
    return library


def options_type(header, name):
    """A struct of options, with the fields of the header."""
    text = re.sub(r"/\*.*?\*/", "", (INCLUDE / header).read_text(), flags=re.S)
    body = re.search(rf"struct {name} \{{(.*?)\}}", text, re.S)[1]
    enums = {"cq_training": ctypes.c_int, "cq_operator_export_type": ctypes.c_int}
    fields = [(line.split()[-1].lstrip("*"), enums.get(line.split()[0]) or type_of(line))
              for line in filter(str.strip, body.split(";"))]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


@functools.lru_cache(maxsize=None)
def export_options_type():
    return options_type("export.h", "cq_export_options")


@functools.lru_cache(maxsize=None)
def run_options_type():
    return options_type("export.h", "cq_run_options")


@functools.lru_cache(maxsize=None)
def session_options_type():
    return options_type("session.h", "cq_session_options")


def check(status):
    if status:
        error = lib().cq_last_error().contents
        raise Error(status, error.message.decode(), error.where.decode(), error.hint.decode())


# ---- tensors --------------------------------------------------------------------------


def sizes(*values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


def ints(*values):
    """cq_int values from numbers and from sizes of a context."""
    return (Int * max(len(values), 1))(*[v if isinstance(v, Int) else Int(v, None) for v in values])


def handles(values):
    return (ctypes.c_void_p * max(len(values), 1))(*values)


class Tensor:
    """Owns one reference to a tensor."""

    def __init__(self, source):
        if isinstance(source, int):
            self.handle = source
            return
        array, out = np.ascontiguousarray(source), ctypes.c_void_p()
        array = array.reshape(np.shape(source))
        check(lib().cq_tensor_new(ctypes.byref(out), DTYPES[array.dtype.name], array.ndim,
                                  sizes(*array.shape), array.ctypes.data))
        self.handle = out.value

    def __del__(self):
        lib().cq_tensor_release(self.handle)


def array_of(handle):
    """The values of a tensor as an array, copied."""
    out = ctypes.c_void_p()
    check(lib().cq_tensor_contiguous(ctypes.byref(out), handle))
    t = Tensor(out.value)
    shape = tuple(lib().cq_tensor_size(t.handle, i) for i in range(lib().cq_tensor_rank(t.handle)))
    array = np.empty(shape, NAMES[lib().cq_tensor_dtype(t.handle)])
    ctypes.memmove(array.ctypes.data, lib().cq_tensor_data(t.handle), array.nbytes)
    return array


# ---- modules --------------------------------------------------------------------------


class Context:
    """The first argument of a forward: every cq_NAME(cx, …) as a method NAME."""

    def __init__(self, handle):
        self.handle = handle

    def __getattr__(self, name):
        return functools.partial(getattr(lib(), f"cq_{name}"), self.handle)

    def call(self, net, x):
        return lib().cq_call(self.handle, net.handle, x)


class Module:
    """Owns a module, unless a parent has taken it over."""

    def __init__(self, handle, keep=()):
        self.handle, self.owned, self.keep = handle, True, keep
        check(lib().cq_module_status(handle))

    def __del__(self):
        if self.owned:
            lib().cq_module_free(self.handle)

    def child(self, path):
        handle = lib().cq_module_child(self.handle, path.encode())
        assert handle, f"no module {path}"
        found = Module(handle, keep=(self,))
        found.owned = False
        return found

    def add(self, name, child):
        lib().cq_module_add(self.handle, name.encode(), child.handle)
        child.owned, self.keep = False, (*self.keep, child)
        return child

    def state(self):
        """[(name, array, is_buffer)] in order."""
        out, entry = [], StateEntry()
        for i in range(lib().cq_module_state_count(self.handle)):
            check(lib().cq_module_state_at(self.handle, i, ctypes.byref(entry)))
            out.append((entry.name.decode(), array_of(entry.tensor), entry.is_buffer))
        return out

    def state_shapes(self):
        """[(name, dtype, shape)] in order, without reading the values."""
        out, entry = [], StateEntry()
        for i in range(lib().cq_module_state_count(self.handle)):
            check(lib().cq_module_state_at(self.handle, i, ctypes.byref(entry)))
            shape = tuple(lib().cq_tensor_size(entry.tensor, k)
                          for k in range(lib().cq_tensor_rank(entry.tensor)))
            out.append((entry.name.decode(), NAMES[lib().cq_tensor_dtype(entry.tensor)], shape))
        return out

    def load(self, state):
        """Sets parameters from a dict of arrays."""
        for name, array in state.items():
            value = Tensor(array)
            check(lib().cq_module_set(self.handle, name.encode(), value.handle))

    def load_npy(self, folder):
        check(lib().cq_module_load_npy(self.handle, str(folder).encode()))

    def train(self, training):
        lib().cq_module_train(self.handle, training)
        return self

    def run(self, *inputs, n_outputs=1):
        tensors, out = [Tensor(x) for x in inputs], handles([None] * n_outputs)
        check(lib().cq_module_run(self.handle, handles([t.handle for t in tensors]), len(tensors),
                                  out, n_outputs))
        results = [handle and Tensor(handle) for handle in out]
        return [result and array_of(result.handle) for result in results]

    def gradients(self, inputs, training=0):
        """A forward and backward run: name -> gradient of each parameter, or None."""
        gradients, tensors = ctypes.c_void_p(), [Tensor(x) for x in inputs]
        check(lib().cq_gradients_new(ctypes.byref(gradients), None, 0))
        opts = run_options_type()()
        lib().cq_run_options_init(ctypes.byref(opts))
        opts.training, opts.gradients = training, gradients.value
        out, n, found = handles([None] * 64), ctypes.c_size_t(), {}
        try:
            check(lib().cq_module_run_as(self.handle, handles([t.handle for t in tensors]),
                                         len(tensors), ctypes.byref(opts), out, 64,
                                         ctypes.byref(n)))
            for handle in out[:n.value]:
                lib().cq_tensor_release(handle)
            while True:
                name = lib().cq_gradients_name(gradients, len(found))
                if not name:
                    return found
                handle = lib().cq_gradients_parameter(gradients, len(found))
                found[name.decode()] = array_of(handle) if handle else None
        finally:
            lib().cq_gradients_free(gradients)

    def export(self, inputs, path=None, **options):
        """The bytes of a model, or a file at path. Options are those of cq_export_options by
        name; flags by their name in lower case, as in verbose=True."""
        opts, keep = export_options(**options)
        tensors = [Tensor(x) for x in inputs]
        args = (self.handle, handles([t.handle for t in tensors]), len(tensors), ctypes.byref(opts))
        if path is not None:
            check(lib().cq_module_export_file(str(path).encode(), *args))
            return None
        model, data, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        check(lib().cq_module_export(ctypes.byref(model), *args))
        try:
            check(lib().cq_onnx_model_encode(ctypes.byref(data), ctypes.byref(size), model))
            return ctypes.string_at(data, size.value)
        finally:
            lib().cq_buffer_free(data)
            lib().cq_onnx_model_free(model)
            del keep


def export_options(**options):
    """cq_export_options, and the objects that it borrows."""
    opts, keep = export_options_type()(), []
    lib().cq_export_options_init(ctypes.byref(opts))
    for name, value in options.items():
        if name in FLAGS:
            opts.flags |= FLAGS[name] if value else 0
        elif isinstance(value, (list, tuple)):
            keep.append(ITEMS.get(name, texts)(value))
            setattr(opts, name, ctypes.addressof(keep[-1]))
            setattr(opts, f"n_{name}", len(value))
        else:
            setattr(opts, name, value.encode() if isinstance(value, str) else value)
    return opts, keep


def texts(values):
    return (ctypes.c_char_p * max(len(values), 1))(*[v.encode() for v in values])


ITEMS = {  # lists of more than texts
    "dynamic_axes": lambda values: (DynamicAxis * max(len(values), 1))(
        *[DynamicAxis(value.encode(), axis, label and label.encode())
          for value, axis, label in values]),
    "custom_opsets": lambda values: (CustomOpset * max(len(values), 1))(
        *[CustomOpset(domain.encode(), version) for domain, version in values]),
}


def layer(name, *args):
    """A layer of layers.h: cq_NAME_new(args…)."""
    args = [ctypes.byref(a) if isinstance(a, ctypes.Structure) else
            a.encode() if isinstance(a, str) else a for a in args]
    return Module(getattr(lib(), f"cq_{name}_new")(*args))


def module(name, forward, children=None, n_out=None):
    """A module with a forward in Python. With n_out, arguments and results are lists of tensors."""
    def one(cx, _self, x):
        return forward(Context(cx), x)

    def several(cx, _self, x, n_in, out, n):
        for i, result in enumerate(forward(Context(cx), *x[:n_in])[:n]):
            out[i] = result

    cls = Class(name=name.encode(), n_out=n_out or 0)
    if n_out:
        cls.forward_n = FORWARD_N(several)
    else:
        cls.forward = FORWARD(one)
    net = Module(lib().cq_module_new(ctypes.byref(cls)), keep=(cls,))
    for child_name, child in (children or {}).items():
        net.add(child_name, child)
    return net


def add_parameter(net, name, array):
    """Adds a parameter to a custom module and returns its handle, for the forward."""
    t = Tensor(array)
    lib().cq_tensor_retain(t.handle)
    return lib().cq_module_add_parameter(net.handle, name.encode(), t.handle)


# ---- the zoo --------------------------------------------------------------------------


def zoo_models():
    i, out = 0, []
    while lib().cq_zoo_at(i):
        out.append(lib().cq_zoo_at(i).contents)
        i += 1
    return out


def zoo(name):
    """(module, its ZooModel)"""
    found = lib().cq_zoo_find(name.encode())
    assert found, f"no model {name} in the zoo"
    return Module(found.contents.make()), found.contents


def temporary_npy(folder, state):
    """Writes a state dict of torch tensors as NAME.npy files."""
    folder = pathlib.Path(folder)
    for name, tensor in state.items():
        np.save(folder / f"{name}.npy", tensor.detach().numpy())
    return folder

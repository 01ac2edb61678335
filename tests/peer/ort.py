"""ONNX Runtime by its C API, without a Python package or another process.

npm's onnxruntime-node contains libonnxruntime.so but no header. The API is a table of function
pointers to which new ones are only appended, so a function is identified by its index. FUNCTIONS
names those used here.

    session = ort.Session("model.onnx")
    outputs = session.run({"x": array})        # a list, in the order of session.outputs

An array stands for a tensor, an object array of str for a tensor of strings, a list of arrays
for a sequence. numpy knows no bfloat16: such a tensor is an array of the dtype `bfloat16`
below, see to_bf16 and from_bf16.
"""
import contextlib
import ctypes
import functools
import glob
import os
import pathlib
import platform

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache"))

API_VERSION = 14
FUNCTIONS = {
    "GetErrorMessage": 2, "CreateEnv": 3, "CreateSession": 7, "CreateSessionFromArray": 8,
    "Run": 9, "CreateSessionOptions": 10, "SetSessionLogSeverityLevel": 22,
    "SetSessionGraphOptimizationLevel": 23, "SetIntraOpNumThreads": 24,
    "SetInterOpNumThreads": 25, "SessionGetInputCount": 30, "SessionGetOutputCount": 31,
    "SessionGetInputName": 36, "SessionGetOutputName": 37, "CreateTensorAsOrtValue": 48,
    "CreateTensorWithDataAsOrtValue": 49, "GetTensorMutableData": 51, "FillStringTensor": 52,
    "GetStringTensorDataLength": 53, "GetStringTensorContent": 54, "GetTensorElementType": 60,
    "GetDimensionsCount": 61, "GetDimensions": 62, "GetTensorTypeAndShape": 65,
    "GetValueType": 67, "CreateCpuMemoryInfo": 69, "AllocatorFree": 76,
    "GetAllocatorWithDefaultOptions": 78, "GetValue": 80, "GetValueCount": 81, "CreateValue": 82,
    "ReleaseStatus": 93, "ReleaseSession": 95, "ReleaseValue": 96,
    "ReleaseTensorTypeAndShapeInfo": 99, "ReleaseSessionOptions": 100, "HasValue": 192,
}
RETURNS = {"GetErrorMessage": ctypes.c_char_p, "ReleaseStatus": None, "ReleaseSession": None,
           "ReleaseValue": None, "ReleaseTensorTypeAndShapeInfo": None,
           "ReleaseSessionOptions": None}

OPTIMIZE = {"none": 0, "basic": 1, "extended": 2, "all": 99}
LOG_FATAL = 4
TYPE_TENSOR, TYPE_SEQUENCE = 1, 2
ARENA_ALLOCATOR, MEMORY_DEFAULT = 1, 0

bfloat16 = np.dtype((np.uint16, {"bfloat16": (np.uint16, 0)}))
STRING = 8
DTYPES = {  # ONNX's number of an element type, and numpy's
    1: np.dtype(np.float32), 2: np.dtype(np.uint8), 3: np.dtype(np.int8), 4: np.dtype(np.uint16),
    5: np.dtype(np.int16), 6: np.dtype(np.int32), 7: np.dtype(np.int64), 9: np.dtype(np.bool_),
    10: np.dtype(np.float16), 11: np.dtype(np.float64), 12: np.dtype(np.uint32),
    13: np.dtype(np.uint64), 14: np.dtype(np.complex64), 15: np.dtype(np.complex128),
    16: bfloat16,
}


class OrtError(RuntimeError):
    """ONNX Runtime refused a model or failed to run it."""


def to_bf16(array):
    """Rounds to the nearest bfloat16, ties to even."""
    flat = np.asarray(array, np.float32).reshape(-1)
    bits = flat.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    bits16 = np.where(np.isnan(flat), 0x7FC0, rounded).astype(np.uint16)
    return bits16.view(bfloat16).reshape(np.shape(array))


def from_bf16(array):
    flat = np.asarray(array).reshape(-1).view(np.uint16).astype(np.uint32)
    return (flat << 16).view(np.float32).reshape(np.shape(array))


LIBRARY = None  # the path of another one than find_library's


def find_library():
    """The path of the installed libonnxruntime, or None."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    found = glob.glob(f"{CACHE}/ort/node_modules/onnxruntime-node/bin/*/linux/{machine}"
                      "/libonnxruntime.so*")
    return found[0] if found else None


class Api:
    """The function table; a call raises OrtError when ONNX Runtime returns a status."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)
        get_api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(
            self.library.OrtGetApiBase()[0])
        table = ctypes.cast(get_api(API_VERSION), ctypes.POINTER(ctypes.c_void_p))
        if not table:
            raise OrtError(f"{path} does not offer version {API_VERSION} of its API")
        self.functions = {
            name: ctypes.CFUNCTYPE(RETURNS.get(name, ctypes.c_void_p))(table[place])
            for name, place in FUNCTIONS.items()}
        self.env = self.make("CreateEnv", LOG_FATAL, b"calque")
        self.allocator = self.make("GetAllocatorWithDefaultOptions")
        self.memory = self.make("CreateCpuMemoryInfo", ARENA_ALLOCATOR, MEMORY_DEFAULT)

    def call(self, name, *args):
        result = self.functions[name](*args)
        if RETURNS.get(name, ctypes.c_void_p) is not ctypes.c_void_p or not result:
            return result
        status = ctypes.c_void_p(result)
        message = self.functions["GetErrorMessage"](status).decode(errors="replace")
        self.functions["ReleaseStatus"](status)
        raise OrtError(message)

    def make(self, name, *args):
        """Calls a function whose last argument is where its result goes."""
        out = ctypes.c_void_p()
        self.call(name, *args, ctypes.byref(out))
        return out

    def number(self, name, *args, kind=ctypes.c_size_t):
        out = kind()
        self.call(name, *args, ctypes.byref(out))
        return out.value


@functools.lru_cache(maxsize=None)
def api():
    path = LIBRARY or find_library()
    if not path:
        raise OrtError("ONNX Runtime is not installed; run tools/setup.sh peers")
    return Api(path)


# ---- values ---------------------------------------------------------------------------


def sizes_of(array):
    return (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)


def strings_to_value(array, owned):
    texts = [t if isinstance(t, bytes) else str(t).encode("utf-8", "surrogateescape")
             for t in array.reshape(-1)]
    value = api().make("CreateTensorAsOrtValue", api().allocator, sizes_of(array),
                       ctypes.c_size_t(array.ndim), STRING)
    owned.callback(api().call, "ReleaseValue", value)
    if texts:
        api().call("FillStringTensor", value, (ctypes.c_char_p * len(texts))(*texts),
                   ctypes.c_size_t(len(texts)))
    return value


def to_value(data, owned):
    """An OrtValue of an array or a list of them; owned frees it and keeps the memory."""
    if isinstance(data, (list, tuple)):
        parts = [to_value(item, owned) for item in data]
        value = api().make("CreateValue", (ctypes.c_void_p * max(len(parts), 1))(*parts),
                           ctypes.c_size_t(len(parts)), TYPE_SEQUENCE)
        owned.callback(api().call, "ReleaseValue", value)
        return value
    array = np.array(data, order="C", copy=False)
    if array.dtype.kind in "OUS":
        return strings_to_value(array, owned)
    # bfloat16 compares equal to the uint16 it is stored in, but has another name
    number = 16 if array.dtype.names else next(
        (n for n, dtype in DTYPES.items() if dtype == array.dtype), None)
    if number is None:
        raise OrtError(f"no ONNX element type corresponds to {array.dtype}")
    owned.callback(lambda keep: None, array)
    value = api().make("CreateTensorWithDataAsOrtValue", api().memory,
                       ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes),
                       sizes_of(array), ctypes.c_size_t(array.ndim), number)
    owned.callback(api().call, "ReleaseValue", value)
    return value


def strings_from_value(value, shape):
    count = int(np.prod(shape, dtype=np.int64))
    size = api().number("GetStringTensorDataLength", value)
    text, starts = ctypes.create_string_buffer(size + 1), (ctypes.c_size_t * (count + 1))()
    api().call("GetStringTensorContent", value, text, ctypes.c_size_t(size), starts,
               ctypes.c_size_t(count))
    starts[count] = size
    out = np.empty(count, object)
    for i in range(count):
        out[i] = text.raw[starts[i]:starts[i + 1]].decode("utf-8", "surrogateescape")
    return out.reshape(shape)


def tensor_from_value(value):
    info = api().make("GetTensorTypeAndShape", value)
    rank = api().number("GetDimensionsCount", info)
    sizes = (ctypes.c_int64 * max(rank, 1))()
    api().call("GetDimensions", info, sizes, ctypes.c_size_t(rank))
    number = api().number("GetTensorElementType", info, kind=ctypes.c_int)
    api().call("ReleaseTensorTypeAndShapeInfo", info)
    shape = tuple(sizes[:rank])
    if number == STRING:
        return strings_from_value(value, shape)
    if number not in DTYPES:
        raise OrtError(f"an output has element type {number}, which numpy cannot hold")
    out = np.empty(shape, DTYPES[number])
    ctypes.memmove(out.ctypes.data, api().make("GetTensorMutableData", value), out.nbytes)
    return out


def from_value(value):
    """An array or a list of them, copied; None for an optional without a value."""
    if not value or not api().number("HasValue", value, kind=ctypes.c_int):
        return None
    kind = api().number("GetValueType", value, kind=ctypes.c_int)
    if kind == TYPE_TENSOR:
        return tensor_from_value(value)
    if kind != TYPE_SEQUENCE:
        raise OrtError(f"an output is of kind {kind}, neither a tensor nor a sequence")
    out = []
    for i in range(api().number("GetValueCount", value)):
        item = api().make("GetValue", value, i, api().allocator)
        out.append(from_value(item))
        api().call("ReleaseValue", item)
    return out


# ---- sessions -------------------------------------------------------------------------


class Session:
    """A loaded model: from a path, or from bytes."""

    def __init__(self, model, optimize="basic", threads=1):
        options = api().make("CreateSessionOptions")
        api().call("SetSessionLogSeverityLevel", options, LOG_FATAL)
        api().call("SetSessionGraphOptimizationLevel", options, OPTIMIZE[optimize])
        api().call("SetIntraOpNumThreads", options, threads)
        api().call("SetInterOpNumThreads", options, 1)
        self.session = None
        try:
            if isinstance(model, bytes):
                self.session = api().make("CreateSessionFromArray", api().env, model,
                                          ctypes.c_size_t(len(model)), options)
            else:
                self.session = api().make("CreateSession", api().env, os.fsencode(model), options)
        finally:
            api().call("ReleaseSessionOptions", options)
        self.inputs, self.outputs = self.names("Input"), self.names("Output")

    def names(self, which):
        out = []
        for i in range(api().number(f"SessionGet{which}Count", self.session)):
            text = api().make(f"SessionGet{which}Name", self.session, ctypes.c_size_t(i),
                              api().allocator)
            out.append(ctypes.string_at(text).decode())
            api().call("AllocatorFree", api().allocator, text)
        return out

    def run(self, feeds, outputs=None):
        wanted = list(outputs or self.outputs)
        with contextlib.ExitStack() as owned:
            names = (ctypes.c_char_p * max(len(feeds), 1))(*[name.encode() for name in feeds])
            values = (ctypes.c_void_p * max(len(feeds), 1))(
                *[to_value(data, owned) for data in feeds.values()])
            results = (ctypes.c_void_p * len(wanted))()
            api().call("Run", self.session, None, names, values, ctypes.c_size_t(len(feeds)),
                       (ctypes.c_char_p * len(wanted))(*[name.encode() for name in wanted]),
                       ctypes.c_size_t(len(wanted)), results)
            for result in results:
                owned.callback(api().call, "ReleaseValue", ctypes.c_void_p(result))
            return [from_value(ctypes.c_void_p(result)) for result in results]

    def __del__(self):
        if self.session:
            api().call("ReleaseSession", self.session)

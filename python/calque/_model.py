"""ONNX models: reading, checking, changing and writing them."""
from __future__ import annotations

import ctypes
import os
import tempfile
import weakref
from ctypes import byref
from dataclasses import dataclass
from typing import IO, Any, Mapping, Sequence, TypeVar

from . import _abi, _parts
from ._call import Buffer, Handle, call
from ._errors import ArgumentError, Error, FormatError
from ._graph import Function, Graph, Value, entries
from ._html import count, facts
from ._lib import encoded, lib, text
from ._source import Source, bytes_of, head_of, not_onnx, path_of


M = TypeVar("M", bound="Model")


class ModelHandle(Handle):
    _free = lib.cq_onnx_model_free


class FindingsHandle(Handle):
    _free = lib.cq_onnx_findings_free


@dataclass(frozen=True, repr=False)
class Finding:
    """A violation in a model, or a difference between two."""

    code: str  #: stable: "graph-name-missing"
    where: str  #: "graph main > node /conv/Conv (Conv) > attribute pads"
    what: str  #: "the graph has no name"
    hint: str  #: what to do about it
    is_warning: bool = False  #: it is wrong, but onnx.checker 1.12 lets it pass

    def __str__(self) -> str:
        return ": ".join(part for part in (self.code, self.where, self.what) if part)

    def __repr__(self) -> str:
        return f"Finding({self})"


@dataclass(frozen=True)
class Proof:
    """The result of `Model.prove`."""

    n_runs: int  #: sets of inputs that both models ran on; 0: nothing was compared
    largest: float  #: the largest difference between two numbers
    skipped: str  #: why nothing was compared, or ""
    sizes: str  #: other sizes at which the model ran: "right at batch=2,3"


def _findings(function: Any, *arguments: Any) -> list[Finding]:
    handle = FindingsHandle()
    call(function, byref(handle), *arguments)
    found = []
    for i in range(lib.cq_onnx_findings_count(handle)):
        f = lib.cq_onnx_findings_at(handle, i).contents
        found.append(Finding(text(f.code), text(f.where), text(f.what), text(f.hint), f.is_warning))
    return found


class Model:
    """An ONNX model. `calque.load` reads one, `calque.export` makes one.

    >>> import calque
    >>> model = calque.Model.parse(
    ...     '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) '
    ...     '{ y = Relu(x) }')
    >>> model
    Model(g: 1 node, opset 17)
    >>> model.check()
    []
    """

    #: Of an export: what came of it. See `calque.export`.
    report: dict[str, list[dict[str, Any]]]
    #: Of an export with verify=True: what was compared, run by run; a list of `Verified`.
    verification: list[Any]

    _handle: ModelHandle
    _sessions: weakref.WeakSet[Any]

    def __init__(self, source: Source) -> None:
        """As `calque.load`; of another model, a copy."""
        data = bytes_of(source)
        handle, name = ModelHandle(), "<bytes>"
        try:
            if data is None:
                name = path_of(source)
                call(lib.cq_onnx_model_load_as, byref(handle), encoded(name), lib.cq_onnx_form_of(encoded(name)))
            else:
                call(lib.cq_onnx_model_decode, byref(handle), data, len(data))
        except FormatError as error:
            raise not_onnx(head_of(source if data is None else data, 512), f"'{name}'") or error from None
        if not lib.cq_onnx_model_graph(handle) and not (data if data is not None else head_of(source, 1)):
            raise FormatError("the file is empty", name)
        self._own(handle)

    def _own(self, handle: ModelHandle) -> None:
        self._handle, self._sessions, self.report = handle, weakref.WeakSet(), {}
        self.verification = []

    @classmethod
    def _of(cls: type[M], handle: ModelHandle) -> M:
        """Takes over a model of the library."""
        self = object.__new__(cls)
        self._own(handle)
        return self

    def __reduce__(self) -> Any:
        """The file, and what else is known of the model; also for copies."""
        own = ("_handle", "_sessions", "_session")
        return type(self), (self.to_bytes(),), {name: value for name, value in vars(self).items()
                                                if name not in own}

    # ---- reading and writing ----

    @classmethod
    def load(cls, source: Source) -> Model:
        """See `calque.load`."""
        return source if isinstance(source, Model) else cls(source)

    @classmethod
    def parse(cls, source: str | bytes, name: str = "<text>") -> Model:
        """A model from ONNX's text syntax; name is for messages."""
        handle, data = ModelHandle(), source if isinstance(source, bytes) else source.encode()
        call(lib.cq_onnx_model_parse, byref(handle), data, len(data), encoded(name))
        return cls._of(handle)

    def save(self, path: str | os.PathLike[str] | IO[bytes], *, external_data: bool | str | None = False,
             threshold: int = 1024, split_size: int = 0, as_is: bool = False, share_data: bool = False) -> None:
        """Writes a file, whole or not at all; or into one that is open. With external_data, tensors of threshold bytes and
        more go into one file beside it, and always when it would be larger than 2 GB. external_data
        may be the name of that file, relative to the folder of the model; with split_size there are several,
        each up to that many bytes. as_is leaves references to external data as they are, as a stripped model needs it. share_data refers to
        the external data of the model that was read, in the folder of path, instead of copying it.
        A path that ends with .onnxtxt or .txt is written in ONNX's text syntax, .textproto or
        .pbtxt in protobuf's text format.

        >>> import calque, tempfile, os
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[2] x) => (float[2] y) { y = Relu(x) }')
        >>> path = os.path.join(tempfile.mkdtemp(), "relu.textproto")
        >>> model.save(path)
        >>> calque.load(path).diff(model)
        []
        """
        if not isinstance(path, (str, os.PathLike)):
            if not hasattr(path, "write"):
                raise TypeError(f"a model is saved to a path or an open file, not a {type(path).__name__}")
            if external_data:
                raise ArgumentError("external data needs the path of a file to be beside")
            path.write(self.to_bytes())
            return
        options = _abi.cq_onnx_save_options()
        lib.cq_onnx_save_options_init(byref(options))
        options.flags = (_abi.CQ_ONNX_SAVE_EXTERNAL if external_data or split_size else 0) | \
            (_abi.CQ_ONNX_SAVE_AS_IS if as_is or self._is_stripped else 0) | \
            (_abi.CQ_ONNX_SAVE_SHARE_DATA if share_data else 0)
        options.threshold, options.split_size = threshold, split_size
        if isinstance(external_data, str):
            options.data_name = encoded(external_data)
        call(lib.cq_onnx_model_save_as, self._handle, encoded(path), lib.cq_onnx_form_of(encoded(path)),
             byref(options))

    _is_stripped = False

    def to_bytes(self) -> bytes:
        """The bytes of a file, with the weights that the model has in external files."""
        data, size = Buffer(), ctypes.c_size_t()
        call(lib.cq_onnx_model_encode, byref(data), byref(size), self._handle)
        encoded_model = data.bytes(size.value)
        refers = b"location" in encoded_model and b'"stripped"' not in encoded_model
        return self._to_bytes_whole() if refers else encoded_model

    def _to_bytes_whole(self) -> bytes:
        """Only files take in external data."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            call(lib.cq_onnx_model_save, self._handle, encoded(path), None)
            if len(os.listdir(folder)) > 1:
                raise ArgumentError("the model is larger than 2 GB with its external data",
                                    hint="write it to a file: model.save(path)")
            with open(path, "rb") as file:
                return file.read()

    SerializeToString = to_bytes  # as messages of the onnx package have it
    __bytes__ = to_bytes

    def text(self) -> str:
        """The model in ONNX's text syntax, all of it: `Model.parse` gives the same model.

        >>> import calque
        >>> print(calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[2] x) => (float[2] y) { y = Relu(x) }').text())
        #@ exact domain
        <
           ir_version: 8,
           opset_import: ["" : 17]
        >
        g (float[2] x) => (float[2] y)
        {
           y = Relu (x)
        }
        <BLANKLINE>
        """
        pieces: list[bytes] = []

        def write(_user: Any, start: int, size: int) -> bool:
            pieces.append(ctypes.string_at(start, size))
            return True

        call(lib.cq_onnx_model_write_text, self._handle, _abi.cq_text_writer(write), None)
        return text(b"".join(pieces))

    def printable_graph(self) -> str:
        """The listing that onnx.helper.printable_graph gives."""
        buffer = Buffer()
        call(lib.cq_onnx_model_print, byref(buffer), self._handle)
        return text(buffer.bytes())

    # ---- what it is ----

    @property
    def pointer(self) -> ModelHandle:
        """The cq_onnx_model."""
        return self._handle

    @property
    def graph(self) -> Graph:
        return Graph._of(self, lib.cq_onnx_model_graph(self._handle))

    @property
    def inputs(self) -> list[Value]:
        return self.graph.inputs

    @property
    def outputs(self) -> list[Value]:
        return self.graph.outputs

    @property
    def functions(self) -> list[Function]:
        return [Function._of(self, lib.cq_onnx_model_function(self._handle, i))
                for i in range(lib.cq_onnx_model_n_functions(self._handle))]

    @property
    def ir_version(self) -> int:
        return int(lib.cq_onnx_model_ir_version(self._handle))

    @property
    def producer_name(self) -> str:
        return text(lib.cq_onnx_model_producer(self._handle))

    @property
    def opset_import(self) -> dict[str, int]:
        """Versions of operator sets, by domain; "" is ONNX's own."""
        domain, version = ctypes.c_char_p(), ctypes.c_int64()
        found: dict[str, int] = {}
        while lib.cq_onnx_model_opset_at(self._handle, len(found), byref(domain), byref(version)):
            if (name := text(domain.value)) in found:
                break
            found[name] = version.value
        return found

    @property
    def metadata(self) -> dict[str, str]:
        return entries(lib.cq_onnx_model_metadata, self._handle)

    def __repr__(self) -> str:
        nodes = count(lib.cq_onnx_model_n_nodes(self._handle), "node")
        return f"Model({self.graph.name}: {nodes}, opset {self.opset_import.get('', 0)})"

    def _repr_html_(self) -> str:
        opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in self.opset_import.items())
        told = {"IR version": self.ir_version, "opsets": opsets, "producer": self.producer_name,
                "weights": len(self.graph.initializers), "functions": len(self.functions) or ""}
        return facts(told) + self.graph._repr_html_()

    # ---- checking ----

    def check(self, full: bool = False) -> list[Finding]:
        """Everything that breaks the rules of ONNX; it is valid if all that is left are warnings.
        full also asks whether all types and shapes fit together.

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[2] x) => (float[3] y) { y = Relu(x) }')
        >>> model.check(), model.check(full=True)[0].code
        ([], 'inference')
        """
        found = _findings(lib.cq_onnx_model_check, self._handle)
        if full and all(finding.is_warning for finding in found):
            flags = _abi.CQ_ONNX_INFER_STRICT | _abi.CQ_ONNX_INFER_CHECK_TYPES
            try:
                call(lib.cq_onnx_model_infer, self._handle, flags | _abi.CQ_ONNX_INFER_KEEP_MODEL)
            except Error as error:
                found.append(Finding("inference", error.where, error.message, error.hint))
        return found

    def diff(self, other: Source, *, rtol: float = 1e-5, atol: float = 1e-8) -> list[Finding]:
        """What differs between two models, names, documentation and order aside; weights count as
        equal within atol + rtol * |a|."""
        return _findings(lib.cq_onnx_model_diff, self._handle, Model.load(other)._handle, rtol, atol)

    # ---- changing ----

    def _change(self) -> ModelHandle:
        if len(self._sessions):
            raise ArgumentError("the model cannot be changed while a session uses it",
                                hint="prepare the session from model.to_bytes()")
        return self._handle

    def infer_shapes(self, *, strict: bool = False, check_types: bool = False) -> Model:
        """Finds the type and shape of every value and writes them into the model, which it returns.

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[n, 3] x) => (y) { t = Transpose(x) y = Relu(t) }')
        >>> model.infer_shapes().graph.values
        [Value(t: tensor(float)[3, n])]
        """
        flags = (_abi.CQ_ONNX_INFER_STRICT if strict else 0) | \
            (_abi.CQ_ONNX_INFER_CHECK_TYPES if check_types else 0)
        call(lib.cq_onnx_model_infer, self._change(), flags)
        return self

    def strip(self, *, threshold: int = _abi.CQ_STRIP_THRESHOLD, runnable: bool = False) -> Model:
        """Takes the data out of weights with more than threshold elements, and returns the model,
        small enough for a bug report. A runnable one computes random weights of the same mean and
        variance instead."""
        options = _abi.cq_strip_options()
        lib.cq_strip_options_init(byref(options))
        options.threshold = threshold
        options.flags = _abi.CQ_STRIP_RUNNABLE if runnable else 0
        call(lib.cq_onnx_model_strip, self._change(), byref(options))
        self._is_stripped = self._is_stripped or not runnable
        return self

    def optimize(self, *, only: Sequence[str] = (), skip: Sequence[str] = (),
                 inline: bool = False, for_onnxruntime: bool = False,
                 drop_unread_inputs: bool = False) -> Model:
        """Removes nodes without changing what the model computes, and returns it. only and skip are
        names of passes (`calque optimize --list-passes`). With for_onnxruntime the result may have
        operators of com.microsoft. drop_unread_inputs removes inputs that nothing reads.

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[n] x) => (float[n] y) { t = Identity(x) y = Relu(t) }')
        >>> len(model.optimize().graph.nodes)
        1
        """
        options = _abi.cq_optimize_options()
        lib.cq_optimize_options_init(byref(options))
        chosen, skipped = (
            (ctypes.c_char_p * len(names))(*map(encoded, names)) for names in (only, skip))
        options.only, options.n_only = ctypes.cast(chosen, type(options.only)), len(only)
        options.skip, options.n_skip = ctypes.cast(skipped, type(options.skip)), len(skip)
        options.flags = ((_abi.CQ_OPTIMIZE_INLINE if inline else 0) |
                         (_abi.CQ_OPTIMIZE_FOR_ONNXRUNTIME if for_onnxruntime else 0) |
                         (_abi.CQ_OPTIMIZE_DROP_UNREAD_INPUTS if drop_unread_inputs else 0))
        call(lib.cq_onnx_model_optimize, self._change(), None, byref(options))
        return self

    def prove(self, before: Source, *, example: str | os.PathLike[str] | None = None, lossy: bool = False,
              rtol: float | None = None, atol: float | None = None) -> Proof:
        """Runs the model before a change and this one on the same inputs, random or those of the folder
        example, and compares all outputs. A difference beyond the tolerance is an error that names the
        first node that differs. lossy: the change rounds values.

        >>> import calque
        >>> text = ('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[3] x) => (float[3] y) { t = Identity(x) y = Relu(t) }')
        >>> calque.Model.parse(text).optimize().prove(calque.Model.parse(text)).largest
        0.0
        """
        options, proof = _abi.cq_proof_options(), _abi.cq_proof()
        lib.cq_proof_options_init(byref(options))
        options.flags = _abi.CQ_PROOF_LOSSY if lossy else 0
        options.rtol = options.rtol if rtol is None else rtol
        options.atol = options.atol if atol is None else atol
        if example is not None:
            options.example = encoded(example)
        call(lib.cq_onnx_prove, byref(proof), Model.load(before)._handle, self._handle, byref(options))
        return Proof(proof.n_runs, proof.largest, proof.skipped.decode(), proof.sizes.decode())

    def convert_opset(self, opset: int) -> Model:
        """Changes the version of ONNX's operators, up or down, and returns the model.

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 11]> '
        ...     'g (float[3] x) => (y) { y = Unsqueeze<axes = [0]>(x) }')
        >>> model.convert_opset(17).opset_import
        {'': 17}
        """
        call(lib.cq_onnx_model_convert_opset, self._change(), opset)
        return self

    def convert_inputs(self, sizes: Mapping[str, Sequence[int | str]]) -> Model:
        """Gives inputs other sizes, numbers or names of dynamic sizes, and returns the model.
        Constants that were computed from the old sizes are computed from the new ones.

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[1, 4] x) => (float[1, 2, 2] y) '
        ...     '{ s = Constant<value = int64[3] {1, 2, 2}>() y = Reshape(x, s) }')
        >>> model.convert_inputs({"x": ["batch", 4]}).outputs[0].shape
        ('batch', 2, 2)
        """
        specs = [f"{name}=[{','.join(map(str, axes))}]" for name, axes in sizes.items()]
        texts = (ctypes.c_char_p * len(specs))(*map(encoded, specs))
        call(lib.cq_onnx_model_convert_inputs, self._change(), texts, len(specs))
        return self

    def convert_float(self, to: str, *, keep: Sequence[str] = (), io: bool = False,
                      run: bool = True) -> Model:
        """Computes in "float16", "bfloat16" or "float32", and returns the model. keep has names of
        operators and nodes that keep their type; with io, inputs and outputs change theirs. Unless
        run is False, the model is run to find values that float16 cannot hold, which stay float32.

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[3] x) => (float[3] y) { y = Relu(x) }')
        >>> [node.op_type for node in model.convert_float("float16").graph.nodes]
        ['Cast', 'Relu', 'Cast']
        """
        dtypes = {"float16": _abi.CQ_DTYPE_F16, "bfloat16": _abi.CQ_DTYPE_BF16,
                  "float32": _abi.CQ_DTYPE_F32}
        if to not in dtypes:
            raise ValueError(f"expected one of {', '.join(dtypes)}, got {to!r}")
        options = _abi.cq_precision_options()
        lib.cq_precision_options_init(byref(options))
        names = (ctypes.c_char_p * len(keep))(*map(encoded, keep))
        options.keep, options.n_keep = ctypes.cast(names, type(options.keep)), len(keep)
        options.flags = ((0 if run else _abi.CQ_PRECISION_NO_RUN) |
                         (_abi.CQ_PRECISION_IO if io else 0))
        call(lib.cq_onnx_model_convert_float, self._change(), dtypes[to], byref(options))
        return self

    def rename(self, old: str, new: str) -> Model:
        """Renames a value wherever it occurs, and returns the model."""
        call(lib.cq_onnx_model_rename, self._change(), encoded(old), encoded(new))
        return self

    def convert_ir(self, version: int) -> Model:
        """Sets the version of the file format, and returns the model."""
        call(lib.cq_onnx_model_convert_ir, self._change(), version)
        return self

    def quantize(self, *, mode: str = "weights", bits: int = 8, block: int = 0,
                 asymmetric: bool = False, target: str | None = None,
                 calibrate: str | os.PathLike[str] | None = None, method: str = "minmax",
                 percentile: float = 99.999, input_range: tuple[float, float] | None = None,
                 samples: int = 8, max_error: float = 0.0) -> Model:
        """Quantizes layers with constant weights, and returns the model. mode is "weights", "dynamic"
        or "static"; method is "minmax", "percentile" or "entropy"; target "onnxruntime" uses its operators
        (`calque quantize`).

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 10, opset_import: ["": 21]> '
        ...     'g (float[n, 16] x) => (float[n, 16] y) { '
        ...     'i = Constant<value = int64[2] {16, 16}>() '
        ...     'w = ConstantOfShape<value = float[1] {0.5}>(i) y = MatMul(x, w) }').optimize()
        >>> [node.op_type for node in model.quantize().graph.nodes]
        ['DequantizeLinear', 'MatMul']
        """
        options = _abi.cq_quantize_options()
        lib.cq_quantize_options_init(byref(options))
        options.mode = ("weights", "dynamic", "static").index(mode)
        options.method = ("minmax", "percentile", "entropy").index(method)
        options.target = (None, "onnxruntime").index(target)
        options.bits, options.block, options.n_random = bits, block, samples
        options.percentile, options.max_error = percentile, max_error
        options.calibration = None if calibrate is None else encoded(os.fspath(calibrate))
        options.input_low, options.input_high = input_range or (0.0, 0.0)
        options.flags = _abi.CQ_QUANTIZE_ASYMMETRIC if asymmetric else 0
        call(lib.cq_onnx_model_quantize, self._change(), byref(options), _abi.cq_quantize_hook(), None)
        return self

    def cut(self, inputs: Sequence[str] = (), outputs: Sequence[str] = (), *,
            module: str | None = None) -> Model:
        """Reduces the model to the nodes between the values inputs and outputs (default: those of
        the model), or to a module by its scope, and returns it.

        >>> import calque
        >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
        ...     'g (float[n, 3] x) => (float[n, 3] y) { t = Neg(x) y = Relu(t) }')
        >>> model.cut(inputs=["t"]).inputs
        [Value(t: tensor(float)[n, 3])]
        """
        _parts.cut(self._change(), inputs, outputs, module)
        return self

    def join(self, second: Source, connect: Mapping[str, str] | None = None) -> Model:
        """Appends another model, and returns this one. connect has outputs of this model by inputs of the
        other, {"x": "y"}; default: the only output to the only input. Names that collide get a number. The model with the
        older opset is converted to the other's."""
        other = Model(second)
        call(lib.cq_onnx_models_match_opsets, self._change(), other._handle)
        _parts.join(self._change(), other._handle, connect or {})
        return self

    def before(self, step: str) -> Model:
        """Adds pre-processing: "image:mean=0.485,0.456,0.406:std=0.229,0.224,0.225:layout=NHWC"."""
        made, connect = _parts.step(self._change(), _abi.CQ_STEP_BEFORE, step)
        first, second = ModelHandle(made.value), self._handle
        self._handle = first
        _parts.join(first, second, connect)
        return self

    def after(self, step: str) -> Model:
        """Adds post-processing: "softmax", "argmax:axis=1", "topk:5", "nms:iou=0.5:score=0.25:max=100"."""
        made, connect = _parts.step(self._change(), _abi.CQ_STEP_AFTER, step)
        _parts.join(self._handle, ModelHandle(made.value), connect)
        return self

    def sort(self) -> bool:
        """Puts nodes behind those whose outputs they read; whether that was needed."""
        changed = ctypes.c_bool()
        call(lib.cq_onnx_model_sort, byref(changed), self._change())
        return changed.value


def load(source: Source) -> Model:
    """Reads an ONNX model: a path, the bytes of a file, an open file, or an onnx.ModelProto. Weights
    stay in the file until they are used; it must not change while the model lives.

    >>> import calque, tempfile, os
    >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
    ...     'g (float[2] x) => (float[2] y) { y = Relu(x) }')
    >>> path = os.path.join(tempfile.mkdtemp(), "relu.onnx")
    >>> model.save(path)
    >>> calque.load(path).diff(model)
    []
    """
    return Model.load(source)

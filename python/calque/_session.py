"""Running ONNX models, with the manners of onnxruntime."""
from __future__ import annotations

import ctypes
import operator
import os
import time
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _abi
from ._call import Handle, call, handles, texts
from ._errors import ArgumentError, NotFound, TypeMismatch
from ._graph import Size
from ._html import listed, table
from ._lib import encoded, lib, text
from ._model import Model
from ._providers import CPU, Provider, check_providers, profile_of, threads_of
from ._source import Source
from ._values import ValueHandle, declared_dtype, from_value, to_value


class SessionHandle(Handle):
    _free = lib.cq_session_free

    #: What the session borrows.
    keeps: tuple[Any, ...] = ()


class ProfileHandle(Handle):
    _free = lib.cq_profile_free


@dataclass(frozen=True)
class ModelMetadata:
    """What `Session.get_modelmeta` gives."""

    producer_name: str
    graph_name: str
    custom_metadata_map: dict[str, str]


class NodeArg:
    """An input or output of a session."""

    def __init__(self, name: str, type: str, shape: list[Size]) -> None:
        self.name, self.type, self.shape = name, type, shape

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class Session:
    """A model that is ready to run. Several threads may run it at once.

    >>> import calque, numpy
    >>> session = calque.Session(calque.Model.parse(
    ...     '<ir_version: 8, opset_import: ["": 17]> g (float[n] x) => (float[n] y) '
    ...     '{ y = Relu(x) }'))
    >>> session
    Session(x -> y)
    >>> session.run(None, {"x": numpy.array([-1, 2], "float32")})
    [array([0., 2.], dtype=float32)]
    >>> session.get_inputs()
    [NodeArg(name='x', type='tensor(float)', shape=['n'])]
    """

    def __init__(self, model: Source, sess_options: Any = None,
                 providers: Sequence[Provider] | None = None,
                 provider_options: Sequence[Mapping[str, Any]] | None = None, *, threads: int = 0,
                 fetch: Sequence[str] = (), profile: bool | str | os.PathLike[str] = False,
                 max_memory: int = 0, max_steps: int = 0, trap_nan: bool = False) -> None:
        """Prepares a model.

        model: what `calque.load` takes, or a Model, which must not change as long as the session lives.
        sess_options: a `SessionOptions`, or onnxruntime's; how many threads, and whether to profile.
        providers, provider_options: onnxruntime's; there is only the CPU, others cause a warning.
        threads: how many compute; 0: one for each core.
        fetch: names of inner values, which become outputs after the model's own.
        profile: note when each node ran, into the file of that name; see `end_profiling`.
        max_memory, max_steps: limits of a run, for a model from an unknown source; 0: the default.
        trap_nan: a node fails that computes NaN or infinity from finite numbers.
        """
        check_providers(providers)
        for name, number in (("threads", threads), ("max_memory", max_memory), ("max_steps", max_steps)):
            if operator.index(number) < 0:
                raise ArgumentError(f"{name} must not be negative, got {number}")
        if sess_options is not None:
            threads, profile = threads or threads_of(sess_options), profile or profile_of(sess_options)
        self._options = {"threads": threads, "fetch": fetch, "profile": profile,
                         "max_memory": max_memory, "max_steps": max_steps, "trap_nan": trap_nan}
        self._model = model if isinstance(model, Model) else Model.load(model)
        if not isinstance(model, Model):
            self._model.sort()
        self._profile = ProfileHandle() if profile else None
        self._profile_path = profile if not isinstance(profile, bool) else None
        options = _abi.cq_session_options()
        lib.cq_session_options_init(byref(options))
        options.threads, options.max_memory, options.max_steps = threads, max_memory, max_steps
        options.flags = _abi.CQ_SESSION_TRAP_NAN if trap_nan else 0
        names = texts(fetch, "fetch")
        options.fetch, options.n_fetch = names, len(names)
        if self._profile is not None:
            call(lib.cq_profile_new, byref(self._profile))
            options.hook = _abi.cq_session_hook(
                ctypes.cast(lib.cq_profile_note, ctypes.c_void_p).value)
            options.hook_user = self._profile
        self._handle = SessionHandle()
        self._handle.keeps = self._model, self._profile, options
        call(lib.cq_session_prepare, byref(self._handle), self._model.pointer, byref(options))
        self._model._sessions.add(self)
        self._describe()

    def __reduce__(self) -> Any:
        """The model and the options; also for copies, which are prepared again."""
        return _prepare, (type(self), self._model, self._options)

    def _describe(self) -> None:
        graph = self._model.graph
        declared = {value.name: value for value in (*graph.values, *graph.inputs, *graph.outputs)}

        def argument(name: str) -> NodeArg:
            value = declared.get(name)
            return NodeArg(name, value.type if value else "", list(value.shape or ()) if value else [])

        n_inputs, n_outputs = lib.cq_session_n_inputs, lib.cq_session_n_outputs
        self._inputs = [argument(text(lib.cq_session_input_name(self._handle, i)))
                        for i in range(n_inputs(self._handle))]
        self._outputs = [argument(text(lib.cq_session_output_name(self._handle, i)))
                         for i in range(n_outputs(self._handle))]
        self._kinds = {given.name: given.type for given in self._inputs}

    def __repr__(self) -> str:
        taken, given = (listed([arg.name for arg in args])
                        for args in (self.get_inputs(), self._outputs))
        return f"Session({taken} -> {given})"

    def _repr_html_(self) -> str:
        rows = [(side, arg.name, arg.type, ", ".join(map(str, arg.shape)))
                for side, args in (("input", self.get_inputs()), ("output", self._outputs)) for arg in args]
        return table(rows, ("", "name", "type", "shape"), f"Session of {self._model!r}")

    def get_inputs(self) -> list[NodeArg]:
        """Its inputs without those that have a default."""
        return [given for i, given in enumerate(self._inputs)
                if not lib.cq_session_input_is_optional(self._handle, i)]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Inputs that have a default."""
        return [given for i, given in enumerate(self._inputs)
                if lib.cq_session_input_is_optional(self._handle, i)]

    def get_outputs(self) -> list[NodeArg]:
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        """The execution provider, by onnxruntime's name."""
        return [CPU]

    def get_modelmeta(self) -> ModelMetadata:
        """Texts and numbers of the model."""
        model = self._model
        return ModelMetadata(model.producer_name, model.graph.name, dict(model.metadata))

    @property
    def model(self) -> Model:
        return self._model

    @property
    def peak_memory(self) -> int:
        """The most bytes that the tensors of one run have taken so far, weights not among them."""
        return int(lib.cq_session_peak_memory(self._handle))

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
            run_options: Any = None) -> list[Any]:
        """Runs the model and returns a list of its outputs.

        output_names: the outputs that are wanted, in this order; None: all.
        input_feed: the inputs by name. Arrays go in and come out without a copy; texts are arrays of
            objects, sequences lists, maps dicts, and None an optional that is empty.
        run_options: without effect; onnxruntime has it.
        """
        if not isinstance(input_feed, Mapping):
            raise TypeError(f"input_feed must be a dict of inputs by name, not a "
                            f"{type(input_feed).__name__}; run_in_order takes a list")
        for name in input_feed:
            if isinstance(name, str) and name not in self._kinds:
                encoded(name)
                raise NotFound(f"the model has no input '{name}'",
                               hint=f"its inputs are {listed(list(self._kinds))}")
        places = self._places(output_names)
        given = {name: to_value(data, self._kinds.get(name, ""))
                 for name, data in input_feed.items()}
        outputs = self._run(texts(given, "names of inputs"), list(given.values()))
        return [from_value(outputs[place]) for place in places]

    def run_in_order(self, inputs: Sequence[Any]) -> list[Any]:
        """The same for inputs in the model's order, and all outputs."""
        kinds = [given.type for given in self._inputs]
        values = [to_value(data, kinds[i] if i < len(kinds) else "")
                  for i, data in enumerate(inputs)]
        return [from_value(output) for output in self._run(None, values)]

    def _places(self, output_names: Sequence[str] | None) -> list[int]:
        names = [output.name for output in self._outputs]
        if output_names is None:
            return list(range(len(names)))
        if isinstance(output_names, (str, bytes)):
            raise TypeError(f"output_names must be a list of texts, not the text {output_names!r}")
        for name in output_names:
            if name not in names:
                raise NotFound(f"the model has no output '{name}'",
                               hint=f"it has {', '.join(names)}; Session(…, fetch=['{name}']) makes "
                                    "an inner value one")
        return [names.index(name) for name in output_names]

    def _run(self, names: Any, values: list[ValueHandle]) -> list[ValueHandle]:
        outputs = (ctypes.c_void_p * len(self._outputs))()
        try:
            call(lib.cq_session_run, self._handle, names, handles(values), len(values), outputs)
        except TypeMismatch as error:
            dtype = declared_dtype(self._kinds.get(error.where, ""))
            if dtype and not error.hint and "elements of type" in error.message:
                error.hint = f'convert it: array.astype("{dtype}")'
            raise
        finally:
            owned = [ValueHandle(output) for output in outputs]
        return owned

    def end_profiling(self) -> str:
        """Writes when each node ran since the session was made, or since the last call of this, and
        returns the name of the file: a trace for chrome://tracing. profile=True makes up a name."""
        if self._profile is None:
            raise NotFound("the session notes no profile", hint="make it with profile=True")
        path = os.fspath(self._profile_path) if self._profile_path else \
            time.strftime("calque_profile__%Y-%m-%d_%H-%M-%S.json")
        call(lib.cq_profile_save, self._profile, encoded(path), self._handle)
        return path


def _prepare(kind: type[Session], model: Model, options: dict[str, Any]) -> Session:
    return kind(model, **options)

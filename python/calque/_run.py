"""Runs models of any kind: programs of PyTorch directly, ONNX models in a session."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ._errors import ArgumentError
from ._lib import encoded, lib
from ._model import Model
from ._programs import Pt2, Script, given_arguments
from ._session import Session
from ._source import Source, as_path, bytes_of, holds_onnx


class Program:
    """A program of PyTorch: TorchScript (an archive or source), or a `.pt2` of torch.export. It runs
    operator by operator, without PyTorch; an export in a Session is faster.

    >>> import calque, numpy
    >>> program = calque.Program(b"def forward(x: Tensor, by: float = 2.0):\\n    return x * by\\n")
    >>> program(numpy.ones(2, "float32"), by=3.0)
    [array([3., 3.], dtype=float32)]
    """

    def __init__(self, model: Source, *, entry: str | None = None, define: str | None = None,
                 max_steps: int = 0, max_memory: int = 0) -> None:
        """model is a path, the bytes of a file, or an open file. entry is a function or method
        ("forward", or the only one), or one of several programs of a `.pt2`. define is TorchScript that
        says what unknown operators compute. max_steps and max_memory limit a program from an unknown
        source."""
        self._entry = entry
        self._program: Pt2 | Script
        with as_path(model, "loaded here") as path:
            if lib.cq_pt2_is_archive_file(encoded(path)):
                self._program = Pt2(path, entry, max_steps, max_memory)
            else:
                self._program = Script(path, max_steps, max_memory)
        if define is not None:
            self._program.define(define)

    def __call__(self, *args: Any, **kwargs: Any) -> list[np.ndarray[Any, Any]]:
        """The outputs, with tuples, lists and dicts of them flattened and None left out."""
        return self.run(list(args), kwargs)

    def run(self, inputs: Sequence[Any] | Mapping[str, Any] | Any = None,
            kwargs: Mapping[str, Any] | None = None) -> list[np.ndarray[Any, Any]]:
        """The same for arguments in order, or by name. Without any, a `.pt2` runs on the example that it
        was exported with, and an archive on zeros of the sizes that it was traced with, if it has them."""
        given, named = given_arguments(inputs, kwargs)
        if isinstance(self._program, Pt2):
            outputs = self._program.run(self._program.arguments(given or (), named))
        else:
            if given is None and not named:
                given = list(self._program.own_inputs())
            given, named = self._program.bind(given or (), named, self._entry)
            outputs = self._program.run(self._program.arguments(given, named), self._entry)
        return [output.numpy() for output in outputs]

    def __repr__(self) -> str:
        if isinstance(self._program, Pt2):
            return f"Program({', '.join(self._program.names())})"
        params = (f"{name}: {kind}" if kind else name for name, kind in self._program.params(self._entry))
        return f"Program({self._entry or 'forward'}({', '.join(params)}))"

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("cannot copy or pickle a Program; load the file again")


def run(model: Source, inputs: Sequence[Any] | Mapping[str, Any] | Any = None, *,
        kwargs: Mapping[str, Any] | None = None, entry: str | None = None,
        define: str | None = None, max_steps: int = 0, max_memory: int = 0) -> list[Any]:
    """Runs a model once and returns its outputs: an ONNX model, TorchScript or a `.pt2`, told by its
    content. inputs are a list in the model's order, a dict by name, or a single array.

    >>> import calque, numpy
    >>> calque.run(b"def forward(x: Tensor):\\n    return x.neg(), x.sum()\\n", [numpy.ones(2, "float32")])
    [array([-1., -1.], dtype=float32), array(2., dtype=float32)]
    """
    if not isinstance(model, Model) and (data := bytes_of(model)) is not None:
        model = data  # an open file can be read once
    if isinstance(model, Model) or holds_onnx(model):
        if entry is not None or define is not None:
            raise ArgumentError("entry and define are for programs of PyTorch; an ONNX model has one graph")
        given, named = given_arguments(inputs, kwargs)
        session = Session(model, max_steps=max_steps, max_memory=max_memory)
        names = [value.name for value in session.get_inputs()]
        if named:
            return session.run(None, {**dict(zip(names, given or ())), **named})
        return session.run_in_order(given or ())
    return Program(model, entry=entry, define=define, max_steps=max_steps,
                   max_memory=max_memory).run(inputs, kwargs)

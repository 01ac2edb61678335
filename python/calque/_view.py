"""Pictures of models."""
from __future__ import annotations

import ctypes
import os
from ctypes import byref

from . import _abi
from ._call import call
from ._lib import encoded, lib
from ._model import Model
from ._source import Source


def view(model: Source, path: str | os.PathLike[str] | None = None, *, svg: bool = False, title: str | None = None,
         diff: Source | None = None, profile: str | os.PathLike[str] | None = None,
         report: str | os.PathLike[str] | None = None) -> str:
    """A model as one HTML page, or as a still SVG picture, as `calque view` writes it; path also gets it
    as a file. diff is drawn beside the model. profile is a file of `calque run --profile`, report one of
    `calque export --report`. The model itself is not changed.

    >>> import calque
    >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
    ...     'g (float[2] x) => (float[2] y) { y = Relu(x) }')
    >>> calque.view(model).startswith("<!DOCTYPE html>"), calque.view(model, svg=True).startswith("<svg")
    (True, True)
    """
    def copy(source: Source) -> Model:
        return Model.load(source.to_bytes() if isinstance(source, Model) else source)

    options = _abi.cq_view_options()
    lib.cq_view_options_init(byref(options))
    drawn, other = copy(model), copy(diff) if diff is not None else None
    options.title = encoded(title) if title else None
    options.profile = encoded(os.fspath(profile)) if profile is not None else None
    options.report = encoded(os.fspath(report)) if report is not None else None
    options.other = other._handle if other else None
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    call(lib.cq_onnx_model_view, byref(text), byref(size), drawn._handle,
         _abi.CQ_VIEW_SVG if svg else _abi.CQ_VIEW_HTML, byref(options))
    try:
        result = ctypes.string_at(text, size.value).decode()
    finally:
        lib.cq_buffer_free(text)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(result)
    return result

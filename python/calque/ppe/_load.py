"""Reading models whose weights may have been stripped."""
from __future__ import annotations

import warnings
from typing import Any


def load_model(f: Any, format: Any = None, load_external_data: bool = True) -> Any:
    """onnx.load_model, also for a model whose weights were stripped: these are then missing, and a
    warning says so. Needs the onnx package.

    >>> import os, tempfile, torch, calque.onnx, calque.ppe
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
    >>> calque.onnx.export(torch.nn.ReLU(), torch.ones(2), path)
    >>> calque.ppe.load_model(path).graph.node[0].op_type
    'Relu'
    """
    import onnx
    given = () if format is None else (format,)
    try:
        return onnx.load_model(f, *given, load_external_data=load_external_data)
    except Exception as error:
        if not load_external_data or "stripped" not in str(error):
            raise
    warnings.warn("the data of large tensors was stripped from the model, and is not loaded",
                  stacklevel=2)
    if hasattr(f, "seek"):
        f.seek(0)
    return onnx.load_model(f, *given, load_external_data=False)

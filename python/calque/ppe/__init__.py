"""pytorch_pfn_extras.onnx's functions, with calque behind them. Change the import, keep the program:

    import calque.ppe

    calque.ppe.export_testcase(model, args, "out", output_grad=True)

docs/python.md has a table of what differs.
"""
from __future__ import annotations

from . import lax
from ._annotate import anchor, annotate, apply_annotation, as_output, no_grad, scoped_anchor
from ._grad import grad
from ._load import load_model
from ._strip import LARGE_TENSOR_DATA_THRESHOLD, is_large_tensor
from ._testcase import export, export_testcase

__all__ = ["LARGE_TENSOR_DATA_THRESHOLD", "anchor", "annotate", "apply_annotation", "as_output",
           "export", "export_testcase", "grad", "is_large_tensor", "lax", "load_model", "no_grad",
           "scoped_anchor"]

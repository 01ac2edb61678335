"""pytorch_pfn_extras, as far as it is its onnx module, for programs that call that by its full name.

    from calque import pytorch_pfn_extras
"""
from __future__ import annotations

from . import ppe as onnx

__all__ = ["onnx"]

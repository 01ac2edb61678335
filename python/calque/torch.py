"""torch, with calque.onnx in the place of torch.onnx, for programs that say `torch.onnx.export`. All
else is PyTorch's own, and torch.onnx stays what it is for everyone else.

    from calque import torch
"""
from __future__ import annotations

from typing import Any

import torch as _torch

from . import onnx as onnx


def __getattr__(name: str) -> Any:
    return getattr(_torch, name)


def __dir__() -> list[str]:
    return dir(_torch)

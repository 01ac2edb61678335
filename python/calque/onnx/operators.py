"""Operators that keep the shape of a tensor in the graph, as torch.onnx.operators has them."""
from __future__ import annotations

from typing import Any

import torch


def shape_as_tensor(x: torch.Tensor) -> torch.Tensor:
    """The sizes of x as a tensor; exported, they follow x.

    >>> import torch, calque.onnx
    >>> calque.onnx.operators.shape_as_tensor(torch.ones(2, 3))
    tensor([2, 3])
    """
    shape: torch.Tensor = torch._shape_as_tensor(x)
    return shape


def reshape_from_tensor_shape(x: torch.Tensor, shape: Any) -> torch.Tensor:
    """x in the sizes that a tensor holds.

    >>> import torch, calque.onnx
    >>> calque.onnx.operators.reshape_from_tensor_shape(torch.ones(6), torch.tensor([2, 3])).shape
    torch.Size([2, 3])
    """
    made: torch.Tensor = torch._reshape_from_tensor(x, shape)
    return made

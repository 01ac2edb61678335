"""Models through torch.export: their program as torch.export.save writes it, with placeholders where
their weights are, which are handed over by pointer."""
from __future__ import annotations

import contextlib
import io
import os
import time
from typing import Any, Iterator, Mapping, Sequence

import torch

from ._capture import can_be_pointed_at, placeholder, split_arguments
from ._program import Pt2


def program_of(model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> Any:
    """The ExportedProgram of a model."""
    if not hasattr(torch, "export"):
        raise RuntimeError(f"dynamo=True needs torch.export, which PyTorch {torch.__version__} does "
                           "not have")
    if isinstance(model, torch.export.ExportedProgram):
        return model
    args, named = split_arguments(args, kwargs)
    given = {} if dynamic_shapes is None else {"dynamic_shapes": _with_dims(dynamic_shapes, {})}
    return torch.export.export(model, args, named or None, **given)


def _with_dims(shapes: Any, dims: dict[str, Any]) -> Any:
    """The shapes with a Dim for each name: torch.onnx takes names, torch.export does not."""
    if isinstance(shapes, str):
        return dims.setdefault(shapes, torch.export.Dim(shapes))
    if isinstance(shapes, Mapping):
        return {key: _with_dims(item, dims) for key, item in shapes.items()}
    if isinstance(shapes, (tuple, list)):
        return type(shapes)(_with_dims(item, dims) for item in shapes)
    return shapes


def shapes_of(dynamic_axes: Mapping[str, Mapping[int, str | None]], names: Sequence[str],
              args: Any, kwargs: Mapping[str, Any] | None) -> Any:
    """dynamic_axes as torch.export has them: a dict of axes for each argument, in order."""
    if not dynamic_axes:
        return None
    args, named = split_arguments(args, kwargs)

    def shape(name: str) -> dict[int, str] | None:
        axes = dynamic_axes.get(name)
        if not axes:
            return None
        return {axis: called or f"{name}_dynamic_axes_{i}"  # torch.export requires names for all
                for i, (axis, called) in enumerate(axes.items(), 1)}

    known = list(names) + [""] * len(args)
    return (*(shape(known[i]) for i in range(len(args))), *(shape(name) for name in named))


@contextlib.contextmanager
def _without_weights(tensors: dict[str, torch.Tensor]) -> Iterator[dict[str, torch.Tensor]]:
    weights = {name: tensor for name, tensor in tensors.items()
               if isinstance(tensor, torch.Tensor) and can_be_pointed_at(tensor)}
    for name, tensor in weights.items():
        small = placeholder(tensor)
        tensors[name] = torch.nn.Parameter(small, tensor.requires_grad) \
            if isinstance(tensor, torch.nn.Parameter) else small
    try:
        yield weights
    finally:
        tensors.update(weights)


def dump(program: Any, folder: str | os.PathLike[str]) -> None:
    """The program as a file whose name says when that was."""
    torch.export.save(program, os.path.join(folder, time.strftime("onnx_export_%Y-%m-%d_%H-%M-%S.pt2")))


def load(program: Any) -> Pt2:
    """An ExportedProgram in the library, with PyTorch's own weights."""
    file = io.BytesIO()
    with _without_weights(program._state_dict) as weights:
        torch.export.save(program, file)
    return Pt2(file.getvalue(), weights, type(program).__name__)

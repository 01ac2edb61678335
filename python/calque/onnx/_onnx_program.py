"""What an export through torch.export gives: a model that also has the manners of torch.onnx.ONNXProgram."""
from __future__ import annotations

from typing import Any

import torch

from .. import Session
from .._model import Model
from ._capture import Tree


class ONNXProgram(Model):
    """A model of ONNX that calls like the program it came from: `program(*args)`."""

    exported_program: Any = None  #: of torch.export
    _session: Session | None = None

    @property
    def model(self) -> Model:
        return self

    @property
    def model_proto(self) -> Any:
        """The same for the onnx package."""
        import onnx
        return onnx.load_model_from_string(self.to_bytes())

    def optimize(self) -> None:  # type: ignore[override]  # torch.onnx.ONNXProgram's
        """Nothing is left to do: every export is."""

    def initialize_inference_session(self) -> None:
        """Prepares it to be called; the first call does, too."""
        self._session = Session(self)

    def release(self) -> None:
        """Lets go of what calls need."""
        self._session = None

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        """The outputs for these arguments of the program, all of its outputs in a row."""
        if self._session is None:
            self.initialize_inference_session()
        assert self._session is not None
        names = [given.name for given in self._session.get_inputs()]
        feeds = dict(zip(names, Tree((args, kwargs), ()).tensors))
        return tuple(torch.from_dlpack(made) if hasattr(made, "__dlpack__") else torch.as_tensor(made)
                     for made in self._session.run(None, feeds))

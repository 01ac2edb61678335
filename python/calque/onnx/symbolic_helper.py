"""What symbolic functions use to look at their arguments: torch.onnx.symbolic_helper's names."""
from __future__ import annotations

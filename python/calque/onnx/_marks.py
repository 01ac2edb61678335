"""The operators of the library that a trace can hold: what a model says about its own parts while it
is exported. The library knows them by name; in Python they do nothing but stand in a trace."""
from __future__ import annotations

import json
from typing import Any, Mapping

import torch

NAMESPACE = "calque"

# CONSERVATIVE: PyTorch may not move or remove them.
_SCHEMAS = {
    "function(str op, Tensor[] args, Tensor[] results) -> Tensor[]": lambda op, args, results: results,
    "annotate_begin(int flags, str attrs) -> ()": lambda flags, attrs: None,
    "annotate_end() -> ()": lambda: None,
    "scoped_anchor_begin(str attrs) -> ()": lambda attrs: None,
    "scoped_anchor_end() -> ()": lambda: None,
    "anchor(Tensor x, str attrs) -> Tensor": lambda x, attrs: x.detach(),
    "as_output(str name, Tensor x) -> Tensor": lambda name, x: x.detach(),
}

_library = torch.library.Library(NAMESPACE, "DEF")
for _schema, _implementation in _SCHEMAS.items():
    _library.define(_schema, "CONSERVATIVE")
    _library.impl(_schema.partition("(")[0], _implementation, "CompositeExplicitAutograd")


def attributes(given: Mapping[str, Any]) -> str:
    """Attributes as the library reads them."""
    return json.dumps(given)

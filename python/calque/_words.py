"""Translates messages of the library for Python. They address users of the command line: "write a
symbolic function (--symbolics)". An option is an argument of calque.export here, of the same name unless ARGUMENTS has
another; models in PyTorch have other arguments (calque.onnx), and whatever else is left of an option
is one of calque.export."""
from __future__ import annotations

import contextlib
import re
import threading
from typing import Callable, Iterator

# The name of an option, and its replacement with its value, {}, if it has one.
ARGUMENTS = {
    "annotations": 'annotations="{}"',
    "complex-as-pairs": "complex_as_pairs=True",
    "constant": "constants={{{}}}",
    "operator-export-type": 'operators="{}"',
    "runnable": "runnable=True",
    "state": "state=True",
    "trace": "trace=True",
}

IN_TORCH = {
    "annotations": 'annotations="{}"',
    "operator-export-type": "operator_export_type=OperatorExportTypes.{}",
    "symbolics": "register_custom_op_symbolic",
    "trace": "export the model itself, not TorchScript of it",
}

# Of the command line alone: what it is in is left out.
_ONLY_COMMANDS = re.compile(r"; [^;]*--weights\b[^;]*")
_OPTION = re.compile(r"(?<![\w/.-])--([a-z][a-z-]*[a-z])(?: ([a-z_]+_[a-z_]+\b|metadata\b|NAME=VALUE))?")
_EXAMPLE = re.compile(r"--input ('[^']*'|\S+)(?: --input ('[^']*'|\S+))*")
_PART = re.compile(r"([a-z]\w*)\[([\d,]*)\]|(\d+(?:x\d+)+)|\"[^\"]*\"|\b(none|true|false)\b")


class _Speech(threading.local):
    in_torch = False


_speech = _Speech()


@contextlib.contextmanager
def of_torch() -> Iterator[None]:
    """While it lasts, the library speaks to who exports a model in PyTorch."""
    before, _speech.in_torch = _speech.in_torch, True
    try:
        yield
    finally:
        _speech.in_torch = before


def _value(part: re.Match[str]) -> str:
    """float32[2,3] and 2x3 are tensors; the rest is JSON's."""
    dtype, listed, joined, word = part.groups()
    if word:
        return word.capitalize()
    if dtype is None and joined is None:
        return part[0]
    sizes = ", ".join((listed if joined is None else joined).replace("x", ",").split(","))
    if _speech.in_torch:
        return f"torch.zeros({sizes}, dtype=torch.{dtype})" if dtype else f"torch.zeros({sizes})"
    comma = "," if sizes and "," not in sizes else ""
    return f'numpy.zeros(({sizes}{comma}), "{dtype or "float32"}")'


def _example(found: re.Match[str]) -> str:
    values = [item.strip("'") for item in re.findall(r"--input ('[^']*'|\S+)", found[0])]
    values = [_PART.sub(_value, value) for value in values]
    comma = "," if len(values) == 1 else ""
    return f"args=({', '.join(values)}{comma})" if _speech.in_torch else f"inputs=[{', '.join(values)}]"


def _argument(found: re.Match[str]) -> str:
    name, value = found[1], found[2] or ""
    if value == "NAME=VALUE":
        value = '"NAME": VALUE'
    if _speech.in_torch and name in IN_TORCH:
        return IN_TORCH[name].format(value.upper() if name == "operator-export-type" else value)
    plain = name.replace("-", "_") + "=…"
    made = ARGUMENTS.get(name, plain).format(value)
    if name == "constant" and not value:
        made = "constants=…"
    return f"{made} of calque.export" if _speech.in_torch else made


def in_python(said: str) -> str:
    """A text of the library with arguments in place of options.

    >>> from calque._words import in_python
    >>> in_python("write a symbolic function (--symbolics), or keep them with --operator-export-type onnx_fallthrough")
    'write a symbolic function (symbolics=…), or keep them with operators="onnx_fallthrough"'
    """
    if "--" not in said or "calque export " in said:  # a whole command
        return said
    steps: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
        (_ONLY_COMMANDS, ""), (_EXAMPLE, _example), (_OPTION, _argument)]
    for pattern, instead in steps:
        said = pattern.sub(instead, said)
    return said

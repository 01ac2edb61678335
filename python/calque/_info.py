"""What is in a model and what it takes."""
from __future__ import annotations

from ctypes import byref
from typing import Any

from . import _abi
from ._call import Handle, call
from ._lib import encoded, lib, text
from ._source import Source, as_path
from ._words import in_python

_EXAMPLE = "to begin with"  # the column with what could be given to a method


class InfoHandle(Handle):
    _free = lib.cq_info_free


def inspect(source: Source, *, entry: str | None = None) -> dict[str, Any]:
    """What is in a file, which is told by its content: TorchScript, a `.pt2`, an ONNX model, a state
    dict; or in a built-in model. "model" has its facts, by name; the other members are tables,
    lists of dicts: inputs, outputs, operators, modules, weights, methods … as the file has them.
    entry names one of several programs of a `.pt2`.

    >>> import calque
    >>> model = calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> '
    ...     'g (float[2] x) => (float[2] y) { y = Relu(x) }')
    >>> info = calque.inspect(model.to_bytes())
    >>> info["model"]["format"], [row["name"] for row in info["inputs"]]
    ('ONNX model', ['x'])
    """
    handle = InfoHandle()
    with as_path(source) as path:
        call(lib.cq_model_info, byref(handle), encoded(path), encoded(entry))
    tables = {text(lib.cq_info_table_name(handle, table)): _rows(handle, table)
              for table in range(lib.cq_info_n_tables(handle))}
    facts = {row["name"]: row["value"] for row in tables.pop("model", [])}
    return {"model": facts, **tables}


def _rows(info: InfoHandle, table: int) -> list[dict[str, Any]]:
    columns = [text(lib.cq_info_column_name(info, table, i))
               for i in range(lib.cq_info_n_columns(info, table))]
    rows = [{name: _cell(info, table, row, i) for i, name in enumerate(columns)}
            for row in range(lib.cq_info_n_rows(info, table))]
    for row in rows:
        if _EXAMPLE in row:
            row[_EXAMPLE] = in_python(row[_EXAMPLE])
    return rows


def _cell(info: InfoHandle, table: int, row: int, column: int) -> Any:
    if lib.cq_info_cell_kind(info, table, row, column) == _abi.CQ_INFO_TEXT:
        return text(lib.cq_info_cell_text(info, table, row, column))
    return int(lib.cq_info_cell_number(info, table, row, column))

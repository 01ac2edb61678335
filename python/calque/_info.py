"""The contents and inputs of a model."""
from __future__ import annotations

from ctypes import byref
from typing import Any, Dict

from . import _abi
from ._call import Handle, call
from ._html import ROWS, facts, table
from ._lib import encoded, lib, text
from ._source import Source, as_path
from ._words import in_python

EXAMPLE = "to begin with"  # the column with what could be given to a method


class InfoHandle(Handle):
    _free = lib.cq_info_free


class Info(Dict[str, Any]):
    """The contents of a file: a dict, whose repr is short; as text and in notebooks it is tables."""

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        return {name: rows for name, rows in self.items() if name != "model"}

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {len(rows)}" for name, rows in self._tables().items())
        return f"Info({'; '.join(filter(None, [self['model'].get('format', ''), rows]))})"

    def __str__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self["model"].items()]
        for name, rows in self._tables().items():
            lines += ["", name]
            lines += ["  " + ", ".join(f"{key} {value}" for key, value in row.items() if value != "")
                      for row in rows[:ROWS]]
            lines += [f"  … {len(rows)} in all"] if len(rows) > ROWS else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return facts(self["model"], repr(self)) + "".join(
            table([list(row.values()) for row in rows], list(rows[0]) if rows else (), name)
            for name, rows in self._tables().items())


def inspect(source: Source, *, entry: str | None = None) -> Info:
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
    tables = tables_of(handle)
    told = {row["name"]: row["value"] for row in tables.pop("model", [])}
    return Info(model=told, **tables)


def tables_of(info: InfoHandle) -> dict[str, list[dict[str, Any]]]:
    return {text(lib.cq_info_table_name(info, table)): _rows(info, table)
            for table in range(lib.cq_info_n_tables(info))}


def _rows(info: InfoHandle, table: int) -> list[dict[str, Any]]:
    columns = [text(lib.cq_info_column_name(info, table, i))
               for i in range(lib.cq_info_n_columns(info, table))]
    rows = [{name: _cell(info, table, row, i) for i, name in enumerate(columns)}
            for row in range(lib.cq_info_n_rows(info, table))]
    for row in rows:
        if EXAMPLE in row:
            row[EXAMPLE] = in_python(row[EXAMPLE])
    return rows


def _cell(info: InfoHandle, table: int, row: int, column: int) -> Any:
    if lib.cq_info_cell_kind(info, table, row, column) == _abi.CQ_INFO_TEXT:
        return text(lib.cq_info_cell_text(info, table, row, column))
    return int(lib.cq_info_cell_number(info, table, row, column))

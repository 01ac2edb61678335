"""Short texts for reprs, and tables for notebooks (`_repr_html_`)."""
from __future__ import annotations

import html
from typing import Any, Iterable, Mapping, Sequence

SHOWN = 6  # names in a repr
ROWS = 20  # of a table in a notebook


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], shown: int = SHOWN) -> str:
    """Names for a repr; of many the first ones, and how many there are."""
    if len(names) <= shown:
        return ", ".join(names)
    return f"{', '.join(names[:shown])}, … {len(names)} in all"


def size(number: float) -> str:
    """Bytes, readable."""
    units = ["B", "kB", "MB", "GB", "TB"]
    while number >= 999.5 and len(units) > 1:
        number /= 1000
        del units[0]
    return f"{number:.3g} {units[0]}"


def _cell(value: Any) -> str:
    return f"<td style='text-align:left'>{html.escape(str(value))}</td>"


def table(rows: Iterable[Sequence[Any]], head: Sequence[str] = (), caption: str = "") -> str:
    """A table; of many rows the first ones."""
    every = list(rows)
    lines = [f"<caption style='text-align:left'>{html.escape(caption)}</caption>"] if caption else []
    if head:
        lines.append("<tr>" + "".join(f"<th style='text-align:left'>{html.escape(name)}</th>"
                                      for name in head) + "</tr>")
    lines += ["<tr>" + "".join(map(_cell, row)) + "</tr>" for row in every[:ROWS]]
    if len(every) > ROWS:
        lines.append(f"<tr><td colspan='{max(len(head), 1)}'>… {len(every)} in all</td></tr>")
    return f"<table>{''.join(lines)}</table>"


def facts(pairs: Mapping[str, Any], caption: str = "") -> str:
    """Names and values."""
    return table([(name, value) for name, value in pairs.items() if value not in ("", None)],
                 caption=caption)

#!/usr/bin/env python3
"""Seeds for fuzzing: a program for each operator of calque's table, and what it exports.

    fuzz/seeds.py CALQUE FOLDER

writes FOLDER/script_eval/*.py and FOLDER/session/*.onnx. An operator is called with arguments of
the types that its schema names; of several shapes the first is kept with which it runs, and if
none does, the program stays: it is refused somewhere inside.
"""
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

ARGUMENTS = ["--input", "2x3", "--input", "int64[]=2", "--input", "3"]  # as fuzz/script_eval.c
SHAPES = ["x", "x.reshape(1, 1, 2, 3)", "x.reshape(1, 2, 3)", "x.reshape(6)", "x.sum()",
          "x.reshape(1, 1, 1, 2, 3)"]
OTHERS = ["{0}", "x.reshape(6).long()", "{0} > 0", "{0}.long()", "x.reshape(6)[:1]"]
VALUES = {
    "int": "1", "SymInt": "1", "bool": "True", "float": "0.5", "Scalar": "2", "str": "'mean'",
    "ScalarType": "6", "Layout": "0", "Device": "'cpu'", "MemoryFormat": "0", "Generator": "None",
}


def split_schema(schema):
    """The operator's name and its arguments as (type, name, has a default)."""
    name, rest = schema.split("(", 1)
    parts = re.split(r", (?![^(\[]*[)\]])", rest[:rest.rindex(") ->")])
    arguments = []
    for part in parts:
        if part not in ("", "*"):
            kind, _, word = part.rpartition(" ")
            arguments.append((kind, word.split("=")[0], "=" in word))
    return name, arguments


def value(kind, tensor):
    """Source text for an argument of that type."""
    kind = re.sub(r"\([a-z].*?\)", "", kind)
    optional, kind = kind.endswith("?"), kind.rstrip("?")
    listed = re.match(r"(.*)\[(\d*)\]$", kind)
    if listed:
        element = value(listed[1], tensor)
        return element and "[" + ", ".join([element] * int(listed[2] or 1)) + "]"
    if kind == "Tensor":
        return tensor
    return VALUES.get(kind) or ("None" if optional else None)


def programs(schema):
    """Programs that call the operator, for each choice of shapes."""
    name, arguments = split_schema(schema)
    space, op = name.split("::")
    for shape, other, whole in itertools.product(SHAPES, OTHERS, (False, True)):
        texts, first = [], True
        for kind, word, has_default in arguments:
            if has_default and not whole:
                continue
            text = value(kind, "a" if first else "b")
            first = first and not kind.startswith("Tensor")
            if text is None:
                return
            texts.append(f"{word}={text}" if has_default else text)
        yield (f"def forward(x, n, k: int):\n    a = {shape}\n    b = {other.format('a')}\n"
               f"    return torch.ops.{space}.{op.split('.')[0]}({', '.join(texts)})\n")


def runs(calque, path):
    return subprocess.run([calque, "run", str(path), *ARGUMENTS], capture_output=True,
                          timeout=60).returncode == 0


def main():
    calque, folder = sys.argv[1], Path(sys.argv[2])
    scripts, models = folder / "script_eval", folder / "session"
    for made in (scripts, models):
        made.mkdir(parents=True, exist_ok=True)
    table = json.loads(subprocess.run([calque, "ops", "--json"], capture_output=True, check=True).stdout)
    running = 0
    for row in table:
        name = re.sub(r"\W+", "_", row["schema"].split("(")[0])
        path, first = scripts / (name + ".py"), None
        for text in programs(row["schema"]):
            first = first or text
            path.write_text(text)
            if runs(calque, path):
                break
        else:
            if first:
                path.write_text(first)
            continue
        running += 1
        subprocess.run([calque, "export", "-q", str(path), *ARGUMENTS, "-o", str(models / (name + ".onnx"))],
                       capture_output=True)
    print(f"{len(table)} operators, {running} programs run")


if __name__ == "__main__":
    main()

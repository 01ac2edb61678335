#!/usr/bin/python3
"""The checker against onnx.checker of the real onnx package, on every model of the ONNX test
data and on mutants of them: fields removed, emptied, doubled, swapped, numbers changed.

Where onnx finds fault, calque must find something; where onnx finds none, calque may only find
what newer versions of onnx do.

    onnx_check.py [TOOL]        TOOL: tests/onnx_tool of a build folder
"""
import collections
import pathlib
import random
import sys
import tempfile

from onnx_files import Tool
from peers import ONNX_TEST_DATA, Report

SEED = 20221115
N_MUTANTS = 3000

# Rules that onnx 1.12 does not have, or has only for operators with a schema. An IR version
# above 8 is too new for it, and not for calque.
STRICTER = {"output-undefined", "tensor-data-size", "tensor-dims-invalid", "function-duplicate",
            "function-recursive", "attribute-duplicate", "attribute-ref-with-value",
            "tensor-type-unknown"}
LAXER = ["ir_version is higher"]

# onnx 1.12 lets any operator pass in this domain, though it has schemas for all of them.
UNWATCHED = "ai.onnx.preview.training"


def verdict(message):
    """What onnx.checker says: "" if all is well."""
    import onnx.checker
    try:
        onnx.checker.check_model(message.SerializeToString())
        return ""
    except onnx.checker.ValidationError as error:
        return str(error).strip()


def parts(message):
    """All messages inside a message, itself first."""
    yield message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                yield from parts(one)


def mutate(message, random_):
    """Changes one thing somewhere; returns what, or None if there was nothing to change."""
    part = random_.choice(list(parts(message)))
    fields = part.ListFields()
    if not fields:
        return None
    field, value = random_.choice(fields)
    name = f"{part.DESCRIPTOR.name}.{field.name}"
    if field.label == field.LABEL_REPEATED:
        at = random_.randrange(len(value))
        change = random_.choice(["delete", "double", "clear", "swap", "edit"])
        if change == "delete":
            del value[at]
        elif change == "double":
            value.append(value[at])
        elif change == "clear":
            part.ClearField(field.name)
        elif change == "swap":
            items = list(value)
            random_.shuffle(items)
            part.ClearField(field.name)
            getattr(part, field.name).extend(items)
        elif field.type == field.TYPE_STRING:
            value[at] = random_.choice(["", "other"])
        elif field.type == field.TYPE_INT64:
            value[at] = random_.choice([-1, 0, 1, 5])
        return f"{change} {name}"
    change = random_.choice(["clear", "edit"])
    if change == "clear" or field.type == field.TYPE_MESSAGE:
        part.ClearField(field.name)
        return f"clear {name}"
    if field.type == field.TYPE_STRING:
        setattr(part, field.name, random_.choice(["", "other"]))
    elif field.type in (field.TYPE_INT64, field.TYPE_INT32):
        setattr(part, field.name, random_.choice([0, 1, 2, 3, 7]))
    elif field.type == field.TYPE_ENUM and field.name == "type":
        setattr(part, field.name, random_.choice([1, 2, 4, 7]))
    elif field.type == field.TYPE_BYTES:
        setattr(part, field.name, b"")
    return f"edit {name}"


def compare(tool, message, folder):
    path = folder / "model.onnx"
    path.write_bytes(message.SerializeToString())
    tool("check", path, folder / "out.txt")
    found = (folder / "out.txt").read_text(errors="replace").splitlines()
    codes = {line.split(":")[0] for line in found}
    want = verdict(message)
    if not want:
        codes = {line.split(":")[0] for line in found if not line.endswith(UNWATCHED)}
        assert codes <= STRICTER, f"onnx finds nothing, calque {found[:3]}"
    elif not any(word in want for word in LAXER):
        assert codes, f"calque finds nothing, onnx: {want}"
    return codes


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata"):
        return report.finish()
    import onnx
    tool, random_ = Tool(), random.Random(SEED)
    seen = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = sorted(ONNX_TEST_DATA.glob("**/*.onnx"))
        for path in paths:
            with report.case(f"check of {path.relative_to(ONNX_TEST_DATA)}"):
                compare(tool, onnx.load(str(path)), folder)
        rich = [path for path in paths if path.stat().st_size < 20000]
        for i in range(N_MUTANTS):
            path = random_.choice(rich)
            message = onnx.load(str(path))
            changes = [mutate(message, random_) for _ in range(random_.choice([1, 1, 2]))]
            with report.case(f"mutant {i} of {path.parent.name} ({', '.join(map(str, changes))})"):
                seen.update(compare(tool, message, folder))
    report.check("mutants break many rules", len(seen) >= 25, f"only {sorted(seen)}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

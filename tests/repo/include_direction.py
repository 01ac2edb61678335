#!/usr/bin/python3
"""Includes point down only.

Two halves, what PyTorch means and what ONNX means, stand on base, tensor and kernel, and meet
in export alone. USES says on what a part stands directly; what those stand on is allowed too.
A part may not name a struct of a part above, except those that FORWARD lists.
"""
import re
import sys

from repo import ROOT, Report, files

USES = {
    "base": [],
    "tensor": ["base"],
    "kernel": ["tensor"],
    "image": ["base"],
    "lang": ["tensor"],
    "aten": ["kernel", "lang"],
    "autograd": ["aten"],
    "nn": ["autograd", "archive"],  # archive: weights from files of torch.save
    "ir": ["tensor"],
    "pass": ["ir", "aten"],
    "archive": ["tensor"],
    "capture": ["autograd", "ir"],
    "script": ["ir", "archive", "capture"],
    "pt2": ["script"],
    "onnx": ["lang"],
    "runtime": ["onnx", "kernel", "image"],
    "export": ["nn", "pass", "pt2", "runtime"],
    "edit": ["export"],
    "quantize": ["edit"],
    "testcase": ["onnx"],
    "py": ["export", "testcase"],
    "info": ["nn", "pt2", "onnx"],
    "audit": ["onnx"],
    "view": ["edit"],
    "zoo": [],
    "cli": [],
}
# Which public headers a part may see; a part that is not listed may see all.
GROUND = {"version", "status", "threads", "sandbox", "system"}
PUBLIC = {
    "base": GROUND,
    "tensor": GROUND | {"tensor"},
    "kernel": GROUND | {"tensor"},
    "onnx": GROUND | {"tensor", "onnx", "graph", "part", "edit"},
    "runtime": GROUND | {"tensor", "onnx", "graph", "session"},
}
PUBLIC_STRUCTS = {"cq_module"}  # opaque to all, in <calque/module.h>
# Numbers, sizes, lists and tracks point to the values, nodes and blocks of a graph. Parts
# below those only copy and compare the pointers, so a forward declaration is enough.
FORWARD = {"cq_value", "cq_sequence", "cq_node", "cq_block"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)

DEFINITION = re.compile(r"\bstruct ((?:cq|cli)_\w+)\s*\{")
STRUCT = re.compile(r"\bstruct (cq_\w+)(\s*\{)?")


def below(part):
    """All that a part may include: itself, and whatever lies under it."""
    found = {part}
    for other in USES[part]:
        found |= below(other)
    return found


def complaint(name, part, quote, target):
    """The error of one include, or None."""
    if quote == "<":
        public = re.fullmatch(r"calque/(\w+)\.h", target)
        if public and part in PUBLIC and public[1] not in PUBLIC[part]:
            return f"{part} does not see <{target}>"
        return None
    if name.endswith("_test.c") and (ROOT / "tests" / target).exists():
        return None
    if part == "cli":
        return None if (ROOT / "cli" / target).exists() else f'"{target}" is not in cli/'
    if not (ROOT / "src" / target).exists():
        return f'"{target}" is not a path under src/'
    other = target.split("/")[0]
    return None if other in below(part) else f'{part} does not stand on {other} ("{target}")'


def owners(parts):
    """Which parts have the insides of a struct of that name."""
    found = {}
    for part in parts:
        for name in files(f"src/{part}/*.[ch]"):
            for struct, inside in STRUCT.findall((ROOT / name).read_text()):
                if inside:
                    found.setdefault(struct, set()).add(part)
    return found


def complaints(part, owner):
    folder = "cli" if part == "cli" else f"src/{part}"
    for name in files(f"{folder}/*.c", f"{folder}/*.h"):
        text = (ROOT / name).read_text()
        for quote, target in INCLUDE.findall(text):
            if why := complaint(name, part, quote, target):
                yield f"{name}: {why}"
        if part == "cli":
            continue
        for struct in sorted({struct for struct, _ in STRUCT.findall(text)}):
            if not below(part) & owner.get(struct, {part}) and struct not in PUBLIC_STRUCTS | FORWARD:
                yield f"{name}: {part} does not know of {struct} of {', '.join(owner[struct])}"


def check_tags(report):
    """A struct whose tag has a prefix is known to other files, so the tag is unique. src/base/windows
    has files in place of others."""
    found = {}
    for name in files("src/*.[ch]", "cli/*.[ch]", "include/calque/*.h"):
        if not name.startswith("src/base/windows/"):
            for tag in DEFINITION.findall((ROOT / name).read_text()):
                found.setdefault(tag, []).append(name)
    for tag, names in sorted(found.items()):
        report.check(f"struct {tag}", len(names) == 1, f"is defined in {' and '.join(names)}")


def main():
    report = Report(__file__)
    check_tags(report)
    parts = {name.split("/")[1] for name in files("src/*.c", "src/*.h")}
    for part in sorted(parts - set(USES)):
        report.failed(f"src/{part}", "a part that the table of tests/repo/include_direction.py lacks")
    owner = owners(parts)
    for part in sorted(parts & set(USES)) + ["cli"]:
        found = list(complaints(part, owner))
        report.check(f"includes of {part}", not found, "\n    ".join(found))
    for name in files("include/calque/*.h"):
        bad = [target for quote, target in INCLUDE.findall((ROOT / name).read_text())
               if quote == '"']
        report.check(name, not bad, f"a public header includes with quotes: {', '.join(bad)}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

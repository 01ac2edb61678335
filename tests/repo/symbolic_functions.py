#!/usr/bin/python3
"""The examples of docs/symbolic-functions.md give the nodes that the page says, the table there has all
functions in C, and the function of the README works as it is written."""
import pathlib
import re
import sys
import tempfile

from repo import ROOT, Report, calque

EXAMPLE = re.compile(r"<!-- (.*?) \| (\S+) \| (\d+) \| (.*?) -->\n```python\n(.*?)```\n", re.S)
NODE = re.compile(r"= (?:[\w.]+::)?(\w+)(?:\[.*\])?\(")
FUNCTION = re.compile(r'^    \{ "([\w.]+)", \d, \d, \.\w+ = \w+ \},$', re.M)


def operators(folder, body, size, opset, rules):
    folder = pathlib.Path(folder)
    (folder / "net.py").write_text(f"def net(x):\n    return {body}\n")
    (folder / "symbolics.py").write_text(rules)
    code, _, err = calque("export", folder / "net.py", "--input", size, "--opset", opset,
                          "--symbolics", folder / "symbolics.py", "-o", folder / "net.onnx")
    assert code == 0, err
    code, out, err = calque("print", folder / "net.onnx")
    assert code == 0, err
    return " ".join(NODE.findall(out)), out


def check_examples(report, folder):
    examples = EXAMPLE.findall((ROOT / "docs/symbolic-functions.md").read_text())
    assert len(examples) >= 7, "docs/symbolic-functions.md has no examples"
    for body, size, opset, expected, rules in examples:
        with report.case(f"function for {body}"):
            got, _ = operators(folder, body, size, opset, rules)
            assert got == expected, f"{got} instead of {expected}"


def check_table(report):
    page = (ROOT / "docs/symbolic-functions.md").read_text()
    names = FUNCTION.findall((ROOT / "src/export/symbolic/natives.c").read_text())
    assert len(names) > 30, "src/export/symbolic/natives.c has no functions"
    for name in names:
        written = f"x{name}" if name[0] == "." else f"{name}("
        report.check(f"docs/symbolic-functions.md has {name}", written in page, "it is missing")


def check_readme(report, folder):
    with report.case("the symbolic function of the README"):
        text = re.search(r"```python\n(@symbolic\(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
        got, printed = operators(folder, "torch.ops.mylib.scale(x, 2.5)", "2x3", "17", text)
        assert got == "Scale" and "by = 2.5" in printed, printed


def check_old_form(report, folder):
    with report.case("a file in the old form"):
        path = pathlib.Path(folder) / "old.txt"
        path.write_text("# a comment\naten::silu 9: self * Sigmoid(self)\n")
        code, _, err = calque("export", pathlib.Path(folder) / "net.py", "--input", "2x3", "--symbolics", path)
        assert code == 1 and f"{path}:2" in err and "@symbolic(" in err, err


SCALE = """\
from torch.onnx import symbolic_helper

@symbolic_helper.parse_args(DESCRIPTORS)
def scale(g, x, by):
    first = by[0] if isinstance(by, list) else by
    kind = "b" if isinstance(first, bool) else "i" if isinstance(first, int) else "f"
    return g.op("com.example::Scale", x, kind_s=f"{kind} {first}")

torch.onnx.register_custom_op_symbolic("mylib::scale", scale, 9)
"""


def refused(folder, body, rules):
    """The error of an export with these symbolic functions, and the path of their file."""
    folder = pathlib.Path(folder)
    (folder / "net.py").write_text(f"def net(x):\n    return {body}\n")
    path = folder / "mine.py"
    path.write_text(rules)
    code, _, err = calque("export", folder / "net.py", "--input", "2x3", "--symbolics", path,
                          "-o", folder / "net.onnx")
    assert code == 1, f"exit {code}: {err}"
    return err, path


def check_parse_args(report, folder):
    for descriptor, number, expected in ("f", "2", "f 2"), ("i", "2.75", "i 2"), ("b", "3", "b True"), \
            ("v", "2.5", "f 2.5"), ("is", "[1.5, 2]", "i 1"), ("fs", "[3, 2]", "f 3"):
        with report.case(f"parse_args {descriptor}"):
            rules = SCALE.replace("DESCRIPTORS", f'"v", "{descriptor}"')
            _, printed = operators(folder, f"torch.ops.mylib.scale(x, {number})", "2x3", "17", rules)
            assert f"kind = '{expected}'" in printed, printed
    for name, descriptors, number, expected in (
            ("data-dependent", '"v", "f"', "float(x.sum())", 'parse_args: "f"'),
            ("too few", '"v"', "2.5", "fewer descriptors"),
            ("unknown", '"v", "float"', "2.5", "unknown descriptor")):
        with report.case(f"parse_args: {name}"):
            err, path = refused(folder, f"torch.ops.mylib.scale(x, {number})",
                                SCALE.replace("DESCRIPTORS", descriptors))
            assert expected in err, err
            assert name == "data-dependent" or f"{path}:3:" in err, err


def check_mistakes(report, folder):
    relu = '@symbolic("aten::relu", opset=9)\ndef relu(self):\n    return Tanh(self)\n'
    for name, rules, line, expected in (
            ("an unknown call", relu + 'regster_custom_op("aten::relu", relu, 9)\n', 4, "regster_custom_op"),
            ("an unknown decorator", "@cached\n" + relu, 1, "@cached"),
            ("a name that is not defined", relu.replace("Tanh(self)", "Tanh(me)"), 3, "me")):
        with report.case(name):
            err, path = refused(folder, "x.relu()", rules)
            assert expected in err and f"{path}:{line}:" in err, err


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        check_examples(report, folder)
        check_readme(report, folder)
        check_old_form(report, folder)
        check_parse_args(report, folder)
        check_mistakes(report, folder)
    check_table(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

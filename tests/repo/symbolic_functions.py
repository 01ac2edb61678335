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
    for body, size, opset, want, rules in examples:
        with report.case(f"function for {body}"):
            got, _ = operators(folder, body, size, opset, rules)
            assert got == want, f"{got} instead of {want}"


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
        assert code == 1 and "line 2" in err and "@symbolic(" in err, err


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        check_examples(report, folder)
        check_readme(report, folder)
        check_old_form(report, folder)
    check_table(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

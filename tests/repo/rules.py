#!/usr/bin/python3
"""The examples of docs/rules.md give the nodes that the page says, the table there has all functions
of rules, and the rule of the README works as it is written."""
import pathlib
import re
import sys
import tempfile

from repo import ROOT, Report, calque

EXAMPLE = re.compile(r"<!-- (.*?) \| (\S+) \| (\d+) \| (.*?) -->\n```rules\n(.*?)```\n", re.S)
NODE = re.compile(r"= (?:[\w.]+::)?(\w+)(?:\[.*\])?\(")
FUNCTION = re.compile(r'^    \{ "(\w+)", \d, \d, \.\w+ = \w+ \},$', re.M)


def operators(folder, body, size, opset, rules):
    folder = pathlib.Path(folder)
    (folder / "net.py").write_text(f"def net(x):\n    return {body}\n")
    (folder / "rules.txt").write_text(rules)
    code, _, err = calque("export", folder / "net.py", "--input", size, "--opset", opset,
                          "--symbolics", folder / "rules.txt", "-o", folder / "net.onnx")
    assert code == 0, err
    code, out, err = calque("print", folder / "net.onnx")
    assert code == 0, err
    return " ".join(NODE.findall(out)), out


def check_examples(report, folder):
    examples = EXAMPLE.findall((ROOT / "docs/rules.md").read_text())
    assert len(examples) >= 7, "docs/rules.md has no examples"
    for body, size, opset, want, rules in examples:
        with report.case(f"rule for {rules.split()[0]}"):
            got, _ = operators(folder, body, size, opset, rules)
            assert got == want, f"{got} instead of {want}"


def check_table(report):
    page = (ROOT / "docs/rules.md").read_text()
    names = FUNCTION.findall((ROOT / "src/export/symbolic/rule_words.c").read_text())
    assert len(names) > 30, "src/export/symbolic/rule_words.c has no functions"
    for name in names:
        report.check(f"docs/rules.md has {name}", f"`{name}(" in page, "it is missing")


def check_readme(report, folder):
    with report.case("the rule of the README"):
        rule = re.search(r"`(mylib::scale \d+: [^`]*)`", (ROOT / "README.md").read_text())[1]
        got, text = operators(folder, "torch.ops.mylib.scale(x, 2.5)", "2x3", "17", rule + "\n")
        assert got == "Scale" and "by = 2.5" in text, text


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        check_examples(report, folder)
        check_readme(report, folder)
    check_table(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

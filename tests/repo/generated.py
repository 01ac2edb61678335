#!/usr/bin/python3
"""Pages that the binary prints are up to date; the man page and the README know every verb."""
import re
import sys

from repo import ROOT, Report, calque


def verbs():
    code, out, err = calque("--help")
    assert code == 0, err
    return set(re.findall(r"^  (\w+)  +\S", out, re.M))


def check_operators():
    code, out, err = calque("ops", "--markdown")
    assert code == 0, err
    page = ROOT / "docs/operators.md"
    assert page.exists(), "docs/operators.md is missing"
    assert page.read_text() == out, "stale; write it with: calque ops --markdown >docs/operators.md"


def check_verbs(page, pattern):
    described = set(re.findall(pattern, (ROOT / page).read_text(), re.M))
    assert described == verbs(), f"it has {sorted(described)}, --help has {sorted(verbs())}"


def options(page):
    return set(re.findall(r"(?<![\w-])--[a-z_-]+[a-z]", page))


def check_man_options():
    """The man page lists the same options of a verb as its help."""
    page = (ROOT / "docs/calque.1").read_text().replace("\\-", "-")
    page = re.sub(r"\\f[RPBI]", "", page)
    parts = dict(re.findall(r'^\.SS "?(\w+)(.*?)(?=^\.S[SH])', page, re.M | re.S))
    for verb, part in parts.items():
        _, out, _ = calque(verb, "--help")
        listed = options("".join(re.findall(r"^  (?:-\w, )?--\S+", out, re.M)).replace("  ", "\n"))
        described = options(part) - {"--input", "--example", "--verify", "--out_path",
                                     "--out_onnx_path", "--large_tensor_threshold"}
        if verb in ("testcase", "view", "profile"):  # they refer to export
            listed -= options(calque("export", "--help")[1])
        missing = listed - options(part) - {"--entry", "--define", "--weights", "--max-steps",
                                            "--max-memory", "--example", "--input"}
        assert not missing, f"{verb}: {sorted(missing)} is missing"
        wrong = described - options(out)
        assert not wrong, f"{verb}: there is no {sorted(wrong)}"


def main():
    report = Report(__file__)
    with report.case("docs/operators.md is what calque ops --markdown prints"):
        check_operators()
    for page, pattern in [("docs/calque.1", r'^\.SS "?(\w+)'), ("README.md", r"^\| `calque (\w+)")]:
        with report.case(f"{page} has the verbs of calque --help"):
            check_verbs(page, pattern)
    with report.case("docs/calque.1 has the options of every verb"):
        check_man_options()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

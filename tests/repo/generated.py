#!/usr/bin/python3
"""Pages that the binary prints are up to date; the man page and the README know every verb."""
import re
import sys

from repo import ROOT, Report, Skip, calque, has_verb


def verbs():
    code, out, err = calque("--help")
    assert code == 0, err
    return set(re.findall(r"^  (\w+)  +\S", out, re.M))


def check_operators():
    if not has_verb("ops"):
        raise Skip("calque has no verb ops yet")
    code, out, err = calque("ops", "--markdown")
    assert code == 0, err
    page = ROOT / "docs/operators.md"
    assert page.exists(), "docs/operators.md is missing"
    assert page.read_text() == out, "stale; write it with: calque ops --markdown >docs/operators.md"


def check_verbs(page, pattern):
    described = set(re.findall(pattern, (ROOT / page).read_text(), re.M))
    assert described == verbs(), f"it has {sorted(described)}, --help has {sorted(verbs())}"


def main():
    report = Report(__file__)
    with report.case("docs/operators.md is what calque ops --markdown prints"):
        check_operators()
    for page, pattern in [("docs/calque.1", r'^\.SS "?(\w+)'), ("README.md", r"^\| `calque (\w+)")]:
        with report.case(f"{page} has the verbs of calque --help"):
            check_verbs(page, pattern)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

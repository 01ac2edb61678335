#!/usr/bin/python3
"""Pages that the binary prints are up to date, and the man page knows every verb."""
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


def check_man_page():
    page = (ROOT / "docs/calque.1").read_text()
    described = set(re.findall(r'^\.SS "?(\w+)', page, re.M))
    assert described == verbs(), f"the man page has {sorted(described)}, --help {sorted(verbs())}"


def main():
    report = Report(__file__)
    with report.case("docs/operators.md is what calque ops --markdown prints"):
        check_operators()
    with report.case("docs/calque.1 has the verbs of calque --help"):
        check_man_page()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

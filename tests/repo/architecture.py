#!/usr/bin/python3
"""The walk of one model in docs/ARCHITECTURE.md: each function that a step names is defined in one of the files of
that step. docs/architecture/base.md lists every file with thread-local state."""
import re
import sys

from repo import ROOT, Report, files

ROW = re.compile(r"^\| (\d+) \|.*\| (`[^|]*`) \| (`[^|]*`) \|$", re.M)
QUOTED = re.compile(r"`([^`]+)`")


def sources(files):
    for name in QUOTED.findall(files):
        path = ROOT / name
        for part in (sorted(path.glob("*.c")) if path.is_dir() else [path]):
            yield part.read_text()


def is_defined(name, text):
    return re.search(rf"^(?:[A-Za-z_]\w*[ *]+)+{name}\([^;{{]*\)\s*\{{", text, re.M) is not None


def check_thread_local(report):
    text = (ROOT / "docs/architecture/base.md").read_text().partition("## Thread-local state")[2]
    listed = set(re.findall(r"`(src/[\w/.]+)`", text))
    used = {name for name in files("src/*.[ch]") if "static _Thread_local" in (ROOT / name).read_text()}
    for name in sorted(used | listed):
        report.check(f"thread-local state of {name}", name in used and name in listed,
                     "is not in the table of base.md" if name in used else "has none, but is in the table of base.md")


def main():
    report = Report(__file__)
    check_thread_local(report)
    rows = ROW.findall((ROOT / "docs/ARCHITECTURE.md").read_text())
    report.check("the walk has its steps", len(rows) >= 10, f"{len(rows)} rows were found")
    for step, names, paths in rows:
        text = "\n".join(sources(paths))
        for name in QUOTED.findall(names):
            report.check(f"step {step}: {name}", is_defined(name, text), f"it is not defined in {paths}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

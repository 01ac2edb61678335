#!/usr/bin/python3
"""The walk of one model in docs/ARCHITECTURE.md: each function that a step names is defined in one of the files of
that step."""
import re
import sys

from repo import ROOT, Report

ROW = re.compile(r"^\| (\d+) \|.*\| (`[^|]*`) \| (`[^|]*`) \|$", re.M)
QUOTED = re.compile(r"`([^`]+)`")


def sources(files):
    for name in QUOTED.findall(files):
        path = ROOT / name
        for part in (sorted(path.glob("*.c")) if path.is_dir() else [path]):
            yield part.read_text()


def is_defined(name, text):
    return re.search(rf"^(?:[A-Za-z_]\w*[ *]+)+{name}\([^;{{]*\)\s*\{{", text, re.M) is not None


def main():
    report = Report(__file__)
    rows = ROW.findall((ROOT / "docs/ARCHITECTURE.md").read_text())
    report.check("the walk has its steps", len(rows) >= 10, f"{len(rows)} rows were found")
    for step, names, files in rows:
        text = "\n".join(sources(files))
        for name in QUOTED.findall(names):
            report.check(f"step {step}: {name}", is_defined(name, text), f"it is not defined in {files}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

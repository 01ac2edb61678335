#!/usr/bin/python3
"""The official test data of ONNX, replayed by `calque verify`. tests/data/verify_exceptions.txt
lists cases that cannot be reproduced, with reasons; a listed case that passes is a failure.

    onnx_testdata.py [DIR RELEASE]      the data of another release, as onnx/backend/test/data is
"""
import pathlib
import sys

from peers import ONNX_TEST_DATA, ROOT, Report, calque

GROUPS = ["node", "simple", "pytorch-converted", "pytorch-operator"]


def read_exceptions(release=None):
    name = "verify_exceptions_newer.txt" if release else "verify_exceptions.txt"
    lines = (ROOT / "tests/data" / name).read_text().splitlines()
    if release:
        lines = [line.split(maxsplit=1)[1] for line in lines if line.startswith(release + " ")]
    rows = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]
    return {row[0]: row[1:] for row in rows}


def main():
    report = Report(__file__)
    data, release = (pathlib.Path(sys.argv[1]), sys.argv[2]) if sys.argv[2:] else \
        (ONNX_TEST_DATA, None)
    if release or report.needs("onnx-testdata"):
        exceptions = read_exceptions(release)
        for group in GROUPS:
            folders = sorted(path for path in (data / group).iterdir() if path.is_dir())
            out = calque("verify", *folders, timeout=600)[1]
            said = {line.split(" ", 1)[1].split(": ", 1)[0]: line for line in out.splitlines()[:-1]}
            for folder in folders:
                name, line = f"{group}/{folder.name}", said.get(str(folder), "nothing was said")
                if name not in exceptions:
                    report.check(name, line.startswith("ok "), line)
                elif exceptions[name][0] != "random":
                    report.check(name, line.startswith("FAIL "), "is listed as an exception")
                else:
                    report.skipped(name, " ".join(exceptions[name]))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

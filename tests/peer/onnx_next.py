#!/usr/bin/python3
"""The official test data of the newest ONNX, opsets 25 to 28, replayed by `calque verify`. The data
are an archive, shared/conformance/onnx-next.tar.xz, beside the tree or above it. Cases that cannot
be reproduced are listed in tests/data/verify_exceptions_newer.txt (see onnx_testdata.py).

    onnx_next.py [ARCHIVE]
"""
import pathlib
import sys
import tarfile
import tempfile

from onnx_testdata import read_exceptions
from peers import ROOT, Report, calque

ARCHIVE = "shared/conformance/onnx-next.tar.xz"


def find_archive():
    if sys.argv[1:]:
        return pathlib.Path(sys.argv[1])
    return next((top / ARCHIVE for top in ROOT.parents if (top / ARCHIVE).exists()), None)


def main():
    report = Report(__file__)
    archive = find_archive()
    if not archive:
        report.skipped("onnx-next", f"*** {ARCHIVE} IS MISSING *** beside the tree; nothing here was tested")
        return report.finish()
    exceptions = read_exceptions("next")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as data:
            data.extractall(folder)
        cases = sorted(path.parent for path in pathlib.Path(folder).glob("*/*/model.onnx"))
        out = calque("verify", *cases, timeout=600)[1]
        said = {line.split(" ", 1)[1].split(": ", 1)[0]: line for line in out.splitlines()[:-1]}
        for case in cases:
            name, line = str(case.relative_to(folder)), said.get(str(case), "nothing was said")
            if name in exceptions:
                report.check(name, line.startswith("FAIL "), "is listed as an exception")
            else:
                report.check(name, line.startswith("ok "), line)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

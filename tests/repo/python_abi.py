#!/usr/bin/python3
"""python/calque/_abi.py is what tools/python_abi.py makes of the public headers, and ctypes lays its
structs out as the C compiler does."""
import ctypes
import sys
import tempfile
from pathlib import Path

from repo import ROOT, Report, run

TOOL = ROOT / "tools/python_abi.py"
MODULE = ROOT / "python/calque/_abi.py"


def layout_of_c(folder):
    status, program, err = run([sys.executable, TOOL, "--check"])
    assert status == 0, err
    binary = Path(folder) / "layout"
    status, _, err = run(["cc", "-w", "-x", "c", "-I", ROOT / "include", "-", "-o", binary],
                         input=program)
    assert status == 0, err
    status, out, err = run([binary])
    assert status == 0, err
    return out.splitlines()


def layout_of_ctypes(names):
    module = {}
    exec(MODULE.read_text(), module)
    for name in names:
        struct = module[name]
        yield f"{name} {ctypes.sizeof(struct)}"
        for field, *_ in struct._fields_:
            place = getattr(struct, field)
            yield f"{name}.{field} {place.offset} {place.size}"


def main():
    report = Report(__file__)
    with report.case("python/calque/_abi.py is fresh"):
        status, text, err = run([sys.executable, TOOL, "--print"])
        assert status == 0, err
        assert text == MODULE.read_text(), "stale; write it with: tools/python_abi.py"
    with report.case("structs have the compiler's layout"), \
            tempfile.TemporaryDirectory() as folder:
        expected = layout_of_c(folder)
        got = list(layout_of_ctypes([line.split()[0] for line in expected if "." not in line]))
        assert len(expected) > 100, expected
        assert got == expected, sorted(set(got) ^ set(expected))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""The library exports what the public headers declare, and tools/abi.txt lists just that.

    tests/repo/abi.py --bless     writes tools/abi.txt anew from the headers
"""
import re
import sys

from repo import BUILD, ROOT, Report, code, files, run

ABI = ROOT / "tools/abi.txt"
DECLARATION = re.compile(r"\bCQ_API\b([^;({]*?)(\w+)\s*\(")


def declared():
    names = set()
    for name in files("include/calque/*.h"):
        lines = [line for line in code(name).split("\n") if not line.startswith("#")]
        names |= {match[2] for match in DECLARATION.finditer("\n".join(lines))}
    return names


def exported():
    status, out, err = run(["nm", "-D", "--defined-only", BUILD / "libcalque.so"])
    assert status == 0, err
    return {line.split()[-1] for line in out.splitlines()}


def difference(have, expected, more, less):
    extra, missing = sorted(have - expected), sorted(expected - have)
    return "; ".join(filter(None, [extra and f"{more}: {', '.join(extra)}",
                                   missing and f"{less}: {', '.join(missing)}"]))


def main():
    report = Report(__file__)
    if "--bless" in sys.argv:
        ABI.write_text("".join(f"{name}\n" for name in sorted(declared())))
        return 0
    with report.case("every export is declared, every declaration is exported"):
        why = difference(exported(), declared(), "exported but not declared CQ_API",
                         "declared but not defined")
        assert not why, why
    with report.case("tools/abi.txt lists the declarations"):
        listed = set(ABI.read_text().split()) if ABI.exists() else set()
        why = difference(declared(), listed, "new, run tests/repo/abi.py --bless",
                         "gone, which breaks users")
        assert not why, why
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

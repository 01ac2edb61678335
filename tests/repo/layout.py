#!/usr/bin/python3
"""Layout is clang-format's business: every file is as .clang-format has it."""
import sys

from repo import ROOT, Report, files, run


def main():
    report = Report(__file__)
    names = files("*.c", "*.h")
    with report.case("layout"):
        _, _, err = run(["clang-format", "--dry-run", *names], cwd=ROOT)
        other = sorted({line.split(":")[0] for line in err.splitlines()
                        if "[-Wclang-format" in line})
        assert not other, f"`make format` would change {len(other)} files: {' '.join(other[:5])}"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Layout is clang-format's business: every file is as .clang-format has it. Versions of it differ, so that
only the one of Debian 12 judges."""
import re
import sys

from repo import ROOT, Report, Skip, files, run

VERSION = 14


def main():
    report = Report(__file__)
    names = files("*.c", "*.h")
    with report.case("layout"):
        _, out, _ = run(["clang-format", "--version"])
        version = re.search(r"version (\d+)", out)
        if not version or int(version[1]) != VERSION:
            raise Skip(f"clang-format {VERSION} is not installed, but {version[0] if version else 'none'}")
        _, _, err = run(["clang-format", "--dry-run", *names], cwd=ROOT)
        other = sorted({line.split(":")[0] for line in err.splitlines()
                        if "[-Wclang-format" in line})
        assert not other, f"`make format` would change {len(other)} files: {' '.join(other[:5])}"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Every public header compiles by itself, as C11 and as C++17, without a warning, and calque.h
includes them all."""
import re
import sys

from repo import Report, ROOT, files, run

LANGUAGES = {"C11": ["gcc", "-std=c11", "-x", "c"], "C++17": ["g++", "-std=c++17", "-x", "c++"]}


# Not part of the promise that calque.h makes.
APART = {"calque", "experimental"}


def main():
    report = Report(__file__)
    headers = {name.removeprefix("include/calque/").removesuffix(".h")
               for name in files("include/calque/*.h")}
    included = set(re.findall(r"#include <calque/(\w+)\.h>",
                              (ROOT / "include/calque/calque.h").read_text()))
    report.check("calque.h has all", included == headers - APART,
                 f"it differs in {sorted(included ^ (headers - APART))}")
    for name in files("include/calque/*.h"):
        text = f"#include <{name.removeprefix('include/')}>\n"
        for language, command in LANGUAGES.items():
            code, _, err = run([*command, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                "-fsyntax-only", f"-I{ROOT / 'include'}", "-"], input=text)
            report.check(f"{name} as {language}", code == 0, err)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

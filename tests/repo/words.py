#!/usr/bin/python3
"""Words that are allowed in one file, or nowhere: heap functions, paths of one machine, registry hosts."""
import re
import sys

from repo import ROOT, Report, code, files

HEAP = re.compile(r"(?<![.>\w])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|aligned_alloc"
                  r"|posix_memalign|asprintf|vasprintf|alloca)\s*\(")
HEAP_HOME = "src/base/alloc.c"
# The brackets keep this file from finding itself.
NOWHERE = {
    "paths of one machine": r"(?<![\w.-])/(?:wor[k]|roo[t]|hom[e]/\w+)/",
    "temporary files": r"/tm[p]/bash_jobs",
    "registry hosts": r"(?:registr[y]\.npmjs\.\w+|pyp[i]\.org|de[b]\.debian\.org|files\.pythonhoste[d])",
}


def find(pattern, names, read):
    for name in names:
        text = read(name)
        for match in re.finditer(pattern, text):
            yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"


def read_text(name):
    path = ROOT / name
    data = path.read_bytes() if path.is_file() else b""  # a link may lead out of a container
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def main():
    report = Report(__file__)
    sources = [name for name in files("src/*.c", "src/*.h", "cli/*.c", "cli/*.h")
               if not name.endswith("_test.c") and name != HEAP_HOME]
    found = list(find(HEAP, sources, code))
    report.check(f"the heap is {HEAP_HOME}'s alone", not found, "\n    ".join(found))
    for what, pattern in NOWHERE.items():
        found = list(find(pattern, files(), read_text))
        report.check(f"no {what}", not found, "\n    ".join(found))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Only src/base knows the operating system.

Elsewhere in src/ and cli/ there is no #if of a system or C library, and no include of a header that
is not ISO C's. Processors are different: src/kernel may ask for those.
"""
import re
import sys

from repo import ROOT, Report, code, files

# Headers of C11, of the libraries that calque links, and of intrinsics.
STANDARD = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time
uchar wchar wctype""".split())
LIBRARIES = {"jansson.h", "zlib.h", "sanitizer/asan_interface.h"}
INTRINSICS = {"immintrin.h", "cpuid.h", "arm_neon.h", "wasm_simd128.h"}  # in src/kernel
SYSTEMS = re.compile(r"^[ \t]*#[ \t]*(?:el)?if.*?\b(_*(?:linux|WIN32|WIN64|MINGW\w*|CYGWIN|APPLE|MACH|unix|"
                     r"FreeBSD|OpenBSD|NetBSD|ANDROID|EMSCRIPTEN|GLIBC|MUSL)_*)\b", re.M)
FEATURES = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(_(?:GNU|DEFAULT|XOPEN|POSIX_C|DARWIN_C)_SOURCE)", re.M)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)
CALLS = re.compile(r"\b(clock_gettime|nanosleep|isatty|fileno|sysconf|readlink|realpath|mmap|"
                   r"gmtime_r|localtime_r|fopen|open_memstream|strcasecmp|strncasecmp|opendir|getcwd|getpid)\s*\(")


def complaints(name):
    text = code(name)
    for match in SYSTEMS.finditer(text):
        yield f"#if of {match[1]}"
    for match in FEATURES.finditer(text):
        yield f"#define {match[1]}"
    for header in INCLUDE.findall(text):
        known = header[:-2] in STANDARD or header in LIBRARIES or header.startswith("calque/") or \
            (name.startswith("src/kernel/") and header in INTRINSICS)
        if not known:
            yield f"#include <{header}>"
    for match in CALLS.finditer(text):
        yield f"calls {match[1]}"


def main():
    report = Report(__file__)
    names = [name for name in files("src/*.c", "src/*.h", "src/*.inc", "cli/*.c", "cli/*.h")
             if not name.startswith("src/base/") and not name.endswith("_test.c")]
    for name in names:
        found = list(complaints(name))
        if found:
            report.check(name, False, "; ".join(found) + ": base/ has an interface for that")
    report.check("only base/ knows the operating system", len(names) > 300, "no sources were found")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

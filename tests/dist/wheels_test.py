#!/usr/bin/python3
"""The wheels: the C library they need, their contents, and installing them in Debian 11, 12, 13 and sid."""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

from roots import CACHE, DIST, MODEL, SUITES, ROOT, Report, Skip, check_imports, one, run, run_in

LEVEL = (2, 31)
LIBRARIES = {"manylinux": {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"},
             "musllinux": {"libc.so"}}
PROGRAM = '''
import numpy, calque
model = calque.Model.parse("""<ir_version: 8, opset_import: ["": 17]>
relu (float[n] x) => (float[n] y) { y = Relu(x) }""")
print(calque.Session(model).run(None, {"x": numpy.array([-1, 2], "float32")})[0].tolist())
result = calque.export("model.pt2", "model.onnx", verify=True)
print(calque.load("model.onnx").graph.name is not None, calque.__file__.startswith("/opt/"))
'''
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    const char *(*version)(void) = library ? (const char *(*)(void))dlsym(library, "cq_version_string") : 0;

    puts(version ? version() : dlerror());
    return !version;
}
"""


def unpack(tag, folder):
    with zipfile.ZipFile(one(f"calque-*-py3-none-{tag}.whl")) as archive:
        archive.extractall(folder)
    return folder / "calque/libcalque.so.0"


def check_library(tag, folder):
    """It needs no symbol of a newer glibc, and no library but the C library."""
    library = unpack(tag, folder)
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-dW", library])))
    assert needed <= LIBRARIES[tag.split("_")[0]], f"the library needs {needed}"
    levels = {tuple(map(int, text.split("."))) for text in
              re.findall(r"GLIBC_(\d+\.\d+)", run(["readelf", "-VW", library]))}
    assert all(level <= LEVEL for level in levels), f"the library needs glibc {max(levels)}"
    assert tag.startswith("musl") != bool(levels), "the wheel has the library of another C library"
    defined = [line.split()[-1] for line in run(["nm", "-D", "--defined-only", library]).splitlines()]
    assert defined and all(name.startswith(("cq_", "_init", "_fini")) for name in defined), "the library shows symbols of its libraries"


def check_record(tag):
    with zipfile.ZipFile(one(f"calque-*-py3-none-{tag}.whl")) as archive:
        name, = (name for name in archive.namelist() if name.endswith("/RECORD"))
        rows = [row.rsplit(",", 2) for row in archive.read(name).decode().splitlines()]
        assert {row[0] for row in rows} == set(archive.namelist()), "RECORD lists other files"
        for path, digest, size in rows:
            data = archive.read(path)
            value = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert path == name or (digest, int(size)) == (f"sha256={value}", len(data)), path
        programs = ["calque/bin/calque.exe", "calque/libcalque.dll"] if tag == "win_amd64" else \
            ["calque/bin/calque", "calque/libcalque.so.0"]
        for path in programs:
            assert archive.getinfo(path).external_attr >> 16 & 0o111, f"{path} cannot be executed"


def check_install(suite, folder):
    """pip install, the module, and the command."""
    wheel = one("calque-*manylinux*x86_64.whl")
    shutil.copy(wheel, folder)
    shutil.copy(MODEL, folder / "model.pt2")
    (folder / "try.py").write_text(PROGRAM)
    script = f"""set -e
python3 -m pip install --quiet --no-index --no-deps --target /opt/calque {wheel.name} 2>/dev/null
export PYTHONPATH=/opt/calque
python3 try.py
/opt/calque/bin/calque --version
python3 -m calque check model.onnx"""
    out = run_in(suite, folder, ["sh", "-c", script]).splitlines()
    assert "[0.0, 2.0]" in out and "True True" in out and "calque 0.1.0" in out, "\n".join(out)


WINDOWS_LOADER = """
#include <stdio.h>
#include <windows.h>
int main(int argc, char **argv)
{
    HMODULE library = LoadLibraryA(argv[argc - 1]);
    const char *(*version)(void) = library ? (const char *(*)(void))(void *)GetProcAddress(library, "cq_version_string") : 0;

    puts(version ? version() : "not loaded");
    return !version;
}
"""


def check_windows(folder):
    """The library imports nothing but Windows, exports every function that the module declares, and loads in wine."""
    with zipfile.ZipFile(one("calque-*-py3-none-win_amd64.whl")) as archive:
        archive.extractall(folder)
    library = folder / "calque/libcalque.dll"
    check_imports(library)
    check_imports(folder / "calque/bin/calque.exe")
    exported = set(re.findall(r"^\s*\[ *\d+\](?: \+base\[ *\d+\]\s+[0-9a-f]+)? (\w+)$",
                              run(["x86_64-w64-mingw32-objdump", "-p", library]), re.M))
    declared = set(re.findall(r'^\s+"(cq_\w+)": ', (ROOT / "python/calque/_abi.py").read_text(), re.M))
    assert declared and declared <= exported, f"the library lacks {sorted(declared - exported)[:5]}"
    assert all(name.startswith("cq_") for name in exported), "the library shows symbols of its libraries"
    if not shutil.which("wine"):
        raise Skip("wine is not installed; tools/setup.sh windows installs it")
    (folder / "load.c").write_text(WINDOWS_LOADER)
    run(["x86_64-w64-mingw32-gcc-posix", "-static", folder / "load.c", "-o", folder / "load.exe"])
    said = run([ROOT / "tests/cross/windows.sh", library], env=dict(os.environ, CALQUE_BINARY=str(folder / "load.exe")))
    assert said.strip() == "0.1.0", said


def check_musl(processor, folder):
    """A program that is linked to musl loads the library."""
    compiler = CACHE / f"cross/{processor}-linux-musl/cc"
    if not compiler.exists():
        raise Skip(f"there is no {compiler}; make static makes it")
    library = unpack(f"musllinux_1_2_{processor}", folder)
    (folder / "load.c").write_text(LOADER)
    run([compiler, folder / "load.c", "-o", folder / "load"])
    libc = f"/usr/lib/{processor}-linux-musl/libc.so"  # it is its own loader
    emulator = ["qemu-aarch64-static"] if processor == "aarch64" else []
    assert run([*emulator, libc, folder / "load", library]).strip() == "0.1.0"


def main():
    report = Report(__file__)
    if not list(DIST.glob("*.whl")):
        report.skipped("wheels", f"{DIST} has no wheel; make dist builds them")
        return report.finish()
    for processor in ("x86_64", "aarch64"):
        for system in ("manylinux_2_31", "musllinux_1_2"):
            tag = f"{system}_{processor}"
            with report.case(f"library of {tag}"), tempfile.TemporaryDirectory() as folder:
                check_library(tag, pathlib.Path(folder))
            with report.case(f"RECORD of {tag}"):
                check_record(tag)
        with report.case(f"musl, {processor}"), tempfile.TemporaryDirectory() as folder:
            check_musl(processor, pathlib.Path(folder))
    with report.case("RECORD of win_amd64"):
        check_record("win_amd64")
    with report.case("library of win_amd64"), tempfile.TemporaryDirectory() as folder:
        check_windows(pathlib.Path(folder))
    for suite in SUITES:
        with report.case(f"pip install in {suite}"), tempfile.TemporaryDirectory() as folder:
            check_install(suite, pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

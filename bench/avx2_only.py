"""ONNX Runtime as on a processor with AVX2 and nothing newer, where the processor has more.

Nothing tells ONNX Runtime to leave an instruction set alone: it asks the processor. In a copy of its library each `cpuid`
is replaced by an instruction that traps, and the handler of the trap (avx2_only.c) leaves out AVX-512, VNNI and AMX.
Needs objdump and a C compiler; x86-64 only.
"""
import ctypes
import pathlib
import re
import subprocess

import ort

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = ort.CACHE / "bench"
CPUID, TRAP = b"\x0f\xa2", b"\x06\x06"


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sections(library):
    """(address, size, offset in the file) of each section."""
    for line in output_of("objdump", "-h", library).splitlines():
        words = line.split()
        if len(words) == 7 and words[0].isdigit():
            yield int(words[3], 16), int(words[2], 16), int(words[5], 16)


def places(library):
    """Where in the file instructions `cpuid` are. Other instructions may have the same two bytes in
    them."""
    found = re.findall(r"^ *([0-9a-f]+):\tcpuid", output_of("objdump", "-d", "--no-show-raw-insn", library), re.MULTILINE)
    where = list(sections(library))
    for address in (int(text, 16) for text in found):
        yield next(address - begin + place for begin, size, place in where if begin <= address < begin + size)


def copy(library, to):
    code = bytearray(pathlib.Path(library).read_bytes())
    for place in places(library):
        if code[place:place + 2] != CPUID:
            raise RuntimeError(f"{library} has no cpuid at {place:#x}")
        code[place:place + 2] = TRAP
    part = to.with_suffix(".part")
    part.write_bytes(code)
    part.rename(to)


def is_newer(path, *others):
    return path.exists() and all(path.stat().st_mtime > pathlib.Path(other).stat().st_mtime for other in others)


def use():
    """To be called before ort.api()."""
    library, handler = FOLDER / "avx2_only_onnxruntime.so", FOLDER / "avx2_only.so"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not is_newer(library, __file__, ort.find_library()):
        copy(ort.find_library(), library)
    if not is_newer(handler, HERE / "avx2_only.c"):
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", handler, HERE / "avx2_only.c"], check=True)
    ctypes.CDLL(str(handler))
    ort.LIBRARY = str(library)

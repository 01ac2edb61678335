"""The command line: `python -m calque`, and the command `calque` that pip installs. Both run the program
that is in the package, or beside the library."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Iterator

from ._lib import lib

IS_WINDOWS = sys.platform == "win32"
NAME = "calque.exe" if IS_WINDOWS else "calque"
# ELF, Mach-O of 64 bits, Windows.
MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ")


def candidates() -> Iterator[pathlib.Path]:
    """Where the program may be, best first: inside of the package (a wheel), in the folder of the
    library (a build), in bin of a folder above (`cmake --install`), and on the PATH."""
    here = pathlib.Path(__file__).resolve().parent
    yield here / "bin" / NAME
    yield pathlib.Path(lib._name).parent / NAME
    if IS_WINDOWS:  # what pip makes of this module is a program, too
        return
    for folder in list(here.parents)[:4]:
        yield folder / "bin/calque"
    for name in os.get_exec_path():
        yield pathlib.Path(name) / "calque"


def is_program(path: pathlib.Path) -> bool:
    """Whether it is the program, and not the script that pip makes of this module."""
    try:
        with open(path, "rb") as file:
            return file.read(4).startswith(MAGIC) and os.access(path, os.X_OK)
    except OSError:
        return False


def main() -> None:
    program = next(filter(is_program, candidates()), None)
    if program is None:
        sys.exit("error: the program calque was not found\n"
                 "  hint: pip install ./python installs it with the package")
    if IS_WINDOWS:  # where execv starts a second process and does not wait for it
        sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)
    os.execv(program, ["calque", *sys.argv[1:]])


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Colours are for terminals: a pipe, a dumb terminal and NO_COLOR get plain text."""
import os
import pty
import subprocess
import sys
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import CALQUE, Report  # noqa: E402

PLAIN = "error: unknown verb 'prin'; did you mean print?\n  see: calque --help\n"
COLOURED = PLAIN.replace("error:", "\033[1;31merror:\033[0m")


def on_terminal(*args, **env):
    """What a command writes to standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([CALQUE, *args], stderr=theirs, stdout=subprocess.DEVNULL,
                             env={"PATH": os.environ["PATH"], "TERM": "xterm", **env})
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        text += piece
        if not piece:
            break
    os.close(ours)
    child.wait()
    return text.decode().replace("\r\n", "\n")


def main():
    report = Report(__file__)
    for name, env, expected in [("a terminal", {}, COLOURED), ("NO_COLOR", {"NO_COLOR": "1"}, PLAIN),
                                ("a dumb terminal", {"TERM": "dumb"}, PLAIN)]:
        with report.case(name):
            got = on_terminal("prin", **env)
            assert got == expected, repr(got)
    with report.case("a pipe"):
        done = subprocess.run([CALQUE, "prin"], stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TERM": "xterm"})
        assert done.stderr == PLAIN, repr(done.stderr)
    with report.case("warnings have another colour than errors"):
        got = on_terminal("export", "super_resolution", "--input", "1x1x4x4", "--custom-opset",
                          "mine=2", "-o", "/dev/null/never")
        assert "\033[1;33mwarning:\033[0m" in got, repr(got)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

"""Helpers of the repository checks: its files, its sources without comments, and Report."""
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peer"))
from peers import BUILD, ROOT, Report, Skip, calque, has_verb, run  # noqa: E402, F401

COMMENT_OR_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def all_files():
    """Every file, without git or a repository: except build/ and similar folders."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ("build", "__pycache__") and name[0] != "."]
        yield from (str(pathlib.Path(folder, name).relative_to(ROOT)) for name in names if name != ".git")


def files(*patterns):
    """The files that git has or would add, as paths relative to the root."""
    try:
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *patterns],
                                cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return sorted(name for name in all_files()
                      if not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns))
    names = [name.decode() for name in listed.stdout.split(b"\0") if name]
    return sorted({name for name in names if (ROOT / name).is_file()})


def code(name):
    """A C file with its comments blanked and its strings emptied; lines keep their numbers."""
    def blank(match):
        found = match[0]
        return '""' if found[0] in "\"'" else "\n" * found.count("\n") + " "

    return COMMENT_OR_TEXT.sub(blank, (ROOT / name).read_text())

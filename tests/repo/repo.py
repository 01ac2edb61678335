"""What the checks of the repository share: its files, its sources without comments, and Report."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peer"))
from peers import BUILD, ROOT, Report, Skip, calque, has_verb, run  # noqa: E402, F401

COMMENT_OR_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def files(*patterns):
    """The files that git has or would add, as paths relative to the root."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z",
                             *patterns], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    names = [name.decode() for name in listed.stdout.split(b"\0") if name]
    return sorted({name for name in names if (ROOT / name).is_file()})


def code(name):
    """A C file with its comments blanked and its strings emptied; lines keep their numbers."""
    def blank(match):
        found = match[0]
        return '""' if found[0] in "\"'" else "\n" * found.count("\n") + " "

    return COMMENT_OR_TEXT.sub(blank, (ROOT / name).read_text())

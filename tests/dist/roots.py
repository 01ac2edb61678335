"""Helpers of the package tests: the files of build/dist, and commands in empty systems."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peer"))
from peers import ROOT, Report, Skip  # noqa: E402, F401

DIST = pathlib.Path(os.environ.get("CALQUE_DIST", ROOT / "build/dist"))
CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache"))
SUITES = {"bullseye": "roots", "bookworm": "roots", "trixie": "modern", "sid": "modern"}  # and where they are
MODEL = ROOT / "tests/data/pt2/any_length.214.pt2"

# The changes that a command makes to the root are in memory, and vanish with its namespace.
ENTER = """
set -e
root=$1 folder=$2
shift 2
work=$(mktemp -d)
mount -t tmpfs calque "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay calque -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/work" "$work/root"
mount --bind "$folder" "$work/root/mnt"
mount --bind /proc "$work/root/proc"
exec env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 HOME=/ chroot "$work/root" sh -c 'cd /mnt && exec "$@"' sh "$@"
"""


def one(pattern):
    """The only file of the release that matches."""
    found = sorted(DIST.glob(pattern))
    assert len(found) == 1, f"expected one {pattern} in {DIST}, found {len(found)}; run make dist"
    return found[0]


def run(command, **keywords):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **keywords)
    assert done.returncode == 0, f"{' '.join(map(str, command[-6:]))}: exit {done.returncode}\n{done.stdout[-3000:]}"
    return done.stdout


def check_imports(path):
    """A program or library for Windows imports only from libraries that every Windows has."""
    names = {name.lower() for name in re.findall(r"DLL Name: (\S+)", run(["x86_64-w64-mingw32-objdump", "-p", path]))}
    system = {"kernel32.dll", "msvcrt.dll", "advapi32.dll", "shell32.dll", "user32.dll"}
    assert names and names <= system, f"{path.name} imports from {names - system}"


def run_in(suite, folder, command):
    """Runs a command in a Debian system; folder is its working folder."""
    root = CACHE / SUITES[suite] / suite
    if not (root / ".complete").exists():
        raise Skip(f"there is no {root}; tools/setup.sh dist and tools/setup.sh modern make them")
    if os.geteuid() != 0:
        raise Skip("other systems are entered as root")
    return run(["unshare", "--mount", "sh", "-c", ENTER, "enter", root.resolve(), folder, *command], timeout=300)

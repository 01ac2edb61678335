#!/usr/bin/python3
"""Builds the release a second time and compares the files: they have the same bytes.

    reproducible.py [--cache] [--make TARGET...] [--parts PART...]

The second build is a clone of the last commit in another folder, at another time, with another umask, locale, time zone
and home, and without ccache. Without options, it is `make dist debian` with libraries of its own, and takes as long as
the first. --cache takes the libraries of the first build (.cache) and ccache; --make and --parts build some targets and
write some parts of tools/dist.py only.
"""
import argparse
import filecmp
import os
import pathlib
import sys
import tempfile

from roots import CACHE, DIST, ROOT, Report, run


def surroundings(folder, shares_cache):
    """Whatever a build could take over by mistake differs."""
    found = {name: value for name, value in os.environ.items()
             if name not in ("SOURCE_DATE_EPOCH", "CALQUE_CACHE", "MAKEFLAGS")}
    found.update(LC_ALL="C.UTF-8" if os.environ.get("LC_ALL") == "C" else "C", TZ="Pacific/Kiritimati")
    if not shares_cache:
        found.update(CCACHE_DISABLE="1", HOME=str(folder))
    return found


def build(folder, options):
    tree = folder / "another-folder/calque"
    run(["sh", "-c", 'umask 077 && exec "$@"', "sh", "git", "clone", "-q", ROOT, tree])
    if options.cache:
        (tree / ".cache").symlink_to(CACHE.resolve())
    environment = surroundings(folder, options.cache)
    run(["sh", "-c", 'umask 077 && exec "$@"', "sh", "make", *options.make], cwd=tree, env=environment)
    if options.parts:
        run([sys.executable, tree / "tools/dist.py", *options.parts], cwd=tree, env=environment)
    return tree / "build/dist"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", action="store_true")
    parser.add_argument("--make", nargs="+", default=["dist", "debian"])
    parser.add_argument("--parts", nargs="+", default=[])
    options = parser.parse_args()
    report = Report(__file__)
    with tempfile.TemporaryDirectory(dir=os.environ.get("CALQUE_SECOND")) as folder:
        second = build(pathlib.Path(folder), options)
        names = {path.name for path in second.iterdir()}
        if not options.parts:
            names |= {path.name for path in DIST.iterdir()}
        for name in sorted(names):
            paths = [DIST / name, second / name]
            missing = [str(path) for path in paths if not path.exists()]
            report.check(name, not missing and filecmp.cmp(*paths, shallow=False),
                         f"missing: {', '.join(missing)}" if missing else "the bytes differ")
        report.check("files", bool(names), "the second build wrote no file")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

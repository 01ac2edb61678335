#!/usr/bin/python3
"""calque convert --opset against onnx.version_converter, for every pair of opsets.

    bench/opsets.py [--every N] [--from N] [--to N,N] [--json FILE] DIR…

DIR holds test cases of ONNX: folders with model.onnx and test_data_set_*, as in libonnx-testdata. Each
case is converted from its opset to all others from 7 to the newest that the peer knows. A conversion is
right if `calque verify` finds the test data in the result. The peer is the onnx package of Debian sid
(tools/setup.sh modern), in processes of its own, because it may abort. Cases that do not pass before
the conversion are left out. --calque-only omits the peer and lists refusals and failures.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALQUE = os.environ.get("CALQUE", str(ROOT / "build" / "calque"))
OLDEST, NEWEST = 7, 25


def opset_of(path):
    out = subprocess.run([CALQUE, "info", "--json", path], capture_output=True, text=True).stdout
    text = json.loads(out)["model"]["opsets"] if out else ""
    return next((int(part.split()[1]) for part in text.split(", ") if part.startswith("ai.onnx ")), None)


def verify(folders):
    """The folders that pass."""
    good = set()
    for i in range(0, len(folders), 400):
        out = subprocess.run([CALQUE, "verify", *folders[i:i + 400]], capture_output=True,
                             text=True).stdout
        good |= {line[3:] for line in out.splitlines() if line.startswith("ok ")}
    return good


def add_data(case, folder):
    for data in case.glob("test_data_set_*"):
        os.symlink(data, folder / data.name)


def convert_all(jobs, work):
    """Converts each (case, opset) with calque into a folder of work, and returns its messages."""
    said = {}

    def one(job):
        case, opset = job
        folder = work / f"{case.name}.{opset}"
        folder.mkdir()
        found = subprocess.run([CALQUE, "convert", case / "model.onnx", "--opset", str(opset),
                                "--no-verify", "-q", "-o", folder / "model.onnx"],
                               capture_output=True, text=True)
        if found.returncode == 0:
            add_data(case, folder)
        else:
            folder.rmdir()
        return job, "" if found.returncode == 0 else found.stderr.strip()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        said.update(pool.map(one, jobs))
    return said


# ---- the peer -------------------------------------------------------------------------


def peer_main(listing):
    """Runs inside of the Debian root: converts the models of a list, in children that may abort."""
    import onnx
    from onnx import version_converter
    rows = [line.split("\t") for line in open(listing)]
    for start in range(0, len(rows), 50):
        at = start
        while at < min(start + 50, len(rows)):
            child = os.fork()
            if child == 0:
                for i in range(at, min(start + 50, len(rows))):
                    source, opset, target = rows[i]
                    with open(listing + ".at", "w") as mark:
                        mark.write(str(i))
                    try:
                        model = version_converter.convert_version(onnx.load(source), int(opset))
                        onnx.checker.check_model(model)
                        onnx.save(model, target.strip())
                    except Exception:
                        pass
                os._exit(0)
            if os.waitpid(child, 0)[1] == 0:
                break
            at = int(open(listing + ".at").read()) + 1


def convert_by_peer(jobs, work):
    with open(work / "list", "w") as out:
        for case, opset in jobs:
            folder = work / f"{case.name}.{opset}"
            folder.mkdir()
            inside = work / "cases" / case.name
            if not inside.exists():
                inside.mkdir(parents=True)
                shutil.copy(case / "model.onnx", inside)
            out.write(f"{inside / 'model.onnx'}\t{opset}\t{folder / 'model.onnx'}\n")
    subprocess.run([ROOT / "tools" / "modern.sh", "sid", "python3", __file__, "--peer", work / "list"],
                   capture_output=True)
    for case, opset in jobs:
        folder = work / f"{case.name}.{opset}"
        if (folder / "model.onnx").exists():
            add_data(case, folder)
        else:
            folder.rmdir()


# ---- the table ------------------------------------------------------------------------


def print_table(rows):
    print(f"{'pair':>8} {'cases':>6} {'calque':>7} {'onnx':>6}")
    worse = 0
    for (before, after), (n, ours, theirs) in sorted(rows.items()):
        worse += ours < theirs
        print(f"{before:>2} -> {after:>2} {n:>6} {ours:>7} {theirs:>6}{'  FEWER' if ours < theirs else ''}")
    total = [sum(column) for column in zip(*rows.values())]
    print(f"{len(rows)} pairs, {total[0]} conversions: calque {total[1]} right, onnx {total[2]} right; "
          f"calque has fewer in {worse} pairs")
    return worse


def cases_of(folders, every):
    cases = {}
    for folder in folders:
        for model in sorted(pathlib.Path(folder).glob("*/model.onnx"))[::every]:
            cases.setdefault(model.parent.name, model.parent)
    return list(cases.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", type=int, dest="source")
    parser.add_argument("--to")
    parser.add_argument("--json")
    parser.add_argument("--calque-only", action="store_true")
    parser.add_argument("--peer")
    args = parser.parse_args()
    if args.peer:
        return peer_main(args.peer)
    cases = cases_of(args.folders, args.every)
    good = verify([str(case) for case in cases])
    opsets = {case: opset_of(case / "model.onnx") for case in cases if str(case) in good}
    targets = [int(n) for n in args.to.split(",")] if args.to else range(OLDEST, NEWEST + 1)
    jobs = [(case, n) for case, opset in opsets.items() for n in targets
            if opset and OLDEST <= opset <= NEWEST and n != opset and args.source in (None, opset)]
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        ours, theirs = pathlib.Path(folder) / "ours", pathlib.Path(folder) / "theirs"
        ours.mkdir()
        theirs.mkdir()
        said = convert_all(jobs, ours)
        done = verify([str(p) for p in sorted(ours.iterdir())])
        peer = set()
        if not args.calque_only:
            convert_by_peer(jobs, theirs)
            peer = verify([str(p) for p in sorted(theirs.glob("*.[0-9]*"))])
        rows = collections.defaultdict(lambda: [0, 0, 0])
        for case, n in jobs:
            row = rows[opsets[case], n]
            name = f"{case.name}.{n}"
            right, peer_right = str(ours / name) in done, str(theirs / name) in peer
            row[0] += 1
            row[1] += right
            row[2] += peer_right
            if not said[case, n] and not right:
                print(f"WRONG {case} {opsets[case]} -> {n}")
            if args.calque_only and said[case, n]:
                print(f"REFUSED {case.name} {opsets[case]} -> {n}: {said[case, n][:220]}")
            if peer_right and not right:
                print(f"ONLY THE PEER {case} {opsets[case]} -> {n}: {said[case, n][:200]}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps([[*k, *v] for k, v in sorted(rows.items())]))
    return 1 if print_table(rows) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""calque optimize against onnxsim: nodes, and time in one run.

    bench/optimize.py FOLDER|FILE … [--all] [--list]

Prints each model for which calque keeps more nodes (--all: every model), and the share of models
for which it keeps no more. --list adds the operators that calque keeps and onnxsim does not. Nodes of
subgraphs count; Constant nodes do not, as they are initializers in another form. onnxsim is the
package of npm (tools/setup.sh).
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "peer"))
import peers  # noqa: E402

CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache"))
SIM = CACHE / "onnxsim/node_modules/onnxsim"


def operators(graph, into):
    for node in graph.node:
        if node.op_type != "Constant":
            into[node.op_type] += 1
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                operators(inner, into)
    return into


def operators_of(path):
    return operators(onnx.load(str(path), load_external_data=False).graph, collections.Counter())


class Onnxsim:
    def __init__(self):
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["node", "--max-old-space-size=4000", str(ROOT / "bench/onnxsim.mjs")], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "ONNXSIM": str(SIM)})

    def run(self, source, target):
        """Seconds; None: it failed."""
        try:
            self.process.stdin.write(f"{source}\t{target}\n")
            self.process.stdin.flush()
            word, _, rest = self.process.stdout.readline().partition(" ")
        except BrokenPipeError:
            word = ""
        if not word:
            self.process.wait()
            self.start()
        return float(rest) if word == "ok" else None


def models_of(paths):
    for path in map(pathlib.Path, paths):
        yield from sorted(p for p in path.rglob("*.onnx") if p.is_file()) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    sim, n, fewer, more = Onnxsim(), 0, 0, 0
    times = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = pathlib.Path(folder) / "a.onnx", pathlib.Path(folder) / "b.onnx"
        for path in models_of(args.paths):
            name = path.parent.name if path.name == "model.onnx" else path.name
            spent = sim.run(path, theirs)
            if spent is None:
                continue
            begin = time.perf_counter()
            code, _, error = peers.calque("optimize", path, "-o", ours, "--no-verify")
            times[0] += time.perf_counter() - begin
            times[1] += spent
            n += 1
            if code:
                more += 1
                print(f"{name}: calque fails: {error.strip()[:150]}", flush=True)
                continue
            try:
                was, a, b = operators_of(path), operators_of(ours), operators_of(theirs)
            except Exception as error:
                print(f"{name}: {str(error)[:80]}")
                continue
            sizes = [sum(c.values()) for c in (was, a, b)]
            fewer += sizes[1] < sizes[2]
            more += sizes[1] > sizes[2]
            if args.all or sizes[1] > sizes[2]:
                print(f"{name}: {sizes[0]} nodes, calque {sizes[1]}, onnxsim {sizes[2]}", flush=True)
            if args.list and sizes[1] > sizes[2]:
                print(f"    only calque: {dict(a - b)}  only onnxsim: {dict(b - a)}", flush=True)
    print(f"{n} models: calque keeps no more nodes in {n - more} ({100 * (n - more) / max(n, 1):.1f} %), "
          f"fewer in {fewer}; calque takes {times[0] / max(times[1], 1e-9):.3f} of onnxsim's time")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""What exporting costs, as ratios that hold on any machine: a large archive against `cp` of the same
file, against torch.onnx.export, the memory it needs, and chains of ever more operators.

    bench_export.py [CALQUE]      needs python3-torch and python3-torchvision
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "peer"))
import peer_cpu  # noqa: E402, F401

CALQUE = sys.argv[1] if len(sys.argv) > 1 else "build/calque"
ROUNDS = 7
CHAINS = {1000: 4, 10000: 4, 100000: 2, 1000000: 1}  # operators, and how often in a round

# What each figure may be at most; the last is in megabytes.
LIMITS = {"cp": 1.25, "torch": 1 / 20, "tenfold": 12, "memory": 50}

MAKE_ARCHIVE = """
import sys, torch, torchvision
model = torchvision.models.vgg16(weights=None, init_weights=False).eval()
torch.jit.save(torch.jit.trace(model, torch.rand(1, 3, 224, 224)), sys.argv[1])
"""

TIME_TORCH = """
import sys, time, warnings, torch
warnings.simplefilter("ignore")
model, x = torch.jit.load(sys.argv[1]), torch.rand(1, 3, 224, 224)
start = time.perf_counter()
torch.onnx.export(model, x, sys.argv[2], opset_version=17)
print(time.perf_counter() - start)
"""

MAKE_CHAIN = """
import sys, torch
class Chain(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
torch.jit.save(torch.jit.trace(Chain(), torch.rand(2, 3)), sys.argv[1])
"""


def python(program, *args):
    return subprocess.run(["/usr/bin/python3", "-c", program, *map(str, args)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def run(command):
    """Runs a program: its time in seconds, and the most memory it had, in bytes."""
    pathlib.Path(command[-1]).unlink(missing_ok=True)  # to free an old file takes as long as a new
    start = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"failed: {command}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def best(*commands, rounds=ROUNDS):
    """The shortest time of each command, taken in turns so that all meet the same machine."""
    times = [[run(c)[0] for c in commands] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def chain(template, path, n):
    """An archive whose forward has n operators, half of them additions of a number."""
    lines = "".join("    x = torch.relu(x)\n" if i % 2 else "    x = torch.add(x, 1)\n"
                    for i in range(n))
    with zipfile.ZipFile(template) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.namelist():
            data = old.read(entry)
            if entry.endswith(".debug_pkl"):
                continue
            if entry.endswith(".py"):
                head = data.decode().split("-> Tensor:\n")[0]
                data = f"{head}-> Tensor:\n{lines}    return x\n".encode()
            new.writestr(entry, data)


class Figures:
    def __init__(self):
        self.failed = False

    def show(self, what, value, limit, unit=""):
        ok = value <= limit
        self.failed |= not ok
        print(f"{what:58} {value:8.3f}{unit}  at most {limit:g}{unit}{'' if ok else '  TOO MUCH'}",
              flush=True)


def main():
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        archive, out = folder / "vgg16.pt", folder / "vgg16.onnx"
        export = [CALQUE, "export", archive, "--input", "1x3x224x224", "-o", out]
        python(MAKE_ARCHIVE, archive)
        ours, copy = best(export, ["cp", archive, folder / "copy"])
        figures.show("export of vgg16.pt, against cp", ours / copy, LIMITS["cp"])
        theirs = float(python(TIME_TORCH, archive, out))
        figures.show("export of vgg16.pt, against torch.onnx.export", ours / theirs,
                     LIMITS["torch"])
        over = max(run(export)[1] - archive.stat().st_size, 0) / 1e6  # of the map little is read
        figures.show("memory beyond the mapped file", over, LIMITS["memory"], " MB")
        for path in (out, folder / "copy", archive):
            path.unlink()

        template = folder / "template.pt"
        python(MAKE_CHAIN, template)
        commands = []
        for n, often in CHAINS.items():
            path = folder / f"chain{n}.pt"
            chain(template, path, n)
            # Short ones are run more often: their shortest time needs more luck.
            commands += [[CALQUE, "export", path, "--input", "2x3", "-o",
                          folder / "chain.onnx"]] * often
        times, before = best(*commands), None
        for n in CHAINS:
            took = min(t for t, c in zip(times, commands) if c[2] == folder / f"chain{n}.pt")
            print(f"{f'a chain of {n:,} operators':58} {took * 1000:8.1f} ms")
            if before:
                figures.show("    against a tenth of it", took / before, LIMITS["tenfold"])
            before = took
    return figures.failed


if __name__ == "__main__":
    sys.exit(main())

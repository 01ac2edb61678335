#!/usr/bin/python3
"""Other machines: processors with fewer instructions or with more, one core, little memory.

    machine.py       qemu-user is needed to emulate other processors

calque chooses its kernels at run time, so it must run on any x86-64; the peers must not use
instructions that a fresh machine may refuse.
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from peers import CALQUE, ROOT, Report

# AVX2, then subsets of it; the last is the psABI's x86-64.
PROCESSORS = ["Haswell", "Haswell,-f16c", "Haswell,-fma", "Nehalem", "qemu64"]
AVX512_CORE = 0x27  # dnnl_cpu_isa_avx512_core
MEMORY = 4 << 30

ISA = """
import ctypes, peers, torch
print(ctypes.CDLL("libdnnl.so.2").dnnl_get_effective_cpu_isa())
"""

MODEL = """
def forward(x: Tensor, w: Tensor) -> Tensor:
  y = torch.conv2d(x, w, None, [1, 1], [1, 1])
  return torch.softmax(torch.relu(y).to(torch.float16).to(torch.float32), 1)
"""


def local_imports(path):
    """The files of the tests that a script imports, wherever in it."""
    names = re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), re.MULTILINE)
    folders = [path.parent, ROOT / "tests/peer", ROOT / "tests/ops"]
    found = [[f / f"{n}.py" for f in folders if (f / f"{n}.py").exists() and f / f"{n}.py" != path][:1] for n in names]
    return {p for each in found for p in each}


def closure(path):
    seen, todo = set(), [path]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += local_imports(at)
    return seen


def check_imports(report):
    """Every script that may start PyTorch, in this process or another, imports peer_cpu."""
    for path in (p for d in ("tests", "tools", "bench", "fuzz") for p in sorted((ROOT / d).rglob("*.py"))):
        is_program = 'if __name__ == "__main__"' in path.read_text()
        reach = closure(path)
        if not is_program or not any(re.search(r"^\s*import .*\btorch\b", p.read_text(), re.MULTILINE)
                                     for p in reach):
            continue
        report.check(f"{path.relative_to(ROOT)} limits the peers' instructions",
                     ROOT / "tests/peer/peer_cpu.py" in reach, "it does not import peer_cpu")


def check_peers(report):
    env = {k: v for k, v in os.environ.items() if k != "ONEDNN_MAX_CPU_ISA"}
    env["PYTHONPATH"] = str(ROOT / "tests/peer")
    done = subprocess.run([sys.executable, "-c", ISA], env=env, capture_output=True, text=True)
    if "OSError" in done.stderr:
        report.skipped("the peers' instructions", "PyTorch has no libdnnl.so.2")
        return
    isa = int(done.stdout)
    report.check("oneDNN uses no more than AVX-512", isa & ~AVX512_CORE == 0, hex(isa))


def run(command, **kwargs):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300,
                          **kwargs)


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)]


def same(a, b):
    return len(a) == len(b) > 5 and all(abs(x - y) <= 1e-3 * abs(y) + 1e-6 for x, y in zip(a, b))


def check_processors(report, folder):
    source, model = folder / "model.py", folder / "model.onnx"
    source.write_text(MODEL)
    inputs = ["--input", "1x3x9x9", "--input", "4x3x3x3"]
    run([CALQUE, "export", source, *inputs, "-o", model], check=True)
    expected = run([CALQUE, "run", model, *inputs], check=True).stdout
    if not shutil.which("qemu-x86_64"):
        report.skipped("other processors", "qemu-x86_64 is not installed (qemu-user)")
        return
    for cpu in PROCESSORS:
        emulated = ["qemu-x86_64", "-cpu", cpu, CALQUE]
        for args in ["export", source, *inputs, "-o", folder / "other.onnx"], ["run", model, *inputs], \
                ["run", source, *inputs]:
            done = run([*emulated, *args])
            report.check(f"{args[0]} {args[1].suffix} on {cpu}",
                         done.returncode == 0 and (args[0] != "run" or same(numbers(done.stdout), numbers(expected))),
                         f"exit {done.returncode}: {done.stderr[-300:] or done.stdout}")


def check_small(report, folder):
    """One core and 4 GiB of address space: half a gigabyte of weights still goes through."""
    def limit():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    out = folder / "vgg16.onnx"
    for args in ["export", "vgg16", "-o", out], ["check", "--full", out], ["run", out]:
        done = run([CALQUE, *args], preexec_fn=limit)
        report.check(f"{args[0]} vgg16 with one core and 4 GiB", done.returncode == 0, done.stderr)
    out.unlink(missing_ok=True)


def main():
    report = Report(__file__)
    check_imports(report)
    with tempfile.TemporaryDirectory() as folder:
        check_processors(report, pathlib.Path(folder))
        check_small(report, pathlib.Path(folder))
    if report.needs("torch"):
        check_peers(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

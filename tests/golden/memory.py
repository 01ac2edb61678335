#!/usr/bin/python3
"""Memory that runs out: every verb is run with allocations that fail, one in each process
(data/failing_malloc.c). A command whose allocation fails ends with an error that says so, or does
without the memory and gives the output that it gives otherwise; it never crashes, and never ends as
if it had succeeded with less output.

    memory.py [ALLOCATIONS]    how many allocations of each command fail (50); 0: all of them
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import TIMEOUT, Report  # noqa: E402
from sandbox import find_calque  # noqa: E402

NET = """import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 20)
        self.conv = torch.nn.Conv1d(1, 2, 3)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        if y.sum() > 0:
            y = y * 2
        else:
            y = torch.cat([y - 1, y], 0)[0:2]
        for i in range(3):
            y[i % 2] = y.mean() / 4
        return self.conv(y.unsqueeze(1)).softmax(-1), {"y": y}
"""

# OUT is standard output: no file has to be created again in each process.
COMMANDS = [
    "info net.onnx", "info net.py", "check --full net.onnx", "audit net.onnx", "print net.onnx", "print --text net.onnx",
    "print --parse net.txt -o -", "infer net.onnx -o -", "diff net.onnx other.onnx", "optimize net.onnx -o -",
    "convert net.onnx --opset 18 -o -", "convert net.onnx --to float16 --no-verify -o -",
    "quantize other.onnx -o - --no-verify", "cut net.onnx --outputs /linear/Gemm_output_0 -o - --no-verify",
    "join other.onnx other.onnx -o - --no-verify", "strip net.onnx -o -", "unstrip net.onnx -o -", "run net.onnx", "run net.py --input 2x3",
    "verify case", "export net.py --input 2x3 -o -", "export net.py --input nx3 --trace -o -",
    "testcase net.py grad --input 2x3 --grad", "view net.onnx -o -", "ops", "ops --json",
]
# The --input that info suggests is tried first, and is not shown if the trial fails for any reason.
MAY_HAVE_LESS_OUTPUT = {"info net.py"}


def run(calque, library, folder, words, each):
    log = folder / "log"
    log.unlink(missing_ok=True)
    env = {**os.environ, "LD_PRELOAD": str(library), "FAIL_LOG": str(log), "FAIL_EACH": str(each)}
    done = subprocess.run([calque, *words, "--no-sandbox", "-q"], env=env, cwd=folder, capture_output=True, timeout=TIMEOUT)
    *failures, last = log.read_text(errors="replace").splitlines()
    return done, [line.split("\t") for line in failures], int(last)


def judge(command, plain, failures):
    """The faults of the ways in which a command ended. plain: the end without a failure."""
    wrong, wanted = [], len(plain.stdout)
    for number, status, size, out, err in failures:
        code = os.waitstatus_to_exitcode(int(status))
        if code == 1 and "memory" in (out + err).lower():
            continue
        if code != plain.returncode:
            wrong.append(f"allocation {number}: exit {code}: {err or out}")
        elif int(size) != wanted and command not in MAY_HAVE_LESS_OUTPUT:
            wrong.append(f"allocation {number}: exit {code}, but {size} bytes of output instead of {wanted}")
    return wrong


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    report, calque = Report(__file__), find_calque()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        library = folder / "failing_malloc.so"
        built = calque and subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "data/failing_malloc.c"],
                                          capture_output=True).returncode == 0
        if not built:
            report.skipped("allocations that fail", "calque without sanitizers, a C compiler and glibc are needed")
            return report.finish()
        (folder / "net.py").write_text(NET)
        (folder / "other.py").write_text("def forward(x: Tensor):\n    return x @ torch.ones([32, 32])\n")
        for words in ("export net.py --input 2x3 -o net.onnx", "export other.py --input 4x32 -o other.onnx",
                      "print --text net.onnx -o net.txt", "testcase net.py case --input 2x3"):
            subprocess.run([calque, *words.split(), "-q"], cwd=folder, check=True)
        for command in COMMANDS:
            with report.case(command):
                plain, _, n = run(calque, library, folder, command.split(), 0)
                assert plain.returncode == command.startswith("diff"), plain.stderr.decode()
                _, failures, _ = run(calque, library, folder, command.split(), max(1, n // most) if most else 1)
                wrong = judge(command, plain, failures)
                assert failures and not wrong, f"{len(wrong)} of {len(failures)}: " + "; ".join(wrong[:5])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

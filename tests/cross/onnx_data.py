#!/usr/bin/python3
"""A part of ONNX's own test data, with a binary for another system.

    CALQUE=WRAPPER CALQUE_BINARY=FILE onnx_data.py [PATTERN]

All cases would take an emulator too long: every tenth, and all of the kernels that are written for each
instruction set.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import ONNX_TEST_DATA, Report  # noqa: E402

WIDE = re.compile(r"conv|matmul|gemm|softmax|attention|normalization|quantiz|gelu|lstm|gru|einsum")


def main():
    report = Report(__file__)
    command = [os.environ.get("CALQUE", str(HERE / "aarch64.sh")), "verify"]
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else ".")
    if not report.needs("onnx-testdata"):
        return report.finish()
    every = sorted(path for path in (ONNX_TEST_DATA / "node").iterdir() if pattern.search(path.name))
    known = set()  # cases that the build for this machine refuses as well are not about the other system
    here = subprocess.run([os.environ.get("CALQUE_HERE", "build/calque"), "verify", *every],
                          capture_output=True, text=True).stdout
    known = set(re.findall(r"^FAIL ([^:\n]+):", here, re.M))
    chosen = [path for i, path in enumerate(every) if (i % 10 == 0 or WIDE.search(path.name)) and str(path) not in known]
    for at in range(0, len(chosen), 50):
        done = subprocess.run([*command, *chosen[at:at + 50]], capture_output=True, text=True)
        for path in chosen[at:at + 50]:
            report.check(path.name, f"ok {path}\n" in done.stdout, done.stderr or "; ".join(
                line for line in done.stdout.splitlines() if line.startswith(f"FAIL {path}")))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

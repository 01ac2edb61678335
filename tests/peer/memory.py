#!/usr/bin/python3
"""Weights never pass through memory twice: the export of a large model needs hardly more of it
than the weights themselves, which the zoo draws and so has to hold.

    memory.py [MODEL …]
"""
import os
import subprocess
import sys
import tempfile

from peers import CALQUE, Report

# What may be resident at most, as a multiple of the file that is written (all but weights in it
# is small), by model. Batch norms that are folded make new weights of their convolutions; a
# weight of a Linear that is transposed is written piece by piece.
LIMITS = {"vgg16": 1.1, "vgg16_bn": 1.2, "resnet152": 2.1, "word_transformer": 1.3}


def peak_of(command):
    """Runs a program: the most memory it ever had, in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, f"it failed: {said}"
    return usage.ru_maxrss * 1024


def main():
    report = Report(__file__)
    for name in sys.argv[1:] or LIMITS:
        with report.case(name), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            peak = peak_of([CALQUE, "export", name, "-o", path])
            size = os.path.getsize(path)
            print(f"{name:18} {peak / 2**20:7.1f} MB resident, {size / 2**20:7.1f} MB written, "
                  f"{peak / size:.3f} times as much")
            assert peak < LIMITS[name] * size, f"more than {LIMITS[name]} times the weights"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

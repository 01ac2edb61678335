#!/usr/bin/python3
"""The same bits every time: sessions of the official test data and of built-in models are run
again on 1, 2, 3 and 7 threads, on other shapes in between, and from several threads at once
(tests/tools/rerun.c)."""
import subprocess
import sys
import tempfile

from peers import BUILD, ONNX_TEST_DATA, Report, calque

GROUPS = ["node", "simple", "pytorch-converted", "pytorch-operator"]
ZOO = ["resnet18", "densenet121", "super_resolution", "dcgan_generator", "dcgan_discriminator",
       "word_rnn", "word_lstm", "word_gru", "word_transformer"]


def rerun(report, operands, strip):
    out = subprocess.run([BUILD / "tests/rerun", "--at-once", "4", *operands],
                         capture_output=True, text=True, timeout=900).stdout
    said = {line.split(" ", 1)[1].split(": ", 1)[0]: line for line in out.splitlines()}
    for operand in map(str, operands):
        line = said.get(operand, "nothing was said")
        if line.startswith("skip "):
            report.skipped(operand[strip:], line.split(": ", 1)[1])
        else:
            report.check(operand[strip:], line.startswith("ok "), line)


def main():
    report = Report(__file__)
    if report.needs("onnx-testdata"):
        for group in GROUPS:
            folders = sorted(path for path in (ONNX_TEST_DATA / group).iterdir() if path.is_dir())
            rerun(report, folders, len(str(ONNX_TEST_DATA)) + 1)
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{name}.onnx" for name in ZOO]
        for name, path in zip(ZOO, files):
            calque("export", name, "-o", path)
        rerun(report, files, len(folder) + 1)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

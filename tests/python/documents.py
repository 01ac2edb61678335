#!/usr/bin/python3
"""Runs the Python programs of the README and of docs/python.md."""
import importlib.util
import pathlib
import re
import sys
import tempfile
import zipfile

from package import ENVIRONMENT, ROOT, RELU, Report, Skip, run

import calque

PROGRAM = re.compile(r"<!-- tests/python/documents\.py [^>]*-->\n```python\n(.*?)```\n", re.S)
PICKLE = b"\x80\x02c__torch__\nNet\nq\x00)\x81}(X\x08\x00\x00\x00trainingq\x01\x89ub."
CODE = """class Net(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return torch.relu(x)
"""


def write_models(folder):
    """model.pt, as torch.jit.save writes it, and other.onnx."""
    with zipfile.ZipFile(folder / "model.pt", "w") as archive:
        archive.writestr("model/data.pkl", PICKLE)
        archive.writestr("model/code/__torch__.py", CODE)
        archive.writestr("model/constants.pkl", b"\x80\x02).")
        archive.writestr("model/version", "3\n")
    calque.Model.parse(RELU).save(folder / "other.onnx")


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        write_models(pathlib.Path(folder))
        for page, least in [("README.md", 1), ("docs/python.md", 5)]:
            programs = PROGRAM.findall((ROOT / page).read_text())
            report.check(f"{page} has programs", len(programs) >= least, f"it has {len(programs)}")
            for i, program in enumerate(programs, 1):
                with report.case(f"program {i} of {page}"):
                    if "import torch\n" in program and not importlib.util.find_spec("torch"):
                        raise Skip("PyTorch is not installed")
                    code, out, err = run([sys.executable, "-c", program], cwd=folder,
                                         env=ENVIRONMENT)
                    assert code == 0, f"{program}\n{out}{err}"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

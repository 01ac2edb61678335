#!/usr/bin/python3
"""Commands that the README and the man page show do what they say: each is run, in order, in a
folder that has the files they name."""
import json
import os
import pathlib
import re
import shutil
import struct
import sys
import tempfile

from repo import BUILD, ROOT, Report, run

SOURCES = {
    "model.pt": "def forward(x: Tensor) -> Tensor:\n    return torch.relu(x).mean([2, 3])\n",
    "net.pt": "def forward(x: Tensor) -> Tensor:\n    return torch.relu(x).mean([2, 3])\n",
    "lists.pt": "def forward(xs: List[Tensor], by: float, other: Optional[Tensor]) -> Tensor:\n"
                "    y = (xs[0] + xs[1]) * by\n"
                "    return y if other is None else y + other\n",
    "model.py": "def scaled(x: Tensor, by: float) -> Tensor:\n    return x * by\n",
    "net.py": "import torch.nn as nn\n\n\n"
              "class Net(nn.Module):\n"
              "    def __init__(self, num_classes):\n"
              "        super().__init__()\n"
              "        self.fc = nn.Linear(3, num_classes)\n\n"
              "    def forward(self, x):\n"
              "        return self.fc(x.mean([2, 3]))\n",
}


def write_weights(path):
    """A safetensors file with the weights of Net(num_classes=10)."""
    header = json.dumps({"fc.weight": {"dtype": "F32", "shape": [10, 3], "data_offsets": [0, 120]},
                         "fc.bias": {"dtype": "F32", "shape": [10], "data_offsets": [120, 160]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<40f", *range(40)))


def blocks():
    """Fenced blocks of the README with commands, and the expected output in the next block."""
    parts = re.split(r"^```(\w*)\n", (ROOT / "README.md").read_text(), flags=re.M)
    # text, "", block, "", text, …: a fence that opens and one that closes
    for i in range(2, len(parts), 4):
        lines = [re.sub(r"\s+#.*", "", line) for line in parts[i].splitlines()]
        follows = parts[i + 2] == "" and i + 4 < len(parts)
        if all(line.startswith("calque ") for line in lines):
            yield lines, parts[i + 4] if follows else ""


def examples():
    page = (ROOT / "docs/calque.1").read_text().split(".SH EXAMPLES")[1]
    for line in re.findall(r"^\.B (calque .*)", page, re.M):
        yield line.replace("\\-", "-").replace("\\(aq", "'")


def shell(command, folder):
    # what a shell would take for syntax is plain in a page
    command = re.sub(r"=uniform\(0,1\)", "='uniform(0,1)'", command)
    return run(["bash", "-o", "pipefail", "-c", command], cwd=folder,
               env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"})


def without_time(text):
    return re.sub(r"\d+\.\d\d s", "TIME", re.sub(r"(difference\|) [^)]*", r"\1 SMALL", text))


def check(command, folder, printed=""):
    code, out, err = shell(command, folder)
    differs = command.startswith("calque diff")  # its purpose is to find differences
    assert code == 0 or differs and code == 1, f"exit {code}: {err[-300:]}"
    if printed:
        assert without_time(out + err) == without_time(printed), f"it prints {out + err}"


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SOURCES.items():
            pathlib.Path(folder, name).write_text(text)
        for name in ("net.safetensors", "net.pth"):  # the content counts, not the name
            write_weights(pathlib.Path(folder, name))
        for name in ("model.pt2", "net.pt2"):
            shutil.copy(ROOT / "tests/data/pt2/dynamic.214.pt2", pathlib.Path(folder, name))
        n = 0
        for lines, printed in blocks():
            for line in lines:
                n += 1
                with report.case(f"README.md: {line}"):
                    check(line, folder, printed)
        report.check("the README has commands", n > 5)
        for line in examples():
            with report.case(f"docs/calque.1: {line}"):
                check(line, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

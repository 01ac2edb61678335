#!/usr/bin/python3
"""The page in Chromium: its output is equal to that of the command line; errors, accessibility, phone, offline."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/peer"))
from peers import CALQUE, IN_CI, Report  # noqa: E402

PAGE = ROOT / "build/web"
CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache")).resolve()
SHOTS = ROOT / "build/screenshots"


def calque(folder, *words):
    return subprocess.run([CALQUE, *words], cwd=folder, capture_output=True, text=True, timeout=200)


SAVE = "import torch, digits\ntorch.save(digits.Digits(7).state_dict(), 'seven.pth')\n"
BROKEN = "import torch\n\n\ndef forward(x):\n    return torch.reluu(x)\n"
LARGE = 1_600_000_000  # bytes, more than the page accepts


def write_data(folder):
    """The files that the page opens, and the command line's output for each."""
    shutil.copyfile(ROOT / "tests/data/pt2/any_length.214.pt2", folder / "model.pt2")
    shutil.copyfile(ROOT / "web/page/examples/digits.py", folder / "digits.py")
    (folder / "bad.pt").write_bytes(b"PK\x03\x04 this is cut short")
    (folder / "bad.txt").write_text(calque(folder, "info", "bad.pt").stderr)
    (folder / "save.py").write_text(SAVE)
    (folder / "broken.py").write_text(BROKEN)
    (folder / "broken.txt").write_text(calque(folder, "export", "broken.py", "--input", "2x3").stderr)
    with open(folder / "large.onnx", "wb") as file:
        file.truncate(LARGE)
    for words in (["export", "model.pt2"], ["export", "digits.py", "--input", "batchx1x28x28"], ["py", "save.py"],
                  ["export", "digits.py", "--entry", "Digits(7)", "--weights", "seven.pth", "--input", "batchx1x28x28",
                   "-o", "seven.onnx"],
                  ["convert", "digits.onnx", "--opset", "13", "-o", "digits.13.onnx"],
                  ["optimize", "digits.onnx", "-o", "digits.optimized.onnx"],
                  ["quantize", "digits.onnx", "--mode", "dynamic", "-o", "digits.quantized.onnx"],
                  ["view", "digits.onnx", "-o", "view.html"]):
        done = calque(folder, *words)
        assert done.returncode == 0, done.stderr


def main():
    report = Report(__file__)
    chromium = shutil.which("chromium")
    missing = [what for what, found in [("build/web (make web)", PAGE.exists()), ("chromium", chromium),
                                        ("puppeteer-core", (CACHE / "browser/node_modules/puppeteer-core").exists())]
               if not found]
    if missing and not IN_CI:
        report.skipped("page", f"missing: {', '.join(missing)}; make test-web installs them")
        return report.finish()
    with tempfile.TemporaryDirectory() as name, report.case("page"):
        assert not missing, f"missing: {missing}"
        write_data(pathlib.Path(name))
        done = subprocess.run(["node", ROOT / "tests/web/page.mjs", PAGE, chromium, CACHE, name, SHOTS],
                              capture_output=True, text=True, timeout=900)
        lines = done.stdout.strip().splitlines()
        for line in lines[:-1]:
            print(line)
        count = json.loads(lines[-1]) if lines else {}
        assert count.get("failed") == 0 and count["passed"] > 5, f"{count} {done.stderr[-2000:]}"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

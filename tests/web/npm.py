#!/usr/bin/python3
"""The npm package: its functions in Node, and that commands write the same bytes as the command line."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/peer"))
from peers import CALQUE, IN_CI, Report  # noqa: E402

PACKAGE = ROOT / "build/npm/calque"
DATA, GOLDEN = ROOT / "tests/data", ROOT / "tests/golden/data"
EVERY = 12  # of the programs in tests/data/pt2


def cases():
    """Words and files of command lines; the first file is the model."""
    programs = sorted((DATA / "pt2").glob("*.pt2"))[::EVERY]
    for path in programs:
        yield ["export", "model.pt2", "-o", "out.onnx"], {"model.pt2": path}
        yield ["info", "--json", "model.pt2"], {"model.pt2": path}
    yield ["export", "model.pt2", "-o", "out.onnx", "--opset", "15"], {"model.pt2": programs[0]}
    yield ["export", "digits.py", "--input", "batchx1x28x28", "-o", "out.onnx"], \
        {"digits.py": ROOT / "web/page/examples/digits.py"}
    yield ["export", "dcgan_generator", "-o", "out.onnx", "--external-data"], {}
    yield ["export", "alexnet", "--no-params", "-o", "out.onnx"], {}
    net = {"net.onnx": GOLDEN / "net.onnx"}
    for words in (["check", "net.onnx"], ["print", "net.onnx"], ["print", "--text", "net.onnx"], ["info", "net.onnx"],
                  ["audit", "--json", "net.onnx"], ["optimize", "net.onnx", "-o", "out.onnx"],
                  ["convert", "net.onnx", "--opset", "18", "-o", "out.onnx"],
                  ["convert", "net.onnx", "--to", "float16", "-o", "out.onnx"], ["infer", "net.onnx", "-o", "out.onnx"],
                  ["strip", "net.onnx", "-o", "out.onnx"]):
        yield words, net
    yield ["check", "broken.onnx"], {"broken.onnx": GOLDEN / "broken.onnx"}
    yield ["export", "broken.onnx"], {"broken.onnx": GOLDEN / "broken.onnx"}
    yield ["export", "misspelt.py", "--input", "2x3"], {"misspelt.py": GOLDEN / "misspelt.py"}
    yield ["ops"], {}
    yield ["zoo"], {}


def without_times(text):
    return re.sub(r", \d+\.\d+ s$", "", text, flags=re.M)


def run_native(words, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, path in files.items():
            shutil.copyfile(path, pathlib.Path(folder) / name)
        done = subprocess.run([CALQUE, *words], cwd=folder, capture_output=True, text=True, timeout=200)
        written = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.name not in files}
    return done, written


def compare(words, files, out, index):
    got = json.loads((out / f"{index}.json").read_text())
    expected, written = run_native(words, files)
    assert got["status"] == expected.returncode, \
        f"status {got['status']}, expected {expected.returncode}: {got['stderr']}"
    assert got["stdout"] == expected.stdout, "standard output differs"
    assert without_times(got["stderr"]) == without_times(expected.stderr), \
        f"{got['stderr']}\nexpected {expected.stderr}"
    folder = out / str(index)
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    assert names == set(written), f"wrote {names}, expected {set(written)}"
    for name, data in written.items():
        assert (folder / name).read_bytes() == data, f"{name} differs from the command line's"


def main():
    report = Report(__file__)
    missing = [what for what, found in [("build/npm (make npm)", PACKAGE.exists()), ("node", shutil.which("node"))]
               if not found]
    if missing and not IN_CI:
        report.skipped("npm", f"missing: {', '.join(missing)}; make test-web installs them")
        return report.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "node_modules").mkdir()
        shutil.copytree(PACKAGE, folder / "node_modules/calque")
        for script in ("functions.mjs", "commands.mjs"):
            shutil.copyfile(ROOT / "tests/web" / script, folder / script)
        done = subprocess.run(["node", "functions.mjs", DATA], cwd=folder, capture_output=True, text=True, timeout=600)
        lines = done.stdout.strip().splitlines()
        for line in lines[:-1]:
            print(line)
        with report.case("functions"):
            count = json.loads(lines[-1]) if lines else {}
            assert count.get("failed") == 0 and count["passed"] > 5, f"{count} {done.stderr[-2000:]}"
        every, out = list(cases()), folder / "out"
        out.mkdir()
        (folder / "cases.json").write_text(json.dumps(
            [{"words": words, "files": {key: str(path) for key, path in files.items()}} for words, files in every]))
        subprocess.run(["node", "commands.mjs", "cases.json", "out"], cwd=folder, check=True, timeout=900)
        for index, (words, files) in enumerate(every):
            with report.case(f"calque {' '.join(words)} ({', '.join(path.name for path in files.values())})"):
                compare(words, files, out, index)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

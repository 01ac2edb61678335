#!/usr/bin/python3
"""What differs on Windows: separators, drives, names of devices, files that are replaced while they are mapped, and
standard streams, with calque.exe in wine.

    CALQUE=tests/cross/windows.sh CALQUE_BINARY=build/windows/calque.exe windows_paths.py
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import ROOT, Report  # noqa: E402

MODEL = ROOT / "tests/data/pt2/any_length.214.pt2"


def run(folder, *words, code=0, **keywords):
    done = subprocess.run([os.environ["CALQUE"], *map(str, words)], cwd=folder, capture_output=True, timeout=200,
                          **keywords)
    assert done.returncode == code, f"{words}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}"
    return done


def check_separators(folder):
    (folder / "sub" / "tïef").mkdir(parents=True)
    shutil.copy(MODEL, folder / "sub" / "tïef" / "modèle.pt2")
    said = run(folder, "export", "sub\\tïef\\modèle.pt2", "-o", "sub\\tïef\\modèle.onnx").stderr.decode()
    assert (folder / "sub/tïef/modèle.onnx").exists() and "modèle.onnx" in said, said
    run(folder, "check", f"Z:{folder}\\sub\\tïef\\modèle.onnx".replace("/", "\\"))
    run(folder, "export", "sub\\tïef\\modèle.pt2")
    assert (folder / "modèle.onnx").exists(), "the name of the output has no folder"
    run(folder, "export", "sub\\tïef\\modèle.pt2", "-o", "new\\folder\\m.onnx", code=1)
    assert b"\r" not in (folder / "modèle.onnx").read_bytes()[:16]


def check_replaced(folder):
    """The output is the input, which is mapped."""
    path = folder / "big.onnx"
    run(folder, "export", "alexnet", "-o", path.name)
    before = path.stat().st_size
    run(folder, "optimize", path.name, "-o", path.name, "--no-verify")
    assert path.stat().st_size > before // 2
    run(folder, "check", path.name)
    left = sorted(found.name for found in folder.iterdir())
    assert left == ["big.onnx"], left


def check_streams(folder):
    shutil.copy(MODEL, folder / "m.pt2")
    with open(folder / "m.pt2", "rb") as file:
        piped = run(folder, "export", "-", "-o", "-", stdin=file).stdout
    run(folder, "export", "m.pt2", "-o", "m.onnx")
    assert piped == (folder / "m.onnx").read_bytes(), "standard output has other bytes than the file"
    text = run(folder, "print", "m.onnx").stdout
    assert b"\r" not in text and text, "lines end in \\r"


def check_locations(folder):
    """External data outside of the model's folder is refused, in every spelling of Windows."""
    run(folder, "export", "alexnet", "--external-data", "-o", "m.onnx")
    data = (folder / "m.onnx").read_bytes()
    (folder.parent / "secret.bin").write_bytes(bytes(256 << 20 >> 20))
    for hostile in ["..\\secret.b", "C:secret.ba", "m.onnx:data", "x\\..\\..\\se", "NUL.onnx.da", ".. \\secret."]:
        changed = data.replace(b"m.onnx.data", hostile.encode().ljust(11, b"x")[:11])
        assert changed != data
        (folder / "h.onnx").write_bytes(changed)
        done = subprocess.run([os.environ["CALQUE"], "check", "--full", "h.onnx"], cwd=folder, capture_output=True,
                              text=True, errors="replace", timeout=200)
        assert done.returncode == 1 and "leads out" in done.stdout + done.stderr, \
            f"{hostile}: {done.stdout}{done.stderr}"


def check_failures(folder):
    (folder / "broken.onnx").write_bytes(b"\x08\x07\x3a\x7f")
    (folder / "kept.onnx").write_bytes(b"kept")
    run(folder, "optimize", "broken.onnx", "-o", "kept.onnx", code=1)
    assert (folder / "kept.onnx").read_bytes() == b"kept", "a failure changes an existing file"
    assert sorted(path.name for path in folder.iterdir()) == ["broken.onnx", "kept.onnx"]
    said = run(folder, "check", "missing.onnx", code=1).stderr.decode()
    assert "No such file" in said, said


def check_threads(folder):
    run(folder, "export", "dcgan_discriminator", "-o", "s.onnx")
    outputs = []
    for threads in ("1", "4"):
        run(folder, "run", "s.onnx", "--threads", threads, "-o", f"out{threads}")
        outputs.append([path.read_bytes() for path in sorted((folder / f"out{threads}").iterdir())])
    assert outputs[0] == outputs[1] and outputs[0], "the result depends on the number of threads"


def main():
    report = Report(__file__)
    for check in (check_separators, check_replaced, check_streams, check_locations, check_failures, check_threads):
        with report.case(check.__name__.removeprefix("check_")), tempfile.TemporaryDirectory() as top:
            folder = pathlib.Path(top) / "work"
            folder.mkdir()
            check(folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Exports models with a binary for another system, and with the build for this machine: both files have the same
bytes, and the other system's runtime computes the recorded outputs.

    CALQUE=WRAPPER CALQUE_BINARY=FILE same_files.py [N]

The models are those of tests/data/pt2, and N cases (200) of the archives of shared/conformance, if that folder is beside
the tree or above it. Cases that the build for this machine refuses are left out.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import BUILD, JOBS, ROOT, Report  # noqa: E402

OTHER = os.environ["CALQUE"]
NATIVE = os.environ.get("CALQUE_HERE", str(BUILD / "calque"))
# The matrices of Fourier transforms have zeros that the sine of another C library rounds differently.
ROUNDING = 1e-15
ARCHIVES = ["cases.tar.xz", "modern.tar.xz"]


def unpack(name, n, folder):
    """Every k-th case of an archive, n of them."""
    above = [parent / "shared/conformance" / name for parent in ROOT.parents]
    found = next((path for path in above if path.exists()), None)
    if not found:
        return []
    with tarfile.open(found) as archive:
        members = archive.getmembers()
        tops = sorted({member.name.removeprefix("./").split("/")[0] for member in members} - {".", ""})
        chosen = set(tops[::max(1, len(tops) // n)][:n])
        archive.extractall(folder, [m for m in members if m.name.removeprefix("./").split("/")[0] in chosen])
    return sorted(folder / top for top in chosen if (folder / top / "case.json").exists())


def arguments(case):
    """The command that exports a case, without the output; see case.json."""
    about = json.loads((case / "case.json").read_text())
    model = about.get("model", "model.pt")
    words = ["export", model, "--opset", str(max(about["opset"], about["min_opset"]))]
    words += [] if model.endswith(".pt2") else ["--example", "test_data_set_0"]
    names = about["input_names"] or [f"in_{i}" for i in range(about["n_in"])]
    for option, value in [("--input-names", ",".join(names)), ("--output-names", ",".join(about["output_names"] or [])),
                          ("--dynamic-axes", json.dumps(about["dynamic_axes"]) if about["dynamic_axes"] else "")]:
        words += [option, value] if value else []
    if not about["do_constant_folding"]:
        words.append("--no-constant-folding")
    if about["training"] != "EVAL":
        words += ["--training", {"TRAINING": "train", "PRESERVE": "preserve"}[about["training"]]]
    return words


def export(program, case, words, name):
    done = subprocess.run([program, *words, "-q", "-o", name], cwd=case, capture_output=True, text=True, timeout=300,
                          errors="replace")
    return done.returncode, done.stderr


def check_case(case, words):
    """The difference, "" for equal files; None if the build for this machine refuses the model."""
    code, _ = export(NATIVE, case, words, "here.onnx")
    if code:
        return None
    code, said = export(OTHER, case, words, "other.onnx")
    if code:
        return f"exit {code}: {said[-300:]}"
    if (case / "here.onnx").read_bytes() == (case / "other.onnx").read_bytes():
        return ""
    done = subprocess.run([NATIVE, "diff", "here.onnx", "other.onnx"], cwd=case, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    worst = [re.match(r"weights-differ: .* by up to ([0-9.e+-]+);", line) for line in lines]
    is_sine = lines and all(match and float(match[1]) <= ROUNDING for match in worst)
    return "" if is_sine else f"the files differ: {done.stdout[:300]}"


def verify(case):
    about = json.loads((case / "case.json").read_text())
    tolerance = ["--rtol", str(about["rtol"]), "--atol", str(max(about["atol"], 1e-7))]
    codes = []
    for program, model in [(NATIVE, "here.onnx"), (OTHER, "other.onnx")]:
        done = subprocess.run([program, "verify", "--model", model, *tolerance, "."], cwd=case, capture_output=True,
                              text=True, timeout=300, errors="replace")
        codes.append((done.returncode, done.stdout + done.stderr))
    return "" if codes[0][0] or not codes[1][0] else codes[1][1][-300:]


def main():
    report = Report(__file__)
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        work = [(case, arguments(case)) for name in ARCHIVES
                for case in unpack(name, n // len(ARCHIVES), folder)]
        if not work:
            report.skipped("conformance", "the folder shared/conformance is missing beside the tree and above it")
        for path in sorted((ROOT / "tests/data/pt2").glob("*.pt2"))[::4]:
            (folder / path.stem).mkdir()
            work.append((folder / path.stem, ["export", str(path)]))
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            faults = list(pool.map(lambda item: check_case(*item), work))
            cases = [case for (case, _), fault in zip(work, faults) if fault == "" and (case / "case.json").exists()]
            wrong = dict(zip(cases, pool.map(verify, cases)))
        for (case, _), fault in zip(work, faults):
            if fault is not None:
                report.check(case.name, not fault and not wrong.get(case), fault or wrong.get(case))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""The same tests with Python 3.13 and 3.14, numpy 2 and ml_dtypes, in the folders of newer suites that
`tools/setup.sh modern` makes."""
import os
import pathlib
import subprocess
import sys

from package import BUILD, ROOT, Report

CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache")) / "modern"
SCRIPTS = ["tensors.py", "models.py", "sessions.py", "exports.py", "interrupts.py", "torch_onnx.py",
           "ppe.py", "programs.py"]


def libraries(suite):
    """Debian 12's libjansson, which a suite may lack, where the library of this build finds it."""
    folder = BUILD / "suites" / suite
    folder.mkdir(parents=True, exist_ok=True)
    found = subprocess.run(["ldd", BUILD / "libcalque.so"], text=True, check=True,
                           stdout=subprocess.PIPE).stdout
    for line in found.splitlines():
        if "libjansson" in line:
            source = pathlib.Path(line.split("=>")[1].split()[0])
            (folder / source.name).write_bytes(source.read_bytes())
    return folder


def main():
    report = Report(__file__)
    for suite in ["trixie", "sid"]:
        if not (CACHE / suite / ".complete").exists():
            report.skipped(suite, f"*** Debian {suite} IS MISSING *** (tools/setup.sh modern installs it)")
            continue
        for script in SCRIPTS:
            with report.case(f"{script} in {suite}"):
                done = subprocess.run(
                    ["tools/modern.sh", suite, "env", f"LD_LIBRARY_PATH={libraries(suite)}",
                     f"CALQUE_BUILD={BUILD}", "PYTHONDONTWRITEBYTECODE=1", "python3",
                     f"tests/python/{script}"], cwd=ROOT, text=True, timeout=600,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                assert done.returncode == 0, done.stdout
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""The Debian packages: lintian finds nothing, and the first commands of the README work where they are installed."""
import pathlib
import shutil
import sys
import tempfile

from roots import DIST, MODEL, Report, Skip, one, run, run_in

PACKAGES = ["calque_*_amd64.deb", "libcalque0_*_amd64.deb", "libcalque-dev_*_amd64.deb", "python3-calque_*_all.deb"]
PROGRAM = """
import numpy, calque
model = calque.Model.parse('''<ir_version: 8, opset_import: ["": 17]>
relu (float[n] x) => (float[n] y) { y = Relu(x) }''')
print(calque.Session(model).run(None, {"x": numpy.array([-1, 2], "float32")})[0].tolist())
"""
SCRIPT = """set -e
dpkg -i ./libjansson4_*.deb ./calque_*.deb ./libcalque0_*.deb ./python3-calque_*.deb >&2
calque --version
calque export model.pt2 --verify
calque check model.onnx
python3 relu.py
test -e /usr/share/man/man1/calque.1.gz
dpkg -r python3-calque libcalque0 calque >&2
! test -e /usr/bin/calque"""


def check_lintian():
    if not shutil.which("lintian"):
        raise Skip("lintian is not installed; tools/setup.sh dist installs it")
    said = run(["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", *map(one, PACKAGES)], timeout=300)
    tags = [line for line in said.splitlines() if line.startswith(("E: ", "W: "))]
    assert not tags, "\n".join(tags)


def check_install(folder):
    """In Debian 12, whose libjansson4 the packages were linked with."""
    for pattern in PACKAGES:
        shutil.copy(one(pattern), folder)
    shutil.copy(MODEL, folder / "model.pt2")
    (folder / "relu.py").write_text(PROGRAM)
    run(["apt-get", "-q", "download", "libjansson4:amd64"], cwd=folder)
    out = run_in("bookworm", folder, ["sh", "-c", SCRIPT])
    assert "calque 0.1.0" in out and "verified" in out and "[0.0, 2.0]" in out, out


def main():
    report = Report(__file__)
    if not list(DIST.glob("*.deb")):
        report.skipped("Debian packages", f"{DIST} has no package; make debian builds them")
        return report.finish()
    with report.case("lintian"):
        check_lintian()
    with report.case("dpkg -i in bookworm"), tempfile.TemporaryDirectory() as folder:
        check_install(pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

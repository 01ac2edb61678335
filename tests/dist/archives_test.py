#!/usr/bin/python3
"""The archives: their checksums, their bill of materials, and the first commands of the README in a root that has
nothing but the binary."""
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import zipfile

from roots import DIST, MODEL, ROOT, Report, Skip, check_imports, one, run

FILES = ["bin/calque", "share/man/man1/calque.1", "share/bash-completion/completions/calque",
         "share/zsh/site-functions/_calque", "share/fish/vendor_completions.d/calque.fish",
         *(f"share/doc/calque/LICENSE{name}" for name in ("", ".jansson", ".zlib", ".musl"))]


def check_sums():
    listed = dict(reversed(line.split("  ")) for line in (DIST / "SHA256SUMS").read_text().splitlines())
    assert set(listed) == {path.name for path in DIST.iterdir()} - {"SHA256SUMS"}, "SHA256SUMS lists other files"
    for name, value in listed.items():
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == value, name


def check_bill():
    bill = json.loads(one("calque-*.spdx.json").read_text())
    assert bill["spdxVersion"] == "SPDX-2.3"
    assert {package["name"] for package in bill["packages"]} == {"calque", "jansson", "zlib", "musl", "mingw-w64"}
    for file in bill["files"]:
        data = (DIST / file["fileName"]).read_bytes()
        assert file["checksums"][0]["checksumValue"] == hashlib.sha256(data).hexdigest(), file["fileName"]
    known = {"SPDXRef-DOCUMENT"} | {item["SPDXID"] for item in bill["packages"] + bill["files"]}
    for relation in bill["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= known, relation


def unpack(processor, folder):
    with tarfile.open(one(f"calque-*-linux-{processor}.tar.gz")) as archive:
        names = archive.getnames()
        assert names == sorted(names), "the archive is not sorted"
        assert all(entry.uid == entry.gid == 0 for entry in archive), "the files do not belong to root"
        archive.extractall(folder)
    top, = folder.iterdir()
    missing = [name for name in FILES if not (top / name).is_file()]
    assert not missing, f"missing: {missing}"
    return top / "bin/calque"


def check_first_commands(processor, folder):
    """As in the README: export with --verify, check, info, a built-in model."""
    binary = unpack(processor, folder)
    headers = run(["readelf", "-ld", binary])
    assert "INTERP" not in headers and "NEEDED" not in headers, "the binary needs a loader or a library"
    work = folder / "work"
    work.mkdir()
    shutil.copy(MODEL, work / "model.pt2")
    start = {"x86_64": ROOT / "tests/cross/empty_root.sh", "aarch64": ROOT / "tests/cross/aarch64.sh"}[processor]
    run_first_commands(start, binary, work)


def run_first_commands(start, binary, work):
    environment = dict(os.environ, CALQUE_BINARY=str(binary))
    for command, said in [(["--version"], "calque 0.1.0"), (["export", "model.pt2", "--verify"], "verified"),
                          (["check", "model.onnx"], ""), (["info", "model.onnx"], "opset"),
                          (["export", "alexnet", "--no-params", "-o", "alexnet.onnx"], "wrote alexnet.onnx")]:
        out = run([start, *command], cwd=work, env=environment, timeout=200)
        assert said in out, f"calque {' '.join(command)} printed {out}"


def check_windows(folder):
    """The program needs no library but those of Windows, and runs the first commands in wine."""
    with zipfile.ZipFile(one("calque-*-windows-x86_64.zip")) as archive:
        archive.extractall(folder)
    top, = folder.iterdir()
    assert {"LICENSE.txt", "LICENSE.mingw-w64.txt", "README.md"} <= {path.name for path in top.iterdir()}
    check_imports(top / "calque.exe")
    if not shutil.which("wine"):
        raise Skip("wine is not installed; tools/setup.sh windows installs it")
    work = folder / "work"
    work.mkdir()
    shutil.copy(MODEL, work / "model.pt2")
    run_first_commands(ROOT / "tests/cross/windows.sh", top / "calque.exe", work)


def check_again():
    """The archives of the same files are the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("source", "archives", "windows"):
            run([sys.executable, ROOT / "tools/dist.py", "--out", folder, part])
        for path in pathlib.Path(folder).iterdir():
            assert path.read_bytes() == (DIST / path.name).read_bytes(), f"{path.name} differs"


def check_formula():
    ruby = shutil.which("ruby")
    if not ruby:
        raise Skip("ruby is not installed; tools/setup.sh dist installs it")
    with tempfile.TemporaryDirectory() as folder:
        run([sys.executable, ROOT / "tools/dist.py", "--out", folder, "source", "formula"],
            env=dict(os.environ, CALQUE_URL="https://example.org/v0.1.0"))
        text = (pathlib.Path(folder) / "calque.rb").read_text()
        digest = hashlib.sha256((pathlib.Path(folder) / "calque-0.1.0.tar.gz").read_bytes()).hexdigest()
        assert digest in text and "@" not in text.replace("@VERSION", ""), text
        run([ruby, "-c", f"{folder}/calque.rb"])


def main():
    report = Report(__file__)
    if not (DIST / "SHA256SUMS").exists():
        report.skipped("archives", f"there is no {DIST}; make dist makes it")
        return report.finish()
    with report.case("checksums"):
        check_sums()
    with report.case("bill of materials"):
        check_bill()
    with report.case("two runs write the same bytes"):
        check_again()
    with report.case("the Homebrew formula"):
        check_formula()
    for processor in ("x86_64", "aarch64"):
        with report.case(f"first commands, {processor}"), tempfile.TemporaryDirectory() as folder:
            check_first_commands(processor, pathlib.Path(folder))
    with report.case("first commands, Windows"), tempfile.TemporaryDirectory() as folder:
        check_windows(pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

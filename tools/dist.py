#!/usr/bin/python3
"""Writes the files of a release to build/dist, from programs and libraries that `make dist` built before.

    tools/dist.py [--out DIR] [source] [archives] [windows] [wheels] [debian] [npm] [formula] [sums]

Without names, every part whose inputs exist is written, but not the Debian packages, which are compiled again. Equal
inputs give equal bytes: archives are sorted, owned by root, and every time is SOURCE_DATE_EPOCH (the time of the last commit unless the environment sets it).
"""
import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CROSS = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache")) / "cross"
VERSION = ".".join(re.findall(r"#define CQ_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                              (ROOT / "include/calque/version.h").read_text()))
MUSL_LICENCE = pathlib.Path("/usr/share/doc/musl/copyright")
MINGW_LICENCE = pathlib.Path("/usr/share/doc/mingw-w64-x86-64-dev/copyright")
STRIP = {"x86_64": "strip", "aarch64": "aarch64-linux-gnu-strip", "windows": "x86_64-w64-mingw32-strip"}
STATIC = {"x86_64": ROOT / "build/static", "aarch64": ROOT / "build/aarch64-static"}
# Platform tag, processor, the target of tools/cross.sh, and the folder with the shared library.
WHEELS = [(f"{system}_{processor}", processor, f"{processor}-linux-{libc}", folder)
          for processor in STATIC
          for system, libc, folder in [("manylinux_2_31", "glibc", ROOT / f"build/{processor}-glibc"),
                                       ("musllinux_1_2", "musl", STATIC[processor])]]
LIBRARY = "libcalque.so.0"
WINDOWS = ROOT / "build/windows"


def epoch():
    if "SOURCE_DATE_EPOCH" not in os.environ:
        done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True, capture_output=True)
        os.environ["SOURCE_DATE_EPOCH"] = done.stdout.strip() or "1700000000"
    return int(os.environ["SOURCE_DATE_EPOCH"])


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def stripped(path, processor):
    """A program or library without its symbols for debuggers."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([STRIP[processor], "--strip-unneeded", "-o", file.name, path.resolve()], check=True)
        return pathlib.Path(file.name).read_bytes()


def write_tar(path, files):
    """files: name in the archive to (bytes, mode)."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(files):
            data, mode = files[name]
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), mode, epoch()
            entry.uname = entry.gname = "root"
            archive.addfile(entry, io.BytesIO(data))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(raw.getvalue())
    path.write_bytes(packed.getvalue())
    print(f"wrote {path}")


def licences(target):
    """calque's licence and those of the libraries that are linked in."""
    found = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    for library in ("jansson", "zlib"):
        found[f"LICENSE.{library}"] = (CROSS / target / "licences" / library).read_bytes()
    if "windows" in target:
        found["LICENSE.mingw-w64"] = MINGW_LICENCE.read_bytes()
    else:
        found["LICENSE.musl"] = MUSL_LICENCE.read_bytes()
    return found


# ---- source and static programs -------------------------------------------------------


def tracked_files():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name.decode() for name in names.split(b"\0") if name and (ROOT / name.decode()).is_file()]


def write_source(out):
    files = {f"calque-{VERSION}/{path.relative_to(ROOT)}":
             (path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644) for path in tracked_files()}
    write_tar(out / f"calque-{VERSION}.tar.gz", files)


def write_archives(out):
    share = {"share/man/man1/calque.1": "docs/calque.1",
             "share/bash-completion/completions/calque": "cmake/completion/calque.bash",
             "share/zsh/site-functions/_calque": "cmake/completion/_calque",
             "share/fish/vendor_completions.d/calque.fish": "cmake/completion/calque.fish",
             "share/doc/calque/README.md": "README.md", "share/doc/calque/CHANGELOG.md": "CHANGELOG.md",
             "share/doc/calque/SECURITY.md": "SECURITY.md"}
    for processor, folder in STATIC.items():
        if not (folder / "calque").exists():
            continue
        name = f"calque-{VERSION}-linux-{processor}"
        files = {f"{name}/{target}": ((ROOT / source).read_bytes(), 0o644) for target, source in share.items()}
        files[f"{name}/bin/calque"] = (stripped(folder / "calque", processor), 0o755)
        for licence, text in licences(f"{processor}-linux-musl").items():
            files[f"{name}/share/doc/calque/{licence}"] = (text, 0o644)
        write_tar(out / f"{name}.tar.gz", files)


def write_zip(path, files, order=None):
    """files: name in the archive to (bytes, mode)."""
    date = time.gmtime(max(epoch(), 315532800))[:6]  # a zip archive begins in 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in order or sorted(files):
            data, mode = files[name]
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
    print(f"wrote {path}")


def write_windows(out):
    if not (WINDOWS / "calque.exe").exists():
        return
    name = f"calque-{VERSION}-windows-x86_64"
    files = {f"{name}/calque.exe": (stripped(WINDOWS / "calque.exe", "windows"), 0o755)}
    for source in ("README.md", "CHANGELOG.md", "SECURITY.md"):
        files[f"{name}/{source}"] = ((ROOT / source).read_bytes(), 0o644)
    for licence, text in licences("x86_64-windows").items():
        files[f"{name}/{licence}.txt"] = (text, 0o644)
    write_zip(out / f"{name}.zip", files)


# ---- wheels ---------------------------------------------------------------------------


def wheel_metadata():
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {VERSION}",
             f"Summary: {project['description']}", "License: MIT", f"Requires-Python: {project['requires-python']}",
             *(f"Requires-Dist: {name}" for name in project["dependencies"])]
    for extra, names in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {name}; extra == '{extra}'" for name in names)]
    return "\n".join(lines + ["Description-Content-Type: text/markdown", "",
                              (ROOT / "python/README.md").read_text()]).encode()


def wheel_files(tag, target, library, program):
    info = f"calque-{VERSION}.dist-info"
    files = {str(path.relative_to(ROOT / "python")): (path.read_bytes(), 0o644)
             for path in [*(ROOT / "python/calque").rglob("*.py"), ROOT / "python/calque/py.typed"]}
    for path, data in (library, program):
        files[f"calque/{path}"] = (data, 0o755)
    for name, text in licences(target).items():
        files[f"{info}/licenses/{name}"] = (text, 0o644)
    files[f"{info}/METADATA"] = (wheel_metadata(), 0o644)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\ncalque = calque.__main__:main\n", 0o644)
    files[f"{info}/top_level.txt"] = (b"calque\n", 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: calque\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
                              .encode(), 0o644)
    return info, files


def write_wheel(path, info, files):
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
              for name, (data, _) in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,", ""]).encode(), 0o644)
    write_zip(path, files, sorted(files, key=lambda name: (name.startswith(info), name.endswith("/RECORD"), name)))


def write_wheels(out):
    """The library differs by C library; the program is the static one in all of them."""
    for tag, processor, target, folder in WHEELS:
        program = STATIC[processor] / "calque"
        if not (folder / LIBRARY).exists() or not program.exists():
            continue
        info, files = wheel_files(tag, target, (LIBRARY, stripped(folder / LIBRARY, processor)),
                                  ("bin/calque", stripped(program, processor)))
        write_wheel(out / f"calque-{VERSION}-py3-none-{tag}.whl", info, files)
    if (WINDOWS / "libcalque.dll").exists() and (WINDOWS / "calque.exe").exists():
        info, files = wheel_files("win_amd64", "x86_64-windows",
                                  ("libcalque.dll", stripped(WINDOWS / "libcalque.dll", "windows")),
                                  ("bin/calque.exe", stripped(WINDOWS / "calque.exe", "windows")))
        write_wheel(out / f"calque-{VERSION}-py3-none-win_amd64.whl", info, files)


# ---- Debian packages ------------------------------------------------------------------


def write_debian(out):
    """Builds the packages in a copy of the sources, as packaging/debian says."""
    work = ROOT / "build/debian"
    shutil.rmtree(work, ignore_errors=True)
    source = work / f"calque-{VERSION}"
    for path in tracked_files():
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    shutil.copytree(ROOT / "packaging/debian", source / "debian")
    subprocess.run(["dpkg-buildpackage", "-us", "-uc", "-b"], cwd=source, check=True,
                   env=dict(os.environ, SOURCE_DATE_EPOCH=str(epoch())), stdout=subprocess.DEVNULL)
    for path in sorted(work.glob("*.deb")):
        if "-dbgsym" not in path.name:
            shutil.copyfile(path, out / path.name)
            print(f"wrote {out / path.name}")


# ---- npm ------------------------------------------------------------------------------


def write_npm(out):
    """What `npm pack` would write of the folder that `make npm` makes."""
    folder = ROOT / "build/npm/calque"
    if folder.exists():
        write_tar(out / f"calque-{VERSION}.tgz", {f"package/{path.name}": (path.read_bytes(), 0o644)
                                                  for path in folder.iterdir()})


# ---- Homebrew -------------------------------------------------------------------------


def write_formula(out):
    """CALQUE_URL is where the files of the release will be; without it no formula is written."""
    url = os.environ.get("CALQUE_URL")
    if not url:
        return
    values = {"VERSION": VERSION, "URL": url, "HOMEPAGE": url.split("/releases/")[0],
              "SHA256": sha256((out / f"calque-{VERSION}.tar.gz").read_bytes())}
    text = (ROOT / "packaging/homebrew/calque.rb.in").read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    (out / "calque.rb").write_text(text)
    print(f"wrote {out / 'calque.rb'}")


# ---- bill of materials and checksums --------------------------------------------------


def debian_version(source):
    """The version of a library that tools/cross.sh builds, from the name of its source archive."""
    path = next((CROSS / "sources").glob(f"{source}_*.orig.tar.*"))
    return re.sub(r"\+?\.?dfsg.*|\.orig.*", "", path.name.split("_", 1)[1])


def installed_version(package):
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True, capture_output=True,
                           check=True)
    return shown.stdout.split("-")[0]


def write_bill(out, sums):
    """SPDX 2.3: calque, the libraries that are linked in, and every file of the release."""
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch()))
    parts = [("calque", VERSION, "MIT"), ("jansson", debian_version("jansson"), "MIT"),
             ("zlib", debian_version("zlib"), "Zlib"), ("musl", installed_version("musl:amd64"), "MIT"),
             ("mingw-w64", installed_version("mingw-w64-x86-64-dev"), "ZPL-2.1")]
    packages = [{"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
                 "copyrightText": "NOASSERTION"} for name, version, licence in parts]
    files = [{"SPDXID": f"SPDXRef-File-{index}", "fileName": f"./{name}", "licenseConcluded": "MIT",
              "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": value}]}
             for index, (name, value) in enumerate(sorted(sums.items()))]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-calque")]
    relations += [(f"SPDXRef-{name}", "STATIC_LINK", "SPDXRef-calque") for name, _, _ in parts[1:]]
    relations += [(file["SPDXID"], "GENERATED_FROM", "SPDXRef-calque") for file in files]
    contents = sha256("".join(f"{name}{value}" for name, value in sorted(sums.items())).encode())
    bill = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"calque-{VERSION}", "documentNamespace": f"urn:calque:{VERSION}:{contents}",
            "creationInfo": {"created": date, "creators": ["Tool: tools/dist.py"]},
            "packages": packages, "files": files,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}
    path = out / f"calque-{VERSION}.spdx.json"
    path.write_text(json.dumps(bill, indent=1) + "\n")
    print(f"wrote {path}")


def write_sums(out):
    skipped = ("SHA256SUMS", f"calque-{VERSION}.spdx.json")
    sums = {path.name: sha256(path.read_bytes()) for path in out.iterdir() if path.name not in skipped}
    write_bill(out, sums)
    sums[skipped[1]] = sha256((out / skipped[1]).read_bytes())
    (out / "SHA256SUMS").write_text("".join(f"{value}  {name}\n" for name, value in sorted(sums.items())))
    print(f"wrote {out / 'SHA256SUMS'}")


PARTS = {"source": write_source, "archives": write_archives, "windows": write_windows, "wheels": write_wheels, "debian": write_debian,
         "npm": write_npm, "formula": write_formula, "sums": write_sums}


def main():
    parser = argparse.ArgumentParser(description="Writes the files of a release.")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/dist")
    parser.add_argument("part", nargs="*", help=", ".join(PARTS))
    options = parser.parse_args()
    unknown = set(options.part) - set(PARTS)
    if unknown:
        parser.error(f"unknown part '{unknown.pop()}'; expected one of {', '.join(PARTS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    epoch()
    for name, write in PARTS.items():
        if name in options.part or not options.part and name != "debian":
            write(options.out.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())

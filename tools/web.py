#!/usr/bin/python3
"""Puts together what uses the WebAssembly module of `make wasm`:

    tools/web.py npm     build/npm/calque, the npm package
    tools/web.py page    build/web, the page: a folder that any web server can serve
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WASM = ROOT / "build/wasm"
LICENCES = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache")) / "cross/wasm32/licences"
MODULE = [ROOT / "web/calque.js", ROOT / "web/module.js", ROOT / "web/session.js", WASM / "calque.mjs", WASM / "calque.wasm"]


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in MODULE:
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    for name in ("jansson", "zlib"):
        shutil.copyfile(LICENCES / name, folder / f"LICENSE.{name}")
    shutil.copyfile("/usr/share/doc/emscripten/copyright", folder / "LICENSE.emscripten")
    return folder


def write_npm():
    folder = fresh(ROOT / "build/npm/calque")
    for name in ("calque.d.ts", "package.json", "README.md"):
        shutil.copyfile(ROOT / "web" / name, folder / name)
    version = ".".join(re.findall(r"#define CQ_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                                  (ROOT / "include/calque/version.h").read_text()))
    assert json.loads((folder / "package.json").read_text())["version"] == version, "package.json has another version"
    return folder


def write_examples(folder):
    """The models of the page: a program, source, and the ONNX model of the source."""
    folder.mkdir()
    shutil.copyfile(ROOT / "tests/data/pt2/any_length.214.pt2", folder / "program.pt2")
    shutil.copyfile(ROOT / "web/page/examples/digits.py", folder / "digits.py")
    subprocess.run([ROOT / "build/calque", "export", "-q", folder / "digits.py", "--input", "batchx1x28x28",
                    "-o", folder / "network.onnx"], check=True)


def write_page():
    folder = fresh(ROOT / "build/web")
    for name in ("index.html", "page.css", "page.js", "worker.js"):
        shutil.copyfile(ROOT / "web/page" / name, folder / name)
    write_examples(folder / "examples")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    names = ["./", *(str(path.relative_to(folder)) for path in files if not path.name.startswith("LICENSE"))]
    text = (ROOT / "web/page/service-worker.js").read_text()
    text = text.replace("@NAME@", f"calque-{digest}").replace('["@FILES@"]', json.dumps(names))
    (folder / "service-worker.js").write_text(text)
    return folder


def main():
    writers = {"npm": write_npm, "page": write_page}
    if len(sys.argv) != 2 or sys.argv[1] not in writers:
        sys.exit(__doc__)
    print(f"wrote {writers[sys.argv[1]]()}")


if __name__ == "__main__":
    main()

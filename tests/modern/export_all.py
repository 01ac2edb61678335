#!/usr/bin/python3
"""Exports the programs that language_models.py made, each to several opsets, and has calque verify them.

    export_all.py CALQUE FOLDER OPSET…     FOLDER/NAME.pt2 to FOLDER/../OPSET/NAME.onnx, or NAME.PART.onnx
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path


def main():
    calque, folder, opsets = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    for about in sorted(folder.glob("*.json")):
        parts = ("encoder", "first", "next") if "source" in json.loads(about.read_text()) else (None,)
        for opset in opsets:
            to = folder.parent / opset
            to.mkdir(exist_ok=True)
            if to != folder:
                shutil.copy(about, to)
            for part in parts:
                out = to / f"{about.stem}{'.' + part if part else ''}.onnx"
                command = [calque, "export", str(about.with_suffix(".pt2")), "--names", "hf", "--verify", "--opset", opset,
                           "-o", str(out), *(["--entry", part] if part else [])]
                if subprocess.call(command):
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

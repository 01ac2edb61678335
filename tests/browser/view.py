#!/usr/bin/python3
"""calque view in a real browser: view.mjs drives chromium. Without the browser it is skipped, except in CI."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
node = shutil.which("node")
if not node:
    print("SKIP view in a browser: node is missing; tools/setup.sh browser installs it")
    failed = os.environ.get("CI") == "true"
    print("0 passed, 1 failed" if failed else "0 passed, 0 failed, 1 skipped")
    sys.exit(failed)
sys.exit(subprocess.run([node, HERE / "view.mjs"]).returncode)

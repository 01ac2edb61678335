#!/usr/bin/python3
"""`calque py` prints what Python prints, for every script of tests/peer/scripts."""
import subprocess
import sys

import peers

failed = 0
scripts = sorted((peers.ROOT / "tests/peer/scripts").glob("*.py"))
for script in scripts:
    wanted = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    got = subprocess.run([peers.CALQUE, "py", script], capture_output=True, text=True)
    lines, found = wanted.splitlines(), got.stdout.splitlines()
    wrong = [i for i in range(len(lines)) if i >= len(found) or found[i] != lines[i]]
    if wrong or got.returncode or len(found) != len(lines):
        failed += 1
        i = wrong[0] if wrong else len(lines)
        print(f"FAIL {script.name}: line {i + 1} of the output is\n  {found[i] if i < len(found) else ''}"
              f"\nbut should be\n  {lines[i] if i < len(lines) else ''}\n{got.stderr}")
print(f"{len(scripts) - failed} passed, {failed} failed")
sys.exit(failed > 0)

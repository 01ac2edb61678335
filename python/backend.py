"""How pip builds the package: by setuptools, the one that this interpreter has, so that no network is
needed. pip hides it from builds, to fetch another; that is only done where there is none."""
from __future__ import annotations

import os
import subprocess
import sys

NEEDS = ["setuptools>=61", "wheel"]

_WHERE = """
import os, setuptools
found = [setuptools]
try:
    import setuptools.command.bdist_wheel
except ImportError:
    import wheel
    found.append(wheel)
for module in found:
    print(os.path.dirname(os.path.dirname(module.__file__)))
"""


def _is_there() -> bool:
    """Makes setuptools importable if this interpreter, or the one that an environment was made of, has
    it."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for python in dict.fromkeys([sys.executable, getattr(sys, "_base_executable", sys.executable)]):
        done = subprocess.run([python, "-c", _WHERE], env=plain, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            sys.path += done.stdout.splitlines()
            return True
    return False


_missing = [] if _is_there() else NEEDS


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return _missing


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel

if not _missing or "setuptools" in sys.modules or any(
        os.path.isdir(os.path.join(path, "setuptools")) for path in sys.path):
    from setuptools.build_meta import (  # noqa: F401
        build_editable,
        build_sdist,
        build_wheel,
        prepare_metadata_for_build_editable,
        prepare_metadata_for_build_wheel,
    )

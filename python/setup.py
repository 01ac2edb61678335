"""Builds the shared library and the program by CMake and puts them into the package. The rest is in pyproject.toml.

The environment variable CALQUE_BUILD names a folder that CMake built in before, to save the time.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent
LIBRARY = {"win32": "libcalque.dll", "darwin": "libcalque.0.dylib"}.get(sys.platform, "libcalque.so.0")
PROGRAM = "calque.exe" if sys.platform == "win32" else "calque"


def version():
    header = (SOURCES / "include/calque/version.h").read_text()
    return ".".join(re.findall(r"#define CQ_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


class Build(build_py):
    """The Python files unchanged, the library beside them, and the program in bin."""

    def run(self):
        super().run()
        if not self.editable_mode:
            self.build_native(pathlib.Path(self.build_lib) / "calque")

    def build_native(self, package):
        temporary = pathlib.Path(self.get_finalized_command("build").build_temp) / "cmake"
        folder = pathlib.Path(os.environ.get("CALQUE_BUILD", temporary)).resolve()
        if not shutil.which("cmake"):
            sys.exit("calque is built with CMake, which is not installed; "
                     "tools/setup.sh build installs it")
        if not (folder / "CMakeCache.txt").exists():
            ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
            subprocess.run(["cmake", "-S", SOURCES, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                            *ninja], check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1),
                        "--target", "calque_shared", "calque_cli"], check=True, stdout=sys.stderr)
        for source, target in [(LIBRARY, package / LIBRARY), (PROGRAM, package / "bin" / PROGRAM)]:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile((folder / source).resolve(), target)
            subprocess.run(["strip", "--strip-unneeded", target], check=False)
            target.chmod(0o755)


class Wheel(bdist_wheel):
    """For any Python 3: the library is not an extension module, and knows nothing of Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), packages=find_packages(include=["calque", "calque.*"]),
      package_data={"calque": ["py.typed"]}, distclass=Binary,
      cmdclass={"build_py": Build, "bdist_wheel": Wheel})

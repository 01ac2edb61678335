#!/usr/bin/python3
"""The package can be installed by pip and by CMake, finds its library, has types that mypy accepts,
and its examples are right."""
import doctest
import importlib.util
import inspect
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import zipfile

from package import BUILD, ENVIRONMENT, ROOT, RELU, Report, Skip, run

import calque

PROGRAM = f"""
import numpy, calque, calque._lib
model = calque.Model.parse('''{RELU}''')
print(calque.Session(model).run(None, {{"x": numpy.array([-1, 2], "float32")}})[0].tolist())
print(calque._lib.lib._name)
"""

# For those who have PyTorch; some of their examples need the onnx package as well.
NEEDS_TORCH = ("calque.onnx", "calque.ppe")
ALIASES = ("calque.torch", "calque.pytorch_pfn_extras")
HAS_TORCH = all(importlib.util.find_spec(name) for name in ("torch", "onnx"))


def python(program, folder, **variables):
    """What a program prints that sees the package in folder only, in lines."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("CALQUE_LIBRARY", "PYTHONPATH")}
    environment.update(variables, PYTHONPATH=str(folder))
    code, out, err = run([sys.executable, "-c", program], env=environment, cwd="/")
    assert code == 0, err
    return out.splitlines()


def modules():
    yield calque
    for found in pkgutil.walk_packages(calque.__path__, "calque."):
        if HAS_TORCH or not found.name.startswith(NEEDS_TORCH + ALIASES):
            yield importlib.import_module(found.name)


def check_examples(report):
    for module in modules():
        with report.case(f"examples of {module.__name__}"):
            failed, _ = doctest.testmod(
                module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            assert failed == 0, f"{failed} examples print something else"
    if not HAS_TORCH:
        report.skipped("examples of calque.onnx and calque.ppe", "PyTorch or onnx is not installed")
    for name in ["calque", *NEEDS_TORCH] if HAS_TORCH else ["calque"]:
        with report.case(f"every function and class of {name} has a docstring, and a function an example"):
            module = importlib.import_module(name)
            for what in map(module.__dict__.get, module.__all__):
                assert not callable(what) or what.__doc__, f"{what} has no docstring"
                assert not inspect.isfunction(what) or ">>> " in what.__doc__, f"{what} has no example"


def check_types():
    if not shutil.which("mypy"):
        raise Skip("mypy is not installed; tools/setup.sh test installs it")
    code, out, err = run(["mypy", "--config-file", ROOT / "python/pyproject.toml", "--cache-dir",
                          BUILD / "mypy", "-p", "calque"], cwd=ROOT / "python", timeout=600)
    assert code == 0, out + err


def check_pip(folder):
    """As a user does, without a network: CMake builds the library (here it finds it built), and it is
    in the wheel."""
    sources, target = folder / "sources", folder / "pip"
    sources.mkdir()
    for name in ["CMakeLists.txt", "cmake", "include", "src", "cli", "docs", "python"]:
        os.symlink(ROOT / name, sources / name)
    copy = folder / "python"
    shutil.copytree(ROOT / "python", copy, ignore=shutil.ignore_patterns("build", "*.egg-info",
                                                                         "__pycache__"))
    (sources / "python").unlink()
    shutil.move(copy, sources / "python")
    environment = dict(ENVIRONMENT, CALQUE_BUILD=str(BUILD), PIP_NO_INDEX="1")
    code, out, err = run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder,
                          sources / "python"], env=environment, timeout=1200)
    if "No module named pip" in err or "No module named 'setuptools'" in out + err:
        raise Skip("pip and setuptools are not installed; tools/setup.sh test installs them")
    assert code == 0, (out + err)[-3000:]
    wheel, = folder.glob("calque-*.whl")
    assert wheel.name.startswith(f"calque-{calque.__version__}-py3-none-"), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert {"calque/libcalque.so.0", "calque/py.typed", "calque/_abi.py",
                "calque/bin/calque"} <= set(names), names
        entry, = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
        assert "calque = calque.__main__:main" in archive.read(entry).decode()
    code, out, err = run([sys.executable, "-m", "pip", "install", "--no-deps", "--target", target, wheel],
                         env=environment, timeout=300)
    assert code == 0, out + err
    check_commands([target / "bin/calque"], [sys.executable, "-m", "calque"], library=str(target))
    result, library = python(PROGRAM, target)
    assert result == "[0.0, 2.0]" and library == str(target / "calque/libcalque.so.0"), library


def check_commands(*commands, library):
    """They are the program: its output, its exit codes, standard input."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("CALQUE_LIBRARY", "PYTHONPATH", "CALQUE", "CALQUE_BUILD")}
    environment.update(PATH="/usr/bin:/bin", PYTHONPATH=library)
    for command in commands:
        code, out, err = run([*command, "--version"], env=environment, cwd="/")
        assert (code, out.strip()) == (0, f"calque {calque.__version__}"), (command, out, err)
        code, out, err = run([*command, "check", "nothing.onnx"], env=environment, cwd="/")
        assert code == 1 and err.startswith("error: "), (command, out, err)


def check_cmake(folder):
    prefix = folder / "prefix"
    code, out, err = run(["cmake", "--install", BUILD, "--prefix", prefix], timeout=300)
    assert code == 0, out + err
    package, = prefix.glob("lib/python3*/*-packages")
    result, library = python(PROGRAM, package)
    assert result == "[0.0, 2.0]", result
    assert prefix / "lib" in pathlib.Path(library).parents, library
    check_commands([prefix / "bin/calque"], [sys.executable, "-m", "calque"], library=str(package))


def check_wrong_library(folder):
    program = "try:\n    import calque\nexcept ImportError as error:\n    print(error)"
    said = python(program, ROOT / "python", CALQUE_LIBRARY=str(folder / "nothing.so"))
    assert "CALQUE_LIBRARY" in said[0], said
    source, other = folder / "other.c", folder / "libother.so"
    source.write_text("int cq_version(void) { return 9001000; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", other], check=True)
    said = python(program, ROOT / "python", CALQUE_LIBRARY=str(other))
    assert "version 9.1" in said[0], said


def main():
    report = Report(__file__)
    check_examples(report)
    with report.case("mypy --strict"):
        check_types()
    for name, check in [("pip install ./python", check_pip), ("cmake --install", check_cmake),
                        ("another library is refused", check_wrong_library)]:
        with report.case(name), tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

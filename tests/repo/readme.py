#!/usr/bin/python3
"""The program in the README compiles against an installed calque and prints what the README
says, by way of pkg-config and of CMake: so the install rules are tested as well."""
import pathlib
import re
import sys
import tempfile

from repo import BUILD, ROOT, Report, run

PROGRAM = re.compile(r"<!-- tests/repo/readme\.py [^>]*-->\n```(c|cpp)\n(.*?)```\n```\n(.*?)```\n", re.S)
COMPILERS = {"c": ["gcc", "-std=c11"], "cpp": ["g++", "-std=c++17", "-pedantic"]}


def install(prefix):
    code, _, err = run(["cmake", "--install", BUILD, "--prefix", prefix])
    assert code == 0, err
    code, out, err = run(["cmake", "-L", "-N", BUILD])
    libdir = re.search(r"CMAKE_INSTALL_LIBDIR:\w+=(.*)", out)
    return f"{prefix}/{libdir[1] if libdir else 'lib'}"


def pkg_config(libdir, *flags):
    # the file goes where it is installed, whatever prefix was configured
    code, out, err = run(["pkg-config", *flags, "calque"],
                         env={"PKG_CONFIG_PATH": f"{libdir}/pkgconfig", "PATH": "/usr/bin:/bin"})
    assert code == 0, err
    return out.split()


def build_and_run(language, program, folder, flags, env):
    source, binary = f"{folder}/start.{language}", f"{folder}/start"
    with open(source, "w") as file:
        file.write(program)
    code, _, err = run([*COMPILERS[language], "-Wall", "-Wextra", "-Werror", source, "-o", binary,
                        *flags])
    assert code == 0, err
    code, out, err = run([binary], env=env, cwd=folder)
    assert code == 0, f"exit {code}: {err}"
    return out


CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.18)
project(start LANGUAGES C)
find_package(calque 0.1 REQUIRED)
add_executable(start start.c)
target_link_libraries(start PRIVATE calque::TARGET)
"""


def build_with_cmake(program, folder, prefix, target):
    folder = pathlib.Path(folder)
    folder.mkdir()
    (folder / "start.c").write_text(program)
    (folder / "CMakeLists.txt").write_text(CMAKE_PROJECT.replace("TARGET", target))
    for step in (["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja",
                  f"-DCMAKE_PREFIX_PATH={prefix}"], ["ninja", "-C", folder / "build"]):
        code, out, err = run(step)
        assert code == 0, out + err
    code, out, err = run([folder / "build/start"], cwd=folder)
    assert code == 0, f"exit {code}: {err}"
    return out


def main():
    report = Report(__file__)
    found = {match[1]: match for match in PROGRAM.finditer((ROOT / "README.md").read_text())}
    if not report.check("the README has its programs", found.keys() == COMPILERS.keys()):
        return report.finish()
    with tempfile.TemporaryDirectory() as folder:
        libdir = None
        with report.case("calque installs"):
            libdir = install(folder)
        for language, kind, options in [("c", "shared", []), ("c", "static", ["--static"]), ("cpp", "shared", [])]:
            with report.case(f"the program of the README in {language}, {kind}"):
                flags = pkg_config(libdir, "--cflags", "--libs", *options)
                if kind == "static":
                    flags = [f"{libdir}/libcalque.a" if flag == "-lcalque" else flag
                             for flag in flags]
                out = build_and_run(language, found[language][2], folder, flags, {"LD_LIBRARY_PATH": libdir})
                assert out == found[language][3], f"it prints:\n{out}"
        for target in ("calque", "calque_static"):
            with report.case(f"the program of the README, with find_package and {target}"):
                out = build_with_cmake(found["c"][2], f"{folder}/{target}", folder, target)
                assert out == found["c"][3], f"it prints:\n{out}"
        with report.case("licence and documents are installed, and Debian's Python reads the package's folder"):
            installed = {str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*")}
            assert {f"share/doc/calque/{name}" for name in ("LICENSE", "README.md", "docs/python.md")} <= installed
            package, = pathlib.Path(folder).glob("lib/python3*/*-packages")
            code, out, _ = run(["/usr/bin/python3", "-c", "import sys; print(sys.path)"])
            assert code or f"/usr/local/{package.relative_to(folder)}" in out or "site" in package.name, (package, out)
        with report.case("pkg-config finds the installed library"):
            code, out, err = run(["cmake", "--install", BUILD, "--prefix", f"{folder}/other"])
            assert code == 0 and "LD_LIBRARY_PATH" in out + err, out + err
        with report.case("make help and make install"):
            code, out, err = run(["make", "help"], cwd=ROOT)
            assert code == 0 and "make install" in out and "make test" in out, out + err
            code, out, err = run(["make", "--dry-run", "install", "PREFIX=/opt/x"], cwd=ROOT)
            assert code == 0 and "--prefix '/opt/x'" in out, out + err
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

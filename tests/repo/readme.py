#!/usr/bin/python3
"""The program in the README compiles against an installed calque and prints what the README
says, by way of pkg-config and of CMake: so the install rules are tested as well."""
import pathlib
import re
import sys
import tempfile

from repo import BUILD, ROOT, Report, run

PROGRAM = re.compile(r"<!-- tests/repo/readme\.py [^>]*-->\n```c\n(.*?)```\n```\n(.*?)```\n", re.S)


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


def build_and_run(program, folder, flags, env):
    source, binary = f"{folder}/start.c", f"{folder}/start"
    with open(source, "w") as file:
        file.write(program)
    code, _, err = run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", binary,
                        *flags])
    assert code == 0, err
    code, out, err = run([binary], env=env, cwd=folder)
    assert code == 0, f"exit {code}: {err}"
    return out


CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.18)
project(start LANGUAGES C)
find_package(calque 0.1 REQUIRED)
add_executable(start start.c)
target_link_libraries(start PRIVATE calque::calque)
"""


def build_with_cmake(program, folder, prefix):
    folder = pathlib.Path(folder)
    folder.mkdir()
    (folder / "start.c").write_text(program)
    (folder / "CMakeLists.txt").write_text(CMAKE_PROJECT)
    for step in (["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja",
                  f"-DCMAKE_PREFIX_PATH={prefix}"], ["ninja", "-C", folder / "build"]):
        code, out, err = run(step)
        assert code == 0, out + err
    code, out, err = run([folder / "build/start"], cwd=folder)
    assert code == 0, f"exit {code}: {err}"
    return out


def main():
    report = Report(__file__)
    found = PROGRAM.search((ROOT / "README.md").read_text())
    if not report.check("the README has its program", found is not None):
        return report.finish()
    with tempfile.TemporaryDirectory() as folder:
        libdir = None
        with report.case("calque installs"):
            libdir = install(folder)
        for kind, options in [("shared", []), ("static", ["--static"])]:
            with report.case(f"the program of the README, {kind}"):
                flags = pkg_config(libdir, "--cflags", "--libs", *options)
                if kind == "static":
                    flags = [f"{libdir}/libcalque.a" if flag == "-lcalque" else flag
                             for flag in flags]
                out = build_and_run(found[1], folder, flags, {"LD_LIBRARY_PATH": libdir})
                assert out == found[2], f"it prints:\n{out}"
        with report.case("the program of the README, with find_package"):
            out = build_with_cmake(found[1], f"{folder}/project", folder)
            assert out == found[2], f"it prints:\n{out}"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

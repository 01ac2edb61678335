#!/usr/bin/python3
"""Every function and table of the library is used by it: code that only a test calls, or nobody,
is dead. Static ones are the compiler's business; this looks at the objects of the Release build
for symbols that other files could see."""
import collections
import re
import sys

from repo import BUILD, ROOT, Report, Skip, run

# What exists so that tests and fuzz targets can look inside, and why.
FOR_TESTS = {
    "cq_alloc_fail_at": "makes an allocation fail",
    "cq_ew_find": "walks all element-wise kernels",
    "cq_ew_name": "names them in messages of tests",
    "cq_gradient_at": "walks the table of gradients",
    "cq_isa_use": "runs the kernels of each instruction set",
    "cq_lib_file_at": "finds the functions of a test's file",
    "cq_onnx_attr_ref": "builds functions with attributes",
    "cq_onnx_schema_at": "walks the table of schemas",
    "cq_onnx_schema_check": "asks for the first fault alone",
    "cq_compose_check_library": "links the functions of lib/onnx that make nodes by name",
    "cq_symbolic_family": "walks the table of symbolics",
    "cq_torchscript_code_at": "lists the files of an archive",
}


def source_of(path):
    return re.sub(r"^.*\.dir/|\.o$", "", str(path))


def symbols():
    """Where each symbol is defined, and the files that use it."""
    defined, users = {}, collections.defaultdict(set)
    objects = [path for target in ("calque_objects", "calque_cli")
               for path in (BUILD / f"CMakeFiles/{target}.dir").rglob("*.o")]
    objects = [path for path in objects if (ROOT / source_of(path)).exists()]
    if not objects:
        raise Skip("the Release build is missing")
    code, out, err = run(["nm", "--extern-only", "--print-file-name", *objects])
    assert code == 0, err
    for line in out.splitlines():
        path, _, rest = line.rpartition(":")
        *_, kind, name = rest.split()
        source = source_of(path)
        if kind == "U":
            users[name].add(source)
        else:
            defined[name] = source
    return defined, users


def check_used(for_tests):
    defined, users = symbols()
    public = set((ROOT / "tools/abi.txt").read_text().split()) | {"main"}
    dead = []
    for name, source in defined.items():
        own = len(re.findall(rf"\b{name}\b", (ROOT / source).read_text()))
        if name not in public and name not in for_tests and not users[name] and own < 2:
            dead.append(f"{source}: {name}")
    assert not dead, "unused: " + ", ".join(sorted(dead))
    stale = [name for name in for_tests if name not in defined or users[name]]
    assert not stale, f"no longer for tests alone: {', '.join(stale)}"


def main():
    report = Report(__file__)
    with report.case("every function is used"):
        check_used(FOR_TESTS)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

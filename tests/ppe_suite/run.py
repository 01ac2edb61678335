#!/usr/bin/python3
"""The tests that pytorch-pfn-extras has of its onnx module, with calque.ppe in its place.

    CALQUE_LIBRARY=build/libcalque.so tests/ppe_suite/run.py FOLDER [--with original]
        [--log FILE] [--against FILE] [PYTEST ARGUMENT…]

FOLDER holds its package of tests, pytorch_pfn_extras_tests/onnx_tests. Needs pytest, PyTorch and onnx;
what the tests write goes to a folder that is removed. torch.onnx stays PyTorch's own: some tests
compare with it. --with original runs the installed pytorch_pfn_extras, --log keeps what came of each
test, and --against compares with such a log: what passed there and does not here is listed.

The tests know a few nodes and values by names that PyTorch makes up. Those of calque are others: NAMES
is what is read in place of them, and nothing else is changed.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import types
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/peer")]
import peer_cpu  # noqa: E402, F401
import onnxruntime_module  # noqa: E402

PACKAGE = "pytorch_pfn_extras"

NAMES = {
    r"/_ppe_as_out_module/conv_1/Conv\b": "/conv/Conv_1",  # a module's second call
    r"/_ppe_as_out_module\b": "",  # the module in which the original wraps every model
    r"\bv\d+_MatMul\b": "output_0",  # an output without a name
    r"\bonnx::MatMul_\d+\b": "linear.weight.Transpose",  # a weight
}


# ---- calque as a replacement ----


def release(version):
    return [int(part) for part in version.split("+")[0].split(".")[:2]]


def add_module(name, **content):
    """A module of that name, in sys.modules and in its package."""
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(content)
    outer, _, last = name.rpartition(".")
    if outer:
        setattr(sys.modules[outer], last, module)


def add_package():
    import calque.onnx._export
    import calque.ppe
    import calque.ppe.strip_large_tensor
    import calque.ppe.unstrip_tensor
    import torch

    def pfto_export(model, args, f, **options):
        options.pop("strict_trace", None)
        return calque.ppe.export(model, args, f, return_output=True, **options)

    add_module(PACKAGE, requires=lambda least, *_: release(torch.__version__) >= release(least))
    sys.modules[f"{PACKAGE}.onnx"] = sys.modules[PACKAGE].onnx = calque.ppe
    add_module(f"{PACKAGE}.onnx._constants",
               onnx_default_opset=calque.onnx._export.DEFAULT_OPSET)
    add_module(f"{PACKAGE}.onnx.strip_large_tensor",
               _strip_large_tensor_tool_impl=calque.ppe.strip_large_tensor.strip)
    add_module(f"{PACKAGE}.onnx.unstrip_tensor", unstrip=calque.ppe.unstrip_tensor.unstrip)
    add_module(f"{PACKAGE}.onnx.pfto_exporter")
    add_module(f"{PACKAGE}.onnx.pfto_exporter.export", export=pfto_export,
               _force_tracing=lambda: unittest.mock.patch("torch.jit.is_tracing", lambda: True))


def put_names(folder):
    for path in folder.glob("**/*.py"):
        text = path.read_text()
        for pattern, name in NAMES.items():
            text = re.sub(pattern, name, text)
        path.write_text(text)


# ---- what came of it ----


class Outcomes:
    """A plugin of pytest that keeps what came of each test."""

    def __init__(self):
        self.by_test = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.by_test[report.nodeid.rpartition("/")[2]] = report.outcome


def compare(found, path):
    before = json.loads(path.read_text())
    worse = [name for name, outcome in before.items()
             if outcome == "passed" and found.get(name) != "passed"]
    better = [name for name, outcome in found.items()
              if outcome == "passed" and before.get(name) != "passed"]
    for name in worse:
        print(f"passed there: {name}")
    print(f"{len(worse)} passed only there, {len(better)} only here")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--with", dest="package", choices=("calque", "original"), default="calque")
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    args, others = parser.parse_known_args()
    if not list(args.folder.glob("**/onnx_tests")):
        sys.exit(f"{args.folder} has no onnx_tests of pytorch-pfn-extras")
    try:
        import pytest
    except ImportError:
        sys.exit("pytest is missing")
    onnxruntime_module.add()
    outcomes, start = Outcomes(), pathlib.Path.cwd()
    with tempfile.TemporaryDirectory() as out:
        tests = pathlib.Path(out) / "tests"
        shutil.copytree(args.folder, tests)
        if args.package == "calque":
            add_package()
            put_names(tests)
        sys.path.insert(0, str(tests))
        os.chdir(out)
        status = pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", str(tests), *others],
                             plugins=[outcomes])
        os.chdir(start)
    if args.log:
        args.log.write_text(json.dumps(outcomes.by_test, indent=1))
    if args.against:
        compare(outcomes.by_test, args.against)
    return status


if __name__ == "__main__":
    sys.exit(main())

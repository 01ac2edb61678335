#!/usr/bin/python3
"""The tests that pytorch-pfn-extras has of its onnx module, with calque.ppe in its place.

    CALQUE_LIBRARY=build/libcalque.so tests/ppe_suite/run.py FOLDER [PYTEST ARGUMENT…]

FOLDER holds its package of tests, pytorch_pfn_extras_tests/onnx_tests. Needs pytest, PyTorch and onnx;
what the tests write goes to a folder that is removed. torch.onnx stays PyTorch's own: some tests
compare with it.
"""
import os
import pathlib
import sys
import tempfile
import types
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/peer")]
import peer_cpu  # noqa: E402, F401
import onnxruntime_module  # noqa: E402

PACKAGE = "pytorch_pfn_extras"


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


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    if not list(folder.glob("**/onnx_tests")):
        sys.exit(f"{folder} has no onnx_tests of pytorch-pfn-extras")
    try:
        import pytest
    except ImportError:
        sys.exit("pytest is missing")
    onnxruntime_module.add()
    add_package()
    sys.path.insert(0, str(folder))
    with tempfile.TemporaryDirectory() as out:
        os.chdir(out)
        return pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", str(folder), *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())

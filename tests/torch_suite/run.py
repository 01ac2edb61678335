#!/usr/bin/python3
"""PyTorch's own tests of its exporter, with calque.onnx in place of torch.onnx.

    tools/setup.sh torch-tests
    CALQUE_LIBRARY=build/libcalque.so tests/torch_suite/run.py [--with torch] [--opset 14]
        [--module test_pytorch_onnx_onnxruntime] [--only REGEX] [--log FILE] [--against FILE]
        [--skipped | --all]

Files are run by ONNX Runtime, as the tests say. --with torch runs the original, --log keeps what came
of each test, and --against compares with such a log: what passed there and does not here is listed.
--skipped runs what the tests leave out instead: what torch.onnx cannot do at this opset, or of TorchScript.
--all runs both. Of opsets 7 and 8 there are tests only with initializers that are inputs.
"""
import argparse
import contextlib
import functools
import importlib
import io
import json
import os
import pathlib
import re
import signal
import sys
import time
import types
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "peer"))
import peer_cpu  # noqa: E402, F401
import onnxruntime_module  # noqa: E402

CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache")) / "torch-tests"
SECONDS = 120  # for one test

# What torch.onnx.utils._export takes besides the arguments of export.
INNER_ARGUMENTS = ("fixed_batch_size", "onnx_shape_inference", "add_node_names", "export_type",
                   "val_keep_init_as_ip")
NAMES = ("export", "export_to_pretty_string", "register_custom_op_symbolic",
         "unregister_custom_op_symbolic", "is_in_onnx_export")


# ---- modules that the tests import and Debian 12 lacks ----


def add_modules():
    """onnxruntime without its package, and expecttest, whose texts are PyTorch's own graphs."""
    onnxruntime_module.add()
    expected = types.ModuleType("expecttest")
    expected.TestCase, expected.ACCEPT = unittest.TestCase, False
    sys.modules["expecttest"] = expected


def do_export(model, args, **options):
    """Part of Caffe2's tests, for those of custom operators: the file, and the exporter's result."""
    import torch
    file = io.BytesIO()
    made = torch.onnx.utils._export(model, args, file, **options)
    return file.getvalue(), made


class Prepared:
    """Of Caffe2, on ONNX Runtime."""

    def __init__(self, model):
        self._session = onnxruntime_module.InferenceSession(model.SerializeToString())

    def run(self, inputs):
        return self._session.run(None, dict(zip([x.name for x in self._session.get_inputs()], inputs)))


def add_caffe2():
    for name in ("caffe2", "caffe2.python", "caffe2.python.onnx", "caffe2.python.onnx.backend",
                 "test_pytorch_onnx_caffe2"):
        module = sys.modules[name] = types.ModuleType(name)
        outer, _, last = name.rpartition(".")
        if outer:
            setattr(sys.modules[outer], last, module)
    sys.modules["caffe2.python.onnx.backend"].prepare = Prepared
    sys.modules["test_pytorch_onnx_caffe2"].do_export = do_export


def replace_exporter():
    import torch.onnx
    import calque.onnx

    def inner_export(model, args, f, **options):
        return calque.onnx.export(model, args, f, **{name: value for name, value in options.items()
                                                     if name not in INNER_ARGUMENTS})

    for name in NAMES:
        for module in (torch.onnx, torch.onnx.utils):
            setattr(module, name, getattr(calque.onnx, name))
    torch.onnx.utils._export = inner_export
    torch.onnx.symbolic_helper = sys.modules["torch.onnx.symbolic_helper"] = \
        calque.onnx.symbolic_helper


# ---- what the tests skip ----

SKIPS = ("skipIfUnsupportedMinOpsetVersion", "skipIfUnsupportedMaxOpsetVersion",
         "skipForAllOpsetVersions", "skipIfUnsupportedOpsetVersion", "skipTraceTest", "skipScriptTest")


def not_skipped(skip):
    """A decorator of the tests that notes what it would skip, and runs it."""
    @functools.wraps(skip)
    def decorator_of(*args, **options):
        def decorate(function):
            guarded = skip(*args, **options)(function)

            @functools.wraps(function)
            def wrapper(self, *rest, **named):
                try:
                    return guarded(self, *rest, **named)
                except unittest.SkipTest:
                    self.was_skipped = self.is_script_test_enabled = True
                    return function(self, *rest, **named)
            return wrapper
        return decorate
    return decorator_of


def run_skipped():
    """Tests run whatever they say of opsets and TorchScript, and note whether there was a model: not
    all that they skip is a program that TorchScript takes."""
    import onnx_test_common
    import pytorch_test_common
    run_model = onnx_test_common.run_model_test

    def noted(test, *args, **options):
        test.has_run = True
        return run_model(test, *args, **options)

    for name in SKIPS:
        setattr(pytorch_test_common, name, not_skipped(getattr(pytorch_test_common, name)))
    onnx_test_common.run_model_test = noted


# ---- the tests ----


def tests_in(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_in(test)
        else:
            yield test


def on_alarm(*_):
    raise TimeoutError(f"more than {SECONDS} s")


def run_one(test, only_skipped):
    """"pass", "fail" or "skip", and why it failed. Of what is skipped, only what has a model counts."""
    import torch
    torch.set_default_dtype(torch.float32)
    result = unittest.TestResult()
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            test.run(result)
    except TimeoutError as error:
        result.errors.append((test, str(error)))
    finally:
        signal.alarm(0)
    wrong = [text for _, text in result.failures + result.errors]
    was_skipped = hasattr(test, "was_skipped")
    if result.skipped or (was_skipped and not hasattr(test, "has_run")) or (
            only_skipped and not was_skipped):
        return "skip", ""
    return ("fail", wrong[-1]) if wrong or result.unexpectedSuccesses else ("pass", "")


def compare(found, path):
    """Prints what passed in another run and not in this one."""
    before = {name: what for name, what, _ in map(json.loads, open(path))}
    worse = [name for name, (what, _) in found.items()
             if what == "fail" and before.get(name) == "pass"]
    better = [name for name, (what, _) in found.items()
              if what == "pass" and before.get(name) == "fail"]
    for name in worse:
        last = [line for line in found[name][1].splitlines() if line.strip()] or [""]
        print(f"passed there: {name}: {last[-1][:120]}")
    print(f"{len(worse)} passed only there, {len(better)} only here")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--with", dest="exporter", choices=("calque", "torch"), default="calque")
    parser.add_argument("--module", default="test_pytorch_onnx_onnxruntime")
    parser.add_argument("--opset", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--skipped", action="store_true")
    which.add_argument("--all", action="store_true")
    args = parser.parse_args()
    if not (CACHE / ".complete").exists():
        sys.exit("PyTorch's tests are missing; tools/setup.sh torch-tests fetches them")
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/peer"), str(CACHE / "test/onnx"),
                    str(CACHE / "test")]
    sys.argv = sys.argv[:1]
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, on_alarm)
    add_modules()
    import torch
    import torchvision.ops  # noqa: F401  its own rules are for torch.onnx
    torch.set_num_threads(1)
    if args.module == "test_custom_ops":  # others look whether there is a Caffe2
        add_caffe2()
    if args.exporter == "calque":
        replace_exporter()
    as_inputs = args.opset is not None and args.opset < 9
    wanted = re.compile(f"opset_version_{args.opset}_.*inputs_{as_inputs}.*(?:{args.only})"
                        if args.opset else args.only)
    if args.skipped or args.all:
        run_skipped()
    module = importlib.import_module(args.module)
    found, start = {}, time.monotonic()
    for test in tests_in(unittest.defaultTestLoader.loadTestsFromModule(module)):
        if wanted.search(test.id()):
            found[test.id()] = run_one(test, args.skipped)
            if args.log:
                with args.log.open("a" if len(found) > 1 else "w") as log:
                    log.write(json.dumps([test.id(), *found[test.id()]]) + "\n")
    counts = {kind: sum(what == kind for what, _ in found.values()) for kind in ("pass", "fail", "skip")}
    if args.against:
        compare(found, args.against)
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped in "
          f"{time.monotonic() - start:.0f} s, with {args.exporter}.onnx")


if __name__ == "__main__":
    main()

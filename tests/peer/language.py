#!/usr/bin/python3
"""Programs in TorchScript (language_models.py and its topics) against the real PyTorch: as archives
of scripted functions and as plain source. Each is exported from an example. The onnx checker must
accept the model, and ONNX Runtime and `calque run` must compute PyTorch's results for arguments
that take every branch and other numbers of iterations.

    language.py [NAME …]
"""
import importlib
import inspect
import json
import pathlib
import sys
import tempfile
import warnings

import conformance
import peers
from peers import Report, calque, check_onnx, expect_close, run_ort

TOPICS = ["lists", "loops", "branches", "values", "changes", "numbers", "optionals"]
HEADER = "import torch\nimport torch.nn.functional as F\nfrom torch import Tensor\n" \
         "from typing import Dict, List, NamedTuple, Optional, Tuple\n\n"


def source_of(fn):
    """The function with all functions that it calls, without their decorators."""
    names, texts, todo = set(), [], [fn]
    while todo:
        one = todo.pop()
        text = inspect.getsource(one)
        texts.append(text[text.index("def "):])
        for name in one.__code__.co_names:
            called = one.__globals__.get(name)
            if inspect.isfunction(called) and name not in names:
                names.add(name)
                todo.append(called)
    return HEADER + "\n\n".join(texts)


def write_model(folder, fn, kind, example):
    import torch
    if kind == "source":
        path = folder / "model.py"
        path.write_text(source_of(fn))
        return path, ["--entry", fn.__name__]
    path = folder / "model.pt"
    module = torch.jit.script(fn) if kind == "script" else torch.jit.trace(fn, tuple(example))
    torch.jit.save(module, str(path))
    return path, []


def run_program(folder, model, entry, args, i):
    """The results of calque's evaluator."""
    example, out = folder / f"example{i}", folder / f"out{i}"
    example.mkdir()
    conformance.write_example(example, args)
    code, _, error = calque("run", model, *entry, "--example", example, "-o", out)
    assert code == 0, f"set {i}: run: " + " ".join(error.split())
    files = sorted(out.iterdir(), key=lambda f: int(f.stem.split("_")[1]))
    return [read_pb(f) for f in files]


def read_pb(path):
    import onnx
    from onnx import numpy_helper
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def slots(value):
    """Values that may be inputs, including None."""
    if not isinstance(value, (list, tuple, dict)):
        return [value]
    items = value.values() if isinstance(value, dict) else value
    return [slot for item in items for slot in slots(item)]


def check(name, kind):
    import copy
    import torch
    from language_models import PROGRAMS
    torch.manual_seed(1)
    fn, makers, axes, kinds, refused, opset, optionals = PROGRAMS[name]
    sets = [make() for make in makers]
    with tempfile.TemporaryDirectory() as place, torch.no_grad():
        folder = pathlib.Path(place)
        model, entry = write_model(folder, fn, kind, sets[0])
        conformance.write_example(folder, sets[0])
        n = len(conformance.graph_inputs(sets[0]))
        out = folder / "model.onnx"
        command = ["export", model, *entry, "--example", folder, "-o", out, "--opset", str(opset),
                   "--input-names", ",".join(f"in_{i}" for i in range(n))]
        if optionals:
            command += ["--optional-inputs"]
        if axes:
            command += ["--dynamic-axes", json.dumps(axes)]
        code, _, error = calque(*command)
        if refused:
            assert code == 1 and refused in error, f"not refused: {code} " + " ".join(error.split())
            return
        assert code == 0, "export: " + " ".join(error.split())
        check_onnx(out)
        inputs = peers.session_of(str(out), (out.stat().st_mtime_ns,), "basic").inputs
        for i, args in enumerate(sets):
            expected = [leaf.numpy() for leaf in conformance.leaves(fn(*copy.deepcopy(args)))]
            feeds = {f"in_{k}": conformance.graph_inputs([value])[0]
                     for k, value in enumerate(slots(args)) if value is not None}
            got = run_ort(out, {key: feeds[key] for key in inputs if key in feeds or not optionals})
            expect_close(got, expected, name=f"set {i}")
            if kind == kinds[-1]:  # the evaluator is the same for both
                expect_close(run_program(folder, model, entry, args, i), expected, name=f"run, set {i}")


def main():
    report = Report(__file__)
    if not report.needs("torch", "onnx", "ort"):
        return report.finish()
    from language_models import PROGRAMS
    for topic in TOPICS:
        importlib.import_module(f"language_{topic}")
    warnings.simplefilter("ignore")
    for name, (_, _, _, kinds, *_) in PROGRAMS.items():
        for kind in kinds:
            case = f"{name}.{kind}"
            if not sys.argv[1:] or any(a in case for a in sys.argv[1:]):
                with report.case(case):
                    check(name, kind)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Exports TorchScript archives of the real PyTorch: small models that each test one feature of the
language (conformance_models.py), classic models (conformance_classics.py), and models of
torchvision. Each is exported with the command line from an example, must pass the onnx checker, and
must give PyTorch's results in ONNX Runtime for the example and for a second set of inputs.

    conformance.py [NAME …]
"""
import json
import pathlib
import sys
import tempfile
import warnings

import peers
from peers import Report, Skip, calque, check_onnx, expect_close, run_ort

# Models of torchvision, and how large their images are.
VISION = {"alexnet": 64, "vgg16": 32, "resnet18": 64, "resnet50": 64, "densenet121": 64,
          "inception_v3": 96, "googlenet": 64, "mobilenet_v2": 64, "squeezenet1_1": 64,
          "shufflenet_v2_x1_0": 64, "mnasnet1_0": 64}
OTHER_BATCH = 3
AGAINST_TORCH = {"rtol": 1e-3, "atol": 1e-4}  # errors of a hundred layers add up

# Cases that do not work yet, with the reason. A listed case that passes fails the test.
EXPECTED = {}


# ---- arguments and results as trees ----------------------------------------------------


def leaves(value):
    """The tensors and numbers of a tree in order; None is left out."""
    import torch
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    assert value is None or isinstance(value, str), f"no leaf: {type(value)}"
    return []


def tree_of(value, found):
    """The tree in the form of args.json; found collects the tensors."""
    import torch
    if value is None:
        return None
    if isinstance(value, str):
        return {"str": value}
    if isinstance(value, dict):
        return {"dict": [[key, tree_of(item, found)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [tree_of(item, found) for item in value]}
    found += leaves(value)
    return {"tensor" if isinstance(value, torch.Tensor) else "scalar": len(found) - 1}


def write_example(folder, args):
    import numpy as np
    found = []
    tree = {"args": [tree_of(arg, found) for arg in args], "kwargs": {}}
    (folder / "args.json").write_text(json.dumps(tree))
    for i, tensor in enumerate(found):
        np.save(folder / f"input_{i}.npy", tensor.numpy())


def graph_inputs(args):
    """The inputs of the graph: all tensors and numbers."""
    return [leaf.numpy() for leaf in leaves(args)]


# ---- one case ------------------------------------------------------------------------


def export(folder, module, args, axes, flags):
    import torch
    torch.jit.save(module, str(folder / "model.pt"))
    write_example(folder, args)
    n = len(graph_inputs(args))
    out = folder / "model.onnx"
    command = ["export", folder / "model.pt", "--example", folder, "-o", out, *flags]
    if n:
        command += ["--input-names", ",".join(f"in_{i}" for i in range(n))]
    if axes:
        command += ["--dynamic-axes", json.dumps(axes)]
    code, _, error = calque(*command)
    assert code == 0, "export: " + " ".join(error.split())
    return out


def check(module, sets, axes, flags=(), **tolerance):
    import copy
    import torch
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        folder = pathlib.Path(name)
        path = export(folder, module, sets[0], axes, flags)
        check_onnx(path)
        inputs = peers.session_of(str(path), (path.stat().st_mtime_ns,), "basic").inputs
        for i, args in enumerate(sets):
            expected = [leaf.numpy() for leaf in leaves(module(*copy.deepcopy(args)))]
            feeds = dict(zip([f"in_{k}" for k in range(999)], graph_inputs(args)))
            got = run_ort(path, {key: feeds[key] for key in inputs})
            expect_close(got, expected, name=f"set {i}", **tolerance)


def small_case(case, kind):
    import torch
    import conformance_classics
    import conformance_models
    torch.manual_seed(1)
    model, sets, axes = conformance_models.CASES[case]()
    model.eval()
    module = torch.jit.script(model) if kind == "script" else torch.jit.trace(model, sets[0])
    check(module, sets, axes)


def vision_case(case, kind):
    import torch
    import torchvision
    torch.manual_seed(1)
    options = {"init_weights": False} if case in ("googlenet", "inception_v3", "vgg16") else {}
    model = getattr(torchvision.models, case)(weights=None, **options).eval()
    size = VISION[case]
    sets = [[torch.rand(n, 3, size, size)] for n in (2, OTHER_BATCH)]
    if case == "googlenet":
        model.aux1 = model.aux2 = None
    module = torch.jit.script(model) if kind == "script" else torch.jit.trace(model, sets[0])
    check(module, sets, {"in_0": {"0": "batch"}}, **AGAINST_TORCH)


def run_case(name):
    case, kind = name.rsplit(".", 1)
    try:
        (vision_case if case in VISION else small_case)(case, kind)
    except Exception as error:
        if name in EXPECTED:
            raise Skip(f"{EXPECTED[name]} ({error})") from error
        raise
    assert name not in EXPECTED, "passes now: remove it from EXPECTED"


def names():
    import conformance_classics
    import conformance_models
    small = [f"{case}.{kind}" for case, make in conformance_models.CASES.items()
             for kind in make.kinds]
    return small + [f"{case}.{kind}" for case in VISION for kind in ("trace", "script")]


def main():
    report = Report(__file__)
    if not report.needs("torch", "torchvision", "onnx", "ort"):
        return report.finish()
    chosen = [n for n in names() if not sys.argv[1:] or any(a in n for a in sys.argv[1:])]
    warnings.simplefilter("ignore")  # warnings of torch.jit.trace about these models
    for name in chosen:
        with report.case(name):
            run_case(name)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Arguments of models are checked as PyTorch checks a call: number, names and types; PyTorch itself is the
judge where it is installed. Texts with a NUL are refused wherever they go into the library."""
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import warnings

from package import DATA, RELU, Report, Skip, raises

import numpy as np
import calque
import calque.backend

X = np.ones((2, 3), "float32")
SOURCE = b"""def forward(x: Tensor, n: int, s: float = 1.0):
    for i in range(n):
        x = x * s
    return x
"""

# Values by name; functions, so that those of PyTorch need it only where it is.
VALUES = {
    "int": 2, "float": 2.5, "bool": True, "numpy.int64": np.int64(2), "numpy.float64": np.float64(2.5),
    "str": "a", "None": None, "array of 2": np.ones(2), "array of 1": np.array(2), "[int]": [1, 2],
    "(int, int)": (1, 2), "[float]": [1.5], "[int, float]": [1, 2.5], "[]": [], "[bool]": [True],
    "range": range(2),
}
TENSORS = {"tensor of 1": np.array(2), "tensor": np.ones(2, "float32"), "[tensor]": [np.ones(2, "float32")],
           "(tensor,)": (np.ones(2, "float32"),), "{str: tensor}": {"a": np.ones(2, "float32")},
           "{int: tensor}": {1: np.ones(2, "float32")}}
TYPES = ["Tensor", "int", "float", "bool", "str", "Optional[Tensor]", "Optional[int]", "List[int]",
         "List[float]", "List[bool]", "List[Tensor]", "Tuple[Tensor]", "Tuple[int, int]",
         "Dict[str, Tensor]", "Dict[int, Tensor]", "List[str]"]

# What PyTorch makes of values that look like something else: a text is a list of texts, a tensor a tuple
# of numbers. calque refuses these.
STRICTER = {("bool", "range"), ("List[str]", "str"), ("List[str]", "{str: tensor}"),
            ("Dict[str, Tensor]", "[]"), ("Dict[int, Tensor]", "[]"), ("Dict[int, Tensor]", "[tensor]"),
            ("Dict[int, Tensor]", "(tensor,)"), ("Tuple[int, int]", "tensor"), ("Tuple[int, int]", "range")}
# Tensors are arrays of numpy here, which PyTorch takes for lists of numbers.
LOOSER = {("List[float]", "tensor"), ("List[bool]", "tensor")}
ARRAYS = {"Tensor", "Optional[Tensor]"}


def torch_takes(folder):
    """(type, value) -> whether PyTorch takes it."""
    import torch

    def in_torch(value):
        if isinstance(value, np.ndarray):
            return torch.from_numpy(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(in_torch, value))
        return {key: in_torch(item) for key, item in value.items()} if isinstance(value, dict) else value

    taken = {}
    for i, kind in enumerate(TYPES):
        path = folder / f"module_{i}.py"
        path.write_text(f"from typing import *\nfrom torch import Tensor\ndef f(a: {kind}):\n    return a\n")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = torch.jit.script(module.f)
        given = {**VALUES, **{name: in_torch(value) for name, value in TENSORS.items()}}
        for name, value in given.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(value)
                taken[kind, name] = True
            except (RuntimeError, TypeError, ValueError):
                taken[kind, name] = False
    return taken


def calque_takes(kind, value):
    source = f"def forward(x: Tensor, a: {kind}):\n    return x\n".encode()
    try:
        calque.export(source, inputs=[X, value])
    except calque.Error as error:
        assert error.where == 'argument "a"' and f"a: {kind}" in error.hint, error
        return False
    return True


def check_types(folder):
    if not importlib.util.find_spec("torch"):
        raise Skip("PyTorch is not installed")
    wrong = []
    for (kind, name), wanted in torch_takes(folder).items():
        value = {**VALUES, **TENSORS}[name]
        wanted = wanted or kind in ARRAYS and isinstance(value, (np.ndarray, np.generic))
        if calque_takes(kind, value) != (wanted and (kind, name) not in STRICTER or (kind, name) in LOOSER):
            wrong.append(f"{kind} {'takes' if wanted else 'refuses'} {name}")
    assert not wrong, wrong


def refused(kind, *arguments, source=SOURCE, **keywords):
    return raises(kind, calque.export, source, *arguments, **keywords)


def check_number_and_names():
    assert refused(calque.ArgumentError, inputs=[X, 1, 1.0, 4]).message == "takes 3 arguments but got 4"
    error = refused(calque.ArgumentError, inputs=[X, 1], kwargs={"scale": 2.0})
    assert error.message == 'unknown argument "scale"' and "s: float" in error.hint, error
    assert '"x" is given twice' in refused(calque.ArgumentError, inputs=[X, 2], kwargs={"x": X}).message
    assert '"n" is missing' in refused(calque.ArgumentError, inputs=[X]).message
    assert "inputs that fit: inputs=[numpy.zeros(" in refused(calque.ArgumentError, inputs=[X]).hint
    error = refused(calque.NotFound, inputs=[X], entry="forwards")
    assert error.hint == "its methods are: forward; choose one with entry=…", error
    assert "kwargs" in str(refused(TypeError, inputs=[X], kwargs=[1]))
    assert "inputs must be a list" in str(refused(TypeError, inputs=3))


def inputs_of(*arguments, **keywords):
    return [f"{value.name}: {value.type}" for value in calque.export(*arguments, **keywords).inputs]


def check_numbers_are_as_declared():
    expected = ["x: tensor(float)", "n: tensor(int64)", "s: tensor(double)"]
    for given in ([X, 2, 3], [X, True, 2.5], [X, np.int32(2), np.float32(3)], [X, np.array([2]), np.array(3)]):
        assert inputs_of(SOURCE, inputs=given) == expected, given
    assert inputs_of(SOURCE, inputs={"n": 2, "s": 3, "x": X}) != []
    assert inputs_of(b"def forward(x: Tensor):\n    return x\n", inputs=X) == ["x: tensor(float)"]
    assert inputs_of(SOURCE, inputs=[X, 2], constants={"s": np.float32(2)}) == expected[:2]
    assert "constant 's'" in refused(calque.ArgumentError, inputs=[X, 2], constants={"s": float("nan")}).message
    assert "64 bits" in refused(calque.ArgumentError, inputs=[X, 2 ** 63]).message


def check_options():
    for axes, said in [(["x"], "must be a dict"), ({"x": 0}, "of 'x'"), ({"x": "0"}, "of 'x'"),
                       ({"x": {"0": "n"}}, "integer, not '0'"), ({"x": [0.5]}, "integer, not 0.5")]:
        assert said in str(refused(TypeError, inputs=[X, 1], dynamic_axes=axes)), axes
    assert "must be a dict" in str(refused(TypeError, inputs=[X, 1], custom_opsets=[("a", 1)]))
    assert "latest" in refused(calque.ArgumentError, inputs=[X, 1], opset="new").message
    assert "inputs that fit" not in refused(calque.ArgumentError, inputs=[X, 1], opset=99).hint
    model = calque.Model.parse(RELU.encode())
    assert "open file" in str(raises(TypeError, model.save, None))
    for function in (calque.export, calque.Program):
        assert "is already an ONNX model" in raises(calque.FormatError, function, model.to_bytes()).message


def check_dicts():
    source = b"def forward(d: Dict[str, Tensor]):\n    return d['a']\n"
    for key in (1, 1.5, True, None):
        refused(calque.Error, source=source, inputs=[{key: X}])


def check_programs():
    path = DATA / "pt2/cond.214.pt2"
    assert inputs_of(path, inputs=[X]) == inputs_of(path, kwargs={"x": X}) == inputs_of(path, inputs={"x": X})
    error = raises(calque.ArgumentError, calque.export, path, kwargs={"y": X})
    assert error.message == "the program has no input 'y'" and error.hint == "its inputs are x", error
    assert "two values" in raises(calque.ArgumentError, calque.export, path, inputs=[X], kwargs={"x": X}).message
    assert "got 2" in raises(calque.ArgumentError, calque.export, path, inputs=[X, X]).message
    raises(calque.ArgumentError, calque.export, path, constants={"x": 1})


def check_torch_script():
    """calque.onnx: TorchScript is checked as files are."""
    if not importlib.util.find_spec("torch"):
        raise Skip("PyTorch is not installed")
    import torch
    import calque.onnx

    class Net(torch.nn.Module):
        def forward(self, x, n: int, deep: bool = True):
            for _ in range(n):
                x = x * 2
            return x

    x, net = torch.ones(2, 3), torch.jit.script(Net())
    assert "expected int" in raises(calque.ArgumentError, calque.onnx.export, net, (x, 2.5)).message
    for kwargs in ({"q": x}, {"x": x}):
        raises(calque.ArgumentError, calque.onnx.export, net, (x, 2), kwargs=kwargs)
    traced = torch.jit.trace(torch.nn.Bilinear(3, 3, 2), (x, x))
    error = raises(calque.ArgumentError, calque.onnx.export, traced, (x,), kwargs={"q": x})
    assert error.message == 'unknown argument "q"', error
    assert calque.onnx.export(net, (x, 2)).inputs[1].type == "tensor(int64)"


def check_feeds():
    session = calque.Session(calque.Model.parse(RELU))
    assert "input_feed must be a dict" in str(raises(TypeError, session.run, None, [X[0]]))
    assert "output_names must be a list" in str(raises(TypeError, session.run, "y", {"x": X[0]}))
    assert "fetch must be a list" in str(raises(TypeError, calque.Session, calque.Model.parse(RELU), fetch="y"))
    for names in ("input_names", "output_names"):
        assert names in str(refused(TypeError, inputs=[X, 1], **{names: "x"}))
        assert names in str(refused(TypeError, inputs=[X, 1], **{names: [1]}))


def nul_calls(folder):
    """Every argument of the library that is a string."""
    model = calque.Model.parse(RELU)
    session = calque.Session(model)
    pt2 = DATA / "pt2/cond.214.pt2"

    def export(**keywords):
        return lambda: calque.export(SOURCE, inputs=[X, 1], **keywords)

    yield "feeds", lambda: session.run(None, {"x\0y": X[0]})
    yield "outputs", lambda: session.run(["y\0z"], {"x": X[0]})
    yield "fetch", lambda: calque.Session(model, fetch=["y\0z"])
    yield "profile", lambda: calque.Session(model, profile="a\0b").end_profiling()
    for name, function in [("load", calque.load), ("inspect", calque.inspect), ("Session", calque.Session),
                           ("export", calque.export), ("run", calque.run), ("Program", calque.Program),
                           ("save", model.save)]:
        yield name, lambda function=function: function(str(folder / "a\0b.onnx"))
        yield f"{name} of a Path", lambda function=function: function(folder / "a\0b.onnx")
    yield "parse", lambda: calque.Model.parse(RELU, "a\0b")
    yield "parsed text", lambda: calque.Model.parse(RELU + "\0")
    yield "out", export(out=str(folder / "a\0b"))
    for name in ("producer", "graph_name", "entry", "define", "symbolics", "training", "operators", "opset"):
        yield name, export(**{name: "a\0b"})
    for name in ("input_names", "output_names", "modules_as_functions"):
        yield name, export(**{name: ["a\0b"]})
    yield "dynamic_axes", export(dynamic_axes={"x\0y": {0: "n"}})
    yield "names of axes", export(dynamic_axes={"x": {0: "n\0m"}})
    yield "custom_opsets", export(custom_opsets={"a\0b": 1})
    yield "names of constants", export(constants={"s\0": 2.0})
    yield "constants", export(constants={"s": "a\0b"})
    yield "constants in lists", export(constants={"s": ["a\\\0b"]})
    yield "kwargs", lambda: calque.export(SOURCE, inputs=[X], kwargs={"n\0": 2})
    texts = b"def forward(x: Tensor, s: str):\n    return x\n"
    yield "texts", lambda: calque.export(texts, inputs=[X, "a\0b"])
    yield "names of a .pt2", lambda: calque.export(pt2, names="hf\0")
    yield "entry of a .pt2", lambda: calque.export(pt2, entry="a\0b")
    yield "entry of inspect", lambda: calque.inspect(pt2, entry="a\0b")
    yield "devices", lambda: calque.backend.prepare(model, "CPU\0")
    yield "devices of nodes", lambda: calque.backend.run_node(b"\x0a\x01x\x12\x01y\x22\x03Neg", [X], "CPU\0")
    yield "dtypes", lambda: calque._dtypes.parse("float32\0")


def check_nul(folder):
    taken = []
    for name, call in nul_calls(folder):
        try:
            call()
            taken.append(name)
        except (calque.Error, ValueError, TypeError) as error:
            assert isinstance(error, (calque.Error, TypeError)) or "null" in str(error), (name, error)
    assert not taken, taken
    assert not list(folder.glob("a*")), "a file was written"
    assert raises(calque.ArgumentError, calque.load, "a\0b").message == "'a\\x00b' contains a NUL character"


def check_nul_in_torch():
    if not importlib.util.find_spec("torch"):
        raise Skip("PyTorch is not installed")
    import torch
    import calque.onnx
    for symbolic in (lambda g, x: g.op("Relu\0", x), lambda g, x: g.op("my::Op", x, a_s="b\0c"),
                     lambda g, x: g.op("my::Op", x, **{"a\0_i": 1})):
        calque.onnx.register_custom_op_symbolic("aten::relu", symbolic, 9)
        try:
            raises(ValueError, calque.onnx.export, torch.nn.ReLU(), torch.ones(2), io.BytesIO())
        finally:
            calque.onnx.unregister_custom_op_symbolic("aten::relu", 9)


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder  # for torch.jit, which reads sources
        for name, check in list(globals().items()):
            if name.startswith("check_"):
                with report.case(name[6:]):
                    check(*[pathlib.Path(folder)] * check.__code__.co_argcount)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

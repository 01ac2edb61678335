#!/usr/bin/python3
"""Source locations of operators: the file, line and column that calque prints for the nodes of an
archive, compared with PyTorch's.

    origins.py
"""
import pathlib
import re
import sys
import tempfile
import warnings

from peers import Report, calque

HERE = pathlib.Path(__file__).name


def make_model():
    import torch

    class Inner(torch.nn.Module):
        def forward(self, x):
            y = torch.tanh(x)
            return torch.sigmoid(y) \
                + torch.exp(x)

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.conv = torch.nn.Conv2d(3, 4, 3)

        def forward(self, x):
            x = torch.nn.functional.relu(self.conv(x)); x = torch.abs(x)
            x = self.inner(torch.sqrt(x + 1))
            return torch.floor(x)

    return Outer().eval()


def make_impossible():
    import torch

    class Impossible(torch.nn.Module):
        def forward(self, x):
            return torch.lgamma(x)

    return Impossible()


# What an operator of PyTorch is called in ONNX, for those of the model.
NAMES = {"tanh": "Tanh", "sigmoid": "Sigmoid", "exp": "Exp", "abs": "Abs", "sqrt": "Sqrt",
         "floor": "Floor", "relu": "Relu", "conv2d": "Conv", "_convolution": "Conv"}


def places(text, prefix):
    """{operator: location} of a printed graph, for operators that occur once."""
    found = {}
    for op, place in re.findall(rf"= {prefix}::(\w+).* # (\S+)$", text, re.M):
        found.setdefault(op, set()).add(place)
    return {op: found[op].pop() for op in found if len(found[op]) == 1}


def of_pytorch(path):
    import torch
    found = places(str(torch.jit.load(str(path)).inlined_graph), "aten")
    return {NAMES[op]: place for op, place in found.items() if op in NAMES}


def of_calque(path, *options):
    code, out, error = calque("export", path, "--input", "1x3x8x8", "--verbose", "-o",
                              path.with_suffix(".onnx"), *options)
    assert code == 0, error
    return places(out, "onnx")


def check_kind(report, folder, kind):
    import torch
    model, path = make_model(), folder / f"{kind}.pt"
    module = torch.jit.script(model) if kind == "script" else \
        torch.jit.trace(model, torch.rand(1, 3, 8, 8))
    torch.jit.save(module, str(path))
    with report.case(f"{kind}: places of nodes"):
        expected, got = of_pytorch(path), of_calque(path)
        assert len(expected) == 8, expected
        for op, place in expected.items():
            assert got.get(op) == place, f"{op}: {got.get(op)}, expected {place}"
    with report.case(f"{kind}: doc_string, if asked for"):
        import onnx
        nodes = onnx.load(str(path.with_suffix(".onnx"))).graph.node
        docs = {node.op_type: node.doc_string for node in nodes}
        assert all(docs[op] == place for op, place in expected.items()), docs
        assert calque("export", path, "--input", "1x3x8x8", "-o",
                      path.with_suffix(".onnx"))[0] == 0
        assert not any(n.doc_string for n in onnx.load(str(path.with_suffix(".onnx"))).graph.node)
    with report.case(f"{kind}: a failure names the user's own line"):
        code, _, error = calque("export", path, "--input", "1x2x8x8", "-o", folder / "no.onnx")
        assert code == 1 and "conv.py:" in error and f"{kind}.pt!" in error, error
        if kind == "script":
            assert "F.conv2d(input, weight, bias" in error, error
        else:
            assert re.search(rf"in the call of .*{HERE}\(\d+\): forward", error), error
    with report.case(f"{kind}: a missing operator names it too"):
        model = make_impossible()
        module = torch.jit.script(model) if kind == "script" else \
            torch.jit.trace(model, torch.rand(2))
        torch.jit.save(module, str(folder / "no.pt"))
        code, _, error = calque("export", folder / "no.pt", "--input", "2", "--opset", "8", "-o",
                                folder / "no.onnx")  # it came with Where, of opset 9
        assert code == 1 and re.search(rf"aten::lgamma .*{HERE}:\d+", error), error


def main():
    report = Report(__file__)
    if not report.needs("torch", "onnx"):
        return report.finish()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in ("script", "trace"):
            check_kind(report, folder, kind)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

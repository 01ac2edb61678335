#!/usr/bin/python3
"""Every layer of torch.nn from model source: calque export model.py, run in ONNX Runtime, compared
with PyTorch's run of the same file. Both draw their initial weights from the same seed, so the
weights have to be bit-equal.
"""
import sys

import numpy as np
import peers
import torch

import layer_cases

SOURCE = """import torch
from torch import nn
from collections import OrderedDict


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(7)
        self.layer = {layer}

    def forward(self, {names}):
        return self.layer({names})
"""

# Layers that are not exported from source, and why.
REFUSED = {
    "Lazy": "its parameters have no shape before the first call",
    "FractionalMaxPool": "calque has no such operator",
    "CTCLoss": "ONNX has no such operator",
}


def make_input(spec):
    if spec.startswith("="):
        return eval(spec[1:], {"torch": torch})
    if spec.startswith("int:"):
        _, high, shape = spec.split(":")
        return torch.randint(0, int(high), [int(n) for n in shape.split("x")])
    return torch.randn([int(n) for n in spec.split("x")])


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value.numpy()]
    return [t for item in value for t in flat(item)] if isinstance(value, (tuple, list)) else []


def check(name, folder):
    text, *specs = BY_NAME[name]
    path = folder / "model.py"
    path.write_text(SOURCE.format(layer=text, names=", ".join("abcd"[:len(specs)])))
    space = {}
    exec(path.read_text(), space)
    net = space["Net"]().eval()
    torch.manual_seed(1)
    inputs = [make_input(spec) for spec in specs]
    words = []
    for i, t in enumerate(inputs):
        np.save(folder / f"{i}.npy", t.numpy())
        words += ["--input", folder / f"{i}.npy"]
    with torch.no_grad():
        expected = flat(net(*[t.clone() for t in inputs]))
    code, _, error = peers.calque("export", path, "--entry", "Net()", "-o", folder / "m.onnx", *words)
    assert code == 0, error
    import onnx
    graph = onnx.load(str(folder / "m.onnx")).graph
    stored = {t.name for t in graph.initializer}
    names = [i.name for i in graph.input if i.name not in stored]
    feeds = {n: t.numpy() for n, t in zip("abcd", inputs) if n in names}
    got = peers.run_ort(str(folder / "m.onnx"), feeds)
    assert len(got) == len(expected), f"{len(got)} results, expected {len(expected)}"
    peers.expect_close(list(got), expected, rtol=1e-4, atol=1e-5)


CASES = [case for case in layer_cases.CASES + (layer_cases.NEWER if torch.__version__ >= "2.4" else [])
         if len(case) > 1 and not any(name in case[0] for name in REFUSED)]
BY_NAME = {" ".join(case): case for case in CASES}

if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, list(BY_NAME), check))

#!/usr/bin/python3
"""calque optimize on layers that exporters decompose: they become one operator of the model's opset
or, with --for onnxruntime, of com.microsoft. ONNX Runtime computes PyTorch's results."""
import collections
import json
import math
import pathlib
import sys
import tempfile

import numpy as np
import torch
from torch import nn

from peers import Report, calque, expect_close, optional, run_ort

onnx = optional("onnx")


class Norm(nn.Module):
    """Layer normalization in plain operators."""

    def __init__(self, affine=True, power=True):
        super().__init__()
        self.w = nn.Parameter(torch.randn(8)) if affine else None
        self.b = nn.Parameter(torch.randn(8)) if affine else None
        self.power = power

    def forward(self, x):
        c = x - x.mean(-1, keepdim=True)
        square = c.pow(2) if self.power else c * c
        y = c / torch.sqrt(square.mean(-1, keepdim=True) + 1e-5)
        return y * self.w + self.b if self.w is not None else y


class Gelu(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.form = form

    def forward(self, x):
        if self.form == "tanh":
            return nn.functional.gelu(x, approximate="tanh")
        t = 1 + torch.erf(x / math.sqrt(2))
        return {"last": x * t * 0.5, "first": x * 0.5 * t, "inner": x * (t * 0.5)}[self.form]


class Residual(nn.Module):
    """A transformer's layer: heads, residuals with biases, normalization behind each part."""

    def __init__(self, scale_first):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(8, 8) for _ in range(4))
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.norms = nn.ModuleList(nn.LayerNorm(8) for _ in range(2))
        self.scale_first = scale_first

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], 2, 4).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = (q * 0.5) @ k.transpose(-1, -2) if self.scale_first else q @ k.transpose(-1, -2) / 2
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape)
        x = self.norms[0](x + self.out(y))
        y = self.down(nn.functional.gelu(self.up(x)))
        return self.norms[1](x + y)


class Rows(nn.Module):
    """A linear layer whose result is flattened."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(x).view(-1, 5).softmax(-1)


# Name, module, opset of the export, opset to convert to, options, operators and how many of them.
CASES = [
    ("LayerNormalization", Norm(), 17, 17, [], {"LayerNormalization": 1}),
    ("LayerNormalization, c * c", Norm(power=False), 17, 17, [], {"LayerNormalization": 1}),
    ("LayerNormalization without weights", Norm(False), 17, 17, [], {"LayerNormalization": 1}),
    ("LayerNormalization before opset 17", Norm(), 13, 13, [], {"LayerNormalization": 0, "Div": 1}),
    *[(f"Gelu, {form}", Gelu(form), 17, 20, [], {"Gelu": 1})
      for form in ("last", "first", "inner", "tanh")],
    ("Gelu before opset 20", Gelu("last"), 17, 17, [], {"Gelu": 0, "Erf": 1}),
    ("Gelu for ONNX Runtime", Gelu("last"), 17, 17, ["--for", "onnxruntime"], {"Gelu": 1}),
    ("FastGelu", Gelu("tanh"), 17, 17, ["--for", "onnxruntime"], {"FastGelu": 1}),
    ("Gemm of rows", Rows(), 17, 17, [], {"Gemm": 1, "MatMul": 0}),
    *[("Transformer for ONNX Runtime", Residual(first), 17, 17, ["--for", "onnxruntime"],
       {"MultiHeadAttention": 1, "SkipLayerNormalization": 2, "BiasGelu": 1, "Softmax": 0, "Erf": 0})
      for first in (False, True)],
    ("Transformer, Attention", Residual(False), 17, 23, [], {"Attention": 1, "Gelu": 1}),
]


def check(folder, net, opset, target, options, wanted):
    torch.manual_seed(0)
    x = torch.randn(2, 6, 8)
    with torch.no_grad():
        torch.onnx.export(net.eval(), x, str(folder / "in.onnx"), opset_version=opset,
                          input_names=["x"], dynamic_axes={"x": {0: "batch"}})
        y = torch.randn(3, 6, 8)
        expected = net(y)
    for words in (["convert", folder / "in.onnx", "--opset", target, "-o", folder / "at.onnx"],
                  ["optimize", folder / "at.onnx", *options, "-o", folder / "out.onnx", "--report",
                   folder / "report.json"]):
        code, _, err = calque(*words)
        assert code == 0, err.strip()[-400:]
    report = json.loads((folder / "report.json").read_text())
    assert report["nodes_after"] == len(onnx.load(str(folder / "out.onnx")).graph.node), report
    found = collections.Counter(n.op_type for n in onnx.load(str(folder / "out.onnx")).graph.node)
    assert {op: found[op] for op in wanted} == wanted, dict(found)
    expect_close(np.asarray(run_ort(folder / "out.onnx", {"x": y.numpy()})[0]), expected.numpy())
    code, out, err = calque("check", folder / "out.onnx")
    assert code == 0, out + err


def main():
    report = Report(__file__)
    if not report.needs("torch", "onnx", "ort"):
        return report.finish()
    for name, *case in CASES:
        with report.case(name), tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder), *case)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""calque convert --to: the result is valid, and ONNX Runtime computes the results of the original,
up to the rounding of the type. With names of models of the benchmark (bench/run.py) as arguments
those are converted, too."""
import pathlib
import sys
import tempfile

import numpy as np
import torch
import torchvision
from torch import nn

from peers import Report, calque, check_onnx, optional, run_ort

onnx = optional("onnx")
FLOAT, HALF = 1, 10


class Overflow(nn.Module):
    """Products beyond float16, which come back into range."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        y = (self.first(x) * 300) ** 2
        return self.last(torch.log1p(y) / 10)


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.norm = nn.Embedding(20, 8), nn.LSTM(8, 8), nn.LayerNorm(8)

    def forward(self, ids):
        y, (h, _) = self.lstm(self.words(ids))
        return self.norm(y), nn.functional.interpolate(h[None], scale_factor=2.0)




def types_of(path):
    graph = onnx.load(str(path)).graph
    return [v.type.tensor_type.elem_type for v in [*graph.input, *graph.output]]


def compare(source, target, feeds, cast=False):
    want = run_ort(source, feeds)
    if cast:
        feeds = {k: v.astype(np.float16) if v.dtype == np.float32 else v for k, v in feeds.items()}
    for got, expected in zip(run_ort(target, feeds), want):
        scale = np.abs(expected).max()
        off = np.abs(np.asarray(got, np.float64) - expected).max()
        assert off <= 0.02 * scale + 1e-6, f"off by {off:.3g} of {scale:.3g}"


def check(folder, net, example, to, options):
    source, target = folder / "in.onnx", folder / "out.onnx"
    with torch.no_grad():
        torch.onnx.export(net.eval(), example, str(source), opset_version=17, input_names=["x"])
    code, _, err = calque("convert", source, "--to", to, "-o", target, *options)
    assert code == 0, err.strip()[-400:]
    check_onnx(target)
    types = types_of(target)
    if "--io" in options:
        assert FLOAT not in types, types
    else:
        assert types == types_of(source), types
    if to == "float16":
        compare(source, target, {"x": example.numpy()}, "--io" in options)


def check_bench(name):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
    import run
    source = run.model_file(name)
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "out.onnx"
        code, _, err = calque("convert", source, "--to", "float16", "-o", target)
        assert code == 0, err.strip()[-400:]
        compare(source, target, run.feeds_of(source))


def main():
    report = Report(__file__)
    if not report.needs("torch", "onnx", "ort"):
        return report.finish()
    torch.manual_seed(0)
    image, ids = torch.randn(1, 3, 64, 64), torch.randint(20, (5, 1))
    cases = [("convolutions", torchvision.models.mobilenet_v3_small(), image),
             ("overflow", Overflow(), torch.randn(4, 8)), ("sequence", Sequence(), ids)]
    for name, net, example in cases:
        for to, options in (("float16", []), ("float16", ["--io"]), ("bfloat16", []),
                            ("float16", ["--keep", "MatMul,Conv"])):
            with report.case(" ".join([name, to, *options])), \
                    tempfile.TemporaryDirectory() as folder:
                check(pathlib.Path(folder), net, example, to, options)
    for name in sys.argv[1:]:
        with report.case(name):
            check_bench(name)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Quantized models, saved by the real PyTorch, exported, and run by ONNX Runtime.

    quantized.py [-v] [CASE …]
"""
import sys
import tempfile
import warnings
from pathlib import Path

import peers
from peers import Report

CASES = {}

def case(make):
    CASES[make.__name__] = make
    return make


# ---- models: (TorchScript, input, what may differ) ----------------------------------------


def calibrated(model, x):
    """The model with static quantization, as PyTorch's guide does it."""
    import torch
    from torch.ao import quantization
    torch.backends.quantized.engine = "onednn"
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model.eval())
    for seed in range(2):
        prepared(torch.rand(4, *x.shape[1:], generator=torch.Generator().manual_seed(seed)))
    return quantization.convert(prepared)


def resnet():
    import torch
    from torchvision.models import quantization
    x = torch.rand(1, 3, 64, 64)
    model = quantization.resnet18(weights=None, quantize=False).eval()
    model.fuse_model()
    return calibrated(model, x), x


@case
def quantized_layers_in_a_row():
    """One grid for all weights of a layer, and steps between the layers that keep the grid."""
    import torch
    from torch import nn
    from torch.ao import quantization
    torch.backends.quantized.engine = "onednn"
    model = nn.Sequential(quantization.QuantStub(), nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(8, 4, 3), nn.Flatten(), nn.Linear(36, 5), nn.ReLU(),
                          quantization.DeQuantStub()).eval()
    model.qconfig = quantization.default_qconfig
    prepared, x = quantization.prepare(model), torch.randn(2, 3, 12, 12)
    prepared(x)
    return torch.jit.trace(quantization.convert(prepared), x), x


@case
def quantized_resnet18_traced():
    import torch
    model, x = resnet()
    return torch.jit.trace(model, x), x


@case
def quantized_resnet18_scripted():
    import torch
    model, x = resnet()
    return torch.jit.script(model), x


def linear(engine):
    import torch
    from torch import nn
    torch.backends.quantized.engine = engine
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
    model = torch.ao.quantization.quantize_dynamic(model.eval(), {nn.Linear})
    return torch.jit.script(model), torch.randn(3, 16)


@case
def dynamically_quantized_linear():
    return linear("onednn")


@case
def dynamically_quantized_linear_of_qnnpack():
    return linear("qnnpack")


@case
def packed_weights_as_an_attribute():
    import torch

    class Packed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.backends.quantized.engine = "onednn"
            weight = torch.quantize_per_tensor(torch.randn(4, 2, 3, 3), 0.1, 0, torch.qint8)
            self.packed = torch.ops.quantized.conv2d_prepack(weight, torch.randn(4), [1, 2], [1, 0],
                                                             [1, 1], 1)

        def forward(self, x):
            x = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
            return torch.ops.quantized.conv2d(x, self.packed, 0.2, 3).dequantize()
    x = torch.randn(1, 2, 6, 6)
    return torch.jit.trace(Packed(), x), x


def recurrent(kind, engine="onednn", **options):
    """Modules of recurrent layers have cells as a list of packed parameters."""
    import torch
    from torch import nn
    torch.backends.quantized.engine = engine

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = getattr(nn, kind)(5, 6, num_layers=2, **options)

        def forward(self, x):
            return self.layer(x)[0]
    model = torch.ao.quantization.quantize_dynamic(Net().eval(), {nn.LSTM, nn.GRU})
    return torch.jit.script(model), torch.randn(7, 3, 5)


@case
def dynamically_quantized_lstm():
    return recurrent("LSTM", bidirectional=True)


@case
def dynamically_quantized_lstm_of_qnnpack():
    return recurrent("LSTM", "qnnpack")


@case
def dynamically_quantized_gru():
    return recurrent("GRU", batch_first=True)


@case
def optimized_for_mobile():
    import torch
    from torch import nn
    from torch.utils.mobile_optimizer import optimize_for_mobile

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 4, 3, stride=(1, 2), padding=1)
            self.up = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
            self.fc = nn.Linear(6, 3)

        def forward(self, x):
            y = nn.functional.hardtanh(self.up(torch.relu(self.conv(x))), -0.5, 0.5)
            return torch.relu(self.fc((y + y).relu()))
    return optimize_for_mobile(torch.jit.script(Net().eval())), torch.randn(1, 2, 6, 6)


# ---- comparing ----------------------------------------------------------------------------


def step_of(values):
    """The least distance of two numbers that are not the same: of a quantized result its scale."""
    import numpy as np
    steps = np.diff(np.unique(values))
    steps = steps[steps > 1e-6]
    return steps.min() if len(steps) else 0


def opsets(name):
    """The default, and the first that has quantized tensors: with a step for each channel, as these
    ResNets, that is opset 13."""
    return (13, 17) if "resnet" in name else (10, 17)


def check(name, folder, opset):
    """Quantized numbers may be one step off: a half may be rounded either way."""
    import numpy as np
    import onnx
    import torch
    torch.manual_seed(0)
    module, x = CASES[name]()
    source, target = folder / "model.pt", folder / "model.onnx"
    module.save(str(source))
    np.save(folder / "x.npy", x.numpy())
    code, _, said = peers.calque("export", source, "--input", folder / "x.npy", "-o", target,
                                 "--opset", opset, "--quantized-engine", torch.backends.quantized.engine, "--verify")
    assert code == 0, said.strip()[-300:]
    peers.check_onnx(target)
    model = onnx.load(str(target))
    with torch.no_grad():
        expected = module(x)
    expected = [w.numpy() for w in (expected if isinstance(expected, tuple) else [expected])]
    got = peers.run_ort(target.read_bytes(), {model.graph.input[0].name: x.numpy()})
    quantized = name.startswith(("quantized", "packed"))
    for g, w in zip(got, expected):
        peers.expect_close(g, w, 1e-3, 1.01 * step_of(w) if quantized else 1e-4, name="result")
    if "resnet" in name:
        assert target.stat().st_size < 1.05 * source.stat().st_size, "weights are not 8 bits wide"


def main():
    warnings.filterwarnings("ignore")
    report = Report(__file__)
    names = [word for word in sys.argv[1:] if word != "-v"] or CASES
    if report.needs("torch", "torchvision", "onnx", "ort"):
        for name, opset in [(name, opset) for name in names for opset in opsets(name)]:
            with report.case(f"{name} at opset {opset}"), tempfile.TemporaryDirectory() as folder:
                check(name, Path(folder), opset)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

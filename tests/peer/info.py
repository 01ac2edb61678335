#!/usr/bin/python3
"""calque info of archives that PyTorch saved: PyTorch accepts the suggested --input, and weights
that became constants or packed parameters are counted.

    info.py [-v]
"""
import json
import pathlib
import shlex
import sys
import tempfile
import warnings

import peers


def models(torch):
    nn = torch.nn

    class TwoInputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 3)

        def forward(self, x, mask):
            return self.fc(x) * mask

    class Indices(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(4, 5)
            self.fc = nn.Linear(5, 2)

        def forward(self, ids, n: int):
            return self.fc(self.table(ids)) * n

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(7, 5, num_layers=2)

        def forward(self, x):
            return self.lstm(x)[0]

    # name: module, and its weights
    return {
        "first Linear": nn.Sequential(nn.Linear(12, 4), nn.ReLU(), nn.Linear(4, 2)),
        "flatten before the first Linear": nn.Sequential(nn.Flatten(), nn.Linear(3 * 20 * 20, 4)),
        "flatten behind convolutions": nn.Sequential(
            nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(16 * 4 * 4, 10)),
        "an odd size behind strides": nn.Sequential(
            nn.Conv2d(4, 8, 3, stride=2), nn.Conv2d(8, 8, 3, stride=2), nn.Flatten(),
            nn.Linear(8 * 23 * 23, 10)),
        "a signal": nn.Sequential(nn.Conv1d(2, 4, 9, stride=3), nn.Flatten(), nn.Linear(4 * 331, 2)),
        "a volume": nn.Sequential(nn.Conv3d(1, 2, 3), nn.AdaptiveAvgPool3d(1)),
        "two inputs": TwoInputs(),
        "indices": Indices(),
        "recurrent": Recurrent(),
    }


def values(torch, words):
    """Converts --input SPECs to PyTorch's arguments."""
    out = []
    for word in words:
        if word == "--input":
            continue
        spec, _, fill = word.partition("=")
        if "[" in spec:
            dtype, sizes = spec.rstrip("]").split("[")
            out.append(torch.zeros([int(s) for s in sizes.split(",") if s], dtype=getattr(torch, dtype)))
        elif "x" in spec:
            out.append(torch.zeros([int(s) for s in spec.split("x")]))
        else:
            out.append(int(spec))
    return out


def info_of(path):
    code, out, err = peers.calque("info", "--json", path)
    assert code == 0, err
    return json.loads(out)


def n_parameters(module):
    return sum(p.numel() for p in module.parameters())


def check_suggestions(report, torch, folder):
    for name, module in models(torch).items():
        with report.case(f"suggested inputs: {name}"):
            path = folder / "model.pt"
            script = torch.jit.script(module.eval())
            script.save(path)
            words = shlex.split(info_of(path)["methods"][0]["to begin with"])
            assert words, "nothing is suggested"
            script(*values(torch, words))
            code, _, err = peers.calque("run", path, *words)
            assert code == 0, f"{words}: {err}"
            code, _, err = peers.calque("export", path, *words, "--verify", "-o", folder / "out.onnx")
            assert code == 0, f"{words}: {err}"


def check_counts(report, torch, folder):
    from torch.utils.mobile_optimizer import optimize_for_mobile

    module = models(torch)["flatten behind convolutions"].eval()
    n, path = n_parameters(module), folder / "model.pt"
    with report.case("parameters: frozen"):
        torch.jit.freeze(torch.jit.script(module)).save(path)
        assert info_of(path)["model"]["parameters"] == n
    with report.case("parameters: packed for phones"):
        optimize_for_mobile(torch.jit.script(module)).save(path)
        assert info_of(path)["model"]["parameters"] == n
    with report.case("parameters: quantized"):
        plain = torch.nn.Sequential(torch.nn.Linear(12, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)).eval()
        torch.jit.script(torch.quantization.quantize_dynamic(plain)).save(path)
        model = info_of(path)["model"]
        assert model["parameters"] == n_parameters(plain), model
        assert "int8" in model["dtypes"], model


def main():
    report = peers.Report(__file__)
    if report.needs("torch"):
        import torch
        warnings.simplefilter("ignore")
        with tempfile.TemporaryDirectory() as folder:
            check_suggestions(report, torch, pathlib.Path(folder))
            check_counts(report, torch, pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

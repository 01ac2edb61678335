#!/usr/bin/python3
"""calque convert --inputs: exports of torch.onnx with batch 1 become dynamic. At batch 3, and at
other heights and lengths, ONNX Runtime computes PyTorch's results. With names of models of the
benchmark (bench/run.py) as arguments, those get a dynamic batch, too."""
import pathlib
import sys
import tempfile

import numpy as np
import torch
from torch import nn

from peers import Report, calque, check_onnx, expect_close, run_ort


class Conv(nn.Module):
    """A constant batch in a view, a grouped shuffle, a resize, a fixed pooling."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.a(x).relu()
        n, c, h, w = x.shape
        x = x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)
        y = nn.functional.interpolate(self.b(x), scale_factor=2.0)
        y = torch.cat([x, y], 1).view(n, 2, c, h * w).mean(1).view(n, c, h, w)
        return self.head(y.mean((2, 3)).view(n, -1)), y


class Attend(nn.Module):
    """A class token that is expanded, positions, heads split and joined."""

    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.places = nn.Parameter(torch.randn(1, 9, 16))
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        n = x.shape[0]
        x = torch.cat([self.token.expand(n, -1, -1), x], 1) + self.places
        q, k, v = self.qkv(x).reshape(n, 9, 3, 4, 4).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-1, -2)).softmax(-1)
        return self.out((a @ v).transpose(1, 2).reshape(n, 9, 16))[:, 0]


class Heads(nn.Module):
    """Sequence first: the batch is the second axis, and is merged with the heads."""

    def __init__(self):
        super().__init__()
        self.q, self.out = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        t, n, d = x.shape
        q = self.q(x).view(t, n * 4, 4).transpose(0, 1)
        y = torch.bmm(torch.bmm(q, q.transpose(1, 2)).softmax(-1), q)
        return self.out(y.transpose(0, 1).reshape(t, n, d)).view(t * n, d)


class Recurrent(nn.Module):
    """Initial states of zeros that were folded into a constant."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(6, 5, 2), nn.GRU(5, 4, batch_first=True)

    def forward(self, x):
        y, _ = self.lstm(x)
        return self.gru(y.transpose(0, 1))[0]


class Tokens(nn.Module):
    """Positions from a table, and a causal mask."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 8), nn.Embedding(12, 8)

    def forward(self, ids):
        t = ids.shape[1]
        x = self.words(ids) + self.places(torch.arange(t))
        mask = torch.full((t, t), -1e4).triu(1)
        return (x @ x.transpose(1, 2) + mask).softmax(-1) @ x


def image(n, h=8, w=8):
    return torch.randn(n, 3, h, w)


# The module, the example, the specification, and other inputs.
CASES = [
    ("batch", Conv, image(1), "batchx3x8x8", [image(3), image(2)]),
    ("height and width", Conv, image(1), "batchx3xHxW", [image(3), image(2, 12, 16)]),
    ("height alone", Conv, image(1), "1x3xHx8", [image(1, 14)]),
    ("fixed", Conv, image(1), "x=4x3x8x8", [image(4)]),
    ("fixed height", Conv, image(1), "x=[2,3,12,8]", [image(2, 12)]),
    ("attention", Attend, torch.randn(1, 8, 16), "batchx8x16", [torch.randn(3, 8, 16)]),
    ("sequence first", Heads, torch.randn(7, 1, 16), "7xbatchx16", [torch.randn(7, 3, 16)]),
    ("recurrent", Recurrent, torch.randn(7, 1, 6), "seqxbatchx6",
     [torch.randn(7, 3, 6), torch.randn(4, 2, 6)]),
    ("batch of two", Conv, image(2), "batchx3x8x8", [image(3)]),
    ("tokens", Tokens, torch.zeros(1, 10, dtype=torch.int64), "batchxlen",
     [torch.randint(20, (3, 10)), torch.randint(20, (2, 6))]),
]


def check(folder, make, example, spec, others):
    torch.manual_seed(0)
    net = make().eval()
    with torch.no_grad():
        torch.onnx.export(net, example, str(folder / "in.onnx"), opset_version=15,
                          input_names=["x"])
    code, _, err = calque("convert", folder / "in.onnx", "--inputs", spec, "-o",
                          folder / "out.onnx")
    assert code == 0, err.strip()[-400:]
    check_onnx(folder / "out.onnx")
    for x in others:
        with torch.no_grad():
            want = net(x)
        want = [want] if torch.is_tensor(want) else list(want)
        for got, expected in zip(run_ort(folder / "out.onnx", {"x": x.numpy()}), want):
            expect_close(np.asarray(got), expected.numpy())


def check_refusal(folder):
    """A linear layer after a flattened image needs the image size: the error names the node."""
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 5)).eval()
    torch.onnx.export(net, image(1), str(folder / "in.onnx"), opset_version=15, input_names=["x"])
    code, _, err = calque("convert", folder / "in.onnx", "--inputs", "x=1x3xHx8", "-o",
                          folder / "out.onnx")
    assert code == 1 and "Gemm" in err and "144" in err, err
    assert not (folder / "out.onnx").exists()
    for bad in ("y=1x3x8x8", "x=1x3x8", "x=1x3x8x-1", "x=1x3x8x"):
        code, _, err = calque("convert", folder / "in.onnx", "--inputs", bad, "-o",
                              folder / "out.onnx")
        assert code in (1, 2) and err.startswith("error"), (bad, err)


BATCH_AXES = {"word_": 1, "gpt2_decode cache": 2}  # of other models and inputs it is 0


def batch_axis(name, value):
    return next((axis for key, axis in BATCH_AXES.items() if f"{name} {value}".startswith(key)), 0)


def sample_of(output, alone, i):
    """Sample i of an output of three; alone is the output for that sample alone."""
    axis = next(k for k, (a, b) in enumerate(zip(output.shape, alone.shape)) if a != b)
    assert output.shape[axis] == 3 * alone.shape[axis], (output.shape, alone.shape)
    size = alone.shape[axis]  # a sequence of steps, each with three samples
    parts = output.reshape(*output.shape[:axis], size, 3, *output.shape[axis + 1:])
    return np.take(parts, i, axis + 1)


def own_difference(source, feeds):
    """The difference of ONNX Runtime's results with and without its optimizations, relative to the
    largest."""
    import ort
    plain, fast = ([np.asarray(y) for y in ort.Session(str(source), optimize=level).run(feeds)]
                   for level in ("none", "all"))
    return max(np.abs(a - b).max() / np.abs(a).max() for a, b in zip(plain, fast))


def check_bench(name, folder):
    """The results of three samples at once are equal to those of the original for each sample."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
    import run
    source, target = run.model_file(name), folder / "out.onnx"
    axes, specs = {}, []
    feeds = run.feeds_of(source)
    for value, x in feeds.items():
        axes[value] = batch_axis(name, value)
        sizes = [str(n) for n in x.shape]
        assert sizes[axes[value]] == "1", sizes
        sizes[axes[value]] = "batch"
        specs += ["--inputs", f"{value}=[{','.join(sizes)}]"]
    code, _, err = calque("convert", source, *specs, "-o", target, timeout=600)
    assert code == 0, err.strip()[-400:]
    assert "right at batch" in err, err
    batch, limit = {k: np.repeat(x, 3, axes[k]) for k, x in feeds.items()}, 2e-4
    if b"ReduceMin" in source.read_bytes():
        # Dynamic quantization has one range for all samples, so these are equal. It amplifies rounding.
        limit = own_difference(source, feeds)
    else:
        random = np.random.default_rng(0)
        batch = {k: random.permuted(x, axis=None) for k, x in batch.items()}
    outputs = run_ort(target, batch)
    for i in range(3):
        alone = run_ort(source, {k: np.take(x, [i], axes[k]) for k, x in batch.items()})
        for got, want in zip(outputs, alone):
            got = sample_of(np.asarray(got), np.asarray(want), i)
            off, scale = np.abs(got - want).max(), np.abs(want).max()
            assert off <= limit * scale + 1e-6, f"sample {i} is off by {off:.3g} of {scale:.3g}"


def main():
    report = Report(__file__)
    if not report.needs("torch", "onnx", "ort"):
        return report.finish()
    for name, *case in CASES:
        with report.case(name), tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder), *case)
    for name in sys.argv[1:]:
        with report.case(name), tempfile.TemporaryDirectory() as folder:
            check_bench(name, pathlib.Path(folder))
    with report.case("refusals"), tempfile.TemporaryDirectory() as folder:
        check_refusal(pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

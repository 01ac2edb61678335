#!/usr/bin/python3
"""Models of PyTorch that are drawn at random and traced: layers of every kind on tensors of any rank, with numbers of channels
that no vector has, reductions, changes of shape, broadcasting. calque exports each; its own runtime and ONNX Runtime have
to give PyTorch's results, and where the trace takes a larger example, those of an export with dynamic axes as well; a
test-case has PyTorch's gradients.

    random_models.py [SEED …]
"""
import json
import pathlib
import random
import sys
import tempfile
import warnings

import numpy as np

from fused import run_calque
from peers import Report, calque, expect_close, run_ort

N_MODELS = 60
MAX_STEPS, MAX_TRIES, MAX_ELEMENTS = 10, 200, 20000
CLOSE = 2e-3  # of the largest number: Winograd's transforms, folded normalisations
SHAPES = [(2, 3, 12, 12), (1, 8, 9, 9), (2, 13, 8, 7), (3, 16, 6, 6), (2, 5, 10), (4, 7), (2, 4, 5, 6, 5)]


class Draw(random.Random):
    """What a model may be made of: each method gives a function of tensors for one that is there. What does not fit
    fails in PyTorch, and is drawn again."""

    def of(self, *choices):
        return self.choice(choices)

    def dim(self, t):
        return self.randrange(-t.dim(), t.dim())

    def spatial(self, t, kind):
        from torch import nn
        return getattr(nn, f"{kind}{t.dim() - 2}d")

    def conv(self, t):
        groups = self.of(1, 1, 1, t.shape[1], 2)
        out = groups * self.of(1, 2) if groups > 1 else self.of(1, 3, 8, 13, 16, 24)
        padding = self.of(0, 1, 2)
        mode = self.of("zeros", "zeros", "reflect", "replicate", "circular") if padding else "zeros"
        return self.spatial(t, "Conv")(t.shape[1], out, self.of(1, 2, 3, 3, 5), self.of(1, 1, 2), padding,
                                       self.of(1, 1, 2), groups, self.of(True, False), mode)

    def transposed(self, t):
        kernel, stride = self.of((2, 2), (3, 2), (4, 2), (3, 1))
        return self.spatial(t, "ConvTranspose")(t.shape[1], self.of(1, 3, 8, 20), kernel, stride, self.of(0, 1),
                                                self.of(0, stride - 1), 1, self.of(True, False))

    def norm(self, t):
        from torch import nn
        kind = self.of("batch", "instance", "group", "layer")
        if kind == "batch":
            layer = self.spatial(t, "BatchNorm")(t.shape[1])
            layer.running_mean.normal_()
            layer.running_var.uniform_(0.5, 2)
            return layer
        if kind == "instance":
            return self.spatial(t, "InstanceNorm")(t.shape[1], affine=self.of(True, False))
        if kind == "group":
            return nn.GroupNorm(self.of(1, 2, t.shape[1]), t.shape[1])
        return nn.LayerNorm(t.shape[-self.of(1, 2):])

    def activation(self, t):
        from torch import nn
        return self.of(nn.ReLU, nn.SiLU, nn.GELU, nn.Hardswish, nn.Sigmoid, nn.Tanh, nn.ELU, nn.LeakyReLU, nn.Softplus,
                       nn.Mish, nn.Hardsigmoid, nn.ReLU6, nn.SELU, nn.LogSigmoid, nn.Softsign, nn.Hardtanh,
                       lambda: nn.PReLU(self.of(1, t.shape[1])))()

    def pool(self, t):
        kind = self.of("MaxPool", "AvgPool", "AdaptiveMaxPool", "AdaptiveAvgPool")
        if kind.startswith("Adaptive"):
            return self.spatial(t, kind)(self.of(1, 1, 2))
        options = {"dilation": self.of(1, 1, 2)} if kind == "MaxPool" else {"count_include_pad": self.of(True, False)}
        return self.spatial(t, kind)(self.of(2, 3), self.of(1, 2), self.of(0, 1), ceil_mode=self.of(True, False),
                                     **options)

    def reduced(self, t):
        kind, keep, unbiased = self.of("mean", "mean", "mean", "sum", "amax", "amin", "var", "norm", "logsumexp", "prod",
                                       "max", "any"), self.of(True, False), self.of(True, False)
        dims = [2, 3] if t.dim() == 4 and self.of(0, 1) else sorted(
            self.sample(range(t.dim()), min(self.of(1, 2, 2, 3), t.dim())))
        one = dims[0]
        return {"var": lambda x: x.var(dims, unbiased, keep), "norm": lambda x: x.norm(2, dims, keep),
                "prod": lambda x: x.prod(one, keep), "max": lambda x: x.max(one, keep)[0],
                "any": lambda x: (x > 1).any(one, keep).float()
                }.get(kind, lambda x: getattr(x, kind)(dims, keep))

    def shaped(self, t):
        import torch
        import torch.nn.functional as F
        d, other, n, by = self.dim(t), self.dim(t), max(1, t.shape[self.dim(t)]), self.of(2, 3)
        start, order = self.randrange(n), self.sample(range(t.dim()), t.dim())
        place, count, part = self.randrange(-n, n), self.randrange(1, n + 1), self.randrange(1, n + 1)
        pads = [self.randrange(3) for _ in range(4 if t.dim() == 4 else 2)]
        mode, resize = self.of("constant", "reflect", "replicate"), self.of("nearest", "bilinear", "bicubic")
        corners, scale = self.of(True, False) if resize != "nearest" else None, self.of(2.0, 1.5, 0.5)
        rows = torch.tensor([self.randrange(n) for _ in range(3)])
        repeats = [self.of(1, 2) for _ in range(t.dim())]
        return self.of(
            lambda x: x.flatten(min(d, other), max(d, other)), lambda x: x.permute(order),
            lambda x: x.transpose(d, other), lambda x: x.unsqueeze(d), lambda x: x.squeeze(d),
            lambda x: x.reshape(x.shape[0], -1), lambda x: x.unsqueeze(0).expand(2, *[-1] * t.dim()),
            lambda x: x.flip([d]), lambda x: x.roll(place, d), lambda x: F.pad(x, pads, mode),
            lambda x: x.narrow(d, start, part), lambda x: x[..., ::by], lambda x: x.select(d, place),
            lambda x: x.chunk(by, d)[-1], lambda x: x.split(part, d)[0], lambda x: x.unfold(d, part, 1),
            lambda x: x.reshape(x.shape[0], by, x.shape[1] // by, *x.shape[2:]).transpose(1, 2).reshape(x.shape),
            lambda x: F.pixel_shuffle(x, 2), lambda x: F.pixel_unshuffle(x, 2), lambda x: x.repeat(repeats),
            lambda x: x.tril(), lambda x: x.movedim(d, other),
            lambda x: F.interpolate(x, scale_factor=scale, mode=resize, align_corners=corners),
            lambda x: x.index_select(d, rows), lambda x: x.gather(d, x.argsort(d)), lambda x: x.cumsum(d),
            lambda x: x.topk(count, d)[0], lambda x: x.sort(d)[0], lambda x: torch.stack([x, x * 2], d))

    def unary(self, t):
        import torch
        import torch.nn.functional as F
        return self.of(torch.exp, torch.sin, torch.erf, torch.abs, torch.neg, torch.expm1,
                       lambda x: x.clamp(-1, 1), lambda x: x.clamp(min=0.0), lambda x: x ** 2,
                       lambda x: (x.abs() + 1).log(), lambda x: x / (1 + x.abs()),
                       lambda x: torch.where(x > 0, x, -x * 0.1), lambda x: x.masked_fill(x > 1, 0.0),
                       lambda x: x.softmax(-1), lambda x: x.log_softmax(1), lambda x: torch.rsqrt(x.abs() + 1),
                       lambda x: x.sigmoid() * x, lambda x: F.normalize(x, dim=1), lambda x: torch.atan2(x, x + 3))

    def binary(self, t):
        import torch
        return self.of(torch.add, torch.mul, torch.sub, torch.maximum, torch.minimum,
                       lambda a, b: a / (b.abs() + 1), lambda a, b: torch.where(a > b, a, b))

    def joined(self, t):
        import torch
        d = self.dim(t)
        return lambda a, b: torch.cat([a, b], d)

    def product(self, t):
        return lambda a, b: a.matmul(b) / 4

    def linear(self, t):
        from torch import nn
        return nn.Linear(t.shape[-1], self.of(1, 4, 10, 16), self.of(True, False))

    def gate(self, t):
        """Squeeze and excite."""
        from torch import nn
        few = max(1, t.shape[1] // 2)
        mean = nn.AdaptiveAvgPool2d(1) if self.of(0, 1) else None

        class Gate(nn.Module):
            def __init__(self):
                super().__init__()
                self.mean, self.a, self.b = mean, nn.Conv2d(t.shape[1], few, 1), nn.Conv2d(few, t.shape[1], 1)

            def forward(self, x):
                y = self.mean(x) if self.mean else x.mean((2, 3), keepdim=True)
                return x * self.b(self.a(y).relu()).sigmoid()
        return Gate()

    def recurrent(self, t):
        from torch import nn
        layer = self.of(nn.LSTM, nn.GRU, nn.RNN)(t.shape[-1], self.of(3, 8), self.of(1, 2),
                                                 batch_first=self.of(True, False), bidirectional=self.of(True, False))
        if t.dim() != 3:
            raise ValueError("no sequence")

        class First(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer

            def forward(self, x):
                return self.layer(x)[0]
        return First()

    def attention(self, t):
        from torch import nn

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k = nn.Linear(t.shape[-1], 8), nn.Linear(t.shape[-1], 8)

            def forward(self, x):
                q, k = self.q(x), self.k(x)
                return (q @ k.transpose(-1, -2) / 8 ** 0.5).softmax(-1) @ k
        return Attention()

    def layer(self, t):
        """A function, and how many tensors it takes."""
        one = [self.conv] * 3 + [self.activation, self.reduced, self.shaped] * 2 + [
            self.transposed, self.norm, self.pool, self.shaped, self.unary, self.linear, self.gate, self.recurrent,
            self.attention]
        two = [self.binary, self.binary, self.joined, self.product]
        what = self.choice(one + two)
        return what(t), 1 + (what in two)


def model_of(draw):
    """A module and an example for it."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps, self.layers = [], torch.nn.ModuleList()

        def forward(self, x):
            values = [x]
            for layer, inputs in self.steps:
                values.append(layer(*[values[i] for i in inputs]))
            used = {i for _, inputs in self.steps for i in inputs}
            return tuple(v for i, v in enumerate(values) if i and i not in used)

    def usable(y):
        """Not what a normalisation would make large, and argmax take for different: constants up to
        rounding."""
        return (0 < y.numel() <= MAX_ELEMENTS and y.dim() <= 6 and y.dtype == torch.float32 and
                bool(torch.isfinite(y).all()) and y.abs().max() <= 1e4 and (y.numel() == 1 or y.std() > 1e-2))

    x = torch.randn(draw.choice(SHAPES))
    model, values = Model(), [x]
    for _ in range(MAX_TRIES):
        if len(model.steps) == MAX_STEPS:
            break
        at = len(values) - 1 if draw.random() < 0.75 else draw.randrange(len(values))
        try:
            layer, n = draw.layer(values[at])
            if isinstance(layer, torch.nn.Module):
                layer.eval()
            inputs = [at, *[draw.randrange(len(values)) for _ in range(n - 1)]]
            y = layer(*[values[i] for i in inputs])
        except (RuntimeError, ValueError, IndexError, TypeError, AttributeError, AssertionError, NotImplementedError):
            continue
        if usable(y):
            model.steps.append((layer, inputs))
            values.append(y)
            if isinstance(layer, torch.nn.Module):
                model.layers.append(layer)
    return model.eval(), x


def export(folder, opset, axes=None):
    more = ["--dynamic-axes", json.dumps({"x": axes})] if axes else []
    code, _, error = calque("export", folder / "model.pt", "--input", folder / "x.npy", "--input-names", "x", "--opset",
                            str(opset), "-q", "-o", folder / "model.onnx", *more)
    assert code == 0, "export: " + " ".join(error.split())
    return (folder / "model.onnx").read_bytes()


def compare(data, x, wanted, what):
    wanted = [np.asarray(w) for w in wanted]
    got = run_calque(data, [x], len(wanted))
    for name, results in ((f"{what}, calque", got), (f"{what}, ONNX Runtime", run_ort(data, {"x": x}, "basic"))):
        for i, (result, expected) in enumerate(zip(results, wanted)):
            limit = CLOSE * max(1, float(np.abs(expected).max()))
            expect_close(result, expected, rtol=CLOSE, atol=limit, name=f"{name}, output {i}")


def check_gradients(folder, model, x):
    """Of all parameters by the sum of the outputs, in a test-case."""
    import onnx
    import onnx.numpy_helper
    import torch
    outputs = [y.sum() for y in model(x) if y.requires_grad]
    if not outputs:
        return
    names, params = zip(*model.named_parameters())
    wanted = torch.autograd.grad(sum(outputs), params, allow_unused=True)
    code, _, error = calque("testcase", folder / "model.pt", folder / "case", "--input", folder / "x.npy", "--grad")
    assert code == 0, "testcase: " + " ".join(error.split())
    got = {}
    for path in (folder / "case/test_data_set_0").glob("gradient_[0-9]*.pb"):
        tensor = onnx.TensorProto.FromString(path.read_bytes())
        got[tensor.name] = onnx.numpy_helper.to_array(tensor)
    largest = max([1.0] + [float(w.abs().max()) for w in wanted if w is not None])  # what is zero is rounding
    for name, expected in zip(names, wanted):
        if expected is not None:
            expect_close(got[name], expected.numpy(), rtol=CLOSE, atol=CLOSE * largest, name=f"gradient of {name}")


def check(seed, folder):
    import torch
    draw = Draw(seed)
    torch.manual_seed(seed)
    with torch.no_grad():
        model, x = model_of(draw)
        traced, opset = torch.jit.trace(model, x, check_trace=False), draw.of(11, 13, 17, 18, 20)
        torch.jit.save(traced, str(folder / "model.pt"))
        np.save(folder / "x.npy", x.numpy())
        compare(export(folder, opset), x.numpy(), traced(x), f"opset {opset}")
        with torch.enable_grad():
            check_gradients(folder, model, x)
        axes = [0] if draw.of(0, 1) else [d for d in range(x.dim()) if d != 1 or draw.of(0, 0, 1)]
        larger = torch.randn([n + (d in axes) for d, n in enumerate(x.shape)])
        try:
            wanted = traced(larger)
        except RuntimeError:  # sizes are part of the trace
            return
        data = export(folder, opset, {str(d): f"d{d}" for d in axes})
        compare(data, larger.numpy(), wanted, f"opset {opset}, axes {axes}")


def main():
    report = Report(__file__)
    seeds = [int(arg) for arg in sys.argv[1:]] or range(N_MODELS)
    warnings.simplefilter("ignore")
    if report.needs("torch", "onnx", "ort"):
        for seed in seeds:
            with report.case(f"model {seed}"), tempfile.TemporaryDirectory() as folder:
                check(seed, pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Gradients of whole models equal those of the real PyTorch: of archives, by test cases written by
the command line, and of built-in models with the same weights, by the C API.

    gradients.py [MODEL …]
"""
import pathlib
import sys
import tempfile

import capi
import peers

RTOL, ATOL = 1e-3, 1e-5
# In float32, a ReLU with an argument near zero may pass a gradient in one program and not in the
# other, and normalisation of a small batch amplifies that: PyTorch's float32 and float64 results
# differ by a percent. So archives are compared in float64 (except AlexNet, which is large and has
# no normalisation). Modules in float32 are compared with PyTorch's float64, and the tolerance is
# the error of PyTorch's float32.
NOISE = 2
IN_FLOAT = ("alexnet",)


# Models with dropout, which are random in training only.
DROPS = ("alexnet",)


def models():
    """name -> (model, inputs, whether it is scripted), in float32."""
    import torch
    import torchvision

    class Tagger(torch.nn.Module):
        """Words to tags, by an LSTM of two layers in both directions."""

        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(30, 8)
            self.lstm = torch.nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
            self.unused = torch.nn.Linear(2, 2)
            self.tags = torch.nn.Linear(12, 5)

        def forward(self, x):
            y, _ = self.lstm(self.words(x))
            return torch.log_softmax(self.tags(y), dim=-1)

    class Steps(torch.nn.Module):
        """Data-dependent branches and loops, in-place operators and views."""

        def __init__(self):
            super().__init__()
            self.cell = torch.nn.GRUCell(4, 4)
            self.scale = torch.nn.Parameter(torch.tensor([0.5, -1.0, 2.0, 1.5]))

        def forward(self, x):
            out = torch.zeros(x.size(0), x.size(1), 4, dtype=x.dtype)
            h = torch.zeros(x.size(1), 4, dtype=x.dtype)
            for i in range(x.size(0)):
                h = self.cell(x[i], h)
                if bool(h.sum() > 0):
                    h = h * self.scale
                else:
                    h = h.clone().mul_(2)
                out[i] = h
            out[:, 0] += self.scale
            out[-1].relu_()
            while bool(out.abs().sum() < 100):
                out = out * 3
            return out, h.detach() * h

    def encoder():
        layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
        return torch.nn.TransformerEncoder(layer, 2)

    def without_dropout(net):
        for module in net.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        return net

    def make(maker, *inputs, scripted=False):
        torch.manual_seed(0)
        return maker(), inputs, scripted

    small = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(1))
    vision = torchvision.models
    return {
        "alexnet": make(lambda: without_dropout(vision.alexnet()), small),
        "resnet18": make(vision.resnet18, small),
        "densenet121": make(vision.densenet121, small),
        "lstm": make(Tagger, torch.arange(14).reshape(2, 7) * 5 % 30),
        "transformer": make(encoder, small[:, 0, :5, :16].contiguous()),
        "steps": make(Steps, small[:3, 0, :3, :4].contiguous(), scripted=True),
    }


def wanted(net, inputs):
    """name -> gradient, or None; from ones at every output."""
    import torch
    net.zero_grad()
    outputs = net(*inputs)
    outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
    torch.autograd.backward(outputs, [torch.ones_like(y) for y in outputs])
    return {name: None if p.grad is None else p.grad.numpy().copy()
            for name, p in net.named_parameters()}


def in_double(net, inputs):
    import copy
    import torch
    return copy.deepcopy(net).double(), [x.double() if x.is_floating_point() else x for x in inputs]


def save(net, inputs, scripted, folder):
    """The model as an archive, with its inputs as files; what a trace changes is put back."""
    import copy
    import numpy
    import torch
    twin = copy.deepcopy(net)
    program = torch.jit.script(twin) if scripted else \
        torch.jit.trace(twin, tuple(inputs), check_trace=False)
    program.load_state_dict(net.state_dict())
    program.save(str(folder / "net.pt"))
    for i, x in enumerate(inputs):
        numpy.save(folder / f"input_{i}.npy", x.numpy())


def check_archive(net, inputs, scripted, training, folder, double):
    net.train(training)
    if double:
        net, inputs = in_double(net, inputs)
    save(net, inputs, scripted, folder)
    expected = wanted(net, inputs)
    code, _, errors = peers.calque("testcase", folder / "net.pt", folder / "case", "--grad",
                                   "--example", folder, "--training",
                                   "train" if training else "eval")
    assert code == 0, f"exit code {code}: {errors}"
    data = folder / "case" / "test_data_set_0"
    for i, (key, gradient) in enumerate(expected.items()):
        path = data / f"gradient_{i}.pb"
        if gradient is None:
            assert not path.exists(), f"{key} has a gradient, but PyTorch has none"
            assert key in errors, f"no warning about {key}: {errors}"
            continue
        peers.expect_close(peers.load_pb(path), gradient, rtol=RTOL, atol=ATOL, name=key)
    assert len(list(data.glob("gradient_[0-9]*.pb"))) == sum(g is not None for g in expected.values())
    assert (peers.load_pb(data / "gradient_input_0.pb") == 1).all()


def check_module(name, net, inputs, training):
    module, _ = capi.zoo(name)
    module.load(net.state_dict())
    expected = wanted(*in_double(net.train(training), inputs))
    got = module.gradients(inputs, training=int(training))
    theirs = wanted(net, inputs)
    assert list(got) == list(expected)
    for key, gradient in expected.items():
        noise = NOISE * abs(theirs[key] - gradient).max()
        peers.expect_close(got[key], gradient.astype("float32"), rtol=RTOL, atol=ATOL + noise,
                           name=key)


def check_rules(report):
    """Files of pytorch-pfn-extras: names, numbers, given gradients, stripped ones."""
    import numpy
    import onnx
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(3, 12)
            self.unused = torch.nn.Parameter(torch.ones(2))
            self.second = torch.nn.Linear(12, 2)

        def forward(self, x):
            y = self.first(x)
            with torch.no_grad():
                z = y * 100
            return self.second(y), y + z

    torch.manual_seed(0)
    net, x = Net(), torch.randn(4, 3)
    seeds = [torch.randn(4, 2), torch.randn(4, 12)]
    torch.autograd.backward(net(x), seeds)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        data = folder / "case" / "test_data_set_0"
        save(net, [x], True, folder)
        for i, seed in enumerate(seeds):
            numpy.save(folder / f"gradient_input_{i}.npy", seed.numpy())
        code, _, errors = peers.calque("testcase", folder / "net.pt", folder / "case", "--grad",
                                       "--example", folder, "--grad-input", folder,
                                       "--output-names", "a", "--strip-large-tensor-data",
                                       "--large-tensor-threshold", "30")
        protos = {path.name: onnx.TensorProto.FromString(path.read_bytes())
                  for path in data.glob("gradient*.pb")}
        with report.case("given gradients of outputs"):
            assert code == 0, errors
            parameters = dict(net.named_parameters())
            for name in ("first.bias", "second.weight", "second.bias"):
                number = list(parameters).index(name)
                peers.expect_close(peers.to_array(protos[f"gradient_{number}.pb"]),
                                   parameters[name].grad.numpy(), rtol=RTOL, atol=ATOL, name=name)
            peers.expect_close(peers.to_array(protos["gradient_input_0.pb"]), seeds[0].numpy())
        with report.case("names and numbers"):
            names = {f"gradient_{i}.pb": name for i, name in enumerate(parameters)}
            assert not (data / f"gradient_{list(parameters).index('unused')}.pb").exists()
            assert "unused" in errors, errors
            assert all(proto.name == names[file] for file, proto in protos.items()
                       if file in names)
            assert protos["gradient_input_0.pb"].name == "a"
            assert protos["gradient_input_1.pb"].name == ""
            assert len(protos) == 4 + 2, list(protos)
        with report.case("large gradients are stripped"):
            large = protos[f"gradient_{list(parameters).index('first.weight')}.pb"]
            assert large.data_location == onnx.TensorProto.EXTERNAL and not large.raw_data
            assert protos["gradient_input_1.pb"].data_location == onnx.TensorProto.EXTERNAL
        with report.case("a warning about evaluation, and none in training"):
            assert "evaluation" in errors, errors
            _, _, errors = peers.calque("testcase", folder / "net.pt", folder / "case", "--grad",
                                        "--example", folder, "--training", "train")
            assert "evaluation" not in errors, errors


def main():
    report = peers.Report(__file__)
    if not report.needs("torch", "torchvision", "onnx"):
        return report.finish()
    import torch
    torch.set_num_threads(peers.JOBS)
    check_rules(report)
    zoo = {model.name.decode() for model in capi.zoo_models()}
    for name, (net, inputs, scripted) in models().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        for training in (False,) if name in DROPS else (False, True):
            mode = "train" if training else "eval"
            with report.case(f"{name} as an archive, {mode}"), \
                    tempfile.TemporaryDirectory() as folder:
                check_archive(net, inputs, scripted, training, pathlib.Path(folder),
                              name not in IN_FLOAT)
            if name in zoo:
                with report.case(f"{name} in C, {mode}"):
                    check_module(name, net, inputs, training)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

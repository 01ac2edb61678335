#!/usr/bin/python3
"""The models of the zoo against torchvision and against the models of pytorch/examples, which are
written down here once more in Python: the names of their state, their results with PyTorch's
weights, and their exports in the eyes of the onnx checker and of ONNX Runtime.

    zoo.py [MODEL …]
"""
import concurrent.futures
import contextlib
import math
import os
import sys
import tempfile
import time

import peers
from peers import JOBS, Report, check_onnx, expect_close

OPSETS = [9, 11, 13, 17]
# Those whose results are compared with PyTorch's own.
WITH_WEIGHTS = ["alexnet", "resnet18", "densenet121", "inception_v3", "dcgan_generator",
                "dcgan_discriminator", "super_resolution", "word_rnn", "word_lstm", "word_gru",
                "word_transformer"]
OTHER_BATCH = 3
# Errors of a hundred layers add up.
AGAINST_TORCH = {"rtol": 1e-3, "atol": 1e-4}
AGAINST_ORT = {"rtol": 1e-3, "atol": 1e-5}


# ---- the models of pytorch/examples, from their architecture --------------------------


def examples():
    import torch
    from torch import nn

    class Generator(nn.Module):
        def __init__(self):
            super().__init__()
            layers = [nn.ConvTranspose2d(100, 512, 4, 1, 0, bias=False)]
            for width, then in ((512, 256), (256, 128), (128, 64), (64, 3)):
                layers += [nn.BatchNorm2d(width), nn.ReLU(True),
                           nn.ConvTranspose2d(width, then, 4, 2, 1, bias=False)]
            self.main = nn.Sequential(*layers, nn.Tanh())

        def forward(self, x):
            return self.main(x)

    class Discriminator(nn.Module):
        def __init__(self):
            super().__init__()
            layers = [nn.Conv2d(3, 64, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True)]
            for width in (64, 128, 256):
                layers += [nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False),
                           nn.BatchNorm2d(2 * width), nn.LeakyReLU(0.2, inplace=True)]
            self.main = nn.Sequential(*layers, nn.Conv2d(512, 1, 4, 1, 0, bias=False), nn.Sigmoid())

        def forward(self, x):
            return self.main(x).view(-1, 1).squeeze(1)

    class SuperResolution(nn.Module):
        def __init__(self, factor=3):
            super().__init__()
            self.relu = nn.ReLU()
            self.conv1 = nn.Conv2d(1, 64, 5, 1, 2)
            self.conv2 = nn.Conv2d(64, 64, 3, 1, 1)
            self.conv3 = nn.Conv2d(64, 32, 3, 1, 1)
            self.conv4 = nn.Conv2d(32, factor ** 2, 3, 1, 1)
            self.pixel_shuffle = nn.PixelShuffle(factor)

        def forward(self, x):
            for conv in (self.conv1, self.conv2, self.conv3):
                x = self.relu(conv(x))
            return self.pixel_shuffle(self.conv4(x))

    class Words(nn.Module):
        def __init__(self, kind, words=33278, size=200):
            super().__init__()
            self.drop = nn.Dropout(0.5)
            self.encoder = nn.Embedding(words, size)
            self.rnn = getattr(nn, kind)(size, size, 2, dropout=0.5)
            self.decoder = nn.Linear(size, words)

        def forward(self, x, *states):
            y, h = self.rnn(self.drop(self.encoder(x)), states if len(states) > 1 else states[0])
            y = self.decoder(self.drop(y)).view(-1, self.decoder.out_features)
            return (torch.log_softmax(y, 1), *(h if isinstance(h, tuple) else [h]))

    class Positions(nn.Module):
        def __init__(self, size, longest=5000):
            super().__init__()
            self.dropout = nn.Dropout(0.5)
            at = torch.arange(longest).float().unsqueeze(1)
            angle = at * torch.exp(torch.arange(0, size, 2).float() * (-math.log(10000.0) / size))
            pe = torch.stack([angle.sin(), angle.cos()], 2).reshape(longest, 1, size)
            self.register_buffer("pe", pe)

        def forward(self, x):
            return self.dropout(x + self.pe[:x.shape[0]])

    class Transformer(nn.Module):
        def __init__(self, words=33278, size=200):
            super().__init__()
            self.size = size
            self.pos_encoder = Positions(size)
            layer = nn.TransformerEncoderLayer(size, 2, size, 0.5)
            self.transformer_encoder = nn.TransformerEncoder(layer, 2)
            self.encoder = nn.Embedding(words, size)
            self.decoder = nn.Linear(size, words)

        def forward(self, x):
            mask = torch.triu(torch.full((len(x), len(x)), -math.inf), 1)
            y = self.pos_encoder(self.encoder(x) * math.sqrt(self.size))
            return torch.log_softmax(self.decoder(self.transformer_encoder(y, mask)), -1)

    return {"dcgan_generator": Generator, "dcgan_discriminator": Discriminator,
            "super_resolution": SuperResolution, "word_rnn": lambda: Words("RNN"),
            "word_lstm": lambda: Words("LSTM"), "word_gru": lambda: Words("GRU"),
            "word_transformer": Transformer}


def theirs(name):
    import torchvision.models
    own = examples()
    if name in own:
        return own[name]()
    options = {"init_weights": True} if name == "inception_v3" else {}
    return getattr(torchvision.models, name)(weights=None, **options)


@contextlib.contextmanager
def no_initial_values():
    """Inside, torch's modules are made without drawing numbers, for a look at their names."""
    from torch.nn import init
    saved = {name: getattr(init, name) for name in dir(init)
             if name.endswith("_") and not name.startswith("_")}
    for name in saved:
        setattr(init, name, lambda tensor, *args, **kwargs: tensor)
    try:
        yield
    finally:
        for name, function in saved.items():
            setattr(init, name, function)


# ---- inputs ---------------------------------------------------------------------------


def inputs_of(model, batch=None):
    import numpy as np
    rng, out = np.random.default_rng(1), []
    for i in model.inputs[:model.n_inputs]:
        shape = list(i.sizes[:i.rank])
        if batch and i.batch_axis >= 0:
            shape[i.batch_axis] = batch
        out.append(rng.integers(0, i.below, shape) if i.below else
                   rng.normal(size=shape).astype(np.float32))
    return out


def dynamic_axes(model):
    axes = [(i.name.decode(), i.batch_axis, "batch") for i in model.inputs[:model.n_inputs]
            if i.batch_axis >= 0]
    return axes + [(model.output_names[i].decode(), model.output_batch_axes[i], "batch")
                   for i in range(model.n_outputs) if model.output_batch_axes[i] >= 0]


# ---- the tests ------------------------------------------------------------------------


def test_state(report, name, net):
    with report.case(f"{name}: state"):
        with no_initial_values():
            twin = theirs(name)
        expected = [(key, str(t.dtype)[6:], tuple(t.shape)) for key, t in twin.state_dict().items()]
        got = net.state_shapes()
        for one, other in zip(got, expected):
            assert one == other, f"{one}, expected {other}"
        assert len(got) == len(expected), f"{len(got)} tensors, expected {len(expected)}"


def settle(twin, inputs):
    """Runs the model in training once: batch norms know what comes to them then, so that numbers
    keep their size through all layers, as in a model that was trained."""
    import torch

    norms = [m for m in twin.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
    if norms:
        with torch.no_grad():
            twin.train()(*map(torch.from_numpy, inputs))


def test_weights(report, name, net, model):
    """PyTorch's weights, written as .npy files, give PyTorch's results."""
    import capi
    import torch

    with report.case(f"{name}: results with PyTorch's weights"):
        torch.manual_seed(1)
        twin = theirs(name)
        if name == "inception_v3":
            # Untrained, normalised layers would blow up rounding errors, in PyTorch as well. As
            # they are, numbers grow to 1e12, and the last layer brings them back to about 1.
            twin.fc.weight.data *= 1e-12
        else:
            settle(twin, inputs_of(model, OTHER_BATCH))
        twin.eval()
        with tempfile.TemporaryDirectory() as folder:
            net.load_npy(capi.temporary_npy(folder, twin.state_dict()))
        inputs = inputs_of(model)
        with torch.no_grad():
            expected = twin(*map(torch.from_numpy, inputs))
        expected = [t.numpy() for t in (expected if isinstance(expected, tuple) else [expected])]
        got = net.run(*inputs, n_outputs=model.n_outputs)
        expect_close(got, expected, **AGAINST_TORCH)


def test_state_dict(report, name, model):
    """A state dict given to the command line does the same."""
    import numpy as np
    import onnx.numpy_helper
    import torch

    with report.case(f"{name}: --weights"), tempfile.TemporaryDirectory() as folder:
        twin, inputs = theirs(name).eval(), inputs_of(model)
        torch.save(twin.state_dict(), f"{folder}/weights.pth")
        np.save(f"{folder}/input_0.npy", inputs[0])
        code, _, error = peers.calque("run", name, "--weights", f"{folder}/weights.pth", "--example",
                                      folder, "-o", folder)
        assert code == 0, error
        with open(f"{folder}/output_0.pb", "rb") as file:
            got = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
        with torch.no_grad():
            expected = twin(torch.from_numpy(inputs[0])).numpy()
        expect_close([got], [expected], **AGAINST_TORCH)


def test_export(report, name, net, model):
    """Files are valid, and do what the module does, for the example and for another batch."""
    names = {"input_names": [i.name.decode() for i in model.inputs[:model.n_inputs]],
             "output_names": [text.decode() for text in model.output_names[:model.n_outputs]]}
    batches = {batch: inputs_of(model, batch) for batch in (None, OTHER_BATCH)}
    expected = {batch: net.run(*inputs, n_outputs=model.n_outputs)
                for batch, inputs in batches.items()}
    for opset in OPSETS:
        with report.case(f"{name}: opset {opset}"), tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.onnx"
            net.export(batches[None], path, opset=opset, dynamic_axes=dynamic_axes(model),
                       external_data=name.startswith("vgg"), **names)
            for batch, inputs in batches.items():
                got = peers.run_ort(path, dict(zip(names["input_names"], inputs)))
                expect_close(got, expected[batch], **AGAINST_ORT,
                             name=f"batch {batch}" if batch else "example")
            peers.session_of.cache_clear()
            check_onnx(path)  # last, for it writes what it has inferred into the file


def run_model(name):
    """All tests of one model, in a separate process: the output, and the counts."""
    import io

    import capi
    import torch

    torch.set_num_threads(1)
    report, said, started = Report(__file__), io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(said):
        net, model = capi.zoo(name)
        net.train(False)
        test_state(report, name, net)
        if name in WITH_WEIGHTS:
            test_weights(report, name, net, model)
        if name == "super_resolution":
            test_state_dict(report, name, model)
        test_export(report, name, net, model)
    print(f"{name:20} {time.monotonic() - started:5.1f} s", file=said)
    return said.getvalue(), report.n_passed, report.n_failed


def main():
    report = Report(__file__)
    if report.needs("torch", "torchvision", "onnx", "ort"):
        import capi
        names = sys.argv[1:] or [model.name.decode() for model in capi.zoo_models()]
        with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
            for said, passed, failed in pool.map(run_model, names):
                print(said, end="", flush=True)
                report.n_passed += passed
                report.n_failed += failed
    return report.finish()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

#!/usr/bin/python3
"""Weights in the files that people have, for the source of a model: every container, wrapper and prefix
that docs/from-source.md lists gives PyTorch's results in ONNX Runtime, and a file that does not fit is
refused in PyTorch's words."""
import importlib.util
import json
import pathlib
import re
import sys
import tempfile

import peers

torch, np = map(peers.optional, ("torch", "numpy"))

SOURCE = '''import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.head = nn.Linear(width, 5)
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.head(x.mean((2, 3))) * self.scale
'''
WRAPPERS = ("state_dict", "model", "model_state_dict", "net", "ema")
PREFIXES = ("module.", "model.", "_orig_mod.")


class Case:
    """A folder with net.py, and its model in PyTorch with weights that no initializer gives."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "net.py").write_text(SOURCE)
        spec = importlib.util.spec_from_file_location("net", self.folder / "net.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["net"] = module  # for pickle
        spec.loader.exec_module(module)
        torch.manual_seed(3)
        self.model = module.Net().eval()
        with torch.no_grad():
            for value in self.model.state_dict().values():
                value.copy_(torch.rand(value.shape) + 0.5 if value.is_floating_point() else value + 7)
        self.state = self.model.state_dict()
        self.x = torch.randn(2, 3, 6, 6)

    def path(self, name):
        return self.folder / name

    def export(self, weights, *options, model="net.py"):
        return peers.calque("export", model, "--weights", str(weights), "--input", "1x3x6x6", "-o", "out.onnx",
                            *options, cwd=self.folder)

    def expect_right(self, weights, *options, model="net.py"):
        code, _, err = self.export(weights, *options, model=model)
        assert code == 0, err
        with torch.no_grad():
            expected = self.model(self.x[:1]).numpy()
        got = peers.run_ort(self.path("out.onnx"), {self.input_name(): self.x[:1].numpy()})[0]
        peers.expect_close(got, expected, rtol=1e-4, atol=1e-5)
        return err

    def input_name(self):
        import ort
        return ort.Session(str(self.path("out.onnx"))).inputs[0]


def save(case, name, value, **options):
    torch.save(value, case.path(name), **options)
    return name


def safetensors(case, name, state):
    """The format: the length of a JSON header, the header, the bytes."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for key, value in state.items():
        raw = value.contiguous().numpy().tobytes()
        kind = {torch.float32: "F32", torch.int64: "I64"}[value.dtype]
        header[key] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    case.path(name).write_bytes(len(text).to_bytes(8, "little") + text + data)
    return name


def containers(case, report):
    with report.case("zip of torch.save"):
        case.expect_right(save(case, "zip.pth", case.state))
    with report.case("stream of pickles, as before PyTorch 1.6"):
        case.expect_right(save(case, "old.pth", case.state, _use_new_zipfile_serialization=False))
    with report.case("safetensors"):
        case.expect_right(safetensors(case, "net.safetensors", case.state))
    with report.case("the empty state dict of a module without parameters"):
        case.path("empty.py").write_text("import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
                                         "        return x * 2\n")
        save(case, "empty.pth", torch.nn.ReLU().state_dict())
        code, out, err = peers.calque("export", "empty.py", "--weights", "empty.pth", "--input", "2", cwd=case.folder)
        assert code == 0, err
        code, _, err = peers.calque("export", "net.py", "--weights", "empty.pth", "--input", "2", cwd=case.folder)
        assert code == 1 and "missing" in err.lower(), err
    with report.case("pickled module"):
        case.expect_right(save(case, "whole.pt", case.model))
    with report.case("pickled module in a stream of pickles"):
        case.expect_right(save(case, "whole_old.pt", case.model, _use_new_zipfile_serialization=False))


def halves(state):
    keys = sorted(state)
    return [{key: state[key] for key in part} for part in (keys[::2], keys[1::2])]


def shards(case, report):
    for kind, write in (("safetensors", safetensors), ("bin", save)):
        with report.case(f"shards of {kind} with their index"):
            stem = "model" if kind == "safetensors" else "pytorch_model"
            index = {"metadata": {"total_size": 1}, "weight_map": {}}
            for i, part in enumerate(halves(case.state)):
                name = write(case, f"{stem}-0000{i + 1}-of-00002.{kind}", part)
                index["weight_map"].update({key: name for key in part})
            case.path(f"{stem}.{kind}.index.json").write_text(json.dumps(index))
            case.expect_right(f"{stem}.{kind}.index.json")


def wrappers(case, report):
    for name in WRAPPERS:
        with report.case(f"checkpoint with the state dict at {name}"):
            case.expect_right(save(case, "ck.pth", {"epoch": 3, name: case.state, "optimizer": {"lr": 0.1}}))
    with report.case("checkpoint of Lightning"):
        case.expect_right(save(case, "last.ckpt", {
            "epoch": 1, "global_step": 10, "pytorch-lightning_version": "2.0.0",
            "state_dict": {f"model.{key}": value for key, value in case.state.items()},
            "loops": {"fit_loop": {}}, "callbacks": {"ModelCheckpoint": {"best": torch.tensor(1.0)}},
            "optimizer_states": [{"state": {}, "param_groups": []}], "hyper_parameters": {"width": 4}}))
    for prefix in PREFIXES:
        with report.case(f"keys with the prefix {prefix}"):
            name = save(case, "prefixed.pth", {prefix + key: value for key, value in case.state.items()})
            assert prefix in case.expect_right(name), "the note does not name the prefix"


def torch_error(case, state):
    """PyTorch's complaints, one a line, without the line that names the class."""
    try:
        type(case.model)().load_state_dict(state)
    except RuntimeError as error:
        return [line.strip() for line in str(error).splitlines()[1:] if line.strip()]
    raise AssertionError("PyTorch takes it")


def refusals(case, report):
    state = {key: value for key, value in case.state.items() if key != "head.bias"}
    state["extra.weight"] = torch.zeros(2)
    state["conv.weight"] = torch.zeros(4, 3, 1, 1)
    with report.case("missing, unexpected and misshapen keys"):
        case.path("out.onnx").unlink(missing_ok=True)
        code, _, err = case.export(save(case, "wrong.pth", state))
        assert code == 1 and not case.path("out.onnx").exists(), err
        plain = re.sub(r"\s+", " ", err)
        for line in torch_error(case, state):
            assert re.sub(r"\s+", " ", line).rstrip(". ") in plain, f"{line!r} is not in {err!r}"
    with report.case("--weights-not-strict continues without them"):
        fits = {key: value for key, value in case.state.items() if key != "head.bias"}
        code, _, err = case.export(save(case, "less.pth", dict(fits, extra=torch.zeros(2))), "--weights-not-strict")
        assert code == 0 and "head.bias" in err and "extra" in err, err


def other_models(case, report):
    other = type(case.model)().eval()
    with report.case("into a TorchScript archive"):
        torch.jit.trace(other, case.x[:1]).save(case.path("traced.pt"))
        case.expect_right("zip.pth", model="traced.pt")
    with report.case("into an ONNX model, by the names of initializers"):
        code, _, err = peers.calque("export", "net.py", "--input", "1x3x6x6", "-o", "fresh.onnx",
                                    "--no-constant-folding", "--training", "preserve", cwd=case.folder)
        assert code == 0, err
        code, _, err = peers.calque("convert", "fresh.onnx", "--weights", "zip.pth", "-o", "out.onnx", cwd=case.folder)
        assert code == 0, err
        got = peers.run_ort(case.path("out.onnx"), {case.input_name(): case.x[:1].numpy()})[0]
        with torch.no_grad():
            expected = case.model.train()(case.x[:1]).numpy()  # a new module trains, which --training preserve keeps
        case.model.eval()
        peers.expect_close(got, expected, rtol=1e-4, atol=1e-5)
    with report.case("into an ONNX model, with an unexpected key"):
        code, _, err = peers.calque("convert", "fresh.onnx", "--weights", "less.pth", "-o", "out.onnx", cwd=case.folder)
        assert code == 1 and '"extra"' in err, err


OLDER = '''import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.flash = hasattr(torch.nn.functional, "scaled_dot_product_attention")
        if not self.flash:
            self.register_buffer("mask", torch.tril(torch.ones(6, 6)).view(1, 6, 6))

    def forward(self, x):
        q, k, v = self.qkv(x).split(8, dim=2)
        if self.flash:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        t = x.size(1)
        scores = (q @ k.transpose(-2, -1)) / 8 ** 0.5
        return F.softmax(scores.masked_fill(self.mask[:, :t, :t] == 0, float("-inf")), dim=-1) @ v
'''


def older(case, report):
    """State dicts of a model that asks for the version of PyTorch, with and without the buffer of
    version 1."""
    case.path("older.py").write_text(OLDER)
    space = {}
    exec(OLDER, space)
    net = space["Net"]().eval()
    x = torch.randn(2, 5, 8)
    np.save(case.path("x.npy"), x.numpy())
    state = net.state_dict()
    state["mask"] = torch.tril(torch.ones(6, 6)).view(1, 6, 6)
    for name in ("with", "without"):
        with report.case(f"state dict {name} the buffer of an older PyTorch"):
            if name == "without":
                del state["mask"]
            save(case, "older.pth", state)
            code, _, err = peers.calque("export", "older.py", "--weights", "older.pth", "--input", "x.npy", "-o",
                                        "out.onnx", cwd=case.folder)
            assert code == 0 and ("PyTorch without scaled_dot" in err) == (name == "with"), err
            got = peers.run_ort(case.path("out.onnx"), {"x": x.numpy()})[0]
            with torch.no_grad():
                peers.expect_close(got, net(x).numpy(), rtol=1e-4, atol=1e-5)
    with report.case("a state dict that fits neither"):
        save(case, "older.pth", {**state, "extra": torch.zeros(2)})
        code, _, err = peers.calque("export", "older.py", "--weights", "older.pth", "--input", "x.npy", cwd=case.folder)
        assert code == 1 and '"extra"' in err and "mask" not in err, err


def memory(case, report):
    """Weights in shards count for the memory that a model may take."""
    source = ("import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
              "        self.w = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(150 << 20) + i) "
              "for i in range(2)])\n\n    def forward(self, x):\n        return x + self.w[0][:2] + self.w[1][:2]\n")
    case.path("large.py").write_text(source)
    with report.case("memory for a model as large as its shards"):
        for i in range(2):
            safetensors(case, f"large-{i}.safetensors", {f"w.{i}": torch.full((150 << 20,), i + 1.0)})
        case.path("large.index.json").write_text(json.dumps(
            {"metadata": {}, "weight_map": {f"w.{i}": f"large-{i}.safetensors" for i in range(2)}}))
        code, _, err = peers.calque("export", "large.py", "--weights", "large.index.json", "--input", "2", "-o",
                                    "out.onnx", cwd=case.folder)
        assert code == 0, err
        peers.expect_close(peers.run_ort(case.path("out.onnx"), {"x": np.zeros(2, "f")})[0], np.full(2, 3.0, "f"))


def main():
    report = peers.Report(__file__)
    if report.needs("torch", "ort"):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(folder)
            for check in (containers, shards, wrappers, refusals, other_models, older, memory):
                check(case, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

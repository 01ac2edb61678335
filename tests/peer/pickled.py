#!/usr/bin/python3
"""Pickled modules (torch.save(model)): calque export net.pth builds them with the classes of torch.nn
and of source files, and ONNX Runtime gives PyTorch's results. Every layer of layer_cases.py is
pickled alone, without any source; NETS have classes of their own.

    tests/peer/pickled.py [CASE…]       files of this Python's PyTorch
    tests/peer/pickled.py --by sid      files of the PyTorch of a newer Debian suite (tools/modern.sh)
"""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

import peers

torch, np = map(peers.optional, ("torch", "numpy"))
import layer_cases
from source_layers import REFUSED, flat, make_input

NETS = '''import enum
import functools
from collections import namedtuple
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

Pair = namedtuple("Pair", ["low", "high"])


class Mode(enum.Enum):
    SUM = 1
    MEAN = 2


@dataclass
class Config:
    width: int = 4
    scale: float = 0.5


class Options(dict):
    def __getattr__(self, name):
        return self[name]


class Namespace(dict):
    """Its attributes are its items: the state that pickle writes is the object itself."""

    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


class Block(nn.Module):
    expansion = 2

    def __init__(self, n, act=F.relu):
        super().__init__()
        self.conv = nn.Conv2d(n, n, 3, padding=1)
        self.norm = nn.BatchNorm2d(n)
        self.act = act

    def forward(self, x):
        return self.act(self.norm(self.conv(x))) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config(width=6)
        self.mode = Mode.MEAN
        self.limits = Pair(-1.5, 1.5)
        self.options = Options(gain=2.0, shifts=[0.25, 0.5])
        self.extra = Namespace(offset=0.75)
        self.skipped = {"aux"}
        self.dtype = torch.float32
        self.scaled = functools.partial(torch.mul, other=0.5)
        self.stem = nn.Conv2d(3, 6, 1)
        self.blocks = nn.ModuleList([Block(6), Block(6, torch.tanh), Block(6, nn.ReLU(inplace=True))])
        self.heads = nn.ModuleDict({"main": nn.Linear(6, 5), "aux": nn.Linear(6, 5)})
        self.gain = nn.Parameter(torch.rand(5))
        self.register_buffer("step", torch.arange(5.0), persistent=False)
        self.plain = torch.full((5,), 0.125)
        self.owner = Holder(self)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = x.mean((2, 3)) if self.mode is Mode.MEAN else x.sum((2, 3))
        for name, head in self.heads.items():
            if name not in self.skipped:
                x = head(x)
        x = x.clamp(self.limits.low, self.limits.high).to(self.dtype) * self.gain + self.step
        x = self.scaled(x) * self.options.gain + self.options.shifts[1] + self.plain + self.extra.offset + self.extra["offset"]
        return x * self.owner.net.config.scale * Block.expansion


class Holder:
    """Refers back to the module that holds it."""

    def __init__(self, net):
        self.net = net


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.factor = 3.0

    def __getstate__(self):
        state = self.__dict__.copy()
        state["third"] = state.pop("factor") / 3
        return state

    def __setstate__(self, state):
        third = state.pop("third")
        super().__setstate__(state)
        self.factor = third * 3

    def forward(self, x):
        return self.fc(x) * self.factor


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = self.a
        self.c = nn.Linear(4, 4)
        self.c.weight = self.a.weight

    def forward(self, x):
        return self.c(self.b(self.a(x)))
'''


def nets_of(folder, name="nets"):
    path = folder / f"{name}.py"
    path.write_text(NETS)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # for pickle
    spec.loader.exec_module(module)
    return module


def filled(model):
    """In evaluation mode, with statistics that no initializer gives."""
    torch.manual_seed(3)
    for name, value in model.named_buffers():
        if "running" in name:
            value.copy_(torch.rand(value.shape) + 0.5)
    return model.eval()


def note(folder, file, net, inputs, *options):
    """Saves what the export of a file needs, and PyTorch's results."""
    with torch.no_grad():
        expected = flat(net(*[t.clone() for t in inputs]))
    for i, t in enumerate(inputs):
        np.save(folder / f"{file}.{i}.npy", t.numpy())
    np.savez(folder / f"{file}.expected.npz", *expected)
    path = folder / "notes.json"
    notes = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps(notes + [[file, len(inputs), list(options)]]))


def compare(folder):
    for file, n_inputs, options in json.loads((folder / "notes.json").read_text()):
        inputs = [f"{file}.{i}.npy" for i in range(n_inputs)]
        words = [word for name in inputs for word in ("--input", name)]
        code, _, error = peers.calque("export", file, *options, "-o", "m.onnx", *words, cwd=folder)
        assert code == 0, error
        feeds = zip(feed_names(folder / "m.onnx"), [np.load(folder / name) for name in inputs])
        got = peers.run_ort(str(folder / "m.onnx"), dict(feeds))
        expected = list(np.load(folder / f"{file}.expected.npz").values())
        assert len(got) == len(expected), f"{len(got)} results, expected {len(expected)}"
        peers.expect_close(list(got), expected, rtol=1e-4, atol=1e-5)


def feed_names(path):
    import onnx
    graph = onnx.load(str(path)).graph
    stored = {t.name for t in graph.initializer}
    return [i.name for i in graph.input if i.name not in stored]


# Attributes that layers did not have when older versions of PyTorch pickled them.
NEW_ATTRIBUTES = ("padding_mode", "_reversed_padding_repeated_twice", "divisor_override", "approximate",
                  "recompute_scale_factor", "label_smoothing", "proj_size", "norm_first", "_qkv_same_embed_dim",
                  "batch_first",
                  "_non_persistent_buffers_set", "_state_dict_hooks", "_load_state_dict_pre_hooks",
                  "_load_state_dict_post_hooks", "_forward_pre_hooks", "_is_full_backward_hook",
                  "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs", "_backward_pre_hooks")


def is_old(net):
    """Whether the layer would compute the same without the newer attributes."""
    return all(getattr(m, "padding_mode", "zeros") == "zeros" and getattr(m, "divisor_override", None) is None
               and getattr(m, "approximate", "none") == "none" and not getattr(m, "label_smoothing", 0)
               and not getattr(m, "proj_size", 0) and not getattr(m, "norm_first", 0)
               and not (isinstance(m, torch.nn.MultiheadAttention) and m.batch_first)
               and not isinstance(m, torch.nn.RNNBase) and getattr(m, "_qkv_same_embed_dim", True) and not m._forward_pre_hooks for m in net.modules())


def write_layer(text, folder):
    expression, *specs = BY_NAME[text]
    torch.manual_seed(7)
    space = {"torch": torch, "nn": torch.nn, "OrderedDict": __import__("collections").OrderedDict}
    net = filled(eval(expression, space))
    torch.save(net, folder / "net.pth")
    torch.manual_seed(1)
    inputs = [make_input(spec) for spec in specs]
    note(folder, "net.pth", net, inputs)
    if is_old(net):
        copy = torch.load(folder / "net.pth", **({"weights_only": False} if torch.__version__ >= "2" else {}))
        for module in copy.modules():
            for name in NEW_ATTRIBUTES:
                module.__dict__.pop(name, None)
        torch.save(copy, folder / "old.pth", _use_new_zipfile_serialization=False)
        note(folder, "old.pth", net, inputs)


# Name of the class, input, how it is saved, and the options that find the source.
OWN = {
    "a net beside its source": ("Net", "2x3x5x6", {}, []),
    "a net with --code": ("Net", "2x3x5x6", {"source": "src/nets.py"}, ["--code", "src/nets.py"]),
    "a net with --path": ("Net", "2x3x5x6", {"source": "src/nets.py"}, ["--path", "src"]),
    "a net of a package": ("Net", "2x3x5x6", {"source": "repo/models/nets.py", "name": "models.nets"},
                           ["--path", "repo"]),
    "a net of a package with --code": ("Net", "2x3x5x6", {"source": "repo/models/nets.py", "name": "models.nets"},
                                       ["--code", "repo/models/nets.py"]),
    "a net of __main__": ("Net", "2x3x5x6", {"main": True}, ["--code", "nets.py"]),
    "a checkpoint": ("Net", "2x3x5x6", {"wrap": "model"}, []),
    "one of two modules": ("Net", "2x3x5x6", {"wrap": "ema"}, ["--entry", "ema"]),
    "the format before 1.6": ("Net", "2x3x5x6", {"legacy": True}, []),
    "data parallel": ("Net", "2x3x5x6", {"parallel": True}, []),
    "__setstate__": ("Stateful", "2x3", {}, []),
    "shared modules and weights": ("Shared", "2x4", {}, []),
}


def write_own(text, folder):
    name, spec, how, options = OWN[text]
    module_name = how.get("name", "nets")
    module = nets_of(folder, "nets")
    for cls in list(vars(module).values()):
        if isinstance(cls, type) and cls.__module__ == "nets":
            cls.__module__ = "__main__" if how.get("main") else module_name
    home = "__main__" if how.get("main") else module_name
    saved = sys.modules.get(home)
    for part in home.split(".")[:-1]:
        sys.modules.setdefault(part, module)
    if how.get("main"):
        for key, value in vars(module).items():
            setattr(sys.modules["__main__"], key, value) if not key.startswith("__") else None
    else:
        sys.modules[home] = module
    torch.manual_seed(7)
    net = filled(getattr(module, name)())
    obj = torch.nn.DataParallel(net) if how.get("parallel") else net
    if how.get("wrap"):
        other = filled(getattr(module, name)()) if how["wrap"] == "ema" else None
        obj = {"epoch": 3, "model": other if other is not None else net, "args": __import__("argparse").Namespace(a=1)}
        obj[how["wrap"]] = net
    torch.save(obj, folder / "net.pth", **({"_use_new_zipfile_serialization": False} if how.get("legacy") else {}))
    if saved is not None and not how.get("main"):
        sys.modules[home] = saved
    if "source" in how:
        target = folder / how["source"]
        target.parent.mkdir(parents=True)
        (folder / "nets.py").rename(target)
    torch.manual_seed(1)
    note(folder, "net.pth", net, [make_input(spec)], *options)


def check_refused(text, folder):
    module = nets_of(folder)
    torch.save(module.Net(), folder / "net.pth")
    (folder / "nets.py").unlink()
    code, _, error = peers.calque("export", "net.pth", "--input", "2x3x5x6", cwd=folder)
    assert code == 1 and "nets.Net, nets.Block" in error and "--code" in error, error
    code, shown, error = peers.calque("info", "net.pth", cwd=folder)
    assert code == 0, error
    for word in ("nets.Net", "nets.Block", "nets.py", "--path", "blocks.2.act", "stem.weight"):
        assert word in shown, f"{word} is not in\n{shown}"


SCRIPT = '''import torch
import nets

net = torch.load("net.pth", weights_only=False)["model"]
print(type(net).__name__, net.mode.name, net.config.width, sum(p.numel() for p in net.parameters()))
print(isinstance(net.gain, torch.nn.Parameter), net.blocks[1].act is torch.tanh, net.owner.net is net)
torch.onnx.export(net, torch.zeros(1, 3, 5, 6), "m.onnx", input_names=["x"])
'''


def check_script(text, folder):
    module = nets_of(folder)
    torch.manual_seed(7)
    net = filled(module.Net())
    torch.save({"model": net, "args": __import__("argparse").Namespace(a=1)}, folder / "net.pth")
    (folder / "script.py").write_text(SCRIPT)
    code, shown, error = peers.calque("py", "script.py", cwd=folder)
    assert code == 0, error
    assert shown == f"Net MEAN 6 {sum(p.numel() for p in net.parameters())}\nTrue True True\n", shown
    x = torch.randn(1, 3, 5, 6)
    peers.expect_close(list(peers.run_ort(str(folder / "m.onnx"), {"x": x.numpy()})), flat(net(x).detach()),
                       rtol=1e-4, atol=1e-5)


def write(name, folder):
    with torch.no_grad():
        (write_own if name in OWN else write_layer)(name, folder)


def check(name, folder):
    if name == "torch.load":
        check_script(name, folder)
    elif name == "missing source":
        check_refused(name, folder)
    else:
        write(name, folder)
        compare(folder)


CASES = [case for case in layer_cases.CASES + (layer_cases.NEWER if torch.__version__ >= "2.4" else [])
         if len(case) > 1 and not any(name in case[0] for name in REFUSED)
         and "parametrizations" not in case[0]]  # PyTorch does not pickle them
BY_NAME = {" ".join(case): case for case in CASES}

def write_all(folder):
    """The files of all cases, in folders by number."""
    warnings.filterwarnings("ignore")
    for i, name in enumerate(NAMES):
        where = pathlib.Path(folder) / str(i)
        where.mkdir()
        write(name, where)


def check_by(suite):
    """Compares the files that the PyTorch of the suite writes."""
    report = peers.Report(__file__)
    build = peers.ROOT / "build"
    build.mkdir(exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(dir=build))  # which the suite sees, too
    try:
        if report.needs("torch", "onnx", "ort"):
            subprocess.run([peers.ROOT / "tools/modern.sh", suite, "python3", "tests/peer/pickled.py", "--write",
                            folder], check=True)
            for where in sorted(folder.iterdir(), key=lambda path: int(path.name)):
                with report.case(f"{where.name} of {suite}"):
                    compare(where)
    finally:
        shutil.rmtree(folder)
    return report.finish()


NAMES = list(OWN) + list(BY_NAME)

if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_all(sys.argv[2]))
    if sys.argv[1:2] == ["--by"]:
        sys.exit(check_by(sys.argv[2]))
    sys.exit(peers.run_cases(__file__, ["missing source", "torch.load"] + NAMES, check))

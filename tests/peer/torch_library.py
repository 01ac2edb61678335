#!/usr/bin/python3
"""lib/torch/nn is Python: its layers run on the real PyTorch, and are compared with torch.nn's own.

The files are imported under another name, with a module `calque` that this script makes. Compared are
the names, shapes and initial values of the state after the same seed, bit for bit, the results of
forward in both modes, and the text of repr.
"""
import importlib.util
import math
import sys
import types
import warnings
from collections import OrderedDict

import peers
import torch

import layer_cases

sys.dont_write_bytecode = True
warnings.simplefilter("ignore")
LIB = peers.ROOT / "lib/torch"
VERSION = tuple(int(n) for n in torch.__version__.split(".")[:2])
NEWER = VERSION >= (2, 4)
SAME_TEXT = (2, 4) <= VERSION < (2, 9)  # later versions print the bias of normalizations too
LATEST = hasattr(torch.nn, "LinearCrossEntropyLoss")


def load_into(t, value):
    with torch.no_grad():
        t.copy_(value)


def natives():
    module = types.ModuleType("calque")
    module.Parameter = torch.nn.Parameter
    module.Tensor = torch.Tensor
    module.call_module = lambda owner, forward, args, kwargs: forward(*args, **kwargs)
    module.load_into = load_into
    return module


def library(name, folder):
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py",
                                                  submodule_search_locations=[str(folder)])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


sys.modules["calque"] = natives()
ours = library("calque_nn", LIB / "nn")


def make(nn, text):
    torch.manual_seed(0)
    return eval(text, {"nn": nn, "torch": torch, "OrderedDict": OrderedDict})


def make_input(spec):
    if spec.startswith("="):
        return eval(spec[1:], {"torch": torch})
    if spec.startswith("int:"):
        _, high, shape = spec.split(":")
        return torch.randint(0, int(high), [int(n) for n in shape.split("x")])
    return torch.randn([int(n) for n in spec.split("x")])


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in flat(item)]
    return []


def expect_same_state(got, expected):
    a, b = got.state_dict(), expected.state_dict()
    assert list(a) == list(b), f"keys {list(a)}, expected {list(b)}"
    for key, tensor in b.items():
        assert a[key].shape == tensor.shape, f"{key} has shape {a[key].shape}, expected {tensor.shape}"
        assert a[key].dtype == tensor.dtype, f"{key} is {a[key].dtype}, expected {tensor.dtype}"
        assert torch.equal(a[key], tensor), f"the initial values of {key} differ"


def run(layer, specs, training):
    torch.manual_seed(1)
    inputs = [make_input(spec) for spec in specs]
    layer.train(training)
    torch.manual_seed(2)
    with torch.no_grad():
        return flat(layer(*inputs))


def expect_same_results(got, expected, specs):
    for training in (False, True):
        a, b = run(got, specs, training), run(expected, specs, training)
        assert len(a) == len(b), f"{len(a)} results, expected {len(b)}"
        for x, y in zip(a, b):
            assert x.shape == y.shape, f"a result of shape {x.shape}, expected {y.shape}"
            assert torch.allclose(x, y, rtol=1e-5, atol=1e-6, equal_nan=True), \
                f"results differ by {(x - y).abs().max()}, training={training}"


def check_layer(text, specs):
    expected, got = make(torch.nn, text), make(ours, text)
    if "Lazy" in text:
        for layer in (got, expected):
            run(layer, specs, False)
            torch.manual_seed(0)
            layer.reset_parameters()
    expect_same_state(got, expected)
    if SAME_TEXT and "parametriz" not in text:  # such a module has another class in PyTorch
        assert repr(got) == repr(expected), f"repr {got!r}, expected {expected!r}"
    if specs:
        expect_same_results(got, expected, specs)
        expect_same_state(got, expected)
    got.load_state_dict(expected.state_dict())


# ---- what model files do with a module ----

def make_net(nn):
    class Block(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.conv = nn.Conv2d(n, n, 3, padding=1)
            self.bn = nn.BatchNorm2d(n)
            self.scale = nn.Parameter(torch.ones(1))
            self.register_buffer("offset", torch.zeros(1))
            self.register_buffer("hidden", torch.zeros(2), persistent=False)
            self.shared = self.conv

        def forward(self, x):
            return x + self.scale * self.bn(self.conv(x)) + self.offset

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 4, 1)
            self.blocks = nn.ModuleList([Block(4), Block(4)])
            self.heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(4, 3)})
            self.params = nn.ParameterList([torch.nn.Parameter(torch.ones(2)) for _ in range(2)])
            self.table = nn.ParameterDict({"w": torch.nn.Parameter(torch.ones(3))})
            self.absent = None

        def forward(self, x):
            x = self.stem(x)
            for block in self.blocks:
                x = block(x)
            x = x.mean((2, 3))
            return torch.cat([head(x) for head in self.heads.values()], 1)

    torch.manual_seed(0)
    return Net()


def message(fn):
    try:
        fn()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def facts(nn):
    """Answers of a module to what model files ask."""
    net = make_net(nn)
    yield "named_modules", [n for n, _ in net.named_modules()]
    yield "named_children", [n for n, _ in net.named_children()]
    yield "named_parameters", [(n, tuple(p.shape)) for n, p in net.named_parameters()]
    yield "not recursive", [n for n, _ in net.named_parameters(recurse=False)]
    yield "named_buffers", [n for n, _ in net.named_buffers()]
    yield "counts", (len(list(net.modules())), len(list(net.parameters())), len(list(net.buffers())))
    yield "state_dict", list(net.state_dict())
    yield "prefix", list(net.state_dict(prefix="net."))
    if SAME_TEXT:
        yield "repr", repr(net).replace("calque_nn", "torch.nn")
    yield "train", [m.training for m in net.eval().modules()]
    yield "half", [str(t.dtype) for t in net.half().state_dict().values()]
    yield "to", [str(t.dtype) for t in net.to(torch.float32).state_dict().values()]
    yield "get_submodule", net.get_submodule("blocks.0.conv") is net.blocks[0].conv
    yield "get_parameter", net.get_parameter("blocks.1.scale") is net.blocks[1].scale
    order = []
    net.apply(lambda m: order.append(type(m).__name__))
    yield "apply", order
    net.requires_grad_(False)
    yield "requires_grad_", any(p.requires_grad for p in net.parameters())
    net.blocks[0].bn = nn.Identity()
    yield "replaced", list(net.state_dict())
    del net.heads["a"]
    yield "deleted", [n for n, _ in net.named_modules()]
    net.stem.bias = None
    yield "without bias", "stem.bias" in net.state_dict()
    seen = []
    handle = net.stem.register_forward_hook(lambda m, a, r: seen.append(tuple(r.shape)))
    pre = net.stem.register_forward_pre_hook(lambda m, a: (a[0] * 2,))
    x = torch.ones(1, 3, 4, 4)
    yield "hooked", net(x).sum().item()
    handle.remove()
    pre.remove()
    yield "unhooked", net(x).sum().item()
    yield "seen", seen
    yield "no forward", message(lambda: nn.ModuleList()(x)).split("\n")[0]
    yield "attribute", message(lambda: net.nothing)
    yield "bad parameter", message(lambda: setattr(net.blocks[0], "scale", 3))
    yield "bad buffer name", message(lambda: net.register_buffer("a.b", x))
    yield "existing name", message(lambda: net.register_buffer("forward", x))
    state = make_net(nn).state_dict()
    state["extra"] = torch.ones(1)
    del state["stem.bias"]
    state["heads.a.weight"] = torch.ones(5, 5)
    yield "load", message(lambda: make_net(nn).load_state_dict(state))
    del state["heads.a.weight"]
    result = make_net(nn).load_state_dict(state, strict=False)
    yield "not strict", (result.missing_keys, result.unexpected_keys)
    yield "all keys", repr(make_net(nn).load_state_dict(make_net(nn).state_dict()))
    seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    seq.append(nn.Linear(2, 3))
    yield "append", (len(seq), repr(seq[-1]), repr(seq[1:]))
    yield "index", message(lambda: seq[5])


def check_initializers(name, call):
    got, expected = torch.empty(12, 5, 3), torch.empty(12, 5, 3)
    torch.manual_seed(0)
    call(ours.init, got)
    torch.manual_seed(0)
    call(torch.nn.init, expected)
    assert torch.equal(got, expected), f"{name} differs by {(got - expected).abs().max()}"


INITIALIZERS = {
    "uniform_": lambda init, t: init.uniform_(t, -1, 2), "normal_": lambda init, t: init.normal_(t, 1, 2),
    "constant_": lambda init, t: init.constant_(t, 3), "dirac_": lambda init, t: init.dirac_(t, 2),
    "xavier_uniform_": lambda init, t: init.xavier_uniform_(t, 0.5),
    "xavier_normal_": lambda init, t: init.xavier_normal_(t),
    "kaiming_uniform_": lambda init, t: init.kaiming_uniform_(t, math.sqrt(5)),
    "kaiming_normal_": lambda init, t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"),
    "trunc_normal_": lambda init, t: init.trunc_normal_(t, std=0.02),
    "orthogonal_": lambda init, t: init.orthogonal_(t, 2),
    "sparse_": lambda init, t: init.sparse_(t.view(12, 15), 0.3),
    "eye_": lambda init, t: init.eye_(t.view(12, 15)),
}
if VERSION >= (2, 14):  # draws again what is out of bounds; calque draws once, as 1.13 and 2.6 do
    del INITIALIZERS["trunc_normal_"]


def main():
    report = peers.Report(__file__)
    for text, *specs in (layer_cases.CASES + (layer_cases.NEWER if NEWER else [])
                         + (layer_cases.LATEST if LATEST else [])):
        with report.case(text):
            check_layer(text, specs)
    for (name, got), (_, expected) in zip(facts(ours), facts(torch.nn)):
        report.check(f"module: {name}", got == expected, f"{got}, expected {expected}")
    for name, call in INITIALIZERS.items():
        with report.case(f"init.{name}"):
            check_initializers(name, call)
    names = [n for n in dir(torch.nn) if isinstance(getattr(torch.nn, n), type) and n[0].isupper()]
    missing = [n for n in names if not hasattr(ours, n)]
    report.check("every class of torch.nn", not missing, f"missing: {missing}")
    return report.finish()


sys.exit(main())

#!/usr/bin/python3
"""torch.save of modules in calque py: PyTorch loads them, with equal weights and results. Every layer of
layer_cases.py, and a net with classes of its own."""
import collections
import pathlib
import sys
import tempfile
import warnings

import peers

torch = peers.optional("torch")
import layer_cases
from pickled import NETS, filled, nets_of
from source_layers import flat, make_input

SCRIPT = """import torch
from torch import nn
from collections import OrderedDict

"""
NET = """import torch
import nets

torch.manual_seed(7)
net = nets.Net().eval()
torch.save({"net": net, "again": net.stem, "device": torch.device("cpu"), "limits": (1 + 2j, range)}, "net.pth")
again = torch.load("net.pth", weights_only=False)
assert again["again"] is again["net"].stem and again["net"].mode is nets.Mode.MEAN
"""
REFUSED = ("Lazy", "parametrizations")


def load(path):
    return torch.load(path, **({"weights_only": False} if torch.__version__ >= "2" else {}))


def same_weights(got, expected):
    got, expected = got.state_dict(), expected.state_dict()
    assert list(got) == list(expected), f"{list(got)}, expected {list(expected)}"
    for name, value in expected.items():
        computed = name.endswith("_g")  # a norm, not drawn: sums differ in their last bit
        equal = torch.allclose(value, got[name], rtol=1e-6) if computed else torch.equal(value, got[name])
        assert value.dtype == got[name].dtype and equal, name


def check_layer(i, case, folder):
    expression, *specs = case
    torch.manual_seed(7)
    net = eval(expression, {"torch": torch, "nn": torch.nn, "OrderedDict": collections.OrderedDict}).eval()
    got = load(folder / f"{i}.pth")
    same_weights(got, net)
    torch.manual_seed(1)
    inputs = [make_input(spec) for spec in specs]
    assert not got.training
    if inputs:
        torch.manual_seed(2)  # of layers that draw
        expected = flat(net(*[t.clone() for t in inputs]))
        torch.manual_seed(2)
        exact = "weight_norm" not in expression
        peers.expect_close(flat(got(*inputs)), expected, rtol=0 if exact else 1e-5, atol=0 if exact else 1e-6)


def check_net(folder):
    module = nets_of(folder)
    (folder / "script.py").write_text(NET)
    code, _, error = peers.calque("py", "script.py", cwd=folder)
    assert code == 0, error
    torch.manual_seed(7)
    net = module.Net().eval()
    file = load(folder / "net.pth")
    got = file["net"]
    same_weights(got, net)
    assert file["again"] is got.stem and got.owner.net is got and got.mode is module.Mode.MEAN
    assert isinstance(got.gain, torch.nn.Parameter) and got.limits == module.Pair(-1.5, 1.5)
    assert file["limits"] == (1 + 2j, range) and file["device"] == torch.device("cpu")
    x = torch.randn(2, 3, 5, 6)
    peers.expect_close(flat(got(x)), flat(net(x)), rtol=0, atol=0)


def main():
    warnings.filterwarnings("ignore")
    report = peers.Report(__file__)
    if not report.needs("torch"):
        return report.finish()
    cases = [case for case in layer_cases.CASES if not any(name in case[0] for name in REFUSED)]
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        folder = pathlib.Path(name)
        lines = [f"torch.manual_seed(7)\ntorch.save(({case[0]}).eval(), '{i}.pth')\n" for i, case in enumerate(cases)]
        (folder / "layers.py").write_text(SCRIPT + "".join(lines))
        code, _, error = peers.calque("py", "layers.py", cwd=folder)
        report.check("the script", code == 0, error)
        for i, case in enumerate(cases):
            with report.case(case[0]):
                check_layer(i, case, folder)
        with report.case("a net"):
            check_net(folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Arguments that select branches: --constant makes them a part of the program; without it, a branch
that cannot be exported becomes an error at run time if the example takes the other branch.

    constants.py [-v] [CASE …]
"""
import sys
from typing import Dict

import peers

CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


# ---- models of (x, sr): 16000 is the rate that can be exported -----------------------------


@case
def missing_operator():
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x: torch.Tensor, sr: int):
            if sr == 16000:
                y = x * 2
            else:
                y = torch.linalg.ldl_factor_ex(torch.outer(x, x))[0][0]
            return y + 1
    return Net()


@case
def missing_operator_of_another_rank():
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x: torch.Tensor, sr: int):
            if sr != 16000:
                y = torch.linalg.ldl_factor_ex(x.view(2, -1) @ x.view(-1, 2))[0]
            else:
                y = x * 2
            return y
    return Net()


@case
def unknown_function():
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x: torch.Tensor, sr: int):
            if sr == 16000:
                y = x * 2
            else:
                y = x * hash(str(x))
            return y + 1
    return Net()


@case
def what_no_graph_can_hold():
    import torch
    from torch import nn

    class Keys(nn.Module):
        def forward(self, x: torch.Tensor):
            d: Dict[int, torch.Tensor] = {}
            for i in range(int(x.abs().sum()) + 1):
                d[i] = x
            return d[0]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.keys = Keys()

        def forward(self, x: torch.Tensor, sr: int):
            y = self.keys(x) if sr != 16000 else x * 3
            both = [x]
            if sr == 16000:
                both.append(y)
            else:
                both.append(self.keys(x))
                both.append(x)
            return both[1] + 1
    return Net()


# ---- comparing ----------------------------------------------------------------------------


def check(name, folder):
    import numpy as np
    import torch
    source, target = folder / "model.pt", folder / "model.onnx"
    module = torch.jit.script(CASES[name]())
    module.save(str(source))
    x = torch.linspace(-1, 2, 4)
    expected = module(x, 16000).numpy()

    code, _, said = peers.calque("export", source, "--input", "4", "--input", "16000", "--verify",
                                 "-o", target)
    assert code == 0 and "a run that takes it fails" in said, said
    peers.check_onnx(target)
    model = target.read_bytes()
    got = peers.run_ort(model, {"x": x.numpy(), "sr": np.array(16000)})
    peers.expect_close(got[0], expected, name="the branch that is there")
    try:
        peers.run_ort(model, {"x": x.numpy(), "sr": np.array(8000)})
    except Exception as e:
        assert "Gather" in str(e), e
    else:
        raise AssertionError("the dropped branch returns a result")

    code, _, said = peers.calque("export", source, "--input", "4", "--constant", "sr=16000",
                                 "--verify", "-o", target)
    assert code == 0 and "warning" not in said, said
    got = peers.run_ort(target.read_bytes(), {"x": x.numpy()})
    peers.expect_close(got[0], expected, name="as a part of the program")

    code, _, said = peers.calque("export", source, "--input", "4", "--input", "8000", "-o", target)
    assert code == 1, said  # the example needs the dropped branch


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, CASES, check))

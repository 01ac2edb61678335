#!/usr/bin/python3
"""Small models of what strangers' archives do that few models do: scripted by PyTorch, exported, and
run by ONNX Runtime on other inputs than the example's.

    small.py [-v] [CASE …]
"""
import sys

import peers

HEAD = """
import torch
from torch import nn
from typing import Dict, List, Optional, Tuple

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
"""

CASES = {  # the body of forward, for an x of 3 times 3
    "unsqueeze_": "y = x.clone(); y.unsqueeze_(1); return y * 2",
    "unsqueeze_ of an input": "x.unsqueeze_(0); return x + 1",
    "squeeze_": "y = x.clone().unsqueeze(0); y.squeeze_(0); return y * 2",
    "squeeze_ of all": "y = x.clone().unsqueeze(0).unsqueeze(-1); y.squeeze_(); return y * 2",
    "t_": "y = x.clone(); y.t_(); return y @ x",
    "transpose_, then add_": "y = x.clone(); y.transpose_(0, 1); y[0].add_(1); return y",
    "swapaxes_": "y = x[:2] + 1; y.swapaxes_(0, 1); return y",
    "a view from before t_": "y = x.clone(); z = y[0]; y.t_(); y.add_(1); return z, y",
    "a view from after unsqueeze_": "y = x.clone(); y.unsqueeze_(0); z = y[0]; y.mul_(2); return z",
    "another name": "y = x.clone(); z = y; y.unsqueeze_(0); z.add_(1); return y, z",
    "resize_": "y = x.clone(); z = y[0]; y.resize_([9]); y.add_(1); return y, z",
    "resize_ to fewer": "y = x.clone(); y.resize_([2, 2]); y.add_(1); return y",
    "resize_ to more": "y = x.clone(); y.resize_([2, 6]); return y[0] + y[1, :3].sum()",
    "resize_ of an empty tensor": "y = torch.empty([0]); y.resize_(x.shape); y.copy_(x); return y + 1",
    "resize_as_": "y = torch.zeros([2]); y.resize_as_(x); y.fill_(1.5); return y * x",
    "an element of the sizes": "s = torch._shape_as_tensor(x); s.add_(1); return x + int(s[0])",
    "numbers of known sizes": """s = torch.tensor(x.shape)
        scale = torch.min(6.0 / s.min().float(), torch.tensor(4.0)).item()
        return nn.functional.interpolate(x[None, None], scale_factor=scale)""",
    "a text among the results": "return x + 1, 'label', x.sum()",
    "a test of PyTorch's own": "return torch._test_serialization_subcmul(x, x[0], 2)",
}

# Exported with --trace: the example decides the length of a loop and the numbers it reads.
TRACED = {
    "a loop as long as data say": """y = x.clone()
        for row in x[x > 0]:
            y = y + float(row)
        return y""",
    "a list of lists": """rows: List[List[float]] = [[0.0]] * x.nonzero().size(0)
        for i in range(x.nonzero().size(0)):
            rows[i] = rows[i] + [float(x[0, 0])] * (i % 3)
        return torch.tensor(rows[1])""",
}

# Random numbers: what is drawn for 20,000 parameters, and its mean and deviation. The operator may
# be written as torch.random, which is the name of a module too.
DRAWN = {
    "torch._standard_gamma(x * 0.5)": (0.5, 0.5 ** 0.5),
    "torch._standard_gamma(x * 7)": (7, 7 ** 0.5),
    "torch.poisson(x * 3)": (3, 3 ** 0.5),
    "torch.poisson(x * 250)": (250, 250 ** 0.5),
    "torch._sample_dirichlet(x.view(-1, 2))": (0.5, (1 / 12) ** 0.5),
    "x.random_(0, 10)": (4.5, 8.25 ** 0.5),
    "x.geometric_(0.25)": (4, 12 ** 0.5),
    "x.log_normal_(0.0, 0.25)": (1.0317, 0.2620),
    "x.cauchy_().clamp(-1, 1)": (0, (4 / 3.14159265 - 0.5) ** 0.5),
}


def write_model(folder, body):
    import torch
    (folder / "net.py").write_text(HEAD + "        " + body + "\n")
    sys.path.insert(0, str(folder))
    sys.modules.pop("net", None)
    import net
    sys.path.pop(0)
    module = torch.jit.script(net.Net())
    module.save(str(folder / "model.pt"))
    return module


def export(folder, *options):
    target = folder / "model.onnx"
    code, _, said = peers.calque("export", folder / "model.pt", *options, "-o", target)
    assert code == 0, said.strip()[-300:]
    peers.check_onnx(target)
    return target.read_bytes()


def check_draws(name, folder):
    import numpy as np
    write_model(folder, f"return {name}")
    x = np.ones(20000, np.float32)
    np.save(folder / "x.npy", x)
    got = peers.run_ort(export(folder, "--input", folder / "x.npy"), {"x": x})[0].astype(np.float64)
    mean, deviation = DRAWN[name]
    assert abs(got.mean() - mean) < deviation / 14, f"mean {got.mean()}, expected {mean}"
    assert abs(got.std() / deviation - 1) < 0.15, f"deviation {got.std()}, expected {deviation}"


def check(name, folder):
    import numpy as np
    import torch
    if name in DRAWN:
        return check_draws(name, folder)
    module = write_model(folder, CASES.get(name) or TRACED[name])
    examples = [np.random.default_rng(seed).standard_normal((3, 3)).astype(np.float32)
                for seed in range(1 if name in TRACED else 3)]
    np.save(folder / "x.npy", examples[0])
    model = export(folder, "--input", folder / "x.npy", "--verify",
                   *["--trace"] * (name in TRACED))
    for seed, x in enumerate(examples):
        expected = module(torch.from_numpy(x.copy()))
        expected = [w for w in (expected if isinstance(expected, tuple) else [expected]) if not isinstance(w, str)]
        got = peers.run_ort(model, {"x": x} if name in CASES else feeds(model, x))
        assert len(got) == len(expected), (len(got), len(expected))
        for g, w in zip(got, expected):
            peers.expect_close(g, w.numpy(), name=f"result of seed {seed}")


def feeds(model, x):
    """A trace may use its input only for the sizes that it reads."""
    import onnx
    return {v.name: x for v in onnx.load_from_string(model).graph.input}


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, [*CASES, *TRACED, *DRAWN], check))

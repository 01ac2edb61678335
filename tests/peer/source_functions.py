#!/usr/bin/python3
"""Functions of torch from model source: an expression of the inputs, exported by calque with a
dynamic first axis, run in ONNX Runtime with another size, and compared with PyTorch.
"""
import sys

import numpy as np
import peers
import torch

import source_layers

SOURCE = """import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = nn.Parameter(torch.ones(3))

    def forward(self, {names}):
        return {result}
"""

# Expression of a, b, …, and the inputs: float32 sizes, or "int:HIGH:SIZES". B is the dynamic size.
CASES = [
    ("torch.einsum('i,j->ij', torch.arange(a.shape[1]), a[0])", "Bx3"),
    ("torch.einsum('bi,bi->bi', b, a)", "Bx3", "int:9:Bx3"),
    ("torch.cat(torch.cat(a.split(2, 2), 0).split(a.size(0), 0), 2)", "Bx3x8"),
    ("torch.cat([a, a, a]).chunk(3)[1] + 1", "Bx3"),
    ("a[(..., *((None,) * 2))] + a[(*[None], Ellipsis)].sum()", "Bx3"),
    ("abs(a), pow(a, 2), pow(2, a), pow(a.abs(), a)", "Bx3"),
    ("sum(a.unbind(1)), max(a[0, 0], a[0, 1]), min(a[0, 0], a[0, 1]), max(a[0]), sum([a, a])", "Bx3"),
    ("abs(torch.fft.rfft(a, dim=1)).mean(-1)", "Bx8"),
    ("a.type(b.type()), b.type(a.type()), torch.zeros(2).type(a.type())", "Bx3", "int:9:Bx3"),
    ("a * 2 if torch.min(a) < -9 or torch.max(a) > 9 else a * 3", "Bx3"),
    ("a * 2 if torch.min(a) < 9 and bool(torch.max(a) > -9) else a * 3", "Bx3"),
    ("a * 2 if isinstance(a, torch.cuda.FloatTensor) else a * 3 if isinstance(a, (int, torch.FloatTensor)) else a", "Bx3"),
    ("torch.sparse_coo_tensor(b, a[:, 0], (6, 7)).to_dense()", "5x3", "int:6:2x5"),
    ("torch.mm(torch.sparse_coo_tensor(b.t(), torch.ones(len(b)), torch.Size([4, 3])), a)", "3x3", "int:3:5x2"),
    ("a.new([1.5, 2]) + b.new([[1, 2], [3, 4]]), a.new(len(a), 2).zero_() + a.new(a.shape).fill_(2)[:, :2], len(a.new()) + a",
     "Bx3", "int:9:Bx3"),
    ("a * 2 if a == None or None != a and a == 'x' else a * 3, a + (a != None) + ('x' == a)", "Bx3"),
    ("a[..., (1, 0)], a[:, (2, 0)] + a[:, [1]], a[((0, 1), (2, 0))]", "Bx3"),
    # A dynamic number of groups: each image has its own weight.
    ("F.conv2d(a.reshape(1, -1, 7, 6), b.reshape(-1, 4, 3, 2), c.flatten(), 2, (1, 0), groups=a.shape[0])",
     "Bx4x7x6", "Bx6x4x3x2", "Bx6"),
    ("torch.conv2d(a.flatten(0, 1)[None], b.flatten(0, 1), dilation=(1, 2), groups=2 * len(a)).view(len(a), 6, 4, 4)",
     "Bx4x6x6", "Bx6x2x3x2"),
    ("F.conv1d(a.reshape(1, -1, 9), b.reshape(-1, 4, 3), c.flatten(), [2], 1, groups=a.shape[0])",
     "Bx4x9", "Bx6x4x3", "Bx6"),
    ("F.conv_transpose2d(a.reshape(1, -1, 5, 4), b.reshape(-1, 3, 3, 3), None, 2, 1, 1, a.shape[0])",
     "Bx4x5x4", "Bx4x3x3x3"),
    ("F.conv_transpose1d(a.reshape(1, -1, 5), b.reshape(-1, 3, 4), c.flatten(), stride=3, groups=a.shape[0])",
     "Bx4x5", "Bx4x3x4", "Bx3"),
    # A list of a tensor whose size is dynamic or data-dependent.
    ("a[torch.where(a[:, 0] > 0)[0].tolist()], a[None, (a[:, 1] > 0).nonzero()[:, 0].tolist()]", "Bx3"),
    ("sum(a[:, 0].tolist()) + len(b.tolist()) + a, torch.tensor(b.tolist()) * 2, torch.tensor(a[:, 1].tolist())",
     "Bx3", "int:9:B"),
    ("a[[]].sum(0) + a, a[:, []].shape[1] + a", "Bx3"),
    ("a.index_add(0, torch.where(a[:, 0] > 0)[0], a[torch.where(a[:, 0] > 0)[0].tolist(), [1], None])", "Bx3"),
    # A look-up in a dict is one step, whatever its size.
    ("a * len([k for d in [dict.fromkeys(range(8000))] for k in range(8000) if k in d])", "Bx3"),
    # A weight that forward replaces, and one that it converts to its own type.
    ("(setattr(self.v, 'data', a[0] * 2), self.v + a, self.v.data * self.to(a.dtype).v)[1:]", "Bx3"),
    ("torch.linalg.lstsq(a, b).solution", "Bx5x3", "Bx5x2"),
]


def with_batch(spec, batch):
    *kind, sizes = spec.split(":")
    return ":".join([*kind, "x".join(str(batch) if size == "B" else size for size in sizes.split("x"))])


def check(name, folder):
    result, *specs = BY_NAME[name]
    path = folder / "model.py"
    names = "abcd"[:len(specs)]
    path.write_text(SOURCE.format(names=", ".join(names), result=result))
    space = {}
    exec(path.read_text(), space)
    words = []
    for i, spec in enumerate(specs):
        np.save(folder / f"{i}.npy", source_layers.make_input(with_batch(spec, 2)).numpy())
        words += ["--input", folder / f"{i}.npy"]
    axes = ", ".join(f'"{n}": {{"{spec.split(":")[-1].split("x").index("B")}": "batch"}}'
                     for n, spec in zip(names, specs) if "B" in spec.split(":")[-1].split("x"))
    code, _, error = peers.calque("export", path, "-o", folder / "m.onnx", *words, "--dynamic-axes", f"{{{axes}}}", "--verify")
    assert code == 0, error
    import onnx
    needed = [i.name for i in onnx.load(str(folder / "m.onnx")).graph.input]
    torch.manual_seed(1)
    for batch in (2, 3):
        inputs = [source_layers.make_input(with_batch(spec, batch)) for spec in specs]
        with torch.no_grad():
            want = source_layers.flat(space["Net"]()(*inputs))
        got = peers.run_ort(str(folder / "m.onnx"), {n: t.numpy() for n, t in zip(names, inputs) if n in needed})
        assert len(got) == len(want), f"{len(got)} results, expected {len(want)}"
        for g, w in zip(got, want):
            assert g.shape == w.shape, f"shape {g.shape}, expected {w.shape}"
        peers.expect_close(list(got), want, rtol=1e-4, atol=1e-5)


# The import, the result, and the error: a package that is not installed matters only if a name may be its own.
MISSING = [
    ("from beartype import beartype; from beartype.typing import Optional", "beartype(lambda t: t * 2)(x)", None),
    ("from torch.nn.attention import SDPBackend, sdpa_kernel", "[x * 2 for _ in [sdpa_kernel(SDPBackend.MATH).__enter__()]][0]", None),
    ("from loguru import logger", "(logger.warning('text'), logger.bind(a=1).catch(lambda t: t * 2)(x))[1]", None),
    ("from absent.metrics import *", "x * sum([1, 2])", None),
    ("from absent.metrics import *", "accuracy(x)", "no module named 'absent.metrics'"),
    ("from scipy.special import *", "x * sum([1, 2])", "no module named 'scipy.special'"),
    ("from .absent import *", "x * sum([1, 2])", "no module named 'absent'"),
]


def check_missing(name, folder):
    line, result, error = next(case for case in MISSING if name == " ".join(case[:2]))
    path = folder / "model.py"
    path.write_text(f"{line}\n" + SOURCE.format(names="x", result=result))
    code, _, err = peers.calque("export", path, "-o", folder / "m.onnx", "--input", "2x3")
    assert error in err if error else code == 0, err


BY_NAME = {" ".join(case): case for case in CASES}
IMPORTS = [" ".join(case[:2]) for case in MISSING]


def check_either(name, folder):
    (check_missing if name in IMPORTS else check)(name, folder)


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, list(BY_NAME) + IMPORTS, check_either))

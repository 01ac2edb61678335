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


BY_NAME = {" ".join(case): case for case in CASES}

if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, list(BY_NAME), check))

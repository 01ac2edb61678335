#!/usr/bin/python3
"""Models with complex inputs and outputs: with --complex-as-pairs those of the file have the form
of torch.view_as_real; without it the export fails and names the option.

    complex_ends.py [-v] [CASE …]
"""
import sys

import peers


CASES = ("one of each kind", "a weight", "double precision", "real to complex", "complex to real")


def example(name):
    """A function of PyTorch, and its complex or real arguments."""
    import torch
    z = torch.complex(torch.arange(6.).reshape(2, 3) / 4 - 1, torch.ones(2, 3).cumsum(1) / 3)

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.complex(torch.full((3,), 0.5), torch.arange(3.)))

        def forward(self, x):
            return x * self.weight, self.weight

    def both(x, y):
        return x * y.conj(), x.abs(), x, (x + y).sum(1)

    return {
        "one of each kind": (both, (z, z * 2 - 1)),
        "a weight": (Scaled(), (z,)),
        "double precision": (lambda x: x.exp(), (z.to(torch.complex128),)),
        "real to complex": (lambda x: torch.fft.rfft(x), (torch.arange(8.).sin(),)),
        "complex to real": (lambda x: torch.fft.irfft(x), (z,)),
    }[name]


def real(tensor):
    import torch
    return (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor).numpy()


def check(name, folder):
    import numpy as np
    import torch
    model, args = example(name)
    path, out, given = folder / "model.pt", folder / "model.onnx", []
    traced = torch.jit.trace(model, args, check_trace=False)
    torch.jit.save(traced, str(path))
    wanted = traced(*args)
    for i, arg in enumerate(args):
        np.save(folder / f"{i}.npy", arg.numpy())
        given += ["--input", folder / f"{i}.npy"]
    code, _, said = peers.calque("export", path, *given, "-o", out)
    assert code == 1 and "--complex-as-pairs" in said, said
    code, _, said = peers.calque("export", path, *given, "-o", out, "--complex-as-pairs", "--verify")
    assert code == 0, said
    peers.check_onnx(out)
    got = peers.run_ort(out, {name: real(arg) for name, arg in zip(names_of(out), args)})
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted):
        peers.expect_close(one, real(other))
    code, _, said = peers.calque("testcase", path, folder / "case", *given, "--complex-as-pairs")
    assert code == 0, said
    code, _, said = peers.calque("verify", folder / "case")
    assert code == 0, said


def names_of(path):
    import onnx
    return [value.name for value in onnx.load(str(path)).graph.input]


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, CASES, check))

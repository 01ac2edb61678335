#!/usr/bin/python3
"""Operators mean what they meant when a file was written: archives of the real PyTorch whose version
is then rewritten, from 1 to 10. PyTorch loads them and says what they compute; so must what calque
exports, in ONNX Runtime.

    versions.py [NAME …]
"""
import pathlib
import sys
import tempfile
import warnings
import zipfile

from peers import Report, calque, check_onnx, expect_close, run_ort

VERSIONS = (1, 2, 3, 4, 5, 7, 8, 9, 10)


def programs():
    """Name, function, its arguments, and what to replace in the code that PyTorch saves."""
    import torch
    ints = (torch.tensor([7, -7, 6, -1]), torch.tensor([2, 2, -4, 3]))
    floats = tuple(t / 2 for t in ints)

    def div(a, b):
        return torch.div(a, b), a / b, a.div(b)

    def div_scalar(a):
        return torch.div(a, 2), a / 2.5, torch.div(a, -3)

    def div_mode(a, b):
        return torch.div(a, b, rounding_mode="floor"), torch.div(a, b, rounding_mode="trunc")

    def div_in_place(a, b):
        c = a * 1
        c.div_(b)
        d = a * 2
        d.div_(3)
        return c, d

    def scalar_by_tensor(a):
        return 3 / a

    def full(a):
        return torch.full([2, 2], 7, dtype=torch.long) + a.sum().long()

    def linspace(a):
        return torch.linspace(0, 1, 100) + a.sum()

    def logspace(a):
        return torch.logspace(0, 1, 100) + a.sum()

    def gelu(a):
        return torch.nn.functional.gelu(a)

    def sizes(a):
        return a.reshape(torch.div(torch.tensor(a.size(0)), 2).long(), 2)

    yield "div of integers", div, ints, ()
    yield "div of floats", div, floats, ()
    yield "div of both", div, (ints[0], floats[1]), ()
    yield "div by a number", div_scalar, ints[:1], ()
    yield "div by a number, floats", div_scalar, floats[:1], ()
    yield "div with a mode", div_mode, ints, ()
    yield "div in place", div_in_place, floats, ()
    yield "div in place, integers", div_in_place, ints, ()
    yield "a number by a tensor", scalar_by_tensor, ints[:1], ()
    yield "div of sizes", sizes, ints[:1], ()
    yield "full", full, floats[:1], ()
    yield "full without dtype", full, floats[:1], ((b", dtype=4", b""), (b"dtype=4, ", b""))
    yield "linspace", linspace, floats[:1], ()
    yield "linspace without steps", linspace, floats[:1], ((b", 100)", b")"), (b", 100,", b", None,"))
    yield "logspace without steps", logspace, floats[:1], ((b", 100)", b")"), (b", 100,", b", None,"))
    yield "gelu", gelu, floats[:1], ()


def rewrite(old, new, version, replacements):
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w") as target:
        for entry in source.namelist():
            data = source.read(entry)
            if entry.endswith("/version"):
                data = b"%d\n" % version
            if entry.endswith(".py"):
                for before, after in replacements:
                    data = data.replace(before, after)
            target.writestr(entry, data)


def check(function, args, replacements, version):
    import torch
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        torch.jit.save(torch.jit.script(function), str(folder / "new.pt"))
        rewrite(folder / "new.pt", folder / "model.pt", version, replacements)
        try:
            loaded = torch.jit.load(str(folder / "model.pt"))
            expected = loaded(*args)
        except RuntimeError:
            expected = None  # what PyTorch refuses at this version
        import numpy as np
        command = ["export", folder / "model.pt", "-o", folder / "model.onnx"]
        for i, tensor in enumerate(args):
            np.save(folder / f"x{i}.npy", tensor.numpy())
            command += ["--input", folder / f"x{i}.npy"]
        command += ["--input-names", ",".join(f"x{i}" for i in range(len(args)))]
        code, _, error = calque(*command)
        if expected is None:
            assert code == 1, "PyTorch refuses it"
            return
        assert code == 0, " ".join(error.split())
        check_onnx(folder / "model.onnx")
        expected = expected if isinstance(expected, tuple) else (expected,)
        got = run_ort(folder / "model.onnx", {f"x{i}": t.numpy() for i, t in enumerate(args)})
        expect_close(got, [t.numpy() for t in expected])


def main():
    report = Report(__file__)
    if not report.needs("torch", "onnx", "ort"):
        return report.finish()
    warnings.simplefilter("ignore")
    for name, function, args, replacements in programs():
        for version in VERSIONS:
            full = f"{name}, version {version}"
            if not sys.argv[1:] or any(a in full for a in sys.argv[1:]):
                with report.case(full):
                    check(function, args, replacements, version)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

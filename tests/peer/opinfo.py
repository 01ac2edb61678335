#!/usr/bin/python3
"""PyTorch's own database of operators, with samples of their arguments: each sample is traced, run
by calque, exported, and run by ONNX Runtime; both must compute PyTorch's results. Further models
test combinations of operators: complex numbers inside, numbers of Python with tensors.

    opinfo.py [-v] [--bless] [OPERATOR …] [dtype=NAME] [samples=N] [opset=N]

Without operators, a few samples of every operator in float32 and int64. A wrong number, a crash, or
a model that onnx or ONNX Runtime calls invalid is a failure. An operator that calque refuses, or
that ONNX Runtime has no kernel for, is listed in expected/opinfo.txt, which --bless rewrites: all
of it, or the lines of the operators.
"""
import collections
import concurrent.futures
import contextlib
import io
import os
import pathlib
import random
import re
import sys
import tempfile
import types
import unittest
import warnings

import numpy as np

import peers
from peers import JOBS, Report, calque, expect_close

PARTS = 4 * JOBS
SAMPLES = 2
LOOSE = {"float32": (1e-4, 1e-4), "float64": (1e-7, 1e-7), "float16": (1e-2, 1e-2)}

# Random or uninitialized results: only dtypes and sizes are compared. Some are only identified by a
# seed in the database.
RANDOM = re.compile(r"bernoulli|dropout|empty|multinomial|normal$|normal\.number_mean|rand|rrelu|uniform|resize"
                    r"|_scaled_dot_product_attention")
# The order of equal elements and the position of NaN are undefined.
UNORDERED = re.compile(r"argsort|kthvalue|masked\.arg|msort|sort$|topk")
# The sign of an eigenvector is not defined; eigen.py compares products of the factors.
SIGNLESS = re.compile(r"linalg\.eigh$|svd$")
# NaN is the greatest of all in PyTorch, and ONNX Runtime loses it.
LOSES_NAN = re.compile(r"masked\.(amax|amin)$")
# A mean of one number is that number; PyTorch rounds before it subtracts.
NOISY = {"native_layer_norm": (1e-3, 1e-3), "nn.functional.layer_norm": (1e-3, 1e-3)}
NO_KERNEL = re.compile("Could not find an implementation|does not support double|NOT_IMPLEMENTED")


# ---- operators ------------------------------------------------------------------------


def database():
    """PyTorch's tests import a package that is not needed to read their tables."""
    stub = types.ModuleType("expecttest")
    stub.TestCase = type("TestCase", (unittest.TestCase,), {})
    stub.ACCEPT = False
    sys.modules.setdefault("expecttest", stub)
    argv, sys.argv = sys.argv, sys.argv[:1]  # they read it, too
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    finally:
        sys.argv = argv
    return op_db


def name_of(op):
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def flat(value):
    """The tensors of a result, in order."""
    import torch
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in flat(item)]
    return []


def module_of(fn, args, kwargs):
    """A module whose inputs are the tensors among the arguments; other arguments are fixed."""
    import torch
    tensors = []

    def take(value):
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            at = len(tensors) - 1
            return lambda given: given[at]
        if isinstance(value, (list, tuple)):
            items = [take(item) for item in value]
            return lambda given: type(value)(item(given) for item in items)
        return lambda given: value

    taken, named = [take(arg) for arg in args], {key: take(arg) for key, arg in kwargs.items()}

    class Call(torch.nn.Module):
        def forward(self, *given):
            out = flat(fn(*[arg(given) for arg in taken], **{k: v(given) for k, v in named.items()}))
            return out[0] if len(out) == 1 else tuple(out)

    return Call(), tensors


def array(tensor):
    import torch
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise peers.Skip("not a plain tensor")
    return np.ascontiguousarray(tensor.numpy()).reshape(tuple(tensor.shape))


def samples_of(op, dtype, most):
    """A few of an operator's samples, spread over all of them."""
    import torch
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    found = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    return found[::max(1, len(found) // most)][:most]


# ---- one model ------------------------------------------------------------------------


def trace(module, tensors, folder):
    """Saves the traced module and its inputs; what it gives, or Skip if PyTorch itself cannot."""
    import torch
    try:
        with torch.no_grad():
            traced = torch.jit.trace(module, tuple(t.clone() for t in tensors), check_trace=False)
            traced.save(str(folder / "m.pt"))  # which forgets what constants were numbers in Python
            expected = flat(torch.jit.load(str(folder / "m.pt"))(*[t.clone() for t in tensors]))
            expected = [array(t) for t in expected]
    except Exception as error:
        raise peers.Skip(f"PyTorch cannot trace it: {error}") from None
    for old in folder.glob("x/*"):
        old.unlink()
    for i, tensor in enumerate(tensors):
        np.save(folder / "x" / f"input_{i}.npy", array(tensor))
    return expected


def compare(name, got, expected):
    assert len(got) == len(expected), f"{len(got)} results, expected {len(expected)}"
    if UNORDERED.search(name):
        got, expected = got[:1], expected[:1]
        if got[0].dtype == np.int64:
            return
    for i, (one, other) in enumerate(zip(got, expected)):
        if SIGNLESS.search(name):
            one, other = abs(one), abs(other)
        if RANDOM.search(name):
            assert (one.shape, one.dtype) == (other.shape, other.dtype), f"result {i} is {one.dtype}{one.shape}"
        else:
            near = NOISY.get(name, LOOSE.get(other.dtype.name, (None, None)))
            expect_close(one, other, *near, name=f"result {i}")


class Refusals(Report):
    """Counts the refusals of each operator and dtype instead of printing them."""

    def __init__(self, title):
        super().__init__(title)
        self.refused = collections.Counter()

    def skipped(self, name, why):
        self.refused[re.sub(r"( \d+)?: [^:]*$", "", name)] += 1
        print(f"refused {name}: {why}", flush=True)


def refused(code, error):
    """A clean refusal is expected if it is on the list; anything else is a bug."""
    assert code in (1, 2) and error.startswith("error: "), f"exit {code}: {error[-300:]}"
    raise peers.Skip(" ".join(error.split())[:200])


def check_run(name, folder, expected):
    for old in folder.glob("y/*"):
        old.unlink()
    code, _, error = calque("run", folder / "m.pt", "--example", folder / "x", "-o", folder / "y")
    if code:
        refused(code, error)
    got = [peers.load_pb(folder / "y" / f"output_{i}.pb") for i in range(len(list(folder.glob("y/output_*"))))]
    compare(name, [a for g in got for a in (g if isinstance(g, list) else [g])], expected)


def check_export(name, folder, expected, tensors, opset):
    import onnx
    import ort
    code, _, error = calque("export", folder / "m.pt", "--example", folder / "x", "--opset", str(opset), "-o",
                            folder / "m.onnx")
    if code:
        refused(code, error)
    model = onnx.load(str(folder / "m.onnx"))
    if opset <= onnx.defs.onnx_opset_version():
        onnx.checker.check_model(model, full_check=True)
    feeds = {value.name: array(tensor) for value, tensor in zip(model.graph.input, tensors)}
    try:
        got = peers.run_ort(model.SerializeToString(), feeds)
    except ort.OrtError as error:
        if NO_KERNEL.search(str(error)):
            raise peers.Skip(str(error)[:200]) from None
        raise
    if not LOSES_NAN.search(name):
        compare(name, [a for g in got for a in (g if isinstance(g, list) else [g])], expected)


def check_model(report, name, label, module, tensors, folder, opsets):
    try:
        expected = trace(module, tensors, folder)
    except peers.Skip:
        return  # no fault of calque's
    if not expected or not tensors:
        return
    with report.case(f"{name} {label}: run"):
        check_run(name, folder, expected)
    for opset in opsets:
        with report.case(f"{name} {label}: export at opset {opset}"):
            check_export(name, folder, expected, tensors, opset)


# ---- models of several operators ------------------------------------------------------


def models():
    import torch
    fft, pairs = torch.fft, torch.view_as_real
    window = torch.hann_window(16)

    def rotary(x, turn):  # as language models turn their queries and keys
        turned = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(turn), turn)
        return pairs(turned).flatten(-2)

    def arithmetic(x, y):
        z, w = torch.complex(x, y), torch.polar(x, y)
        u = torch.cat([z * w + w.conj(), z / w], 1).transpose(0, 1).reshape(-1)
        return u.abs(), u.angle(), u.real, u[1:3].imag, pairs(u.exp() * (2 - 1j)), u.mean().real, u.sum(0).abs()

    x, signal = torch.randn(3, 4, 12), torch.randn(2, 100)
    return {
        "numbers of Python": (lambda x, y: (x * 0.5, x + 0.5, x - 0.5, x / 0.5, y * 0.5, 0.5 * y, x // 2.5, 1 - x),
                              [torch.arange(6), torch.tensor(0.5)]),
        "rotary": (rotary, [torch.randn(2, 6, 8), torch.randn(6, 4)]),
        "arithmetic": (arithmetic, [torch.rand(3, 4) + 0.5, torch.rand(3, 4)]),
        "global filter": (lambda x, w: fft.irfft2(fft.rfft2(x, dim=(1, 2), norm="ortho") * torch.view_as_complex(w),
                                                  s=(14, 8), dim=(1, 2), norm="ortho"),
                          [torch.randn(2, 14, 8, 3), torch.randn(14, 5, 3, 2)]),
        "mixing by fft": (lambda x: fft.fft(fft.fft(x, dim=-1), dim=-2).real, [x]),
        "fftn": (lambda x: pairs(fft.fftn(x, s=(5, 8), dim=(0, 2))), [x]),
        "hfft": (lambda x: fft.hfft(torch.complex(x, -x), n=9), [x]),
        "a long transform": (lambda x: pairs(fft.rfft(x)), [torch.randn(2, 360)]),
        "there and back": (lambda x: fft.irfft(fft.rfft(x)), [torch.randn(2, 1024)]),
        "shifted": (lambda x: fft.fftshift(x) + fft.ifftshift(x, dim=1) * fft.fftfreq(5), [torch.randn(3, 5)]),
        "spectrogram": (lambda x: torch.stft(x, 16, 4, window=window, return_complex=True).abs(), [signal]),
        "istft": (lambda x: torch.istft(torch.stft(x, 16, 4, window=window, return_complex=True), 16, 4,
                                        window=window), [signal]),
    }


def check_models(report, folder):
    import torch
    torch.manual_seed(0)
    for name, (fn, tensors) in models().items():
        module, tensors = module_of(fn, tensors, {})
        check_model(report, name, "(model)", module, tensors, folder, [9, 13, 17, 21])


# ---- all of them ----------------------------------------------------------------------


def check_part(part, options):
    """The operators whose index in the database is part, modulo PARTS; in a separate process."""
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(1)
    report, out = Refusals(__file__), io.StringIO()
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(out):
        folder = pathlib.Path(name)
        (folder / "x").mkdir()
        if part == 0 and not options["operators"]:
            check_models(report, folder)
        for place, op in enumerate(database()):
            if options["operators"] and not {op.name, name_of(op)} & options["operators"]:
                continue
            for dtype in options["dtypes"]:
                if place % PARTS != part or getattr(torch, dtype) not in op.dtypes:
                    continue
                for i, sample in enumerate(samples_of(op, getattr(torch, dtype), options["samples"])):
                    module, tensors = module_of(op.op, [sample.input, *sample.args], sample.kwargs)
                    check_model(report, name_of(op), f"{dtype} {i}", module, tensors, folder, options["opsets"])
    return report.n_passed, report.n_failed, report.refused, out.getvalue()


def main():
    report, words = Report(__file__), [word for word in sys.argv[1:] if not word.startswith("-")]
    given = {key: [word.split("=")[1] for word in words if word.startswith(key + "=")]
             for key in ("dtype", "samples", "opset")}
    options = {"operators": {word for word in words if "=" not in word},
               "dtypes": given["dtype"] or ["float32", "int64"],
               "samples": int((given["samples"] or [SAMPLES])[0]),
               "opsets": [int(opset) for opset in given["opset"]] or [17]}
    if report.needs("torch", "onnx", "ort"):
        found = collections.Counter()
        with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
            for passed, failed, refusals, text in pool.map(check_part, range(PARTS), [options] * PARTS):
                report.n_passed += passed
                report.n_failed += failed
                found += refusals
                for line in text.splitlines():
                    if line.startswith("FAIL") or "-v" in sys.argv:
                        print(line, flush=True)
        if not any(given.values()):
            report.expected_refusals(found, lambda line: not words or line.split(" ")[0] in options["operators"])
    return report.finish()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

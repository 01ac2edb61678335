#!/usr/bin/python3
"""Programs of PyTorch run without PyTorch, exports are verified against their source, and files that are
something else are called what they are."""
import importlib.util
import io
import pathlib
import sys
import tempfile
import threading
import warnings

from package import CALQUE, DATA, RELU, Report, Skip, raises, run

import numpy as np
import calque

X = np.arange(6, dtype="float32").reshape(2, 3) - 2
SOURCE = b"""def forward(x: Tensor, by: float = 2.0, names: Optional[Dict[str, Tensor]] = None):
    if names is not None:
        x = x + names['a']
    return x * by, [x.sum(), None], {'n': x}

def other(x: Tensor):
    return x.neg()
"""
PT2 = DATA / "pt2/archive28.dynamic.26.pt2"


def check_source():
    program = calque.Program(SOURCE)
    y, total, n = program(X)
    assert (y == X * 2).all() and total == X.sum() and (n == X).all()
    assert (program(X, by=3)[0] == X * 3).all() and (program.run({"x": X, "by": 3.0})[0] == X * 3).all()
    assert (program(X, names={"a": X})[2] == X + X).all()
    assert (calque.Program(SOURCE, entry="other")(X)[0] == -X).all()
    assert (calque.run(SOURCE, [X], entry="other")[0] == -X).all()
    assert repr(calque.Program(SOURCE, entry="other")) == "Program(other(x: Tensor))"
    raises(calque.ArgumentError, program, X, q=1)
    raises(calque.ArgumentError, program, X, "a")
    raises(calque.NotFound, calque.Program(SOURCE, entry="nothing"), X)
    defined = calque.Program(b"def forward(x: Tensor):\n    return torch.ops.my.twice(x)\n",
                             define="def my__twice(x: Tensor) -> Tensor:\n    return x * 2\n")
    assert (defined(X)[0] == X * 2).all()


def check_pt2():
    given = np.ones((3, 4), "float32")
    np.testing.assert_allclose(calque.run(PT2, [given])[0],
                               calque.Session(calque.export(PT2)).run_in_order([given])[0], rtol=1e-5)
    computed_by_pytorch = np.load(DATA / "pt2/archive28.dynamic.26.0.npy")
    np.testing.assert_allclose(calque.run(PT2)[0], computed_by_pytorch, rtol=1e-5, atol=1e-6)
    assert repr(calque.Program(PT2)) == "Program(x)"
    assert len(calque.run(PT2, {"x": np.ones((5, 4), "float32")})) == 1
    raises(calque.ArgumentError, calque.run, PT2, [X])


def check_onnx(folder):
    path, x = folder / "relu.onnx", np.array([-1, 2], "float32")
    calque.Model.parse(RELU).save(path)
    for model in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes()), calque.load(path)):
        assert calque.run(model, [x])[0].tolist() == [0, 2]
    assert calque.run(path, {"x": x})[0].tolist() == calque.run(path, x)[0].tolist() == [0, 2]
    raises(calque.ArgumentError, calque.run, path, [x], entry="main")


def check_threads():
    """A program may be used by several threads; they take turns."""
    program, results = calque.Program(SOURCE), []
    threads = [threading.Thread(target=lambda: results.append(program(X)[0].tolist())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(X * 2).tolist()] * 8


def check_torch(folder):
    """PyTorch computes the same."""
    if not importlib.util.find_spec("torch"):
        raise Skip("PyTorch is not installed")
    import torch
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
    x, path = torch.rand(2, 3, 8, 8), str(folder / "net.pt")
    torch.jit.save(torch.jit.trace(net, x), path)
    for given in (x, x.numpy()):
        np.testing.assert_allclose(calque.run(path, [given])[0], net(x).detach().numpy(), rtol=1e-4, atol=1e-6)


# ---- verify=True ----


def verified(*arguments, **keywords):
    return calque.export(*arguments, verify=True, **keywords).verification


def check_verify(folder):
    rows = verified(SOURCE, inputs=[X, 2.0, {"a": X}], entry="forward", output_names=["y"])
    assert [(row.output, row.shape, row.compared) for row in rows] == [
        ("y", (2, 3), "values"), ("output_1", (), "values"), ("2_n", (2, 3), "values")], rows
    grown = verified(b"def forward(x: Tensor, z: Tensor):\n    return x + z\n", inputs=[X, X],
                     input_names=["a", "b"], dynamic_axes={"a": {0: "n", 1: "m"}, "b": {0: "n", 1: "m"}})
    assert [row.shape for row in grown] == [(2, 3), (3, 4)], grown
    assert len(verified(PT2)) == 2 and len(verified(PT2, static=True)) >= 1
    assert not calque.export(SOURCE, inputs=[X]).verification
    pairs = verified(b"def forward(x: Tensor):\n    return x * 1j\n", inputs=[np.ones(2, "complex64")],
                     complex_as_pairs=True)
    assert pairs[0].shape == (2, 2), pairs


def check_verify_finds_differences(folder):
    out = folder / "wrong.onnx"
    wrong = {"symbolics": 'symbolic("aten::relu", "Neg", opset=7)\n'}
    source = b"def forward(x: Tensor):\n    return torch.relu(x)\n"
    error = raises(calque.VerificationError, calque.export, source, out, [X], verify=True, **wrong)
    assert isinstance(error, AssertionError) and "5 of 6 elements" in error.message, error
    assert not out.exists(), "it was written"
    calque.export(source, out, [X], **wrong)
    # A size of the example that is wrong for others.
    baked = b"def forward(x: Tensor):\n    return x * x.size(0)\n"
    rule = {"symbolics": '@symbolic("aten::mul.Tensor", opset=7)\n@symbolic("aten::mul.Scalar", opset=7)\n'
                         "def twice(self):\n    return Mul(self, 2.0)\n"}
    assert verified(baked, inputs=[X], **rule)
    raises(calque.VerificationError, verified, baked, inputs=[X], dynamic_axes={"x": {0: "n"}}, **rule)


def check_verify_random():
    source = b"def forward(x: Tensor):\n    return torch.rand_like(x)\n"
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        rows = verified(source, inputs=[X])
    assert rows[0].compared == "shape" and "random" in str(heard[-1].message), (rows, heard)
    assert heard[-1].filename == __file__


def check_verify_state():
    """What a program changes is an output, with state=True, which begins as the file has it."""
    rows = verified(DATA / "pt2/mutation.214.pt2", state=True)
    assert any(row.output.startswith("state.") for row in rows), rows
    assert verified(DATA / "pt2/mutation.214.pt2", keep_mutations=True)


def check_verify_in_torch():
    if not importlib.util.find_spec("torch"):
        raise Skip("PyTorch is not installed")
    import torch
    import calque.onnx
    x = torch.ones(2, 3)
    assert calque.onnx.export(torch.nn.LSTM(3, 4), (x.reshape(2, 1, 3),), verify=True).verification
    file = io.BytesIO()
    calque.onnx.register_custom_op_symbolic("aten::relu", lambda g, x: g.op("Neg", x), 9)
    try:
        raises(calque.VerificationError, calque.onnx.export, torch.nn.ReLU(), x, file, verify=True)
        assert not file.getvalue()
    finally:
        calque.onnx.unregister_custom_op_symbolic("aten::relu", 9)
    if hasattr(torch, "export"):
        made = calque.onnx.export(torch.nn.Linear(3, 3), (x,), dynamo=True, verify=True)
        assert made.verification[0].compared == "values"


# ---- what a file is ----


def check_other_files(folder):
    """Messages of the command line, translated for Python."""
    archive, script = folder / "net.pt", folder / "net.py"
    archive.write_bytes(PT2.read_bytes())
    script.write_bytes(SOURCE)
    empty = folder / "empty.onnx"
    empty.write_bytes(b"")
    for path, said in [(archive, "is a zip archive, but this takes ONNX models"),
                       (script, "is text, but this takes ONNX models"), (empty, "empty")]:
        code, _, err = run([CALQUE, "check", path])
        if path is not empty:
            assert code == 1 and said in err, err
        for function in (calque.load, calque.Session, calque.Model):
            for source in (path, path.read_bytes()):
                error = raises(calque.FormatError, function, source)
                assert said in error.message, error
    assert "calque.run" in raises(calque.Error, calque.Session, archive).hint


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        for name, check in list(globals().items()):
            if name.startswith("check_"):
                with report.case(name[6:]):
                    check(*[pathlib.Path(folder)] * check.__code__.co_argcount)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

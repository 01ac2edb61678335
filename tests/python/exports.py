#!/usr/bin/python3
"""Exports from source, archives and programs of torch.export, with all options, warnings and errors."""
import contextlib
import inspect
import io
import pathlib
import re
import sys
import tempfile
import warnings
import zipfile

from package import DATA, ROOT, Report, raises

import numpy as np
import calque
from calque import _words

X = np.arange(6, dtype="float32").reshape(2, 3) - 2
SOURCE = b"""def forward(x: Tensor, y: Tensor):
    return torch.relu(x) + y, x * 2
"""


def operators(model):
    return [node.op_type for node in model.graph.nodes]


def check_source(folder):
    path = folder / "net.py"
    path.write_bytes(SOURCE)
    out = folder / "net.onnx"
    model = calque.export(path, out, [X, X])
    for source in [str(path), SOURCE, io.BytesIO(SOURCE), bytearray(SOURCE)]:
        assert calque.export(source, inputs=[X, X]).diff(model) == [], source
    assert [value.name for value in model.inputs] == ["x", "y"]
    got = calque.Session(out).run(None, {"x": X, "y": X})
    assert (got[0] == np.maximum(X, 0) + X).all() and (got[1] == X * 2).all()
    assert calque.load(out).to_bytes() == model.to_bytes()


def check_names_and_axes():
    model = calque.export(SOURCE, inputs=[X, X], input_names=["a"], output_names=["s", "d"],
                          dynamic_axes={"a": {0: "batch"}, "y": {0: "batch", 1: None}})
    assert [value.name for value in model.outputs] == ["s", "d"]
    assert repr(model.inputs) == ("[Value(a: tensor(float)[batch, 3]), "
                                  "Value(y: tensor(float)[batch, y_dynamic_axes_2])]"), model.inputs
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        calque.export(SOURCE, inputs=[X, X], dynamic_axes={"q": [0]})
    assert '"q"' in str(heard[0].message), heard


def check_options():
    model = calque.export(SOURCE, inputs=[X, X], opset=9, producer="me", graph_name="it")
    assert model.opset_import == {"": 9} and model.producer_name == "me" and model.graph.name == "it"
    assert calque.export(SOURCE, inputs=[X, X], opset="latest").opset_import[""] >= 24
    raises(calque.Error, calque.export, SOURCE, inputs=[X, X], opset=3)
    assert "eval, train" in raises(calque.ArgumentError, calque.export, SOURCE, training="x").hint
    two = SOURCE + b"\ndef other(x: Tensor):\n    return x.neg()\n"
    assert operators(calque.export(two, inputs=[X], entry="other")) == ["Neg"]
    fold = b"def forward(x: Tensor):\n    return x + torch.ones(2, 3) * 4\n"
    assert operators(calque.export(fold, inputs=[X])) == ["Add"]
    assert len(calque.export(fold, inputs=[X], constant_folding=False).graph.nodes) > 2
    with contextlib.redirect_stdout(io.StringIO()) as said:
        made = calque.export(two, inputs=[X], entry="other", verbose=True)
    assert "onnx::Neg(%x)" in said.getvalue() and made.graph.nodes[0].doc_string


def check_arguments():
    source = (b"def forward(xs: List[Tensor], d: Dict[str, Tensor], k: float, s: str, n: "
              b"Optional[Tensor], *, by: Tensor):\n"
              b"    y = xs[0] + xs[1] * d['a']\n"
              b"    if n is None and s == 'up':\n        y = -y\n"
              b"    return y * by * k\n").replace(b", *, by", b", by")
    model = calque.export(source, inputs=[[X, X], {"a": X}, 2.0, "up", None], kwargs={"by": X})
    assert [value.name for value in model.inputs] == ["xs_0", "xs_1", "d_a", "k", "by"], model.inputs
    got, = calque.Session(model).run_in_order([X, X, X, np.array(2.0), X])
    np.testing.assert_allclose(got, -(X + X * X) * X * 2)


def check_trace_and_script():
    source = b"def forward(x: Tensor):\n    if bool(x.sum() > 0):\n        x = -x\n    return x\n"
    assert "If" in operators(calque.export(source, inputs=[X]))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert "If" not in operators(calque.export(source, inputs=[X], trace=True))
    assert heard and heard[0].category is calque.CalqueWarning, heard
    assert heard[0].filename == __file__, f"{heard[0].filename} is not where it was called"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raises(calque.CalqueWarning, calque.export, source, inputs=[X], trace=True)


def check_optional_results_have_the_type_of_what_is_there():
    for body in (b"if x.sum() > 1:\n        y = x",
                 b"for _ in range(x.size(0)):\n        y = x",
                 b"if x.sum() > 1:\n        if x.sum() < 5:\n            y = x"):
        source = b"def forward(x: Tensor) -> Optional[Tensor]:\n    y: Optional[Tensor] = None\n    " + \
            body + b"\n    return y\n"
        made = calque.export(source, inputs=[X], dynamic_axes={"x": {0: "n"}}, opset=17)
        assert "optional(float[n,3]) output_0" in made.text(), made.text()
        session = calque.Session(made)
        assert [None if y is None else y.shape for y, in (
            session.run(None, {"x": x}) for x in (X, X[:0]))] == [X.shape, None]
        assert operators(made).count("If") == (2 if body.count(b"if") > 1 else 1)


def check_report():
    model = calque.export(SOURCE, inputs=[X, X])
    assert {row["name"] for row in model.report["operators"]} >= {"Relu", "Add", "Mul"}
    source = b"def forward(x: Tensor):\n    return torch.ops.mylib.scale(x)\n"
    error = raises(calque.Error, calque.export, source, inputs=[X])
    assert error.report["missing"][0]["name"] == "mylib::scale", error.report


def check_own_operators():
    source = b"def forward(x: Tensor):\n    return torch.ops.mylib.scale(x, 2.5)\n"
    function = ('@symbolic("mylib::scale", opset=9)\ndef scale(x, by):\n'
                '    return op("mylib::Scale", x, by=by)\n')
    model = calque.export(source, inputs=[X], symbolics=function, custom_opsets={"mylib": 3})
    assert model.opset_import["mylib"] == 3 and model.graph.nodes[0].attributes == {"by": 2.5}
    body = "def mylib__scale(x: Tensor, by: float) -> Tensor:\n    return x * by\n"
    assert operators(calque.export(source, inputs=[X], define=body))[-1] == "Mul"


def check_archive(folder):
    """An archive, as torch.jit.save writes one: code, and a pickle of the module."""
    path = folder / "net.pt"
    pickle = b"\x80\x02c__torch__\nNet\nq\x00)\x81}(X\x08\x00\x00\x00trainingq\x01\x89ub."
    code = ("class Net(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
            "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n"
            "    return torch.relu(x)\n")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/data.pkl", pickle)
        archive.writestr("net/code/__torch__.py", code)
        archive.writestr("net/constants.pkl", b"\x80\x02).")
        archive.writestr("net/version", "3\n")
    for source in [path, path.read_bytes()]:
        assert operators(calque.export(source, inputs=[X])) == ["Relu"]
    assert calque.inspect(path)["model"]["format"] == "TorchScript archive"


def check_programs():
    path = DATA / "pt2/cond.214.pt2"
    model = calque.export(path)
    assert "If" in operators(model) and model.check(full=True) == []
    assert calque.export(path.read_bytes()).diff(model) == []
    dynamic = calque.export(DATA / "pt2/archive28.dynamic.26.pt2")
    assert dynamic.opset_import == {"": 18}, dynamic.opset_import  # as on the command line
    assert calque.export(SOURCE, inputs=[X, X]).opset_import == {"": 17}
    assert any(isinstance(size, str) for value in dynamic.inputs for size in value.shape)
    static = calque.export(DATA / "pt2/archive28.dynamic.26.pt2", static=True)
    assert all(isinstance(size, int) for value in static.inputs for size in value.shape)


def texts_of_the_library():
    """All texts in its sources that name an option of the command line. Those of the parts that only
    commands use are not heard here."""
    for path in sorted((ROOT / "src").glob("**/*.c")):
        if not path.name.endswith("_test.c"):
            code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            for found in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', code):
                said = re.sub(r'"\s*"', "", found[0])[1:-1].replace("%s", "")
                if re.search(r"--(?!input $|allow-large-output)[a-z]", said):
                    yield said


def check_options_are_arguments():
    """Messages refer to Python arguments."""
    heard = list(texts_of_the_library())
    assert len(heard) > 20, heard
    known = set(inspect.signature(calque.export).parameters)
    for method in (calque.Model.optimize, calque.Model.cut, calque.Model.join, calque.Model.strip,
                   calque.Model.quantize):
        known |= set(inspect.signature(method).parameters)
    # Options of commands without a call in Python, and of calque.ppe.
    known |= {"weights", "weights_not_strict", "path", "code", "num_classes", "no_verify", "annotations", "report", "verify", "parse"}
    for said in heard:
        for speech in (contextlib.nullcontext(), _words.of_torch()):
            with speech:
                told = _words.in_python(said)
            assert "--" not in told or "calque export " in told, (said, told)  # a whole command is kept
        for name in re.findall(r"\b([a-z_]+)=", _words.in_python(said)):
            assert name in known, (said, name)


def check_hints_are_of_python():
    assert _words.in_python("my--model.pt has no --entry") == "my--model.pt has no entry=…"
    error = raises(calque.Error, calque.export, b"def forward(x: Tensor, n: int, more: Optional[Tensor]):\n"
                                                b"    return x * n\n")
    assert error.hint.endswith('inputs that fit: inputs=[numpy.zeros((1, 3, 224, 224), "float32"), 1, None]')
    missing = b"def forward(x: Tensor):\n    return torch.ops.mine.it(x)\n"
    hint = raises(calque.Error, calque.export, missing, inputs=[X]).hint
    assert "(define=… " in hint and "write a symbolic function (symbolics=…)" in hint, hint
    several = b"def a(x: Tensor):\n    return x\n\ndef b(x: Tensor):\n    return x\n"
    assert raises(calque.NotFound, calque.export, several, inputs=[X]).hint == \
        "its methods are: a, b; choose one with entry=…"
    endless = b"def forward(x: Tensor):\n    i = 0\n    while i >= 0:\n        i += 1\n    return x\n"
    assert "max_steps=…" in raises(calque.Error, calque.export, endless, inputs=[X],
                                          max_steps=1000).hint
    method, = calque.inspect(SOURCE)["methods"]
    assert method["to begin with"].startswith("inputs=[numpy.zeros("), method


def check_constants():
    source = (b"def forward(x: Tensor, n: int, how: str):\n"
              b"    for i in range(n):\n        x = x.neg() if how == 'neg' else x.abs()\n    return x\n")
    model = calque.export(source, inputs=[X], constants={"how": "neg", "n": 2})
    assert operators(model) == ["Neg", "Neg"] and [value.name for value in model.inputs] == ["x"]
    error = raises(calque.Error, calque.export, source, inputs=[X], constants={"nothing": 2})
    assert "nothing" in str(error)


def check_errors(folder):
    error = raises(calque.ScriptError, calque.export, b"def forward(x:\n", inputs=[X])
    assert ":1:" in error.where or ":2:" in error.where, error
    error = raises(calque.TypeMismatch, calque.export, b"def forward(x: Tensor):\n    return x @ x\n",
                   inputs=[X])
    assert "x @ x" in error.excerpt, error
    out = folder / "never.onnx"
    raises(calque.Error, calque.export, b"def forward(x: Tensor):\n    return x @ x\n", out, [X])
    assert not out.exists()
    raises(calque.Error, calque.export, folder / "missing.pt", inputs=[X])
    assert "got int; calque.onnx.export" in str(raises(TypeError, calque.export, 3, inputs=[X]))
    loop = (b"def forward(x: Tensor):\n    a = [0] * 100000\n    for i in range(10000):\n"
            b"        a.pop(0)\n    return x * a[0]\n")
    error = raises(calque.UnsupportedError, calque.export, loop, inputs=[X], max_steps=10000)
    assert error.where.startswith("<bytes>:") and "<bytes>" in str(error), error


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

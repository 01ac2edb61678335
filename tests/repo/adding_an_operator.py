#!/usr/bin/python3
"""docs/adding-an-operator.md: its examples work as written, in a copy of lib/ and without a compiler, and mistakes in
lib/ are errors with the file, the line and the expected form."""
import contextlib
import os
import pathlib
import re
import shutil
import sys
import tempfile

from repo import ROOT, Report, calque

BLOCK = re.compile(r"((?:<!-- .*? -->\n)*)```python\n(.*?)```", re.S)
COMMENT = re.compile(r"<!-- (\S+) \| (.*?) \| (\S+) \| ([\d> ]+) \| (.*?) -->")
NODE = re.compile(r"= (?:[\w.]+::)?(\w+)(?:\[.*\])?\(")
ZIG = '@operator("aten::zig(Tensor self, int n) -> Tensor")\ndef zig(self, n):\n'
TANH = '@gradient("aten::tan")\ndef tan_mine(grad, self):\n'
SYMBOLIC = '@symbolic("aten::mish", opset=18)\ndef mish_mine(self):\n'

# Name, file, the text that is added to it, the line of the error (1: the first line of the text), a part of its message.
MISTAKES = (
    ("a colon is missing", "aten/activation.py", ZIG[:-2] + "\n    return self * n\n", 2, "expected ':'"),
    ("an unknown variable", "aten/activation.py", ZIG + "    return slef * n\n", 3, "slef is not defined"),
    ("a parameter with another name", "aten/activation.py", ZIG.replace("self, n)", "self, m)", 1) + "    return self * m\n",
     2, "argument 2 of aten::zig is n, got parameter m"),
    ("a missing parameter", "aten/activation.py", ZIG.replace("(self, n)", "(self)") + "    return self\n", 2,
     "parameter n of aten::zig is missing"),
    ("a schema without an arrow", "aten/activation.py", ZIG.replace("->", ">") + "    return self * n\n", 1, "expects ->"),
    ("a schema with an unknown type", "aten/activation.py", ZIG.replace("Tensor self", "Tenso self") + "    return self\n", 1,
     "unknown type Tenso; expected Tensor"),
    ("an unknown value of a trait", "aten/activation.py", ZIG.replace('")', '", autocast="low")', 1) + "    return self * n\n",
     1, 'autocast is "low"; expected one of lower, float32, widest'),
    ("an unknown key", "aten/activation.py", ZIG.replace('")', '", view=True)', 1) + "    return self * n\n", 1,
     "operator has no key view; expected one of: of_views"),
    ("a flag that is False", "aten/activation.py", ZIG.replace('")', '", random=False)', 1) + "    return self * n\n", 1,
     "key random expects True, got False"),
    ("a function without return", "aten/activation.py", ZIG + "    y = self * n\n", 2, "is None, expected a tensor"),
    ("another number of results", "aten/activation.py", ZIG.replace("-> Tensor", "-> (Tensor, Tensor)") + "    return self\n",
     2, "returns 1 values, expected 2"),
    ("an unknown method", "aten/activation.py", ZIG + "    return self.multiply_by(n)\n", 3, "unknown function multiply_by"),
    ("a function of torch.nn.functional", "aten/activation.py", ZIG + "    return torch.nn.functional.softplus(self)\n", 3,
     "call the operator: torch.ops.aten.softplus"),
    ("too many arguments", "aten/activation.py", ZIG + "    return torch.sin(self, n)\n", 3,
     "expected aten::sin(Tensor self) -> Tensor"),
    ("an argument of another type", "aten/activation.py", ZIG + "    return torch.sum(self, 'x')\n", 3, "got str"),
    ("a try statement", "aten/activation.py", ZIG + "    try:\n        return self\n    except ValueError:\n        return n\n",
     3, "not supported"),
    ("an unknown decorator", "aten/activation.py", ZIG.replace("@operator", "@operater") + "    return self * n\n", 1,
     "unknown decorator @operater; expected one of @operator, @gradient"),
    ("an operator that exists", "aten/activation.py", ZIG.replace("zig(Tensor self, int n)", "relu(Tensor self)")
     .replace("zig(self, n)", "zig(self)") + "    return self\n", 1, "aten::relu is already defined"),
    ("a gradient of an unknown argument", "aten/pointwise.py", TANH + '    return {"input": grad}\n', 3,
     'aten::tan has no argument "input"'),
    ("an unknown parameter of a gradient", "aten/pointwise.py", TANH.replace("self", "output") + '    return {"self": grad}\n',
     2, "aten::tan has no argument output; a parameter is an argument or grad"),
    ("a gradient of an unknown operator", "aten/pointwise.py", TANH.replace("tan", "tahn") + '    return {"self": grad}\n',
     1, "unknown operator aten::tahn"),
    ("a gradient that is not a dict", "aten/pointwise.py", TANH + "    return grad\n", 2, "expected a dict"),
    ("a gradient of another size", "aten/pointwise.py", TANH + '    return {"self": grad.sum(1)}\n', 2,
     'the gradient of "self" is float32[2], expected float32[2, 3]'),
    ("an unknown ONNX operator", "onnx/activation.py", SYMBOLIC + "    return Misch(self)\n", 3,
     "ONNX has no operator Misch in opset 18"),
    ("an ONNX operator of a later opset", "onnx/activation.py", 'symbolic("aten::mish", "Mish", opset=17)\n', 1,
     "ONNX has no operator Mish in opset 17"),
    ("an unknown attribute", "onnx/activation.py", SYMBOLIC + "    return Mish(self, alfa=1.0)\n", 3, "no attribute alfa"),
    ("an attribute of another type", "onnx/activation.py", SYMBOLIC + '    return LeakyRelu(self, alpha="x")\n', None,
     "has type STRING, expected FLOAT"),
    ("too many inputs", "onnx/activation.py", SYMBOLIC + "    return Mish(self, self)\n", 3, "takes at most 1 inputs"),
    ("too few inputs", "onnx/activation.py", SYMBOLIC + "    return Gather(self, axis=0)\n", 3, "needs at least 2 inputs"),
    ("a symbolic function without return", "onnx/activation.py", SYMBOLIC + "    y = Mish(self)\n", 2, "returns None"),
    ("a function of torch in a symbolic function", "onnx/activation.py", SYMBOLIC + "    return torch.tanh(self)\n", 3,
     "a symbolic function emits ONNX nodes, as in Tanh(x)"),
    ("a symbolic function for an unknown operator", "onnx/activation.py", SYMBOLIC.replace("mish", "misch") +
     "    return Mish(self)\n", 1, "unknown operator aten::misch"),
    ("an unknown key of a symbolic function", "onnx/activation.py", SYMBOLIC.replace("opset", "promot=True, opset") +
     "    return Mish(self)\n", 1, "symbolic has no key promot; expected one of: promote"),
    ("an unknown decorator of a symbolic function", "onnx/activation.py", SYMBOLIC.replace("@symbolic", "@symbol") +
     "    return Mish(self)\n", 1, "unknown decorator @symbol; expected one of @symbolic"),
    ("an adapter with an unknown parameter", "onnx/versions.py", '@downgrade("Gelu", 21)\ndef gelu(input):\n    return input\n',
     2, "Gelu has no input or attribute input in opset 21; expected one of X, approximate"),
    ("an adapter of an unknown operator", "onnx/versions.py", '@downgrade("Geluh", 20)\ndef gelu(X):\n    return X\n',
     1, "ONNX has no operator Geluh in opset 20"),
    ("a second adapter", "onnx/versions.py", '@downgrade("Mish", 18)\ndef mish_down(X):\n    return X\n',
     None, "@downgrade Mish 18 is already defined"),
)


@contextlib.contextmanager
def library():
    """A copy of lib/ that calque reads instead of the embedded files."""
    with tempfile.TemporaryDirectory() as folder:
        lib = pathlib.Path(folder) / "lib"
        shutil.copytree(ROOT / "lib", lib)
        before = os.environ.get("CALQUE_LIB")
        os.environ["CALQUE_LIB"] = str(lib)
        try:
            yield lib
        finally:
            del os.environ["CALQUE_LIB"]
            if before is not None:
                os.environ["CALQUE_LIB"] = before


def export(folder, body, size, opset, *options):
    """Exports `lambda x: body`; the exit code, the listing of the model, and the messages."""
    net = pathlib.Path(folder) / "net.py"
    model = pathlib.Path(folder) / "net.onnx"
    net.write_text(f"import torch\n\n\ndef net(x):\n    return {body}\n")
    proof = [] if "--symbolics" in options else ["--verify"]  # calque cannot run nodes of com.example
    code, _, err = calque("export", net, "--input", size, "--opset", opset, *proof, *options, "-o", model)
    return code, calque("print", model)[1] if code == 0 else "", err


def nodes_of(folder, body, size, opset, *options):
    """The operators of the export; "9 > 8": of an export to opset 9 that is converted to 8."""
    first, *rest = opset.split(" > ")
    code, printed, err = export(folder, body, size, first, *options)
    assert code == 0, err
    for target in rest:
        model = pathlib.Path(folder) / "converted.onnx"
        code, _, err = calque("convert", pathlib.Path(folder) / "net.onnx", "--opset", target, "-o", model)
        assert code == 0, err
        printed = calque("print", model)[1]
    return " ".join(name for name in NODE.findall(printed) if name != "Constant")


def check_example(comment, text):
    """The text is a user's file if the comment begins with an option, otherwise it is added to a file in lib/."""
    target, body, size, opset, expected = comment
    with library() as lib:
        options = []
        if target.startswith("--"):
            path = lib.parent / "mine.py"
            path.write_text(text)
            options = [target, path]
        else:
            path = lib.parent / target
            path.write_text(path.read_text() + "\n\n" + text)
        found = nodes_of(lib.parent, body, size, opset, *options)
        assert found == expected, f"{found}, expected {expected}"


def check_examples(report):
    """A block with comments runs as they say; one without is a quotation from lib/."""
    page = (ROOT / "docs/adding-an-operator.md").read_text()
    sources = "".join(path.read_text() for path in sorted(ROOT.glob("lib/*/*.py")))
    n = 0
    for comments, text in BLOCK.findall(page):
        for comment in COMMENT.findall(comments):
            n += 1
            with report.case(f"{comment[1]} at opset {comment[3]}"):
                check_example(comment, text)
        if not comments:
            report.check(f"quotation {text.splitlines()[0]}", text in sources, "lib/ does not have it")
    assert n >= 6, "docs/adding-an-operator.md has no examples"


def provoke(folder, name):
    """Commands that read the file; the first one that fails."""
    if name.startswith("onnx/versions"):
        code, _, err = export(folder, "torch.nn.functional.gelu(x)", "2x3", "20")
        if code == 0:
            code, _, err = calque("convert", pathlib.Path(folder) / "net.onnx", "--opset", "17",
                                  "-o", pathlib.Path(folder) / "old.onnx")
        return code, err
    bodies = {"onnx/activation.py": "torch.nn.functional.mish(x)", "aten/activation.py": "torch.ops.aten.zig(x, 2)",
              "aten/pointwise.py": "torch.autograd.grad(torch.tan(x.requires_grad_()).sum(), [x])[0]"}
    code, _, err = export(folder, bodies[name], "2x3", "18")
    return code, err


def without(text, decorator):
    """The text of a file without the function that has this decorator."""
    return re.sub(rf"\n\n{re.escape(decorator)}\n(?:.+\n)+", "\n", text)


def check_mistakes(report):
    for title, name, text, line, expected in MISTAKES:
        with library() as lib, report.case(title):
            path = lib / name
            old = without(path.read_text(), text.splitlines()[0])
            path.write_text(old + "\n\n" + text)
            first = old.count("\n") + 3
            code, err = provoke(lib.parent, name)
            assert code == 1, f"exit {code}: {err}"
            assert expected in err, err
            assert line is None or f"{path}:{first + line - 1}:" in err, err


def check_new_file(report):
    with library() as lib, report.case("a new file of lib/aten is read"):
        (lib / "aten/zigzag.py").write_text('"""Zigzags."""\n\nfrom calque import operator\n\n\n' + ZIG + "    return self * n\n")
        code, printed, err = export(lib.parent, "torch.ops.aten.zig(x, 2)", "2x3", "17")
        assert code == 0 and NODE.findall(printed) == ["Mul"], err + printed


def main():
    report = Report(__file__)
    check_examples(report)
    check_new_file(report)
    check_mistakes(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

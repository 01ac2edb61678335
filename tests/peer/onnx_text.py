#!/usr/bin/python3
"""ONNX's text syntax against the real onnx package: printing and parsing a model gives the same
message, byte for byte. onnx.parser reads calque's text if version 1.12 supports the syntax, and
calque reads all texts of onnx.parser as the same message.

    onnx_text.py
"""
import pathlib
import sys
import tempfile
import warnings

from onnx_files import made_models, torch_models
from peers import ONNX_TEST_DATA, Report, calque

ZOO = ["super_resolution", "word_lstm"]

# Texts of the kinds that onnx's own tests of its parser have.
HEADER = '<ir_version: 7, opset_import: ["" : 10, "com.microsoft" : 1]>\n'
BOTH_READ = [
    "agraph (float[N, 128] X, float[128,10] W, float[10] B) => (float[N] C)\n"
    "{\n    # This is a comment.\n    T = MatMul(X, W)\n    S = Add(T, B)\n    C = Softmax(S)\n}",
    "g (float[N] y, float[N] z) => (float[N] w)\n{\n x = foo(y, z)\n w = bar(x, y)\n}",
    "g (float[N] y) => (float[N] w) { x = foo <a = 100, b = 200.5, c = \"astring\"> (y)"
    " w = foo(x, y) <d = [5, 10], e = [0.55, 0.66], f = [\"str1\", \"str2\"]> }",
    "g (float[N] y) => (float[N] w) { x = somedomain.foo(y) w = some.other.domain.bar(x, y) }",
    "g (float[1] y = {1}, int32[3] z) => (float[N] w) <float[2] u = {1.5, -2e-3}, float x>"
    " { x = foo(y, z) w = bar(x, u) }",
    "g (x, float[] a, float b, double[?, 3] c) => (y) { y = A(x, a, b, c) }",
    "g (bool[2] x, int64[2] i = {1, -9223372036854775808}, uint64 u = {18446744073709551615})"
    " => (y) { y = A <t = int64[2] {1, 2}, s = string[2] {\"a\", \"b\"}, f: int = @outer> (x) }",
    "g (bool x) => (y) { y = If(x) <then_branch = g1 () => (float y_then) { y_then = foo() },"
    " else_branch = g2 () => (float y_else) { y_else = bar() }> }",
    "g (float x) => (float y) { = Sink(x) y, z = Two <k: ints = [1, 2]> (x, x) }",
    'g (float x) => (float y) { y = local.f <a = 1> (x) }\n'
    '<opset_import: ["" : 10], domain: "local">\nf <a, b> (x) => (y) { y = Foo <a: int = @a> (x) }\n'
    '<domain: "d", doc_string: "text", opset_import: []>\nh (x) => (y) {\n y = Bar(x)\n}',
]
HEADERS = [
    '<ir_version: 8, opset_import: ["": 17], producer_name: "p", producer_version: "1.2",\n'
    ' model_version: 5, domain: "d.e", doc_string: "line\nline", metadata_props: ["a": "b", "": "c"]'
    '>\ng () => () {}',
    'g () => () {}',
]
# What version 1.12 cannot read, and newer ones can.
ONE_READS = [
    'g (seq(float[2]) x, map(int64, string) m, optional(float) o, sparse_tensor(float[3]) s) => (y)'
    ' { [label] y = A <t = float16[1] {15360}, e: ints = [], n = nan, l = -inf> ("x", "", m) }',
    'g () => () <float[2] w = ["location": "file", "offset": "16"]> { "a b" = A:overload("\\"") }',
    'g () => () {} <domain: "d", overload: "o"> f <a: int = 1, b> (float[2] x) => (y) <float z> {}',
]


def write_and_read(path, folder):
    """The text of a model, and the model that calque makes of it."""
    text, again = folder / "model.txt", folder / "again.onnx"
    for args in (["--text", path, "-o", text], ["--parse", text, "-o", again]):
        code, _, err = calque("print", *map(str, args))
        assert code == 0, err
    return text.read_bytes(), again


def same_message(got, expected):
    # A NaN differs from itself, so bytes decide; protobuf writes fields in one order.
    one, other = (m.SerializeToString(deterministic=True) for m in (got, expected))
    assert one == other, f"the message differs:\n{got}\nwant:\n{expected}"[:2000]


def meaning(message):
    """A copy without what the syntax cannot say, or what onnx 1.12 reads its own way."""
    import onnx
    import onnx.numpy_helper
    copy = type(message)()
    copy.CopyFrom(message)
    for part in parts(copy):
        for name in ("doc_string", "denotation", "metadata_props", "quantization_annotation"):
            if name in part.DESCRIPTOR.fields_by_name and part is not copy:
                part.ClearField(name)
        if isinstance(part, onnx.TensorProto):
            array = onnx.numpy_helper.to_array(part)
            name = part.name
            part.CopyFrom(onnx.numpy_helper.from_array(array, name))
        elif isinstance(part, (onnx.NodeProto, onnx.OperatorSetIdProto)):
            part.domain = part.domain
        elif isinstance(part, onnx.AttributeProto) and part.type == onnx.AttributeProto.TENSOR:
            part.t.name = part.t.name
    return copy


def parts(message):
    yield message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                yield from parts(one)


def onnx_reads(text, expected):
    """Whether onnx.parser reads a text; if it does, it must read the same model."""
    import onnx.parser
    try:
        got = onnx.parser.parse_model(text.decode())
    except (onnx.parser.ParseError, ValueError, UnicodeDecodeError, RuntimeError):
        return False
    same_message(meaning(got), meaning(expected))
    return True


def calque_reads(text, folder):
    import onnx
    (folder / "given.txt").write_text(text)
    code, _, err = calque("print", "--parse", folder / "given.txt", "-o", folder / "given.onnx")
    assert code == 0, err
    return onnx.load(str(folder / "given.onnx"), load_external_data=False)


def models(folder, report):
    """Paths of models, and their names."""
    for path in sorted(ONNX_TEST_DATA.glob("**/*.onnx")):
        yield path, str(path.relative_to(ONNX_TEST_DATA))
    for title, message in made_models():
        path = folder / "made.onnx"
        path.write_bytes(message.SerializeToString())
        yield path, title
    for name in ZOO:
        calque("export", name, "-o", folder / "zoo.onnx")
        yield folder / "zoo.onnx", name
    if report.needs("torch"):
        import torch
        for title, module, args, options in torch_models():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.onnx.export(module, args, str(folder / "torch.onnx"), **options)
            yield folder / "torch.onnx", f"torch {title}"


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata"):
        return report.finish()
    import onnx
    import onnx.parser
    n_read = n_all = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path, title in models(folder, report):
            with report.case(f"round trip of {title}"):
                expected = onnx.load(str(path), load_external_data=False)
                text, again = write_and_read(path, folder)
                same_message(onnx.load(str(again), load_external_data=False), expected)
                n_read += len(text) < 1 << 20 and onnx_reads(text, expected)
                n_all += 1
        for i, text in enumerate([HEADER + text for text in BOTH_READ] + HEADERS):
            with report.case(f"text {i}"):
                same_message(calque_reads(text, folder), onnx.parser.parse_model(text))
        for i, text in enumerate(ONE_READS):
            with report.case(f"newer text {i}"):
                message = calque_reads(HEADER + text, folder)
                (folder / "newer.onnx").write_bytes(message.SerializeToString())
                _, again = write_and_read(folder / "newer.onnx", folder)
                same_message(onnx.load(str(again), load_external_data=False), message)
    report.check("onnx 1.12 reads most texts", n_read > n_all * 2 // 3, f"{n_read} of {n_all}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

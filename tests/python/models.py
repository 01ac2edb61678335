#!/usr/bin/python3
"""Models are read, looked into, checked, changed and written."""
import io
import pathlib
import sys
import tempfile

from package import RELU, Report, raises

import numpy as np
import calque

TEXT = """<ir_version: 8, opset_import: ["": 17, "my": 2], producer_name: "test",
 metadata_props: ["key": "value"]>
main (float[n, 3] x, bool c) => (float[n, 3] y, seq(float[]) s)
<float[3] w = {1, 2, 3}, string[2] names = {"a", "b"}, float[3, n] t> {
  t = Transpose <perm = [1, 0]> (x)
  u = my.Scale <by = 0.5, mode = "fast", words = ["a", "b"]> (x)
  b = If (c) <then_branch = yes () => (float[1] p) { p = Constant <value = float[1] {7}> () },
              else_branch = no () => (float[1] q) { q = Constant <value = float[1] {8}> () }>
  s = SequenceConstruct (b)
  y = Add (u, w)
}
<domain: "my", opset_import: ["" : 17]>
Scale <by> (a) => (d) { k = Constant <value_float: float = @by> () d = Mul (a, k) }
"""


def check_graph():
    model = calque.Model.parse(TEXT)
    graph = model.graph
    assert repr(model) == "Model(main: 5 nodes, opset 17)" and repr(graph) == "Graph(main: 5 nodes)"
    assert model.opset_import == {"": 17, "my": 2} and model.metadata == {"key": "value"}
    assert (model.ir_version, model.producer_name) == (8, "test")
    assert repr(graph.inputs) == "[Value(x: tensor(float)[n, 3]), Value(c: tensor(bool)[])]"
    assert graph.outputs[1].type == "seq(tensor(float))" and graph.outputs[1].shape is None
    assert [value.name for value in graph.values] == ["t"]
    assert graph.inputs[0].shape == ("n", 3) and graph.inputs[0].dtype == np.float32
    transpose, scale, branch, *_ = graph.nodes
    assert transpose.attributes == {"perm": [1, 0]} and transpose.outputs == ["t"]
    assert scale.attributes == {"by": 0.5, "mode": "fast", "words": ["a", "b"]}
    assert repr(scale) == "Node(u = my::Scale(x))" and scale.domain == "my"
    inner = branch.attributes["then_branch"]
    assert inner.name == "yes" and inner.nodes[0].attributes["value"].tolist() == [7]
    function, = model.functions
    assert repr(function) == "Function(my::Scale)" and function.inputs == ["a"]
    assert function.nodes[0].attributes == {"value_float": "by"}


def with_weights(weights):
    """A model that adds them, with one initializer."""
    source = f"def forward(x: Tensor):\n    return x + torch.tensor({weights.tolist()})\n"
    return calque.export(source.encode(), inputs=[np.zeros_like(weights)])


def check_initializers(folder):
    weights = np.arange(4096, dtype="float32").reshape(64, 64)
    path = folder / "weights.onnx"
    with_weights(weights).save(path)
    model = calque.load(path)
    graph = model.graph
    found = graph.initializers
    name, = found
    assert len(found) == 1 and "v" not in found
    w = found[name]
    assert (w == weights).all() and not w.flags.writeable
    assert np.shares_memory(w, found[name]), "the weights were copied"
    del model, graph, found
    assert (w == weights).all(), "an array outlives its model"
    raises(KeyError, calque.load(path).graph.initializers.__getitem__, "v")
    names = calque.Model.parse(TEXT).graph.initializers["names"]
    assert names.tolist() == ["a", "b"] and names.dtype == object


def check_views_keep_the_model():
    node = calque.Model.parse(TEXT).graph.nodes[2].attributes["else_branch"].nodes[0]
    assert node.op_type == "Constant" and node.attributes["value"][0] == 8


def check_sources(folder):
    model = calque.Model.parse(RELU)
    path = folder / "relu.onnx"
    model.save(path)
    data = path.read_bytes()
    assert model.to_bytes() == data == bytes(model) == model.SerializeToString()
    for source in [path, str(path), data, bytearray(data), io.BytesIO(data), model]:
        assert calque.load(source).diff(model) == [], source
    with path.open("rb") as file:
        assert calque.load(file).printable_graph() == model.printable_graph()
    assert calque.Model.parse(model.text()).to_bytes() == data


def check_check():
    assert calque.Model.parse(RELU).check(full=True) == []
    wrong = calque.Model.parse(RELU.replace("Relu(x)", "Relu(z)"))
    finding = wrong.check()[0]
    assert "z" in finding.what and "Relu" in finding.where and not finding.is_warning, finding
    assert str(finding).startswith(finding.code + ": ")
    shape = calque.Model.parse(RELU.replace("(float[n] y)", "(float[n, 2] y)"))
    before = shape.to_bytes()
    assert [f.code for f in shape.check(full=True)] == ["inference"]
    assert shape.to_bytes() == before, "a check changed the model"


def check_infer():
    model = calque.Model.parse(RELU.replace("y = Relu(x)", "t = Neg(x) y = Relu(t)"))
    assert model.infer_shapes() is model
    assert repr(model.graph.values) == "[Value(t: tensor(float)[n])]"
    bad = calque.Model.parse(RELU.replace("(float[n] y)", "(int64[n] y)"))
    raises(calque.Error, bad.infer_shapes, strict=True)


def check_diff():
    other = calque.Model.parse(RELU.replace("Relu", "Neg"))
    found = calque.Model.parse(RELU).diff(other)
    assert found and "Neg" in found[0].what, found


def check_strip(folder):
    values = ", ".join(map(str, range(200)))
    text = (f'<ir_version: 8, opset_import: ["": 17]> g (float[200] x) => (float[200] y) '
            f"<float[200] w = {{{values}}}> {{ y = Mul(x, w) }}")
    whole = calque.Model.parse(text)
    kept = whole.graph.initializers["w"]
    size = len(whole.to_bytes())
    stripped = whole.strip(threshold=100)
    assert stripped is whole and kept[7] == 7, "an array lost its memory"
    stripped.save(folder / "stripped.onnx")
    assert (folder / "stripped.onnx").stat().st_size < size / 2
    runnable = calque.Model.parse(text).strip(runnable=True)
    got, = calque.Session(runnable).run(None, {"x": np.ones(200, "float32")})
    assert abs(got.mean() - 99.5) < 20, got.mean()


def check_external_data(folder):
    model = with_weights(np.arange(400, dtype="float32"))
    model.save(folder / "big.onnx", external_data=True, threshold=1000)
    assert (folder / "big.onnx.data").stat().st_size >= 1600
    weights, = calque.load(folder / "big.onnx").graph.initializers.values()
    assert weights[399] == 399


def check_sort():
    model = calque.Model.parse(RELU.replace("y = Relu(x)", "y = Relu(t) t = Neg(x)"))
    assert model.sort() and not model.sort()
    assert [node.op_type for node in model.graph.nodes] == ["Neg", "Relu"]


def check_parts():
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[n, 3, 4, 4] x) => (float[n, 3, 4, 4] y) ' \
           '{ t = Neg(x) y = Relu(t) }'
    model = calque.Model.parse(text).cut(outputs=["t"])
    assert [node.op_type for node in model.graph.nodes] == ["Neg"]
    model.join(calque.Model.parse(text), {"x": "t"}).before("image:scale=2").after("argmax:axis=1")
    ops = [node.op_type for node in model.graph.nodes]
    assert ops == ["Transpose", "Cast", "Div", "Sub", "Div", "Neg", "Neg", "Relu", "ArgMax"], ops
    assert model.check(full=True) == [], model.check(full=True)
    assert model.inputs[0].dtype == "uint8" and model.outputs[0].name == "classes"
    raises(calque.ArgumentError, calque.Model.parse(text).cut, ["nope"])
    raises(calque.ArgumentError, calque.Model.parse(text).after, "topk")
    raises(TypeError, calque.Model.parse(text).cut, "t")


def check_audit(folder):
    (folder / "evil.pkl").write_bytes(b"cos\nsystem\n(S'id'\ntR.")
    found = calque.audit(folder / "evil.pkl")
    assert (found.verdict, found.format) == ("hostile", "pickle"), found
    assert found.findings[0].what == "imports os.system", found
    calque.Model.parse(TEXT).save(folder / "fine.onnx")
    assert calque.audit(folder / "fine.onnx").verdict == "safe"


def check_model_in_use():
    model = calque.Model.parse(RELU)
    session = calque.Session(model)
    assert "session" in raises(calque.ArgumentError, model.strip).message
    del session
    model.strip()


def check_errors(folder):
    error = raises(calque.Error, calque.load, folder / "missing.onnx")
    assert isinstance(error, FileNotFoundError) and "missing.onnx" in error.where
    assert str(error) == f"{error.message}\nin {error.where}"
    raises(calque.FormatError, calque.load, b"\x08\xff\xff\xff")
    error = raises(calque.ScriptError, calque.Model.parse, "<ir_version: 8> g ( => {", "a.txt")
    assert error.where.startswith("a.txt:1:"), error
    raises(TypeError, calque.load, 7)


def check_inspect(folder):
    model = calque.Model.parse(TEXT)
    model.save(folder / "a.onnx")
    info = calque.inspect(folder / "a.onnx")
    assert info["model"]["format"] == "ONNX model" and info["inputs"][0]["name"] == "x"
    assert calque.inspect("alexnet")["model"]["format"] == "built-in model"
    info = calque.inspect(b"def forward(x: Tensor, n: int):\n    return x * n\n")
    assert info["methods"][0]["method"] == "forward", info


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

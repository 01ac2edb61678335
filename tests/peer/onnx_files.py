#!/usr/bin/python3
"""ONNX files against the real onnx package: the listing, reading and writing back, external
data, tensor files. On every model of the ONNX test data, on exports of the real
torch.onnx.export, and on models made here for what neither has.

    onnx_files.py [TOOL]        TOOL: tests/onnx_tool of a build folder
"""
import pathlib
import subprocess
import sys
import tempfile
import warnings

from peers import BUILD, ONNX_TEST_DATA, Report, to_array

TOOL = sys.argv[1] if len(sys.argv) > 1 else str(BUILD / "tests/onnx_tool")


class Tool:
    """A running onnx_tool; a command that fails raises."""

    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer == "ok", answer or "the tool died"


# ---- models ---------------------------------------------------------------------------


def torch_models():
    """Exports with features that the test data lacks: weights, If and Loop, dynamic axes."""
    import torch

    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3)
            self.norm = torch.nn.BatchNorm2d(4)

        def forward(self, x, n: int):
            x = self.norm(self.conv(x))
            if x.sum() > 0:
                for _ in range(n):
                    if x.mean() > 1:
                        x = x * 2
                    else:
                        x = x - 1
            else:
                x = torch.nn.functional.elu(x, 0.3)
            return x

    x = torch.ones(1, 3, 8, 8)
    lstm = torch.nn.LSTM(4, 5, 2, bidirectional=True)
    yield "branches", torch.jit.script(Branches()), (x, torch.tensor(2)), {}
    yield "conv", Branches().conv, (x,), {"dynamic_axes": {"x": {0: "batch"}},
                                          "input_names": ["x"]}
    yield "inputs", Branches().conv, (x,), {"keep_initializers_as_inputs": True}
    yield "lstm", lstm, (torch.ones(3, 2, 4),), {"opset_version": 9}
    yield "functions", Branches().conv, (x,), {"export_modules_as_functions": True,
                                               "opset_version": 15}


def made_models():
    """Rare features: every type of attribute, odd names, odd headers."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    def model(graph, **kwargs):
        return helper.make_model(graph, **kwargs)

    tensor = helper.make_tensor_type_proto(1, [1, "n", None])
    tensor.denotation = 'a "quoted" \u00e9\n'
    optional = helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor))
    value = helper.make_tensor_value_info
    inner = helper.make_graph([helper.make_node("A", [], ["y"])], "in\u00f1er", [], [])
    numbers = [0.1, 1e-5, 1e20, 3.0, 1e16, 123456789.0, -0.0, 5e-324, 1e15, float("inf"),
               float("-inf"), float("nan"), 2.5, 1e-4, 1e22]
    texts = ["", "it's", '"', "'\"", "\t\n\r\\\x00\x1f\x7f", "\u00e9\u00ad\u3000\U0001f600",
             "x" * 63, "x" * 64, "\u00e9" * 70, b"bad\xff\xe2\x82utf8\xf0\x9f",
             "'" + "y" * 64 + '"']
    attributes = {f"f{i}": float(x) for i, x in enumerate(numbers) if abs(x) < 1e38 or x != x}
    attributes.update({f"s{i}": text for i, text in enumerate(texts)})
    attributes.update(i=-5, fs=[1.0, 0.1, float("nan")], ns=[1, -2], ss=texts, g=inner,
                      gs=[inner, inner], tp=optional, tps=[tensor, optional],
                      t=numpy_helper.from_array(np.ones((2, 2), np.float32)),
                      ts=[numpy_helper.from_array(np.ones(2))] * 2,
                      raw=numpy_helper.from_array(np.float32(1)))
    types = [1, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15]
    for i, x in enumerate(numbers):
        attributes[f"d{i}"] = helper.make_tensor("", 11, [], [x])
    for t in set(types) - {5}:
        one = b"a'b\xff\n" if t == 8 else 1 if t in (6, 7, 9, 12, 13) else 0.1
        attributes[f"t{t}"] = helper.make_tensor("", t, [], [one])
    node = helper.make_node("Everything", ["x", "", "b"], ["y", ""], "name", "doc", "dom",
                            **attributes)
    empty = node.attribute.add()
    empty.name = "nothing"
    weight = helper.make_tensor("w", 1, [2], [1, 2])
    yield "everything", model(helper.make_graph([node], "g", [value("x", 1, [1, "n"])],
                                                [value("y", 1, None), value("z", 7, [])]))
    sequence = helper.make_value_info("seq", helper.make_sequence_type_proto(tensor))
    yield "types", model(helper.make_graph([], "g", [sequence, value("e", 16, [])], [sequence]))
    yield "unnamed", model(helper.make_graph([], "", [value("x", 1, [])], []))
    yield "no inputs", model(helper.make_graph([], "g", [], [], [weight]))
    yield "only optional", model(helper.make_graph([], "g", [value("w", 1, [2])], [], [weight]))
    yield "twice", model(helper.make_graph([], "g", [value("w", 1, [2]), value("w", 1, [2])], [],
                                           [weight, weight]))
    yield "mixed", model(helper.make_graph(
        [], "g", [value("w", 1, [2]), value("x", 1, [2])], [],
        [weight, helper.make_tensor("v", 7, [], [1]), helper.make_tensor("u", 10, [1], [1])]))
    full = model(helper.make_graph([node], "g", [], []), producer_name="p", model_version=0)
    helper.set_model_props(full, {"a": "b"})
    full.functions.append(helper.make_function("d", "f", ["x"], ["y"], [node],
                                               [helper.make_opsetid("", 16)], ["attr"]))
    info = full.training_info.add()
    info.algorithm.name = "training"
    info.update_binding.add().key = "k"
    annotation = full.graph.quantization_annotation.add()
    annotation.tensor_name = "q"
    annotation.quant_parameter_tensor_names.add().value = "scale"
    full.graph.sparse_initializer.add().dims.extend([3, -1])
    full.graph.initializer.add().segment.begin = -1
    full.graph.doc_string = ""
    yield "full", full


# ---- comparisons ----------------------------------------------------------------------


def same_listing(tool, path, folder):
    import onnx
    tool("print", path, folder / "out.txt")
    got = (folder / "out.txt").read_bytes().decode()
    expected = onnx.helper.printable_graph(onnx.load(str(path), load_external_data=False).graph)
    for i, (line, other) in enumerate(zip(got.split("\n"), expected.split("\n"))):
        assert line == other, f"line {i + 1}: {line!r}, expected {other!r}"
    assert got == expected, f"{len(got)} characters, expected {len(expected)}"


def same_model(tool, path, folder):
    import onnx
    tool("roundtrip", path, folder / "out.onnx")
    expected = onnx.load(str(path), load_external_data=False)
    got = onnx.load(str(folder / "out.onnx"), load_external_data=False)
    # A NaN differs from itself, so bytes decide; protobuf writes fields in one order.
    assert got.SerializeToString(deterministic=True) == expected.SerializeToString(
        deterministic=True), "the message differs"


def external_data(path):
    """The file beside a model that has its weights; a model that is replaced gets a new one."""
    import onnx
    model = onnx.load(str(path), load_external_data=False)
    names = {entry.value for tensor in model.graph.initializer for entry in tensor.external_data
             if entry.key == "location"}
    assert len(names) == 1, names
    return path.parent / names.pop()


def same_with_external_data(tool, path, folder):
    import onnx
    tool("external", path, folder / "ext.onnx")
    expected, got = onnx.load(str(path)), onnx.load(str(folder / "ext.onnx"))
    for one, other in zip(got.graph.initializer, expected.graph.initializer):
        assert one.raw_data == other.raw_data, f"{other.name} differs"
    moved = onnx.load(str(folder / "ext.onnx"), load_external_data=False)
    n_moved = sum(t.data_location == 1 for t in moved.graph.initializer)
    n_raw = sum(len(t.raw_data) > 0 for t in expected.graph.initializer)
    assert n_moved == n_raw, f"{n_moved} tensors are external, expected {n_raw}"
    tool("external", folder / "ext.onnx", folder / "again.onnx")
    if n_raw:
        data, again = external_data(folder / "ext.onnx"), external_data(folder / "again.onnx")
        assert again.read_bytes() == data.read_bytes(), "data differs"
        left = {file.name for file in folder.glob("*.data*")}
        assert left == {data.name, again.name}, f"data of an earlier model is left: {left}"


def same_tensor(tool, path, folder):
    import numpy as np
    import onnx
    expected, got = onnx.TensorProto(), onnx.TensorProto()
    expected.ParseFromString(path.read_bytes())
    tool("tensor", path, folder / "out.pb")
    got.ParseFromString((folder / "out.pb").read_bytes())
    assert got.data_type == expected.data_type and list(got.dims) == list(expected.dims), "type or shape"
    one = to_array(got)
    if expected.data_type in (14, 15) and not expected.raw_data:  # onnx 1.12 cannot read these itself
        other = np.array(expected.float_data or expected.double_data, one.real.dtype).view(one.dtype)
    else:
        other = to_array(expected)
    assert one.tobytes() == np.ascontiguousarray(other).tobytes(), "elements differ"


def same_value(tool, kind, path, folder):
    """A sequence or optional: the same arrays in the same nesting."""
    import onnx
    tool(kind, path, folder / "out.pb")
    messages = []
    for file in path, folder / "out.pb":
        messages.append(onnx.SequenceProto() if kind == "sequence" else onnx.OptionalProto())
        messages[-1].ParseFromString(file.read_bytes())
    expected, got = map(plain, messages)
    assert repr(got) == repr(expected), f"{got}, expected {expected}"


def plain(message):
    """A message as lists of (dtype, shape, bytes)."""
    if message.DESCRIPTOR.name == "SequenceProto":
        return [plain(one) for one in [*message.tensor_values, *message.sequence_values]]
    if message.DESCRIPTOR.name == "OptionalProto":
        fields = [field.name for field, _ in message.ListFields() if field.name.endswith("_value")]
        return plain(getattr(message, fields[0])) if fields else None
    array = to_array(message)
    return str(array.dtype), array.shape, array.tobytes()


def values_of(path):
    """The sequences and optionals that belong to a model: (kind, file)."""
    import onnx
    graph = onnx.load(str(path), load_external_data=False).graph
    for side, infos in ("input", graph.input), ("output", graph.output):
        for i, info in enumerate(infos):
            kind = info.type.WhichOneof("value")
            element = getattr(info.type, kind).elem_type if kind != "tensor_type" else None
            while element is not None and element.WhichOneof("value") != "tensor_type":
                element = getattr(element, element.WhichOneof("value")).elem_type
            if element is None or element.tensor_type.elem_type == 8:
                continue
            for file in sorted(path.parent.glob(f"test_data_set_*/{side}_{i}.pb")):
                yield kind.split("_")[0], file


def is_tensor(path):
    """Not a sequence or optional, which parse as a tensor with nonsense in it, nor strings."""
    import onnx
    tensor = onnx.TensorProto()
    try:
        tensor.ParseFromString(path.read_bytes())
        return tensor.data_type != 8 and to_array(tensor) is not None
    except Exception:
        return False


def typed_tensors(folder):
    """A tensor file of every type, its elements in the typed field."""
    import onnx
    numbers = {1: [1.5, -2], 2: [0, 255], 3: [-128, 127], 4: [0, 65535], 5: [-32768, 32767],
               6: [-2**31, 2**31 - 1], 7: [-2**63, 2**63 - 1], 9: [True, False], 10: [0.5, -2],
               11: [1e300, -1], 12: [0, 2**32 - 1], 13: [0, 2**64 - 1], 14: [1 + 2j, -3j],
               15: [1 + 2j, -3j], 16: [0.5, -2]}
    for data_type, values in numbers.items():
        path = folder / f"typed_{data_type}.pb"
        tensor = onnx.helper.make_tensor("x", data_type, [2, 1], values)
        path.write_bytes(tensor.SerializeToString())
        yield path


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata"):
        return report.finish()
    tool = Tool()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models = sorted(ONNX_TEST_DATA.glob("**/*.onnx"))
        tensors = [path for path in sorted(ONNX_TEST_DATA.glob("**/*.pb")) if is_tensor(path)]
        for title, message in made_models():
            models.append(folder / f"made_{title.replace(' ', '_')}.onnx")
            models[-1].write_bytes(message.SerializeToString())
        if report.needs("torch"):
            import torch
            for title, module, args, options in torch_models():
                models.append(folder / f"torch_{title}.onnx")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    torch.onnx.export(module, args, str(models[-1]), **options)
        for path in models:
            title = path.relative_to(ONNX_TEST_DATA if path.is_relative_to(ONNX_TEST_DATA)
                                     else folder)
            with report.case(f"listing of {title}"):
                same_listing(tool, path, folder)
            with report.case(f"round trip of {title}"):
                same_model(tool, path, folder)
            with report.case(f"external data of {title}"):
                same_with_external_data(tool, path, folder)
            if path.is_relative_to(ONNX_TEST_DATA):
                for kind, file in values_of(path):
                    with report.case(f"{kind} {file.relative_to(ONNX_TEST_DATA)}"):
                        same_value(tool, kind, file, folder)
        for path in tensors + list(typed_tensors(folder)):
            with report.case(f"tensor {path.parent.parent.name}/{path.name}"):
                same_tensor(tool, path, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

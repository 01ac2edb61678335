#!/usr/bin/python3
"""Shape inference against the real one: calque must infer everything that onnx infers for the
official test models, models exported by PyTorch and the cases below. It may infer more: sizes that
onnx leaves unknown or calls unk__N."""
import pathlib
import subprocess
import sys
import tempfile

import peers

# Where onnx is wrong, and why.
WRONG_IN_ONNX = {
    "node/test_loop13_seq": "vectors are inserted into a sequence that is declared to hold scalars",
    "test_loop13_seq with constants": "the same",
    "test_stft with constants": "the spectrum is one-sided unless the node says otherwise",
    "test_stft_with_window with constants": "the same",
}

TOOL = peers.BUILD / "tests/onnx_infer_tool"


class Tool:
    """tests/tools/onnx_infer_tool.c, one command after the other."""

    def __init__(self):
        self.process = subprocess.Popen([str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def __call__(self, command, source, target):
        print(command, source, target, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()


def compare_types(ours, theirs, path):
    """Raises AssertionError unless our result contains theirs."""
    kind = theirs.WhichOneof("value")
    if kind is None:
        return
    assert ours.WhichOneof("value") == kind, f"{path}: {ours.WhichOneof('value')}, expected {kind}"
    if kind in ("sequence_type", "optional_type"):
        compare_types(getattr(ours, kind).elem_type, getattr(theirs, kind).elem_type, path + "[]")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return
    ours, theirs = getattr(ours, kind), getattr(theirs, kind)
    if theirs.elem_type:
        assert ours.elem_type == theirs.elem_type, \
            f"{path}: element type {ours.elem_type}, expected {theirs.elem_type}"
    if theirs.HasField("shape"):
        assert ours.HasField("shape"), f"{path}: no shape, expected {dims_of(theirs)}"
        a, b = dims_of(ours), dims_of(theirs)
        assert len(a) == len(b), f"{path}: {a}, expected {b}"
        for x, y in zip(a, b):
            assert y is None or x == y, f"{path}: {a}, expected {b}"


def dims_of(tensor_type):
    dims = []
    for d in tensor_type.shape.dim:
        if d.HasField("dim_value"):
            dims.append(d.dim_value)
        elif d.dim_param and not d.dim_param.startswith("unk__"):
            dims.append(d.dim_param)
        else:
            dims.append(None)
    return dims


def values_of(graph, path=""):
    """Types of all values, those of subgraphs by the path of the node they are in."""
    types = {path + v.name: v.type for v in list(graph.value_info) + list(graph.output)}
    for i, node in enumerate(graph.node):
        for a in node.attribute:
            if a.type == a.GRAPH:
                types.update(values_of(a.g, f"{path}{i}.{a.name}/"))
    return types


def strip(model):
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.ClearField("type")


def compare(tool, folder, model, report, name):
    import onnx
    strip(model)
    source, target = folder / "in.onnx", folder / "out.onnx"
    source.write_bytes(model.SerializeToString())
    with report.case(name):
        answer = tool("infer", source, target)
        assert answer == "ok", answer
        try:
            theirs = onnx.shape_inference.infer_shapes(model, data_prop=True)
        except Exception as error:
            raise peers.Skip(f"onnx fails: {str(error)[:80]}") from error
        if name in WRONG_IN_ONNX:
            return
        ours = values_of(onnx.load(str(target), load_external_data=False).graph)
        for path, expected in values_of(theirs.graph).items():
            got = ours.get(path)
            if got is None and (expected.WhichOneof("value") is None):
                continue
            assert got is not None, f"{path}: nothing, expected {str(expected)[:100]!r}"
            compare_types(got, expected, path)


def official(tool, folder, report):
    import onnx
    for path in sorted(peers.ONNX_TEST_DATA.glob("*/*/model.onnx")):
        model = onnx.load(str(path), load_external_data=False)
        name = str(path.parent.relative_to(peers.ONNX_TEST_DATA))
        compare(tool, folder, model, report, name)


def with_constants(model, folder):
    """Makes initializers of all inputs but the first, with the values of the test data."""
    import onnx
    for i, value in reversed(list(enumerate(model.graph.input))):
        tensor = onnx.TensorProto()
        try:
            tensor.ParseFromString((folder / f"test_data_set_0/input_{i}.pb").read_bytes())
        except Exception:  # a sequence or an optional
            continue
        if i > 0 or len(model.graph.input) == 1 and tensor.data_type in (6, 7):
            tensor.name = value.name
            model.graph.initializer.append(tensor)
            del model.graph.input[i]


def real_sizes(graph, folder):
    """Types and sizes that are inferred of the outputs are those of the test data."""
    import onnx
    for i, value in enumerate(graph.output):
        tensor, got = onnx.TensorProto(), value.type.tensor_type
        try:
            tensor.ParseFromString((folder / f"test_data_set_0/output_{i}.pb").read_bytes())
        except Exception:
            continue
        if value.type.WhichOneof("value") != "tensor_type" or not tensor.data_type:
            continue
        # Of bfloat16 the test data has the bits, as uint16.
        assert got.elem_type == tensor.data_type or (got.elem_type, tensor.data_type) == (16, 4), \
            f"{value.name}: element type {got.elem_type}, is {tensor.data_type}"
        if got.HasField("shape"):
            sizes = dims_of(got)
            assert len(sizes) == len(tensor.dims), f"{value.name}: {sizes}, is {tensor.dims}"
            for x, y in zip(sizes, tensor.dims):
                assert not isinstance(x, int) or x == y, f"{value.name}: {sizes}, is {tensor.dims}"


def constants(tool, folder, report):
    """Shapes that depend on the values of inputs, with known inputs."""
    import onnx
    for path in sorted(peers.ONNX_TEST_DATA.glob("node/*/model.onnx")):
        model = onnx.load(str(path), load_external_data=False)
        with_constants(model, path.parent)
        name = f"{path.parent.name} with constants"
        compare(tool, folder, model, report, name)
        with report.case(name + " has the sizes of its results"):
            graph = onnx.load(str(folder / "out.onnx"), load_external_data=False).graph
            real_sizes(graph, path.parent)


def with_symbols(model):
    """Gives a name to every size of every input; returns their numbers."""
    numbers = {}
    for value in model.graph.input:
        for i, d in enumerate(value.type.tensor_type.shape.dim):
            name = f"s{len(numbers)}"
            numbers[name] = d.dim_value
            d.dim_param = name
    return numbers


def holds(graph, known, numbers):
    """Every size that graph gives by an expression is the number that known has for it."""
    for value in list(graph.value_info) + list(graph.output):
        got, expected = dims_of(value.type.tensor_type), known.get(value.name)
        if expected is None or not value.type.tensor_type.HasField("shape"):
            continue
        assert len(got) == len(expected), f"{value.name}: {got}, expected {expected}"
        for x, y in zip(got, expected):
            if x is None or not isinstance(y, int):
                continue
            number = x if isinstance(x, int) else eval(x, {"__builtins__": {}, "min": min,
                                                           "max": max}, numbers)
            assert number == y, f"{value.name}: {got} is {number}, expected {expected}"


def symbolic(tool, folder, report):
    """Sizes by name: with the numbers put in again, the result is that of the numbers."""
    import onnx
    source, target = folder / "in.onnx", folder / "out.onnx"

    def infer(model):
        source.write_bytes(model.SerializeToString())
        assert tool("infer", source, target) == "ok"
        return onnx.load(str(target), load_external_data=False).graph

    for path in sorted(peers.ONNX_TEST_DATA.glob("*/*/model.onnx")):
        for extra in ("", " and constants"):
            model = onnx.load(str(path), load_external_data=False)
            strip(model)
            with report.case(f"{path.parent.name} with symbols{extra}"):
                if extra:
                    with_constants(model, path.parent)
                graph = infer(model)
                known = {v.name: dims_of(v.type.tensor_type)
                         for v in list(graph.value_info) + list(graph.output)
                         if v.type.tensor_type.HasField("shape")}
                numbers = with_symbols(model)
                holds(infer(model), known, numbers)


def damaged(model):
    """The original model, and one with a wrong output declaration."""
    import onnx

    def changed(how):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        how(copy.graph.output[0].type.tensor_type)
        return copy

    yield "unchanged", model
    output = model.graph.output[0].type
    if output.WhichOneof("value") != "tensor_type":
        return
    yield "another type", changed(lambda t: setattr(t, "elem_type", 1 if t.elem_type != 1 else 7))
    yield "another rank", changed(lambda t: t.shape.dim.add(dim_value=3))
    if output.tensor_type.shape.dim:
        yield "another size", changed(lambda t: setattr(t.shape.dim[0], "dim_value", 1234))


def strict(tool, folder, report):
    """Strict mode rejects what onnx rejects, and accepts original models that onnx accepts."""
    import onnx
    source, target = folder / "in.onnx", folder / "out.onnx"
    for path in sorted(peers.ONNX_TEST_DATA.glob("*/*/model.onnx")):
        original = onnx.load(str(path), load_external_data=False)
        with report.case(f"{path.parent.name} in strict mode"):
            for what, model in damaged(original):
                source.write_bytes(model.SerializeToString())
                answer = tool("strict", source, target)
                try:
                    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True,
                                                      data_prop=True)
                    error = None
                except Exception as found:
                    error = str(found)[:120]
                assert answer == "ok" if not error and what == "unchanged" else \
                    answer != "ok" or not error, f"{what}: {answer}, onnx: {error}"


def newer_cases():
    """Operators that onnx does not know yet: (name, opset, node, inputs). Inputs after the first
    are constants of the model."""
    import numpy as np
    from onnx.helper import make_node as node
    f32, i64 = np.float32, np.int64
    rng = np.random.default_rng(0)
    x = rng.random((2, 3, 4, 5), f32)
    ints, q = np.arange(6, dtype=np.int32).reshape(2, 3), rng.random((1, 6, 4, 8), f32)
    yield "BitwiseAnd", 18, node("BitwiseAnd", ["x", "a"], ["y"]), [ints, ints[:1]]
    yield "BitwiseNot", 18, node("BitwiseNot", ["x"], ["y"]), [ints]
    yield "CenterCropPad", 18, node("CenterCropPad", ["x", "a"], ["y"], axes=[-1, 2]), \
        [x, np.array([3, 9], i64)]
    yield "Col2Im", 18, node("Col2Im", ["x", "a", "b"], ["y"]), \
        [rng.random((1, 5, 5), f32), np.array([5, 5], i64), np.array([1, 5], i64)]
    yield "Mish", 18, node("Mish", ["x"], ["y"]), [x]
    yield "Pad of axes", 18, node("Pad", ["x", "a", "", "b"], ["y"]), \
        [x, np.array([1, 2, 3, 4], i64), np.array([-1, 0], i64)]
    yield "ReduceMean of axes", 18, node("ReduceMean", ["x", "a"], ["y"], keepdims=0), \
        [x, np.array([1, -1], i64)]
    yield "ReduceL2 of none", 18, node("ReduceL2", ["x"], ["y"], noop_with_empty_axes=1), [x]
    yield "ReduceMax of booleans", 20, node("ReduceMax", ["x", "a"], ["y"]), \
        [x > 0.5, np.array([0], i64)]
    yield "Resize of axes", 18, node("Resize", ["x", "", "a"], ["y"], axes=[3, 2]), \
        [x, np.array([0.7, 2.3], f32)]
    for policy in ("not_larger", "not_smaller", "stretch"):
        yield f"Resize {policy}", 18, \
            node("Resize", ["x", "", "", "a"], ["y"], axes=[2, 3], mode="linear",
                 keep_aspect_ratio_policy=policy), [x, np.array([7, 6], i64)]
    yield "Split unevenly", 18, node("Split", ["x"], ["y", "z", "w"], axis=3, num_outputs=3), [x]
    yield "ScatterND", 18, node("ScatterND", ["x", "a", "b"], ["y"], reduction="max"), \
        [x, np.array([[0, 1]], i64), x[0, 1][None]]
    yield "AveragePool of dilations", 19, \
        node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], dilations=[2, 3], ceil_mode=1), [x]
    yield "DeformConv", 19, node("DeformConv", ["x", "a", "b"], ["y"]), \
        [x, rng.random((7, 3, 2, 2), f32), np.zeros((2, 8, 3, 4), f32)]
    yield "Equal of strings", 19, node("Equal", ["x", "a"], ["y"]), \
        [np.array(["a", "b"], object), np.array(["a"], object)]
    yield "AffineGrid", 20, node("AffineGrid", ["x", "a"], ["y"]), \
        [rng.random((2, 2, 3), f32), np.array([2, 3, 5, 6], i64)]
    yield "AffineGrid of volumes", 20, node("AffineGrid", ["x", "a"], ["y"]), \
        [rng.random((2, 3, 4), f32), np.array([2, 3, 4, 5, 6], i64)]
    yield "DFT of an axis", 20, node("DFT", ["x", "", "a"], ["y"], onesided=1), \
        [rng.random((2, 9, 6, 1), f32), np.array(1, i64)]
    yield "DFT of a length", 20, node("DFT", ["x", "a"], ["y"]), \
        [rng.random((2, 9, 6, 1), f32), np.array(5, i64)]
    yield "Gelu", 20, node("Gelu", ["x"], ["y"]), [x]
    yield "GridSample of volumes", 20, node("GridSample", ["x", "a"], ["y"]), \
        [rng.random((1, 2, 3, 4, 5), f32), rng.random((1, 6, 7, 8, 3), f32)]
    yield "StringConcat", 20, node("StringConcat", ["x", "a"], ["y"]), \
        [np.array([["a", "b"]], object), np.array([["c"], ["d"]], object)]
    yield "StringSplit", 20, node("StringSplit", ["x"], ["y", "z"]), \
        [np.array(["a b", "c"], object)]
    yield "RegexFullMatch", 20, node("RegexFullMatch", ["x"], ["y"], pattern="a+"), \
        [np.array(["a b", "c"], object)]
    yield "GroupNormalization", 21, \
        node("GroupNormalization", ["x", "a", "b"], ["y"], num_groups=3), \
        [x, np.ones(3, f32), np.ones(3, f32)]
    yield "QuantizeLinear to int16", 21, \
        node("QuantizeLinear", ["x", "a"], ["y"], output_dtype=5), [x, np.array(0.1, f32)]
    yield "Attention", 23, node("Attention", ["x", "a", "b"], ["y"]), \
        [q, rng.random((1, 6, 9, 8), f32), rng.random((1, 6, 9, 5), f32)]
    yield "Attention of three axes", 23, \
        node("Attention", ["x", "a", "b"], ["y"], q_num_heads=6, kv_num_heads=3), \
        [rng.random((1, 4, 48), f32), rng.random((1, 9, 24), f32), rng.random((1, 9, 15), f32)]
    yield "Attention with a past", 23, \
        node("Attention", ["x", "a", "b", "", "c", "d"], ["y", "k", "v"]), \
        [q, q, q[..., :5], q[:, :, :2], q[:, :, :2, :5]]
    yield "RMSNormalization", 23, node("RMSNormalization", ["x", "a"], ["y"]), [x, np.ones(5, f32)]
    yield "RotaryEmbedding", 23, node("RotaryEmbedding", ["x", "a", "b"], ["y"]), \
        [q, rng.random((1, 4, 4), f32), rng.random((1, 4, 4), f32)]


def newer(tool, folder, report):
    """Operators of opsets 18 to 23: what is inferred is what ONNX Runtime computes."""
    import onnx
    import ort
    from onnx import helper, numpy_helper

    def elem(array):
        known = helper.mapping.NP_TYPE_TO_TENSOR_TYPE
        return 8 if array.dtype == object else known[array.dtype]

    for name, opset, node, arrays in newer_cases():
        names = [i for i in node.input if i]
        with report.case(f"{name} at {opset}"):
            graph = helper.make_graph(
                [node], "g", [helper.make_tensor_value_info(names[0], elem(arrays[0]),
                                                            arrays[0].shape)],
                [helper.ValueInfoProto(name=o) for o in node.output],
                [numpy_helper.from_array(a, n) for n, a in zip(names[1:], arrays[1:])])
            model = helper.make_model(graph, ir_version=10,
                                      opset_imports=[helper.make_opsetid("", opset)])
            data = model.SerializeToString()
            (folder / "in.onnx").write_bytes(data)
            answer = tool("strict", folder / "in.onnx", folder / "out.onnx")
            assert answer == "ok", answer
            inferred = onnx.load(str(folder / "out.onnx")).graph.output
            try:
                results = ort.Session(data).run({names[0]: arrays[0]})
            except ort.OrtError as error:
                raise peers.Skip(f"ONNX Runtime: {error}") from error
            for value, result in zip(inferred, results):
                got = value.type.tensor_type
                assert got.elem_type == elem(result), f"element type {got.elem_type}"
                sizes = dims_of(got)
                assert len(sizes) == result.ndim, f"{value.name}: {sizes}, is {result.shape}"
                # Only the number of pieces of a string is data.
                assert all(a == b or a is None and name == "StringSplit"
                           for a, b in zip(sizes, result.shape)), \
                    f"{value.name}: {sizes}, is {result.shape}"


def exported(tool, folder, report):
    """Models of torchvision, with a free batch axis, at several opsets."""
    import io
    import warnings
    import onnx
    import torch
    import torchvision
    warnings.simplefilter("ignore")
    nets = {"alexnet": 224, "resnet18": 64, "mobilenet_v3_small": 64, "squeezenet1_1": 64,
            "densenet121": 64, "googlenet": 64, "shufflenet_v2_x0_5": 64, "vit_b_32": 224}
    for name, size in nets.items():
        extra = {"init_weights": False} if name == "googlenet" else {}
        net = getattr(torchvision.models, name)(weights=None, **extra).eval()
        for opset in (9, 11, 13, 16):
            if name == "vit_b_32" and opset < 14:
                continue
            file = io.BytesIO()
            try:
                torch.onnx.export(net, torch.randn(2, 3, size, size), file, opset_version=opset,
                                  input_names=["x"], output_names=["y"],
                                  dynamic_axes={"x": {0: "n"}})
            except torch.onnx.errors.OnnxExporterError as error:
                print(f"PyTorch cannot export {name} at {opset}: {str(error)[:60]}")
                continue
            model = onnx.load_from_string(file.getvalue())
            compare(tool, folder, model, report, f"{name} at {opset}")
            declared = onnx.load(str(folder / "out.onnx")).graph.output[0].type.tensor_type
            report.check(f"{name} at {opset} keeps its batch", dims_of(declared)[0] == "n",
                         f"output is {dims_of(declared)}")


def main():
    report = peers.Report(__file__)
    if not report.check("the tool is built", TOOL.exists(), f"no {TOOL}"):
        return report.finish()
    tool = Tool()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if report.needs("onnx", "onnx-testdata"):
            official(tool, folder, report)
            constants(tool, folder, report)
            symbolic(tool, folder, report)
            strict(tool, folder, report)
        if report.needs("onnx", "ort"):
            newer(tool, folder, report)
        if "--quick" not in sys.argv and report.needs("onnx", "torch", "torchvision"):
            exported(tool, folder, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

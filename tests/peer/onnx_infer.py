#!/usr/bin/python3
"""Shape inference against the real one: what onnx infers of the official test models, of models
that PyTorch exports and of the cases below, calque must infer as well, with the same result.
calque may know more: sizes that onnx leaves open or calls unk__N."""
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
    """Raises AssertionError unless ours says all that theirs says."""
    kind = theirs.WhichOneof("value")
    if kind is None:
        return
    assert ours.WhichOneof("value") == kind, f"{path}: {ours.WhichOneof('value')}, want {kind}"
    if kind in ("sequence_type", "optional_type"):
        compare_types(getattr(ours, kind).elem_type, getattr(theirs, kind).elem_type, path + "[]")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return
    ours, theirs = getattr(ours, kind), getattr(theirs, kind)
    if theirs.elem_type:
        assert ours.elem_type == theirs.elem_type, \
            f"{path}: element type {ours.elem_type}, want {theirs.elem_type}"
    if theirs.HasField("shape"):
        assert ours.HasField("shape"), f"{path}: no shape, want {dims_of(theirs)}"
        a, b = dims_of(ours), dims_of(theirs)
        assert len(a) == len(b), f"{path}: {a}, want {b}"
        for x, y in zip(a, b):
            assert y is None or x == y, f"{path}: {a}, want {b}"


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
        for path, want in values_of(theirs.graph).items():
            got = ours.get(path)
            if got is None and (want.WhichOneof("value") is None):
                continue
            assert got is not None, f"{path}: nothing, want {str(want)[:100]!r}"
            compare_types(got, want, path)


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
    """What depends on the values of inputs, once these are known."""
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
        got, want = dims_of(value.type.tensor_type), known.get(value.name)
        if want is None or not value.type.tensor_type.HasField("shape"):
            continue
        assert len(got) == len(want), f"{value.name}: {got}, want {want}"
        for x, y in zip(got, want):
            if x is None or not isinstance(y, int):
                continue
            number = x if isinstance(x, int) else eval(x, {"__builtins__": {}, "min": min,
                                                           "max": max}, numbers)
            assert number == y, f"{value.name}: {got} is {number}, want {want}"


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


def spoiled(model):
    """The model as it is, and with an output that is declared wrongly."""
    import onnx

    def changed(how):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        how(copy.graph.output[0].type.tensor_type)
        return copy

    yield "as it is", model
    output = model.graph.output[0].type
    if output.WhichOneof("value") != "tensor_type":
        return
    yield "another type", changed(lambda t: setattr(t, "elem_type", 1 if t.elem_type != 1 else 7))
    yield "another rank", changed(lambda t: t.shape.dim.add(dim_value=3))
    if output.tensor_type.shape.dim:
        yield "another size", changed(lambda t: setattr(t.shape.dim[0], "dim_value", 1234))


def strict(tool, folder, report):
    """In strict mode, what onnx refuses is refused, and what onnx accepts as it is is accepted."""
    import onnx
    source, target = folder / "in.onnx", folder / "out.onnx"
    for path in sorted(peers.ONNX_TEST_DATA.glob("*/*/model.onnx")):
        original = onnx.load(str(path), load_external_data=False)
        with report.case(f"{path.parent.name} in strict mode"):
            for what, model in spoiled(original):
                source.write_bytes(model.SerializeToString())
                answer = tool("strict", source, target)
                try:
                    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True,
                                                      data_prop=True)
                    error = None
                except Exception as found:
                    error = str(found)[:120]
                assert answer == "ok" if not error and what == "as it is" else \
                    answer != "ok" or not error, f"{what}: {answer}, onnx: {error}"


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
        if "--quick" not in sys.argv and report.needs("onnx", "torch", "torchvision"):
            exported(tool, folder, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

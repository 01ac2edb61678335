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
        if name not in WRONG_IN_ONNX:
            compare(tool, folder, model, report, name)


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
    for path in sorted(peers.ONNX_TEST_DATA.glob("*/*/model.onnx")):
        model = onnx.load(str(path), load_external_data=False)
        strip(model)
        with report.case(f"{path.parent.name} with symbols"):
            source.write_bytes(model.SerializeToString())
            assert tool("infer", source, target) == "ok"
            graph = onnx.load(str(target), load_external_data=False).graph
            known = {v.name: dims_of(v.type.tensor_type)
                     for v in list(graph.value_info) + list(graph.output)
                     if v.type.tensor_type.HasField("shape")}
            numbers = with_symbols(model)
            source.write_bytes(model.SerializeToString())
            assert tool("infer", source, target) == "ok"
            holds(onnx.load(str(target), load_external_data=False).graph, known, numbers)


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
            symbolic(tool, folder, report)
        if "--quick" not in sys.argv and report.needs("onnx", "torch", "torchvision"):
            exported(tool, folder, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

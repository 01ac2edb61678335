#!/usr/bin/python3
"""calque diff: models that differ in names and order are equal, and one change is one difference,
reported at its location.

    onnx_diff.py
"""
import copy
import pathlib
import random
import sys
import tempfile

from peers import ONNX_TEST_DATA, Report, calque

SEED = 20221116


def renamed(model, random_):
    """A copy with other names everywhere, and initializers in another order."""
    import onnx
    model, names = copy.deepcopy(model), {}

    def new(name):
        return names.setdefault(name, f"v{len(names)}") if name else name

    def rename(graph):
        graph.name = new("graph " + graph.name)
        for value in [*graph.input, *graph.output, *graph.value_info, *graph.initializer]:
            value.name = new(value.name)
        for node in graph.node:
            node.name = new("node " + node.name)
            node.input[:] = map(new, node.input)
            node.output[:] = map(new, node.output)
            for attribute in node.attribute:
                for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                    rename(inner)
        items = list(graph.initializer)
        random_.shuffle(items)
        del graph.initializer[:]
        graph.initializer.extend(items)

    rename(model.graph)
    model.producer_name = "another"
    assert isinstance(model, onnx.ModelProto)
    return model


def nodes(model, op_type):
    return [node for node in model.graph.node if node.op_type == op_type]


def changes():
    """A change, the function that makes it, and the code and text of the one difference."""
    from onnx import numpy_helper

    def attribute(model):
        node = nodes(model, "Conv")[3]
        [a for a in node.attribute if a.name == "strides"][0].ints[0] += 1

    def no_attribute(model):
        node = nodes(model, "Conv")[3]
        del node.attribute[[a.name for a in node.attribute].index("pads")]

    def weight(model):
        name = nodes(model, "Conv")[2].input[1]
        tensor = [t for t in model.graph.initializer if t.name == name][0]
        array = numpy_helper.to_array(tensor).copy()
        array.flat[7] += 0.5
        tensor.CopyFrom(numpy_helper.from_array(array, name))

    def edge(model):
        nodes(model, "Add")[2].input[0] = nodes(model, "Add")[0].input[0]

    def operator(model):
        nodes(model, "Relu")[5].op_type = "Elu"

    def insert(model):
        node = nodes(model, "Relu")[4]
        at = list(model.graph.node).index(node)
        extra = copy.deepcopy(node)
        extra.op_type, extra.input[0] = "Sigmoid", "between"
        extra.name, node.output[0] = "extra", "between"
        model.graph.node.insert(at + 1, extra)

    def opset(model):
        model.opset_import[0].version -= 1

    def size(model):
        model.graph.input[0].type.tensor_type.shape.dim[1].dim_value += 1

    return [("attribute", attribute, "attribute-differs", "attribute strides"),
            ("lost attribute", no_attribute, "attribute-differs", "is in A only"),
            ("weight", weight, "weights-differ", "1 of 36864 elements"),
            ("edge", edge, "edge-differs", "input 0 is"),
            ("operator", operator, "operator-differs", "is Relu in A and Elu in B"),
            ("node", insert, "node-missing", "node extra (Sigmoid): is in B only"),
            ("opset", opset, "opset-differs", "ai.onnx"),
            ("input", size, "signature-differs", "[1,3,224,224]")]


def diff(folder, one, other, *options):
    for name, model in ("a.onnx", one), ("b.onnx", other):
        (folder / name).write_bytes(model.SerializeToString())
    code, out, err = calque("diff", folder / "a.onnx", folder / "b.onnx", *options)
    assert not err, err
    return code, out.splitlines()


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata"):
        return report.finish()
    import onnx
    random_ = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = sorted(ONNX_TEST_DATA.glob("**/*.onnx"))
        for path in random_.sample(paths, 200):
            with report.case(f"{path.parent.name} renamed"):
                model = onnx.load(str(path))
                code, lines = diff(folder, model, renamed(model, random_))
                assert code == 0 and not lines, lines[:3]
        calque("export", "resnet18", "-o", folder / "net.onnx")
        model = onnx.load(str(folder / "net.onnx"))
        for title, change, expected, words in changes():
            with report.case(f"one change: {title}"):
                other = renamed(model, random_)
                change(other)
                code, lines = diff(folder, model, other)
                # An inserted node also changes the inputs of the following nodes.
                assert code == 1 and len(lines) <= (3 if title == "node" else 1), lines[:4]
                assert any(line.startswith(expected) and words in line for line in lines), lines
        with report.case("weights within a tolerance"):
            other = renamed(model, random_)
            changes()[2][1](other)
            assert diff(folder, model, other, "--atol", "1")[0] == 0
        with report.case("the order of nodes that do not need each other"):
            other = renamed(model, random_)
            items = list(other.graph.node)
            at = next(i for i in range(len(items) - 1)
                      if not set(items[i].output) & set(items[i + 1].input))
            items[at], items[at + 1] = items[at + 1], items[at]
            del other.graph.node[:]
            other.graph.node.extend(items)
            assert diff(folder, model, other) == (0, [])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""The schema rows against the real ones. To opset 17 every row equals onnx.defs; what a node
breaks is refused exactly when onnx.checker refuses it. Rows of newer opsets are compared with
ONNX Runtime: for each parameter all element types, and for each attribute its name and type, are
accepted or refused as the row says."""
import collections
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import peers

TOOL = peers.BUILD / "tests/onnx_infer_tool"
NEWEST_IN_ONNX = {"": 17, "ai.onnx.ml": 3, "ai.onnx.preview.training": 1,
                  "com.microsoft": 0, "experimental": 0}  # microsoft.py compares those with ONNX Runtime
UNLIMITED = 2**64 - 1

Parameter = collections.namedtuple("Parameter", "name arity constraint types")
Attribute = collections.namedtuple("Attribute", "name type required default")


class Schema:
    def __init__(self, domain, name, since, deprecated, function, *counts):
        self.domain, self.name, self.since = domain, name, int(since)
        self.deprecated, self.function = deprecated == "1", function == "1"
        self.counts = tuple(map(int, counts))
        self.inputs, self.outputs, self.attributes, self.constraints = [], [], [], {}


def types_of(text):
    return frozenset(text.replace("), ", ");").split(";")) if text else frozenset()


def ours():
    """All rows, as the library has read them."""
    with tempfile.NamedTemporaryFile("r") as file:
        done = subprocess.run([str(TOOL)], input=f"schemas - {file.name}\n", text=True,
                              stdout=subprocess.PIPE, check=True)
        assert done.stdout == "ok\n", done.stdout
        schemas = []
        for line in file.read().splitlines():
            kind, *rest = line.split("\t")
            if kind == "schema":
                schemas.append(Schema(*rest))
            elif kind in ("input", "output"):
                name, arity, _, constraint, types = rest
                getattr(schemas[-1], kind + "s").append(
                    Parameter(name, arity, constraint, types_of(types)))
            elif kind == "attribute":
                name, number, required, default = rest
                schemas[-1].attributes.append(
                    Attribute(name, int(number), required == "1", default))
            else:
                schemas[-1].constraints[rest[0]] = types_of(rest[1])
    return schemas


# ---- onnx.defs ------------------------------------------------------------------------


def spelled(text):
    """`map(string, tensor(float))` and `map(string,float)` are the same type."""
    text = text.replace(" ", "")
    if "map(" in text:
        head, _, value = text.partition(",")
        end = value.rstrip(")")
        if not end.startswith("tensor("):
            value = f"tensor({end}){value[len(end):]}"
        text = f"{head},{value}"
    return text


def check_default(attribute, text):
    value = attribute.default_value
    fields = {1: [value.f], 2: [value.i], 3: [value.s], 6: value.floats, 7: value.ints,
              8: value.strings, 0: None}[value.type]
    if fields is None:
        assert text == "", f"default {text!r}, expected none"
        return
    got = text[1:].split(",")
    assert len(got) == len(fields), f"default {text!r}, expected {fields}"
    for a, b in zip(got, fields):
        if isinstance(b, float):
            assert struct.pack("f", float(a)) == struct.pack("f", b), f"default {a}, expected {b}"
        else:
            assert a == (b.decode() if isinstance(b, bytes) else str(b)), f"default {a}, expected {b}"


def check_parameters(got, expected, what):
    names = {"Single": "single", "Optional": "optional"}
    assert [p.name for p in got] == [p.name for p in expected], f"{what}s {[p.name for p in got]}"
    for a, b in zip(got, expected):
        arity = names.get(b.option.name) or ("variadic" if b.isHomogeneous else "mixed")
        assert a.arity == arity, f"{what} {a.name} is {a.arity}, expected {arity}"
        assert a.constraint == ("" if "(" in b.typeStr else b.typeStr), f"{what} {a.name}"
        wanted = frozenset(map(spelled, b.types))
        assert frozenset(map(spelled, a.types)) == wanted, f"{what} {a.name}: {a.types ^ wanted}"


def check_row(got, expected):
    limit = 2**31 - 1
    counts = tuple(UNLIMITED if n == limit else n for n in
                   (expected.min_input, expected.max_input, expected.min_output, expected.max_output))
    assert got.counts == counts, f"numbers {got.counts}, expected {counts}"
    assert got.deprecated == expected.deprecated, "deprecated"
    assert got.function == (expected.has_function or expected.has_context_dependent_function), "function"
    check_parameters(got.inputs, expected.inputs, "input")
    check_parameters(got.outputs, expected.outputs, "output")
    attributes = {a.name: a for a in got.attributes}
    assert set(attributes) == set(expected.attributes), f"attributes {set(attributes)}"
    for name, a in expected.attributes.items():
        assert attributes[name].type == int(a.type), f"type of {name}"
        assert attributes[name].required == a.required, f"required {name}"
        check_default(a, attributes[name].default)
    assert set(got.constraints) == {t.type_param_str for t in expected.type_constraints}, "constraints"


def compare_rows(schemas, report):
    import onnx.defs
    ours_by_key = {(s.domain, s.name, s.since): s for s in schemas}
    for expected in onnx.defs.get_all_schemas_with_history():
        key = (expected.domain, expected.name, expected.since_version)
        with report.case(" ".join(map(str, key)).strip()):
            got = ours_by_key.pop(key, None)
            assert got, "no row"
            check_row(got, expected)
    for domain, name, since in ours_by_key:
        report.check(f"{name} {since} is newer than onnx knows",
                     since > NEWEST_IN_ONNX[domain], "onnx has no such schema")


# ---- onnx.checker ---------------------------------------------------------------------


def sample_attribute(name, kind):
    """An attribute of that type number, with some value."""
    import onnx
    from onnx import helper
    a = onnx.AttributeProto(name=name, type=kind)
    tensor = helper.make_tensor("t", 1, [1], [1.0])
    graph = helper.make_graph([], "g", [], [])
    kind = onnx.AttributeProto.AttributeType.Name(kind)
    values = {"FLOAT": ("f", 1.0), "INT": ("i", 1), "STRING": ("s", b"x"),
              "FLOATS": ("floats", [1.0]), "INTS": ("ints", [1]), "STRINGS": ("strings", [b"x"])}
    if kind in values:
        field, value = values[kind]
        if isinstance(value, list):
            getattr(a, field).extend(value)
        else:
            setattr(a, field, value)
    elif kind == "TENSOR":
        a.t.CopyFrom(tensor)
    elif kind == "TENSORS":
        a.tensors.append(tensor)
    elif kind == "GRAPH":
        a.g.CopyFrom(graph)
    elif kind == "GRAPHS":
        a.graphs.append(graph)
    elif kind == "TYPE_PROTO":
        a.tp.CopyFrom(helper.make_tensor_type_proto(1, [1]))
    elif kind == "SPARSE_TENSOR":
        a.sparse_tensor.CopyFrom(helper.make_sparse_tensor(
            helper.make_tensor("v", 1, [1], [1.0]), helper.make_tensor("i", 7, [1], [0]), [2]))
    return a


def good_node(s):
    from onnx import helper
    n_in = max(s.counts[0], 0)
    node = helper.make_node(s.name, [f"i{k}" for k in range(n_in)],
                            [f"o{k}" for k in range(max(s.counts[2], 1))], domain=s.domain)
    for a in s.attributes:
        if a.required:
            node.attribute.append(sample_attribute(a.name, a.type))
    return node


def variants(s):
    """Nodes of an operator that break one rule each, and one that breaks none."""
    import onnx

    def changed(how):
        node = onnx.NodeProto()
        node.CopyFrom(good_node(s))
        how(node)
        return node

    yield "good", good_node(s)
    yield "one output more", changed(lambda n: n.output.append("more"))
    yield "one input less", changed(lambda n: n.input and n.input.pop())
    yield "inputs to the limit and one more", changed(
        lambda n: n.input.extend(f"x{k}" for k in range(min(s.counts[1], 20) - len(n.input) + 1)))
    yield "an input left out", changed(
        lambda n: n.input and n.input.__setitem__(len(n.input) - 1, ""))
    yield "the first output left out", changed(lambda n: n.output.__setitem__(0, ""))
    yield "an unknown attribute", changed(lambda n: n.attribute.append(sample_attribute("zz", 2)))
    yield "a private attribute", changed(lambda n: n.attribute.append(sample_attribute("__zz", 2)))
    for a in s.attributes:
        if a.required:
            yield f"without {a.name}", changed(
                lambda n, a=a: n.attribute.remove(next(x for x in n.attribute if x.name == a.name)))
        else:
            yield f"with {a.name}", changed(
                lambda n, a=a: n.attribute.append(sample_attribute(a.name, a.type)))
            yield f"{a.name} of another type", changed(
                lambda n, a=a: n.attribute.append(sample_attribute(a.name, 1 + (a.type != 2))))
            yield f"{a.name} without a value", changed(
                lambda n, a=a: n.attribute.append(onnx.AttributeProto(name=a.name, type=a.type)))


def verdict_of_onnx(node, version):
    import onnx
    context = onnx.checker.C.CheckerContext()
    context.ir_version = 8
    context.opset_imports = {node.domain: version}
    try:
        onnx.checker.C.check_node(node.SerializeToString(), context)
        return None
    except onnx.checker.ValidationError as error:
        return str(error).splitlines()[0]


def compare_verdicts(schemas, report):
    """cq_onnx_schema_check against onnx.checker.check_node, on nodes of the newest schemas and of
    some old ones."""
    import onnx
    from onnx import helper
    tool = subprocess.Popen([str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "node.onnx"
        for s in schemas:
            if s.since > NEWEST_IN_ONNX[s.domain]:
                continue
            with report.case(f"verdicts on {s.name} {s.since}"):
                for what, node in variants(s):
                    value_missing = what.endswith("without a value")
                    expected = verdict_of_onnx(node, s.since)
                    graph = helper.make_graph([node], "g", [], [])
                    model = helper.make_model(graph, opset_imports=[
                        helper.make_opsetid(s.domain, s.since)])
                    path.write_bytes(model.SerializeToString())
                    print("node", path, "-", file=tool.stdin, flush=True)
                    got = tool.stdout.readline().strip()
                    # Fields without a value are also a separate rule in check.c. A list without
                    # items is a value since onnx 1.13.
                    if value_missing and (got == "ok") == (
                            expected is None or "value field" in expected or re.search("field '(ints|floats|strings|graphs|tensors)'", expected) is not None):
                        continue
                    assert (got == "ok") == (expected is None), f"{what}: {got}, onnx: {expected}"


# ---- ONNX Runtime ---------------------------------------------------------------------

NUMBERS = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
           "string": 8, "bool": 9, "float16": 10, "double": 11, "uint32": 12, "uint64": 13,
           "complex64": 14, "complex128": 15, "bfloat16": 16, "float8e4m3fn": 17,
           "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20, "uint4": 21, "int4": 22,
           "float4e2m1": 23, "float8e8m0": 24, "uint2": 25, "int2": 26}
# Those have graphs inside, or inputs that are not tensors.
WITHOUT_ORT = {"If", "Loop", "Scan", "OptionalHasElement", "OptionalGetElement", "Constant"}


def ort_says(s, node, types):
    """What ONNX Runtime has against the model of one node; "" for nothing, or no kernel."""
    import ort
    from onnx import helper
    inputs = [helper.make_tensor_value_info(name, NUMBERS[t], None) for name, t in types.items()]
    outputs = [helper.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "g", inputs, outputs)
    model = helper.make_model(graph, ir_version=11,
                              opset_imports=[helper.make_opsetid("", s.since)])
    try:
        ort.Session(model.SerializeToString())
    except ort.OrtError as error:
        return str(error)
    return ""


def element(types):
    """The plain element types in a set of type strings."""
    return {t[7:-1] for t in types if t.startswith("tensor(")}


def first_types(s):
    """A type for each constraint: float where it may be."""
    chosen = {}
    for p in s.inputs:
        allowed = element(p.types)
        chosen.setdefault(p.constraint or p.name, "float" if "float" in allowed else
                          sorted(allowed)[0])
    return chosen


def node_with(s, chosen, extra=None):
    node = good_node(s)
    del node.input[:]
    node.input.extend(f"i{k}" for k in range(len(s.inputs)))
    if extra:
        same = [a for a in node.attribute if a.name == extra.name]
        for a in same:
            node.attribute.remove(a)
        node.attribute.append(extra)
    types = {f"i{k}": chosen[p.constraint or p.name] for k, p in enumerate(s.inputs)}
    return node, types


def check_with_ort(s):
    import re
    chosen = first_types(s)
    for key in dict.fromkeys(p.constraint or p.name for p in s.inputs):
        first = next(p for p in s.inputs if (p.constraint or p.name) == key)
        for t in NUMBERS:
            node, types = node_with(s, {**chosen, key: t})
            error = ort_says(s, node, types)
            refused = bool(re.search(rf"Type Error: Type 'tensor\(\w+\)' of input parameter "
                                     rf"\(i\d+\) of operator \({s.name}\)", error))
            assert refused == (t not in element(first.types)), \
                f"{t} for {first.name}: {error or 'accepted'}"
    assert "deprecated" not in ort_says(s, *node_with(s, chosen)), "deprecated"
    for a in s.attributes:
        node, types = node_with(s, chosen, sample_attribute(a.name, a.type))
        error = ort_says(s, node, types)
        assert "Unrecognized attribute" not in error and "Mismatched attribute" not in error, error
    node, types = node_with(s, chosen, sample_attribute("zz", 2))
    assert "Unrecognized attribute" in ort_says(s, node, types), "zz is accepted"
    node, types = node_with(s, chosen)
    node.input.append("i0")
    assert "input" in ort_says(s, node, types), "one input more is accepted"


NEWEST_IN_ORT = 26
# ONNX added the windows to opset 25 after ONNX Runtime had taken it over.
OLDER_IN_ORT = {("Attention", 25)}


def compare_with_ort(schemas, report):
    for s in schemas:
        if s.domain == "" and NEWEST_IN_ONNX[""] < s.since <= NEWEST_IN_ORT and \
                s.name not in WITHOUT_ORT and (s.name, s.since) not in OLDER_IN_ORT:
            with report.case(f"{s.name} {s.since} in ONNX Runtime"):
                check_with_ort(s)


def main():
    report = peers.Report(__file__)
    if not report.check("the tool is built", TOOL.exists(), f"no {TOOL}"):
        return report.finish()
    schemas = ours()
    if report.needs("onnx"):
        script = peers.ROOT / "tools/onnx_schemas.py"
        code, out, err = peers.run([sys.executable, script, "--check"])
        report.check("src/onnx/ops is what tools/onnx_schemas.py prints", code == 0, out + err)
        compare_rows(schemas, report)
        compare_verdicts(schemas, report)
    if report.needs("onnx", "ort"):
        compare_with_ort(schemas, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

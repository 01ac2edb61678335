#!/usr/bin/python3
"""The checker against onnx.checker of the real onnx package: the same verdict, on every model of the
ONNX test data, on random mutants of them, on models in which every field of every message is
removed, emptied, doubled, renamed and retyped in turn, and on broken external data.

A finding that is a warning does not count: onnx 1.12 lets it pass. What newer versions of onnx
allow, and so does calque, is in LAXER.

    onnx_check.py [TOOL]        TOOL: tests/onnx_tool of a build folder
"""
import collections
import copy
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from onnx_files import Tool, made_models
from peers import ONNX_TEST_DATA, Report

SEED = 20221115
N_MUTANTS = 2000

# IR versions above 8 and data types above 16 are too new for 1.12, and later versions allow empty
# lists in attributes.
LAXER = ["ir_version is higher", "Unrecognized data_type", "No Opset registered for domain",
         "is expected to have field 'ints'", "is expected to have field 'floats'",
         "is expected to have field 'strings'", "is expected to have field 'tensors'",
         "is expected to have field 'graphs'", "is expected to have field 'type_protos'"]

# Where external data may be: 1.12 looks no further than that something is there. A path that leads
# through or out of the folder, or to no file, is refused as later versions do.
STRICTER_EXTERNAL = {"sub/../data.bin", "", "sub", ".."}

# Small models with many kinds of messages, to be modified field by field.
TAKEN_APART = ["node/test_if", "node/test_scan9_sum", "node/test_constant", "node/test_adam",
               "node/test_optional_get_element", "node/test_conv_with_strides_padding",
               "node/test_castlike_STRING_to_FLOAT_expanded", "simple/test_expand_shape_model1"]
TEXTS = ["", "other", "x", "a.b", "ai.onnx"]
NUMBERS = [-1, 0, 1, 2, 7, 16, 100]

# onnx.checker in a separate process: some models crash it.
CHECKER = """
import struct, sys
import onnx.checker
while head := sys.stdin.buffer.read(4):
    data = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
    try:
        onnx.checker.check_model(data)
        said = b""
    except Exception as error:
        said = str(error).strip().encode() or b"?"
    sys.stdout.buffer.write(struct.pack("<I", len(said)) + said)
    sys.stdout.buffer.flush()
"""


class Onnx:
    """The error of onnx.checker for a message: "" if it is valid, None if the checker crashed."""

    process = None

    def __call__(self, message):
        if not self.process:
            self.process = subprocess.Popen([sys.executable, "-c", CHECKER],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        data = message.SerializeToString()
        try:
            self.process.stdin.write(struct.pack("<I", len(data)) + data)
            self.process.stdin.flush()
            size = struct.unpack("<I", self.process.stdout.read(4))[0]
        except (BrokenPipeError, struct.error):
            self.process = None
            return None
        return self.process.stdout.read(size).decode(errors="replace")


def parts(message):
    """All messages inside a message, itself first."""
    yield message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                yield from parts(one)


# ---- random changes -------------------------------------------------------------------


def mutate(message, random_):
    """Changes one field; returns which, or None if there was nothing to change."""
    part = random_.choice(list(parts(message)))
    fields = part.ListFields()
    if not fields:
        return None
    field, value = random_.choice(fields)
    name = f"{part.DESCRIPTOR.name}.{field.name}"
    if field.label == field.LABEL_REPEATED:
        at = random_.randrange(len(value))
        change = random_.choice(["delete", "double", "clear", "swap", "edit"])
        if change == "delete":
            del value[at]
        elif change == "double":
            value.append(value[at])
        elif change == "clear":
            part.ClearField(field.name)
        elif change == "swap":
            items = list(value)
            random_.shuffle(items)
            part.ClearField(field.name)
            getattr(part, field.name).extend(items)
        elif field.type == field.TYPE_STRING:
            value[at] = random_.choice(["", "other"])
        elif field.type == field.TYPE_INT64:
            value[at] = random_.choice([-1, 0, 1, 5])
        return f"{change} {name}"
    change = random_.choice(["clear", "edit"])
    if change == "clear" or field.type == field.TYPE_MESSAGE:
        part.ClearField(field.name)
        return f"clear {name}"
    if field.type == field.TYPE_STRING:
        setattr(part, field.name, random_.choice(["", "other"]))
    elif field.type in (field.TYPE_INT64, field.TYPE_INT32):
        setattr(part, field.name, random_.choice([0, 1, 2, 3, 7]))
    elif field.type == field.TYPE_ENUM and field.name == "type":
        setattr(part, field.name, random_.choice([1, 2, 4, 7]))
    elif field.type == field.TYPE_BYTES:
        setattr(part, field.name, b"")
    return f"edit {name}"


def texts_in(message):
    """(message, field) of all strings inside a message."""
    return [(part, field) for part in parts(message) for field, _ in part.ListFields()
            if field.type == field.TYPE_STRING]


def refer(message, random_):
    """A name becomes another one of the model: values made twice, used before they are made, of
    other graphs; operators called as values, and so on."""
    places = texts_in(message)
    if not places:
        return None
    (part, field), (source, other) = random_.choice(places), random_.choice(places)
    text = getattr(source, other.name)
    text = text if isinstance(text, str) else random_.choice(list(text))
    if field.label == field.LABEL_REPEATED:
        value = getattr(part, field.name)
        value[random_.randrange(len(value))] = text
    else:
        setattr(part, field.name, text)
    return f"{part.DESCRIPTOR.name}.{field.name} = {text!r}"


def trade(message, random_):
    """Replaces one message by another of its kind: nodes, types, attributes, graphs."""
    kinds = collections.defaultdict(list)
    for part in parts(message):
        kinds[part.DESCRIPTOR.name].append(part)
    several = [members for members in kinds.values() if len(members) > 1]
    if not several:
        return None
    one, other = random_.sample(random_.choice(several), 2)
    one.CopyFrom(copy.deepcopy(other))
    return f"another {one.DESCRIPTOR.name}"


def replace_operator(message, random_):
    import onnx.defs
    nodes = [part for part in parts(message) if part.DESCRIPTOR.name == "NodeProto"]
    if not nodes:
        return None
    node = random_.choice(nodes)
    node.op_type = random_.choice(sorted({s.name for s in onnx.defs.get_all_schemas()}))
    return f"op_type = {node.op_type}"


def change_opset(message, random_):
    if not message.opset_import:
        return None
    opset = random_.choice(message.opset_import)
    opset.version = random_.choice([-1, 0, *range(1, 18)])
    return f"opset {opset.version}"


MUTATIONS = [mutate, mutate, refer, trade, replace_operator, change_opset]


# ---- every change of every field ------------------------------------------------------


def changes_of_list(field, is_there):
    """(what, function of a message) for a repeated field."""
    name = field.name

    def reverse(part):
        items = list(getattr(part, name))
        part.ClearField(name)
        getattr(part, name).extend(items[::-1])

    def put(value):
        return lambda part: getattr(part, name).__setitem__(0, value)

    if is_there:
        yield "clear", lambda part: part.ClearField(name)
        yield "double", lambda part: getattr(part, name).append(getattr(part, name)[0])
        yield "drop the last", lambda part: getattr(part, name).pop()
        yield "drop the first", lambda part: getattr(part, name).pop(0)
        yield "reverse", reverse
        if field.type == field.TYPE_STRING:
            yield from ((f"[0] = {text!r}", put(text)) for text in TEXTS)
        elif field.type in (field.TYPE_INT64, field.TYPE_INT32):
            yield from ((f"[0] = {number}", put(number)) for number in NUMBERS)
    elif field.type == field.TYPE_MESSAGE:
        yield "add", lambda part: getattr(part, name).add()
    else:
        new = {field.TYPE_STRING: "new", field.TYPE_BYTES: b"new"}.get(field.type, 1)
        yield "add", lambda part: getattr(part, name).append(new)


def changes_of_one(field, is_there):
    """The same for a single field."""
    name = field.name

    def empty(part):
        part.ClearField(name)
        getattr(part, name).SetInParent()

    if is_there:
        yield "clear", lambda part: part.ClearField(name)
    if field.type == field.TYPE_MESSAGE:
        yield "empty", empty
        return
    values = {field.TYPE_STRING: TEXTS, field.TYPE_BYTES: [b"", b"ab"],
              field.TYPE_INT64: NUMBERS, field.TYPE_INT32: NUMBERS}.get(field.type, [1.5])
    if field.type == field.TYPE_ENUM:
        values = [value.number for value in field.enum_type.values]
    for value in values:
        yield f"= {value!r}", lambda part, value=value: setattr(part, name, value)


def taken_apart(message):
    """(what, message) for every change of every field of every message inside."""
    for at, part in enumerate(parts(message)):
        for field in part.DESCRIPTOR.fields:
            if field.label == field.LABEL_REPEATED:
                changes = changes_of_list(field, len(getattr(part, field.name)) > 0)
            else:
                changes = changes_of_one(field, part.HasField(field.name))
            for what, change in changes:
                other = copy.deepcopy(message)
                change(list(parts(other))[at])
                yield f"{part.DESCRIPTOR.name}.{field.name} {what}", other


def rich_models():
    """Functions, sparse tensors and strings, which the test data has not."""
    from onnx import helper
    value, node, opset = helper.make_tensor_value_info, helper.make_node, helper.make_opsetid
    function = helper.make_function(
        "local", "F", ["a", "b"], ["c"], [node("Add", ["a", "b"], ["t"]),
                                          node("Mul", ["t", "b"], ["c"])], [opset("", 16)], ["p"])
    graph = helper.make_graph([node("F", ["x", "y"], ["z"], domain="local"),
                               node("Relu", ["z"], ["w"])], "g",
                              [value("x", 1, [2]), value("y", 1, [2])], [value("w", 1, [2])])
    yield "functions", helper.make_model(graph, functions=[function],
                                         opset_imports=[opset("", 16), opset("local", 1)])
    flat = helper.make_sparse_tensor(helper.make_tensor("s", 1, [2], [1, 2]),
                                     helper.make_tensor("i", 7, [2], [1, 5]), [10])
    rows = helper.make_sparse_tensor(helper.make_tensor("r", 1, [2], [1, 2]),
                                     helper.make_tensor("k", 7, [2, 2], [0, 1, 1, 2]), [3, 4])
    graph = helper.make_graph(
        [node("Constant", [], ["c"], sparse_value=flat), node("Add", ["s", "c"], ["u"]),
         node("Identity", ["t"], ["v"])], "g", [value("x", 1, [2])], [value("u", 1, [10])],
        [helper.make_tensor("t", 8, [2], [b"a", b"b"]),
         helper.make_tensor("w", 1, [2], b"\0" * 8, raw=True)], sparse_initializer=[flat, rows])
    yield "sparse", helper.make_model(graph, opset_imports=[opset("", 13)])


# ---- external data --------------------------------------------------------------------


def external_models(folder):
    """(what, path, whether calque refuses it) of models with external data, well or badly."""
    import onnx
    from onnx import helper
    (folder / "data.bin").write_bytes(b"\0" * 64)
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "sub/data.bin").write_bytes(b"\0" * 64)
    os.symlink("data.bin", folder / "link.bin")
    cases = [{"location": "data.bin"}, {"location": "sub/data.bin"}, {"location": "./data.bin"},
             {"location": "sub/../data.bin"}, {"location": "../data.bin"}, {"location": "none.bin"},
             {"location": ""}, {}, {"offset": "4"}, {"location": str(folder / "data.bin")},
             {"location": "sub"}, {"location": "link.bin"}, {"location": ".."},
             {"location": "data.bin", "offset": "8", "length": "8"},
             {"location": "data.bin", "other": "8"}, {"key": "data.bin"}]
    for i, entries in enumerate(cases):
        for with_data in False, True:
            tensor = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location=1)
            for key, value in entries.items():
                tensor.external_data.add(key=key, value=value)
            if with_data:
                tensor.raw_data = b"\0" * 8
            graph = helper.make_graph(
                [helper.make_node("Identity", ["w"], ["y"])], "g", [],
                [helper.make_tensor_value_info("y", 1, [2])], [tensor])
            path = folder / f"external_{i}_{with_data:d}.onnx"
            path.write_bytes(helper.make_model(graph).SerializeToString())
            strict = entries.get("location") in STRICTER_EXTERNAL
            yield f"{entries}{' and data' if with_data else ''}", path, strict


def says_of_file(path):
    import onnx.checker
    try:
        onnx.checker.check_model(str(path))
        return ""
    except onnx.checker.ValidationError as error:
        return str(error).strip()


# ---- all of it ------------------------------------------------------------------------


class Comparison:
    def __init__(self, folder):
        self.folder, self.tool, self.onnx = folder, Tool(), Onnx()
        self.seen = collections.Counter()

    def of_file(self, path, expected):
        self.tool("check", path, self.folder / "out.txt")
        found = (self.folder / "out.txt").read_text(errors="replace").splitlines()
        self.seen.update(line.split(":")[0].split()[-1] for line in found)
        errors = [line for line in found if not line.startswith("warning ")]
        if expected == "":
            assert not errors, f"onnx finds nothing, calque {errors[:3]}"
        elif expected is not None and not any(word in expected for word in LAXER):
            assert errors, f"calque finds nothing, onnx: {expected}"

    def of_message(self, message):
        path = self.folder / "model.onnx"
        path.write_bytes(message.SerializeToString())
        self.of_file(path, self.onnx(message))


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata"):
        return report.finish()
    import onnx
    random_ = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare = Comparison(folder)
        paths = sorted(ONNX_TEST_DATA.glob("**/*.onnx"))
        for path in paths:
            with report.case(f"check of {path.relative_to(ONNX_TEST_DATA)}"):
                compare.of_message(onnx.load(str(path)))
        rich = [path for path in paths if path.stat().st_size < 20000]
        for i in range(N_MUTANTS):
            path = random_.choice(rich)
            message = onnx.load(str(path))
            changes = [random_.choice(MUTATIONS)(message, random_)
                       for _ in range(random_.choice([1, 1, 2]))]
            with report.case(f"mutant {i} of {path.parent.name} ({', '.join(map(str, changes))})"):
                compare.of_message(message)
        models = [(name, onnx.load(str(ONNX_TEST_DATA / name / "model.onnx")))
                  for name in TAKEN_APART]
        models += [model for model in made_models() if model[0] in ("mixed", "types")]
        for title, model in models + list(rich_models()):
            for what, message in taken_apart(model):
                with report.case(f"{title}: {what}"):
                    compare.of_message(message)
        for what, path, strict in external_models(folder):
            with report.case(f"external data {what}"):
                compare.of_file(path, "refused" if strict else says_of_file(path))
    report.check("mutants break many rules", len(compare.seen) >= 30, f"only {sorted(compare.seen)}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

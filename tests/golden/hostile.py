#!/usr/bin/python3
"""Files that ask for more than they are: each is small, and would take minutes or gigabytes if some
step of a reader took longer with the square of it, or believed its sizes. All are refused or done
within seconds, in the memory that SECURITY.md tells of.

What is measured is the time of the processor, so that other programs do not matter, and a slower
machine or build gets more of it.
"""
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "peer"))
from files import SANITIZED, field, value_info  # noqa: E402
from peers import BUILD, CALQUE, Report, Skip, slowness  # noqa: E402

SETTINGS = BUILD / "CMakeCache.txt"
IS_OPTIMISED = not SANITIZED and not (SETTINGS.exists() and "=-O0" in SETTINGS.read_text())
SECONDS = round((10 if IS_OPTIMISED else 80) * slowness())
MEGABYTES = 1500


def run(*args, cwd, seconds=SECONDS):
    return run_within(MEGABYTES, *args, cwd=cwd, seconds=seconds)


def run_within(megabytes, *args, cwd, seconds=SECONDS):
    """Exit code, output and errors of calque, which is killed after these seconds of processor time."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([CALQUE, *map(str, args)], cwd=cwd, stdout=out, stderr=err, preexec_fn=limit)
        _, how, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(how)
        out.seek(0)
        err.seek(0)
        text, errors = out.read(1 << 16), err.read(1 << 16).decode(errors="replace")
    assert child.returncode in (0, 1), f"exit {child.returncode} after {usage.ru_utime:.1f} s: {errors[-300:]}"
    assert SANITIZED or usage.ru_maxrss < megabytes << 10, f"{usage.ru_maxrss >> 10} MB"
    return child.returncode, text, errors


def done(*args, cwd, **limits):
    code, text, errors = run(*args, cwd=cwd, **limits)
    assert code == 0, errors[-500:]
    return text


def refused(*args, cwd, says):
    code, _, errors = run(*args, cwd=cwd)
    assert code == 1 and says in errors, f"exit {code}: {errors[-500:]}"
    return errors


# ---- programs of torch.export ----------------------------------------------------------


def tensor(name):
    return {"as_tensor": {"name": name}}


def sized(*sizes):
    """A type: numbers, and texts that are expressions."""
    return {"dtype": 7, "sizes": [{"as_int": s} if isinstance(s, int) else
                                  {"as_expr": {"expr_str": s, "hint": {"as_int": 3}}} for s in sizes]}


def node(op, inputs, *outputs, **more):
    return {"target": f"torch.ops.aten.{op}", "outputs": [o if isinstance(o, dict) else tensor(o) for o in outputs],
            "inputs": [{"name": name, "arg": arg} for name, arg in inputs.items()], **more}


def nest(*children, keys=None):
    kind = "builtins.tuple" if keys is None else "builtins.dict"
    return {"type": kind, "context": json.dumps(keys), "children_spec": list(children)}


LEAF = {"type": None}


def program(path, inputs, outputs, nodes, types, roles=None, results=None, **more):
    """roles and results: of inputs and outputs that are not the user's."""
    spec = {"inputs": [], "outputs": [], "in_spec": more.pop("in_spec", ""), "out_spec": more.pop("out_spec", ""),
            "forward_arg_names": more.pop("names", None)}
    signature = {"input_specs": roles or [{"user_input": {"arg": tensor(i)}} for i in inputs],
                 "output_specs": results or [{"user_output": {"arg": tensor(o)}} for o in outputs]}
    graph = {"inputs": [tensor(i) for i in inputs], "outputs": [tensor(o) for o in outputs], "nodes": nodes,
             "tensor_values": types, "sym_int_values": {}}
    text = {"graph_module": {"graph": graph, "signature": more.pop("signature", signature),
                             "module_call_graph": [{"fqn": "", "signature": spec}],
                             "treespec_namedtuple_fields": more.pop("fields", {})},
            "schema_version": {"major": 8, "minor": 0}, "range_constraints": {}, "guards_code": [], **more}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p/models/model.json", json.dumps(text))
        archive.writestr("p/archive_format", "pt2")
    return path


def check_programs(report, folder):
    path, out = folder / "p.pt2", folder / "o.onnx"
    x = {"x": sized(2, 3)}

    def exported(name, *args, verify=False, **more):
        with report.case(name):
            program(path, *args, **more)
            done("export", path, "-o", out, *(["--verify"] if verify else []), cwd=folder)

    for name, keys in (("all outputs have one name", ["y"] * 30000),
                       ("outputs have 30,000 names", [f"k{i}" for i in range(30000)]),
                       ("names collide with names that are made", ["y" + "_out" * i for i in range(1000)] + ["y"] * 3000),
                       ("a name is long", ["a" * 3000000] + ["b"] * 20000)):
        exported(name, ["x"], ["x"] * len(keys), [], x, out_spec=json.dumps([1, nest(*[LEAF] * len(keys), keys=keys)]))
    n = 25000
    names = [f"i{i}" for i in range(n)]
    exported("every input has another dynamic size", names, ["i0"], [], {i: sized(f"s{i}") for i in names},
             range_constraints={f"si{i}": {"min_val": 2, "max_val": 9} for i in range(n)})
    exported("every input is changed", names, [*names, "i0"], [], {i: sized(1) for i in names},
             results=[{"user_input_mutation": {"arg": tensor(i), "user_input_name": i}} for i in names] +
             [{"user_output": {"arg": tensor("i0")}}])
    exported("arguments lie below a long name", names, ["i0"], [], {i: sized(1) for i in names}, names=["a" * 3000000],
             in_spec=json.dumps([1, nest(nest(nest(*[LEAF] * n)), nest(keys=[]))]), guards_code=["L['x'].size()[0] == 1"])
    exported("every named tuple is another", ["x"], ["x"], [], x,
             out_spec=json.dumps([1, nest(*[{"type": "n", "context": f"c{i}", "children_spec": [LEAF]}
                                            for i in range(60000)])]),
             fields={f"c{i}": {"field_names": ["a"]} for i in range(60000)})
    few = [f"i{i}" for i in range(250)]
    exported("guards allow no size to grow", few, ["i0"], [], {i: sized(*[f"{i}_{k}" for k in range(8)]) for i in few},
             names=few, in_spec=json.dumps([1, nest(nest(*[LEAF] * 250), nest(keys=[]))]), verify=True,
             guards_code=[" + ".join(f"L['{i}'].size()[{k}]" for i in few) + " <= 750" for k in range(8)])
    exported("verified, with more inputs than a command names", names[:300], ["y"],
             [node("add.Tensor", {"self": tensor("i0"), "other": tensor("i299")}, "y")],
             {i: sized(1) for i in [*names[:300], "y"]}, verify=True)
    first = {"input_specs": None, "inputs_to_parameters": {f"w{i}": "w" for i in range(n)},
             "buffers_to_mutate": {f"b{i}": "b" for i in range(n)}}
    exported("the signature is of the first schema", names, names, [], {i: sized(1) for i in names}, signature=first)
    with report.case("a trace has half a million lines"):
        # the sanitizer's strstr measures all of the text each time
        trace = "File \"a\", line 1\n" * (20000 if SANITIZED else 400000)
        program(path, ["x"], ["y"], [dict(node("relu.default", {"self": tensor("x")}, "y"), target="torch.ops.no.such",
                                          metadata={"stack_trace": trace})], x)
        refused("export", path, "-o", out, cwd=folder, says="unknown operator no::such")
    with report.case("sizes are made of more symbols than a size has"):
        sums = "Add(" + ", ".join(f"Symbol('s{i}')" for i in range(100000)) + ")"
        program(path, ["x"], ["y", "z"], [dict(node("f", {"x": tensor("x")}, "y"), target="torch.ops.foo.bar.default"),
                                          node("relu.default", {"self": tensor("y")}, "z")],
                {"x": sized("s0", 3), "y": sized(sums, 3)})
        refused("export", path, "-o", out, cwd=folder, says="more than 1000 of them")
    with report.case("an unknown operator has a result of a data-dependent size"):
        program(path, ["x"], ["y"], [dict(node("f", {"x": tensor("x")}, "y"), target="torch.ops.foo.bar.default")],
                {"x": sized(2, 3), "y": sized("u0", "2*u0 + 1")})
        done("export", path, "-o", out, "--operator-export-type", "onnx_fallthrough", cwd=folder)
        refused("run", path, cwd=folder, says="unknown operator foo::bar")
    with report.case("a generated example does not raise the memory limit of a call"):
        program(path, ["x"], ["o0"], [node("chunk.default", {"self": tensor("x"), "chunks": {"as_int": 2 ** 62},
                                                             "dim": {"as_int": 0}},
                                           {"as_tensors": [{"name": f"o{i}"} for i in range(3)]})], {"x": sized(10 ** 7, 1)})
        refused("export", path, "-o", out, cwd=folder, says="bytes that are allowed")
    with report.case("a loop changes 25,000 lists"):
        wide = [f"x{i}" for i in range(25000)]
        body = {"inputs": [tensor(i) for i in wide], "outputs": [tensor(i) for i in wide], "nodes": [], "tensor_values": {}}
        args = [{"as_graph": {"name": "b", "graph": body}}, {"as_tensors": [{"name": "x"}] * 25000}, {"as_tensors": []}]
        program(path, ["x"], ["y"], [{"target": "torch.ops.higher_order.map_impl", "outputs": [tensor("y")],
                                      "inputs": [{"name": "", "arg": arg} for arg in args]}], {"x": sized("s0", 3)})
        refused("export", path, "-o", out, cwd=folder, says="steps")
    with report.case("20,000 weights are one pickle"):
        inner = folder / "inner.pt"
        with zipfile.ZipFile(inner, "w") as archive:
            archive.writestr("t/data.pkl", b"\x80\x02](" + b"K\x01" * 300000 + b"e.")
        program(path, ["x"], ["x"], [], x)
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.write(inner, "p/data/weights/w", zipfile.ZIP_STORED)
            archive.writestr("p/data/weights/model_weights_config.json", json.dumps(
                {"config": {f"w{i}": {"path_name": "w", "use_pickle": True} for i in range(20000)}}))
        done("export", path, "-o", out, cwd=folder)
    with report.case("weights that are a list are refused by name"):
        program(path, ["x"], ["x"], [], x)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("p/data/weights/model_weights_config.json", '{"config": [1]}')
        refused("export", path, "-o", out, cwd=folder, says="not a dict")
    with report.case("an unknown dtype is named"):
        program(path, ["x"], ["x"], [], {"x": dict(sized(2), dtype=99)})
        refused("export", path, "-o", out, cwd=folder, says="a dtype that is not known")


# ---- ONNX models ------------------------------------------------------------------------


def onnx(path, nodes, inputs, outputs, more=b""):
    """Nodes are (operator, inputs, outputs, attributes as bytes)."""
    graph = b"".join(field(1, b"".join(field(1, i) for i in ins) + b"".join(field(2, o) for o in outs) +
                           field(4, op) + attributes) for op, ins, outs, attributes in nodes)
    graph += field(2, "g") + b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs) + more
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
    return path


def open_value(name, kind=1):
    return field(1, name) + field(2, field(1, field(1, kind)))


def ints(name, items):
    return field(5, field(1, name) + b"".join(field(8, i) for i in items) + field(20, 7))


def floats(name, items):
    return field(5, field(1, name) + field(7, struct.pack(f"<{len(items)}f", *items)) + field(20, 6))


def of_ml(path, op, attributes, x):
    """A model of one operator of ai.onnx.ml from x to y."""
    onnx(path, [(op, ["x"], ["y"], attributes + field(7, "ai.onnx.ml"))], [x], [open_value("y")])
    path.write_bytes(path.read_bytes() + field(8, field(1, "ai.onnx.ml") + field(2, 1)))
    return path


def check_models(report, folder):
    path = folder / "m.onnx"
    concat = field(5, field(1, "axis") + field(3, 0) + field(20, 2))

    def chain(op, n, attributes=b"", times=1):
        names = ["x", *[f"v{i}" for i in range(n)]]
        return [(op, [a] * times, [b], attributes) for a, b in zip(names, names[1:])], [open_value(names[-1])]

    with report.case("generated inputs do not raise the memory limit of a run"):
        nodes, ends = chain("Concat", 20, concat, times=2)
        onnx(path, nodes, [value_info("x", 10 ** 7)], ends)
        refused("run", path, cwd=folder, says="bytes are in use")
    with report.case("a model that needs more memory at every size is not tried at all of them"):
        nodes, ends = chain("Concat", 60, concat, times=2)
        onnx(path, nodes, [value_info("x", "a", "b")], ends)
        done("optimize", path, "-o", folder / "o.onnx", cwd=folder)
    with report.case("outputs of 1 GB are shown, and not compared twice"):
        shape = field(5, field(1, 2) + field(2, 7) + field(8, "s") + field(9, (1 << 14).to_bytes(8, "little") * 2))
        onnx(path, [("ConstantOfShape", ["s"], ["y"], b"")], [], [open_value("y")], shape)
        assert b"float32[16384,16384]" in done("run", path, cwd=folder)
        done("optimize", path, "-o", folder / "o.onnx", cwd=folder)
    with report.case("each drawn or printed number is paid for"):
        n = 10 ** 7
        onnx(path, [("Multinomial", ["x"], ["y"], field(5, field(1, "sample_size") + field(3, n) + field(20, 2)))],
             [value_info("x", 1, 10000)], [open_value("y", 6)])
        refused("run", path, cwd=folder, says="exceeds its limit of steps")
        shape = field(5, field(1, 1) + field(2, 7) + field(8, "s") + field(9, n.to_bytes(8, "little")))
        onnx(path, [("ConstantOfShape", ["s"], ["z"], b""),
                    ("Cast", ["z"], ["y"], field(5, field(1, "to") + field(3, 8) + field(20, 2)))],
             [], [open_value("y", 8)], shape)
        refused("run", path, cwd=folder, says="exceeds its limit of steps")
    with report.case("folded constants do not raise the limit of their memory"):
        nodes, _ = chain("Concat", 60, concat, times=2)
        one = field(5, field(1, 1) + field(2, 1) + field(8, "c") + field(9, bytes(4)))
        onnx(path, [("Concat", ["c", "c"], ["v0"], concat), *nodes[1:], ("Add", ["x", "v59"], ["y"], b"")],
             [value_info("x", 1)], [open_value("y")], one)
        done("optimize", path, "-o", folder / "o.onnx", "--no-verify", cwd=folder)
    with report.case("60,000 nodes of one name are joined and quantized"):
        onnx(path, [("MatMul", ["x", "w"], [f"v{i}"], field(3, "n")) for i in range(60000)],
             [value_info("x", 1, 1)], [open_value("v0")],
             field(5, field(1, 1) + field(1, 1) + field(2, 1) + field(8, "w") + field(9, bytes(4))))
        done("join", path, path, "--connect", "v0=x", "-o", folder / "o.onnx", "--no-verify", cwd=folder)
        for mode in ("dynamic", "weights"):
            run("quantize", path, "--mode", mode, "-o", folder / "o.onnx", "--no-verify", cwd=folder)
    with report.case("functions expand to 2^60 nodes"):
        def body(i):
            return b"".join(field(7, field(1, a) + field(2, b) + field(4, f"F{i}") + field(7, "f"))
                            for a, b in (("a", "t"), ("t", "b")))

        relu = field(7, field(1, "a") + field(2, "b") + field(4, "Relu"))
        functions = b"".join(field(25, field(1, f"F{i}") + field(4, "a") + field(5, "b") + (body(i - 1) if i else relu) +
                                   field(9, field(1, "") + field(2, 17)) + field(9, field(1, "f") + field(2, 1)) + field(10, "f"))
                             for i in range(60))
        onnx(path, [("F59", ["x"], ["y"], field(7, "f"))], [value_info("x", 1)], [open_value("y")])
        path.write_bytes(path.read_bytes() + functions + field(8, field(1, "f") + field(2, 1)))
        for args in (["optimize", "--inline"], ["convert", "--opset", 13], ["run"], ["check", "--full"]):
            run(args[0], path, *args[1:], *(["-o", folder / "o.onnx"] if args[0] in ("optimize", "convert") else []), cwd=folder)
    with report.case("a node has 60,000 attributes"):
        onnx(path, [("Foo", ["x"], ["y"], b"".join(field(5, field(1, f"a{i}") + field(3, i) + field(20, 2)) for i in range(60000)))],
             [value_info("x", 1)], [open_value("y")])
        refused("optimize", path, "-o", folder / "o.onnx", cwd=folder, says="has 60000 attributes")
    with report.case("nor of the time"):
        nodes, ends = chain("Tan", 2000)
        onnx(path, nodes, [value_info("x", 5 * 10 ** 6)], ends)
        errors = refused("run", path, cwd=folder, says="exceeds its limit of steps")
        assert "--max-steps" in errors and "loop" not in errors, errors
        refused("bench", path, cwd=folder, says="exceeds its limit of steps")
        done("optimize", path, "-o", folder / "o.onnx", cwd=folder)
    with report.case("convolutions of large images follow from the declared sizes"):
        names = ["x", *[f"v{i}" for i in range(6)]]
        nodes = [node for i in range(0, 6, 2) for node in (
            ("ConvInteger", [names[i], "w"], [names[i + 1]],
             field(5, field(1, "pads") + b"".join(field(8, 1) for _ in range(4)) + field(20, 7))),
            ("Cast", [names[i + 1]], [names[i + 2]], field(5, field(1, "to") + field(3, 2) + field(20, 2))))]
        weight = field(5, b"".join(field(1, n) for n in (64, 64, 3, 3)) + field(2, 3) + field(8, "w") +
                       field(9, bytes(64 * 64 * 9)))
        onnx(path, nodes, [value_info("x", 1, 64, 192, 192, kind=2)], [open_value("v5", 2)], weight)
        if SANITIZED:
            raise Skip("4 billion products take a minute under sanitizers, whose kernels have separate tests")
        done("run", path, cwd=folder, seconds=20 * SECONDS)
    with report.case("a table of labels is paid for each time that it is looked into"):
        table = b"".join(field(5, field(1, name) + b"".join(field(8, i) for i in range(100000)) + field(20, 7))
                         for name in ("keys_int64s", "values_int64s"))
        body = b"".join(field(1, node) for node in (
            field(1, "on") + field(2, "on_out") + field(4, "Identity"),
            field(1, "v") + field(2, "v_out") + field(4, "LabelEncoder") + field(7, "ai.onnx.ml") + table))
        body += field(2, "body") + field(11, open_value("i", 7)) + field(11, open_value("on", 9)) + \
            field(11, open_value("v", 7)) + field(12, open_value("on_out", 9)) + field(12, open_value("v_out", 7))
        often = field(5, field(2, 7) + field(8, "n") + field(9, (1 << 40).to_bytes(8, "little")))
        onnx(path, [("Loop", ["n", "", "x"], ["y"], field(5, field(1, "body") + field(6, body) + field(20, 5)))],
             [value_info("x", 6, kind=7)], [open_value("y", 7)], often)
        path.write_bytes(path.read_bytes() + field(8, field(1, "ai.onnx.ml") + field(2, 2)))
        assert "endless loop" in refused("run", path, cwd=folder, says="exceeds its limit of steps")
    with report.case("rows are paid for by the vectors and tree nodes that they meet"):
        n = 100000
        machine = floats("support_vectors", [1] * n) + floats("coefficients", [1] * n) + floats("rho", [0]) + \
            field(5, field(1, "kernel_type") + field(4, "LINEAR") + field(20, 3))
        refused("run", of_ml(path, "SVMRegressor", machine, value_info("x", 200000, 1)), cwd=folder,
                says="exceeds its limit of steps")
        n, leaves = 50000, [0] * 50001  # node i has the leaf n + i and the node i + 1; all rows go to the end
        tree = ints("nodes_treeids", [0] * n + leaves) + ints("nodes_nodeids", range(2 * n + 1)) + \
            ints("nodes_featureids", [0] * n + leaves) + floats("nodes_values", [-100] * n + leaves) + \
            ints("nodes_truenodeids", [*range(n, 2 * n), *leaves]) + \
            ints("nodes_falsenodeids", [*range(1, n), 2 * n, *leaves]) + \
            field(5, field(1, "nodes_modes") + field(9, "BRANCH_LEQ") * n + field(9, "LEAF") * (n + 1) + field(20, 8)) + \
            ints("target_treeids", [0]) + ints("target_nodeids", [2 * n]) + ints("target_ids", [0]) + \
            floats("target_weights", [1]) + field(5, field(1, "n_targets") + field(3, 1) + field(20, 2))
        refused("run", of_ml(path, "TreeEnsembleRegressor", tree, value_info("x", 500000, 1)), cwd=folder,
                says="exceeds its limit of steps")
    with report.case("a long graph, with long names, is printed"):
        nodes, ends = chain("Relu", 60000)
        onnx(path, nodes + [("Relu", ["x"], ["y" * (1 << 20)], b"")], [value_info("x", 6)], ends)
        for words in ([], ["--text"]):
            done("print", *words, path, cwd=folder)
    for n in (10 ** 9, 10 ** 15):
        with report.case(f"an input of {n} elements is not made up"):
            onnx(path, [("Tan", ["x"], ["y"], b"")], [value_info("x", n)], [open_value("y")])
            refused("run", path, cwd=folder, says="not generated")
            refused("bench", path, cwd=folder, says="not generated")
    for name, head, says in (("html", b"<!DOCTYPE html>", "a page of HTML"), ("lfs", b"version https://git-lfs.", "Git LFS"),
                             ("png", b"\x89PNG\r\n", "a picture"), ("weights", b"\x40\0\0\0\0\0\0\0{\"a\"", "safetensors")):
        with report.case(f"a file of another kind is named: {name}"):
            path.write_bytes(head + bytes(100))
            refused("check", path, cwd=folder, says=says)
    with report.case("a graph of a stripped weight and no node becomes runnable"):
        weight = field(5, field(1, 1000) + field(2, 1) + field(8, "w") + field(9, os.urandom(4000)))
        onnx(path, [], [], [open_value("w")], weight)
        done("strip", "--runnable", path, "-o", folder / "o.onnx", cwd=folder)
    with report.case("a stripped tensor is not filled if the output would be too large"):
        stripped = field(13, field(1, "location") + field(2, '{"type": "stripped", "average": 0, "variance": 1}'))
        onnx(path, [], [], [], b"".join(field(5, field(1, 200 << 20) + field(2, 1) + field(8, f"w{i}") + stripped +
                                              field(14, 1)) for i in range(10)))
        refused("unstrip", path, "-o", folder / "o.onnx", cwd=folder, says="--allow-large-output")
    for kind in (9, 10, 3):  # bool, float16, int8
        with report.case(f"filling a tensor takes no more memory than the tensor: type {kind}"):
            onnx(path, [], [], [], field(5, field(1, 100 << 20) + field(2, kind) + field(8, "w") + stripped + field(14, 1)))
            assert run_within(400, "unstrip", path, "-o", folder / "o.onnx", cwd=folder)[0] == 0
    with report.case("an empty file is refused"):
        path.write_bytes(b"")
        (folder / "e.pb").write_bytes(b"")
        for words in (["info"], ["print"], ["check"], ["infer", "-o", "o.onnx"], ["strip", "-o", "o.onnx"], ["run"],
                      ["unstrip", "-o", "o.onnx"], ["diff", path], ["bench"]):
            refused(*words, path, cwd=folder, says="empty")
        for verb in ("strip", "unstrip"):
            refused(verb, "e.pb", "-o", "o.pb", cwd=folder, says="empty")
    for op, more in (("CumSum", ["i"]), ("Trilu", []), ("Softmax", []), ("Transpose", [])):
        with report.case(f"a tensor without elements has 2^40 rows: {op}"):
            empty = field(5, field(1, 1 << 40) + field(1, 0) + field(2, 1) + field(8, "x")) + \
                field(5, field(2, 7) + field(8, "i") + field(9, bytes(8)))
            onnx(path, [(op, ["x", *more], ["y"], b"")], [], [open_value("y")], empty)
            run("run", path, cwd=folder)
    with report.case("a folder is called a folder"):
        refused("check", folder, cwd=folder, says="expected a file, got a folder")
    with report.case("a small one is"):
        onnx(path, [("Tan", ["x"], ["y"], b"")], [value_info("x", 100)], [open_value("y")])
        assert b"float32[100]" in done("run", path, cwd=folder)


# ---- TorchScript ------------------------------------------------------------------------


def instance(name, attributes):
    """The pickle of an object; attributes are pairs of a name and a pickle."""
    return (b"c__torch__\n" + name.encode() + b"\n)\x81}(" +
            b"".join(text(key) + value for key, value in attributes) + b"ub")


def text(value):
    value = value.encode()
    return b"X" + len(value).to_bytes(4, "little") + value


def put(i):
    return b"r" + i.to_bytes(4, "little")


def get(i):
    return b"j" + i.to_bytes(4, "little")


def archive(path, pickled, code):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("m/data.pkl", b"\x80\x02" + pickled + b".")
        z.writestr("m/code/__torch__.py", code)
        z.writestr("m/constants.pkl", b"\x80\x02).")
        z.writestr("m/version", "3\n")
    return path


def module_class(name, fields, body="return x"):
    return (f"class {name}(Module):\n  __parameters__ = []\n  __buffers__ = []\n" +
            "".join(f"  {field} : {kind}\n" for field, kind in fields) +
            f"  def forward(self: __torch__.{name},\n    x: Tensor) -> Tensor:\n    {body}\n")


def check_archives(report, folder):
    path, out = folder / "a.pt", folder / "o.onnx"

    def used(name):
        with report.case(name):
            done("info", path, cwd=folder)
            done("run", path, "--input", "2x3", cwd=folder)
            done("export", path, "--input", "2x3", "-o", out, cwd=folder)
            done("testcase", path, folder / "case", "--grad", "--input", "2x3", cwd=folder)

    for depth, width in ((40, 2), (6, 300)):
        pickled, code = instance("N0", []) + put(0) + b"0", module_class("N0", [])
        for i in range(1, depth + 1):
            children = [f"a{k}" for k in range(width)]
            pickled += instance(f"N{i}", [(child, get(i - 1)) for child in children]) + put(i) + b"0"
            code += module_class(f"N{i}", [(child, f"__torch__.N{i - 1}") for child in children])
        archive(path, pickled + get(depth), code)
        used(f"modules are shared by {width} others, {depth} deep")

    long = text("a" * 100000) + put(0)
    many = b"](" + long + get(0) * 200000 + b"e"
    archive(path, instance("M", [("s", many)]), module_class("M", [("s", "List[str]")]))
    used("a list has one long text many times")

    n = 3000
    items = b"](" + b"K\x01" * 10000 + b"e" + put(0)
    archive(path, instance("M", [("s0", items), *[(f"s{i}", get(0)) for i in range(1, n)]]),
            module_class("M", [(f"s{i}", "List[int]") for i in range(n)]))
    used("attributes share one long list")

    archive(path, instance("M", [(f"s{i}", b"](K\x01e") for i in range(n)]),
            module_class("M", [(f"s{i}", "List[int]") for i in range(n)],
                         "\n    ".join(["_0 = 0", *[f"_1 = torch.append(self.s{i}, 2)" for i in range(n)], "return x"])))
    used("every list of many is changed")


def check_sources(report, folder):
    path = folder / "long.py"
    for name, line, end in (("views of views are changed", "y = y.t()", "y.add_(1)"),
                            ("slices of slices are changed", "y = y[0:]", "y[0] = 1"),
                            ("many views of one are changed", "y.t().mul_(2)", "y += x")):
        with report.case(name):
            path.write_text("def f(x: Tensor):\n    y = x * 1\n" + f"    {line}\n" * 20000 + f"    {end}\n    return y\n")
            run("export", path, "--input", "2x3", "-q", "-o", folder / "o.onnx", cwd=folder)
    for call in ("cumsum(0)", "tril()", "softmax(1)", "sort(1)[0]", "flip([0])"):
        with report.case(f"a tensor without elements has 2^40 rows: {call}"):
            path.write_text(f"def f(x: Tensor):\n    return torch.zeros([{1 << 40}, 0]).{call}.sum() + x\n")
            run("run", path, "--input", "2x3", cwd=folder)
    most = 2 ** 63 - 1
    for name, line, says in (
            ("pads", f"y = torch.constant_pad_nd(x, [{most}, {most}])", "too large"),
            ("repeats", f"y = torch.repeat_interleave(torch.tensor([{most}, {most}]))", "cannot be repeated"),
            ("views", f"y = torch.view(torch.zeros([0]), [{most}, 0, {most}])", "does not fit in memory")):
        with report.case(f"sizes overflow: {name}"):
            path.write_text(f"def f(x: Tensor):\n    {line}\n    return y.sum() + x.sum()\n")
            for verb in ("run", "export"):
                refused(verb, path, "--input", "2x3", *(["-o", folder / "o.onnx"] if verb == "export" else []),
                        cwd=folder, says=says)
    with report.case("a run with gradients reaches a limit"):
        path.write_text("def f(x: Tensor):\n    y = x\n    for i in range(3000000):\n        y = torch.reshape(y, [3, 2])\n"
                        "    return y\n")
        refused("testcase", path, folder / "case", "--grad", "--input", "2x3", "--max-memory", "50", cwd=folder,
                says="bytes that are allowed")
    with report.case("one result is many outputs"):
        path.write_text("def f(x: Tensor):\n    y = x * 2\n    return (" + "y, " * 4000 + ")\n")
        run("export", path, "--input", "2x3", "-q", "-o", folder / "o.onnx", cwd=folder)


def tensors(path, n, size):
    """A state dict of n tensors of so many elements, which are all the same one."""
    number = b"\x8a\x08" + struct.pack("<q", size)
    one = (b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") +
           b"K\x01tQK\0" + number + b"\x85K\0\x85\x89ccollections\nOrderedDict\n)RtR")
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("m/data.pkl", b"\x80\x02}" + b"".join(text(f"w{i}") + one + b"s" for i in range(n)) + b".")
        z.writestr("m/data/0", bytes(4))


def check_weights(report, folder):
    path = folder / "w.pt"
    for n, size in ((1, 1 << 40), (3000, 1 << 28)):
        with report.case(f"{n} tensors of {size} elements are one element"):
            tensors(path, n, size)
            done("info", path, cwd=folder)
            done("view", path, "-o", folder / "o.html", cwd=folder)
            refused("audit", path, "--safetensors", folder / "o.safetensors", cwd=folder, says="are allowed for an input")


def check_scripts(report, folder):
    path = folder / "s.py"
    deep, steps, shared = "nested more than ", "more than 5000000 steps", "t = int\nfor i in range(60):\n    t = (t, t)\n"
    empty = "class C:\n    pass\n\nclass D:\n    a = C()\n\n"
    for name, source, says in (
            ("__call__ is an object of its class", empty + "C.__call__ = C()\nC()()", deep),
            ("__call__ is such an object in staticmethod", empty + "C.__call__ = staticmethod(C())\nC()()", deep),
            ("__init__ is its class", empty + "C.__init__ = C\nC()", deep),
            ("__get__ is an object of its class", empty + "C.__get__ = C()\nD().a", deep),
            ("__bool__ returns its object", empty + "C.__bool__ = lambda self: self\nbool(C())", "should return bool"),
            ("__len__ returns its object", empty + "C.__len__ = lambda self: self\nassert C()", "should return bool"),
            ("__iter__ returns its object", empty + "C.__iter__ = lambda self: self\nlist(C())", deep),
            ("a tuple of types is shared", shared + "isinstance('', t)", steps),
            ("a tuple of types is shared, for issubclass", shared + "issubclass(str, t)", steps),
            ("a tuple of types is deep", "t = int\nfor i in range(300000):\n    t = (t,)\nisinstance('', t)", deep),
            ("a dict is unpacked in a loop", "x = {i: i for i in range(100000)}\nwhile 1:\n    y = {**x}", steps),
            ("keywords are unpacked in a loop", "f = lambda **k: 0\nx = {str(i): i for i in range(100000)}\nwhile 1:\n    f(**x)", steps),
            ("a list is repeated in a loop", "for i in range(1000000):\n    s = [0] * 1000000", steps)):
        with report.case(f"a script: {name}"):
            path.write_text(source + "\n")
            refused("py", "--max-steps", "5000000", path, cwd=folder, says=says)  # sanitizers are slow


# ---- audit ------------------------------------------------------------------------------


def many_entries(path, entry, data, n):
    """A zip archive whose directory names one stored entry n times."""
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(entry, data)
    whole = path.read_bytes()
    start = whole.rindex(b"PK\1\2")
    record = whole[start:whole.rindex(b"PK\5\6")]
    path.write_bytes(whole[:start] + record * n + struct.pack(
        "<4sHHHHIIH", b"PK\5\6", 0, 0, n, n, len(record) * n, start, 0))


def check_audits(report, folder):
    path = folder / "audited.pt"

    def unsafe(name):
        with report.case(f"audit: {name}"):
            code, text, errors = run("audit", path, cwd=folder)
            assert code == 1 and b"safe" not in text.splitlines()[0], text[:200] + errors[:200].encode()

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("m/data.pkl", b"\x80\x02" + b"]" * 200_000_000 + b".")
    unsafe("a pickle of empty lists unpacks to 200 MB")
    for name, opcodes in (("globals", b"ca\nb\n0"), ("calls of data", b"NNR0")):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("m/data.pkl", b"\x80\x02" + opcodes * (200_000_000 // len(opcodes)) + b"N.")
        unsafe(f"a pickle of {name} unpacks to 200 MB")
    long = (1 << 20).to_bytes(4, "little")
    path.write_bytes(b"\x80\x04X" + long + b"a" * (1 << 20) + b"\x94" + b"h\0h\0\x930" * 500_000 + b"N.")
    unsafe("a global with a long name is imported many times")
    keys = b"".join(b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("a" * 100_000 + chr(33 + i)) +
                    text("cpu") + b"K\x01t" + b"q" + bytes([i]) + b"0" for i in range(70))
    magic = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}."
    path.write_bytes(magic + b"\x80\x02" + keys + b"".join(b"h" + bytes([i]) + b"Q0" for i in range(70)) * 6000 + b"N.")
    unsafe("storages have long names that differ at their ends")
    ones = b"(" + b"K\x01" * 1_000_000 + b"tq\1" + b"0"
    path.write_bytes(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\0" + b"0" + ones + b"((" + text("storage") +
                     b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x01tQK\0h\1h\1tq\2" + b"0" +
                     b"h\0h\2R0" * 500_000 + b"N.")
    unsafe("a tensor of a million dimensions is built many times")
    many_entries(path, "m/data.pkl", b"\x80\x02" + b"N" * 8_000_000 + b".", 20_000)
    unsafe("20,000 entries of a directory are the same pickle")


def main():
    report = Report(__file__)
    for check in (check_programs, check_models, check_archives, check_sources, check_scripts,
                  check_weights, check_audits):
        with tempfile.TemporaryDirectory() as folder:
            check(report, pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

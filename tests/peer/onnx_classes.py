#!/usr/bin/python3
"""`calque check --full` against onnx.checker with full_check: small models, one for each kind of
violation, and valid ones. The verdicts must be the same, except those listed in DIFFERENT with a
reason.

    onnx_classes.py [CASE …]
"""
import multiprocessing
import os
import sys
import tempfile

import peers

DIFFERENT = {
    "init: negative dim": "a warning; onnx complains of what Add makes of it",
    "fn: calls itself": "a warning; onnx runs out of stack",
    "ext: absolute": "an error, as in later versions of onnx",
    "ext: beyond end": "an error, as in later versions of onnx",
}
CASES = {}


def make_cases():
    """Fills CASES; onnx is imported only if it is there."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    from onnx.numpy_helper import from_array
    FLOAT, INT64, node = TensorProto.FLOAT, TensorProto.INT64, helper.make_node

    def value(name, kind=FLOAT, sizes=(2,)):
        return helper.make_tensor_value_info(name, kind, sizes)

    def ints(numbers, name):
        return from_array(np.array(numbers, np.int64), name)

    def ones(n, name):
        return from_array(np.ones(n, np.float32), name)

    def opsets(pairs):
        return [helper.make_opsetid(*pair) for pair in pairs]

    def model(nodes, ins=None, outs=None, inits=(), opset=17, ir=8, funcs=(), imports=None,
              sparse=(), vis=()):
        graph = helper.make_graph(nodes, "g", [value("x")] if ins is None else ins,
                                  [value("y")] if outs is None else outs, list(inits),
                                  value_info=list(vis))
        graph.sparse_initializer.extend(sparse)
        imports = [("", opset)] if imports is None else imports
        return helper.make_model(graph, opset_imports=opsets(imports), ir_version=ir,
                                 functions=list(funcs))

    def case(name, *args, **kwargs):
        CASES[name] = model(*args, **kwargs)

    def sparse(numbers, places, dims, vn="w", itype=np.int64):
        return onnx.SparseTensorProto(values=from_array(np.array(numbers, np.float32), vn),
                                      indices=from_array(np.array(places, itype)), dims=dims)

    def sub(nodes, outs, ins=(), inits=()):
        return helper.make_graph(nodes, "s", list(ins), outs, list(inits))

    def branches(yes, no):
        return model([node("If", ["c"], ["y"], then_branch=yes, else_branch=no)],
                     [value("x"), value("c", TensorProto.BOOL, ())])

    def function(nodes, ins=("a",), outs=("b",), attrs=(), imports=(("", 17),), name="f", dom="z"):
        return helper.make_function(dom, name, list(ins), list(outs), nodes, opsets(imports),
                                    list(attrs))

    def external(**places):
        tensor = TensorProto(name="w", data_type=FLOAT, dims=[2], data_location=1)
        for key, word in places.items():
            tensor.external_data.add(key=key, value=word)
        return tensor

    case("valid", [node("Relu", ["x"], ["y"])])

    # ---- types and shapes ----

    case("type: int into Relu 13", [node("Relu", ["x"], ["y"])], [value("x", INT64)],
         [value("y", INT64)], opset=13)
    case("type: mix in Add", [node("Add", ["x", "b"], ["y"])], [value("x"), value("b", INT64)])
    case("type: output type wrong", [node("Relu", ["x"], ["y"])], outs=[value("y", INT64)])
    case("type: output shape wrong", [node("Relu", ["x"], ["y"])], outs=[value("y", FLOAT, (3,))])
    case("type: output rank wrong", [node("Relu", ["x"], ["y"])], outs=[value("y", FLOAT, (2, 1))])
    case("type: output without type", [node("Relu", ["x"], ["y"])],
         outs=[onnx.ValueInfoProto(name="y")])
    case("type: input without type", [node("Relu", ["x"], ["y"])],
         ins=[onnx.ValueInfoProto(name="x")])
    case("type: input without shape", [node("Relu", ["x"], ["y"])],
         ins=[helper.make_tensor_value_info("x", FLOAT, None)])
    case("type: elem undefined", [node("Relu", ["x"], ["y"])],
         ins=[helper.make_tensor_value_info("x", 0, (2,))])
    case("type: value_info contradicts", [node("Relu", ["x"], ["z"]), node("Relu", ["z"], ["y"])],
         vis=[value("z", FLOAT, (5,))])
    case("type: value_info of nobody", [node("Relu", ["x"], ["y"])],
         vis=[value("nobody", FLOAT, (5,))])
    case("shape: matmul", [node("MatMul", ["x", "b"], ["y"])],
         [value("x", FLOAT, (2, 3)), value("b", FLOAT, (4, 5))], [value("y", FLOAT, (2, 5))])
    case("shape: add no broadcast", [node("Add", ["x", "b"], ["y"])],
         [value("x", FLOAT, (2,)), value("b", FLOAT, (3,))])
    case("shape: concat rank", [node("Concat", ["x", "b"], ["y"], axis=0)],
         [value("x", FLOAT, (2,)), value("b", FLOAT, (3, 1))], [value("y", FLOAT, None)])
    case("shape: reshape", [node("Reshape", ["x", "s"], ["y"])], [value("x", FLOAT, (4,))],
         [value("y", FLOAT, (3,))], [ints([3], "s")])
    case("shape: transpose perm", [node("Transpose", ["x"], ["y"], perm=[0, 0])],
         [value("x", FLOAT, (2, 3))], [value("y", FLOAT, None)])
    case("shape: axis out of range", [node("Softmax", ["x"], ["y"], axis=3)],
         [value("x", FLOAT, (2, 3))], [value("y", FLOAT, (2, 3))])
    case("shape: squeeze not 1", [node("Squeeze", ["x", "a"], ["y"])], [value("x", FLOAT, (2, 3))],
         [value("y", FLOAT, None)], [ints([0], "a")])
    case("shape: gemm", [node("Gemm", ["x", "b"], ["y"])],
         [value("x", FLOAT, (2, 3)), value("b", FLOAT, (4, 5))], [value("y", FLOAT, None)])
    case("shape: conv channels", [node("Conv", ["x", "w"], ["y"])],
         [value("x", FLOAT, (1, 3, 8, 8)), value("w", FLOAT, (4, 2, 3, 3))],
         [value("y", FLOAT, None)])
    case("shape: conv kernel_shape rank", [node("Conv", ["x", "w"], ["y"], kernel_shape=[3])],
         [value("x", FLOAT, (1, 3, 8, 8)), value("w", FLOAT, (4, 3, 3, 3))],
         [value("y", FLOAT, None)])
    case("shape: split sum", [node("Split", ["x", "s"], ["y", "z"])], [value("x", FLOAT, (4,))],
         [value("y", FLOAT, None), value("z", FLOAT, None)], [ints([1, 2], "s")])
    case("shape: gather axis", [node("Gather", ["x", "i"], ["y"], axis=5)],
         [value("x", FLOAT, (2, 3))], [value("y", FLOAT, None)], [ints([0], "i")])
    case("shape: expand", [node("Expand", ["x", "s"], ["y"])], [value("x", FLOAT, (2,))],
         [value("y", FLOAT, None)], [ints([3], "s")])
    case("shape: pad odd", [node("Pad", ["x", "s"], ["y"])], [value("x", FLOAT, (2,))],
         [value("y", FLOAT, None)], [ints([1, 1, 1], "s")])
    case("shape: cast unknown type", [node("Cast", ["x"], ["y"], to=99)])
    case("shape: batchnorm", [node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"])],
         [value("x", FLOAT, (1, 3, 4))] + [value(k, FLOAT, (2,)) for k in "sbmv"],
         [value("y", FLOAT, None)])

    # ---- attributes ----

    case("attr: unknown", [node("Relu", ["x"], ["y"], foo=1)])
    case("attr: wrong type", [node("Softmax", ["x"], ["y"], axis=1.5)])
    case("attr: missing required", [node("Concat", ["x"], ["y"])])
    case("attr: none type", [node("Softmax", ["x"], ["y"])])
    CASES["attr: none type"].graph.node[0].attribute.append(onnx.AttributeProto(name="axis"))
    case("attr: twice", [node("Softmax", ["x"], ["y"], axis=0)])
    CASES["attr: twice"].graph.node[0].attribute.append(helper.make_attribute("axis", 0))
    case("attr: empty name", [node("Softmax", ["x"], ["y"])])
    CASES["attr: empty name"].graph.node[0].attribute.append(onnx.AttributeProto(name="", type=2,
         i=0))
    case("attr: two values", [node("Softmax", ["x"], ["y"], axis=0)])
    CASES["attr: two values"].graph.node[0].attribute[0].f = 1.0
    case("attr: type says other", [node("Softmax", ["x"], ["y"], axis=0)])
    CASES["attr: type says other"].graph.node[0].attribute[0].type = 1
    case("attr: ref outside function", [node("Softmax", ["x"], ["y"])])
    CASES["attr: ref outside function"].graph.node[0].attribute.append(
        onnx.AttributeProto(name="axis", type=2, ref_attr_name="a"))
    case("attr: doc only", [node("Softmax", ["x"], ["y"], axis=0)])
    CASES["attr: doc only"].graph.node[0].attribute[0].doc_string = "x"
    case("attr: constant none", [node("Constant", [], ["y"])], [], [value("y")])
    case("attr: constant two", [node("Constant", [], ["y"], value_float=1.0, value_int=1)], [],
         [value("y", FLOAT, ())])
    case("attr: constant of bad tensor", [node("Constant", [], ["y"],
         value=TensorProto(data_type=1, dims=[3], float_data=[1.0]))], [],
         [value("y", FLOAT, (3,))])

    # ---- inputs and outputs ----

    case("in: missing", [node("Add", ["x"], ["y"])])
    case("in: too many", [node("Relu", ["x", "x"], ["y"])])
    case("in: unknown name", [node("Relu", ["q"], ["y"])])
    case("in: empty required", [node("Add", ["x", ""], ["y"])])
    case("in: empty optional", [node("Clip", ["x", "", ""], ["y"])])
    case("in: trailing empty", [node("Clip", ["x", ""], ["y"])])
    case("in: empty variadic", [node("Concat", ["x", ""], ["y"], axis=0)],
         outs=[value("y", FLOAT, None)])
    case("in: no inputs of variadic", [node("Sum", [], ["y"])])
    case("out: too many", [node("Relu", ["x"], ["y", "z"])])
    case("out: none", [node("Relu", ["x"], [])])
    case("out: empty name", [node("Relu", ["x"], [""]), node("Relu", ["x"], ["y"])])
    case("out: graph output of nobody", [node("Relu", ["x"], ["z"])])
    case("out: graph output is input", [node("Relu", ["x"], ["z"])], outs=[value("x")])
    case("out: graph output is init", [node("Relu", ["x"], ["z"])], outs=[value("w")],
         inits=[ones(2, "w")])
    case("out: no graph outputs", [node("Relu", ["x"], ["y"])], outs=[])
    case("empty graph", [], outs=[value("x")])

    # ---- names ----

    case("name: output twice", [node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"])])
    case("name: output is input", [node("Relu", ["x"], ["x"]), node("Abs", ["x"], ["y"])])
    case("name: output is init", [node("Relu", ["x"], ["w"]), node("Abs", ["w"], ["y"])],
         inits=[ones(2, "w")])
    case("name: input twice", [node("Relu", ["x"], ["y"])], [value("x"), value("x")])
    case("name: graph output twice", [node("Relu", ["x"], ["y"])], outs=[value("y"), value("y")])
    case("name: init twice", [node("Add", ["x", "w"], ["y"])], inits=[ones(2, "w")] * 2)
    case("name: init and input", [node("Add", ["x", "w"], ["y"])], [value("x"), value("w")],
         inits=[ones(2, "w")])
    case("name: init and input of other shape", [node("Add", ["x", "w"], ["y"])],
         [value("x"), value("w", FLOAT, (1,))], inits=[ones(2, "w")])
    case("name: init and input of other type", [node("Add", ["x", "w"], ["y"])],
         [value("x"), value("w", INT64)], inits=[ones(2, "w")])
    case("name: init without name", [node("Relu", ["x"], ["y"])], inits=[ones(2, "")])
    case("name: input empty", [node("Relu", ["x"], ["y"])], [value("x"), value("")])
    case("name: graph empty", [node("Relu", ["x"], ["y"])])
    CASES["name: graph empty"].graph.name = ""
    case("name: nodes alike", [node("Relu", ["x"], ["z"], name="n"),
         node("Relu", ["z"], ["y"], name="n")])
    case("order", [node("Relu", ["z"], ["y"]), node("Relu", ["x"], ["z"])])
    case("cycle", [node("Add", ["x", "y"], ["z"]), node("Relu", ["z"], ["y"])])

    # ---- initializers ----

    case("init: too few", [node("Add", ["x", "w"], ["y"])],
         inits=[TensorProto(name="w", data_type=1, dims=[2], float_data=[1.0])])
    case("init: raw size", [node("Add", ["x", "w"], ["y"])],
         inits=[TensorProto(name="w", data_type=1, dims=[2], raw_data=b"1234")])
    case("init: raw and float", [node("Add", ["x", "w"], ["y"])],
         inits=[TensorProto(name="w", data_type=1, dims=[2], raw_data=b"12345678",
         float_data=[1.0, 2.0])])
    case("init: wrong field", [node("Add", ["x", "w"], ["y"])],
         inits=[TensorProto(name="w", data_type=1, dims=[2], int64_data=[1, 2])])
    case("init: negative dim", [node("Add", ["x", "w"], ["y"])],
         inits=[TensorProto(name="w", data_type=1, dims=[-2], float_data=[1.0, 2.0])])
    case("init: no type", [node("Add", ["x", "w"], ["y"])],
         inits=[TensorProto(name="w", dims=[2], float_data=[1.0, 2.0])])
    case("init: string raw", [node("Identity", ["w"], ["y"])],
         outs=[value("y", TensorProto.STRING, (1,))],
         inits=[TensorProto(name="w", data_type=8, dims=[1], raw_data=b"a")])
    case("init: empty", [node("Concat", ["x", "w"], ["y"], axis=0)],
         inits=[TensorProto(name="w", data_type=1, dims=[0])], outs=[value("y")])
    case("init: segment", [node("Add", ["x", "w"], ["y"])],
         inits=[TensorProto(name="w", data_type=1, dims=[2], float_data=[1.0, 2.0],
         segment=TensorProto.Segment(begin=0, end=1))])

    # ---- sparse initializers ----

    ADD = [node("Add", ["x", "w"], ["y"])]
    case("sparse: good", ADD, sparse=[sparse([1.0], [0], [2])])
    case("sparse: unsorted", ADD, sparse=[sparse([1.0, 2.0], [1, 0], [2])])
    case("sparse: twice", ADD, sparse=[sparse([1.0, 2.0], [1, 1], [2])])
    case("sparse: outside", ADD, sparse=[sparse([1.0], [2], [2])])
    case("sparse: count", ADD, sparse=[sparse([1.0, 2.0], [0], [2])])
    case("sparse: 2d indices", ADD, sparse=[sparse([1.0], [[0]], [2])])
    case("sparse: 2d wrong", ADD, sparse=[sparse([1.0], [[0, 0]], [2])])
    case("sparse: no name", ADD, sparse=[sparse([1.0], [0], [2], vn="")])
    case("sparse: no dims", ADD, sparse=[sparse([1.0], [0], [])])
    case("sparse: int32 indices", ADD, sparse=[sparse([1.0], [0], [2], itype=np.int32)])
    case("sparse: and dense", ADD, sparse=[sparse([1.0], [0], [2])], inits=[ones(2, "w")])

    # ---- graphs in graphs ----

    CONDITION = value("c", TensorProto.BOOL, ())
    THEN = sub([node("Relu", ["x"], ["t"])], [value("t")])
    ELSE = sub([node("Abs", ["x"], ["e"])], [value("e")])
    CASES["sub: good"] = branches(THEN, ELSE)
    CASES["sub: shadows outer"] = branches(sub([node("Relu", ["x"], ["x"])], [value("x")]), ELSE)
    case("sub: own name outside", [node("If", ["c"], ["z"], then_branch=THEN, else_branch=ELSE),
         node("Relu", ["t"], ["y"])], [value("x"), CONDITION])
    CASES["sub: names of the other branch"] = branches(THEN,
         sub([node("Abs", ["t"], ["e"])], [value("e")]))
    CASES["sub: output of outer"] = branches(sub([], [value("x")]), ELSE)
    CASES["sub: inputs of If branch"] = branches(sub([node("Relu", ["q"], ["t"])], [value("t")],
         [value("q")]), ELSE)
    CASES["sub: different counts"] = branches(sub([node("Relu", ["x"], ["t"])],
         [value("t"), value("t2")]), ELSE)
    CASES["sub: different types"] = branches(sub([node("Cast", ["x"], ["t"], to=INT64)],
         [value("t", INT64)]), ELSE)
    CASES["sub: no outputs"] = branches(sub([node("Relu", ["x"], ["t"])], []), ELSE)
    case("sub: uses later value", [node("If", ["c"], ["z"],
         then_branch=sub([node("Relu", ["w"], ["t"])], [value("t")]), else_branch=ELSE),
         node("Relu", ["x"], ["w"]), node("Add", ["z", "w"], ["y"])], [value("x"), CONDITION])
    CASES["sub: own init"] = branches(sub([node("Add", ["x", "k"], ["t"])], [value("t")],
         inits=[ones(2, "k")]), ELSE)
    CASES["sub: init shadows"] = branches(sub([node("Add", ["x", "x"], ["t"])], [value("t")],
         inits=[ones(2, "x")]), ELSE)
    BODY = sub([node("Identity", ["ci"], ["co"]), node("Add", ["a", "a"], ["b"])],
         [value("co", TensorProto.BOOL, ()), value("b")],
         [value("i", INT64, ()), value("ci", TensorProto.BOOL, ()), value("a")])
    case("loop: good", [node("Loop", ["n", "c", "x"], ["y"], body=BODY)],
         [value("x"), CONDITION, value("n", INT64, ())])
    case("loop: too few carried", [node("Loop", ["n", "c"], ["y"], body=BODY)],
         [value("x"), CONDITION, value("n", INT64, ())])
    case("loop: too many outputs", [node("Loop", ["n", "c", "x"], ["y", "z"], body=BODY)],
         [value("x"), CONDITION, value("n", INT64, ())])
    case("loop: body inputs", [node("Loop", ["n", "c", "x"], ["y"],
         body=sub(list(BODY.node), list(BODY.output), list(BODY.input)[:2]))],
         [value("x"), CONDITION, value("n", INT64, ())])
    case("loop: cond type", [node("Loop", ["n", "x", "x"], ["y"], body=BODY)],
         [value("x"), CONDITION, value("n", INT64, ())])

    # ---- versions ----

    case("opset: none", [node("Relu", ["x"], ["y"])], imports=[])
    case("opset: 0", [node("Relu", ["x"], ["y"])], opset=0)
    case("opset: twice", [node("Relu", ["x"], ["y"])], imports=[("", 13), ("", 14)])
    case("opset: operator too new", [node("Mish", ["x"], ["y"])], opset=17)
    case("opset: operator gone", [node("Upsample", ["x", "s"], ["y"])],
         [value("x", FLOAT, (1, 1, 2, 2))], [value("y", FLOAT, None)], [ones(4, "s")], opset=13)
    case("opset: unknown operator", [node("Foo", ["x"], ["y"])])
    case("opset: unknown domain", [node("Foo", ["x"], ["y"], domain="z")])
    case("opset: unknown domain imported", [node("Foo", ["x"], ["y"], domain="z")],
         imports=[("", 17), ("z", 1)])
    case("opset: unused import", [node("Relu", ["x"], ["y"])], imports=[("", 17), ("z", 1)])
    case("opset: ml without import", [node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml")])
    case("opset: ml", [node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml")],
         imports=[("", 17), ("ai.onnx.ml", 3)])
    case("opset: ai.onnx by name", [node("Relu", ["x"], ["y"], domain="ai.onnx")])
    case("ir: 0", [node("Relu", ["x"], ["y"])], ir=0)
    case("ir: 2 with opsets", [node("Relu", ["x"], ["y"])], ir=2)
    case("ir: 3 init not input", ADD, inits=[ones(2, "w")], ir=3, opset=7)

    # ---- functions ----

    IMPORTS = [("", 17), ("z", 1)]
    CALL = [node("f", ["x"], ["y"], domain="z")]
    GOOD = function([node("Relu", ["a"], ["b"])])
    case("fn: good", CALL, funcs=[GOOD], imports=IMPORTS)
    case("ir: 7 with functions", CALL, funcs=[GOOD], imports=IMPORTS, ir=7)
    case("fn: unused", [node("Relu", ["x"], ["y"])], funcs=[GOOD], imports=IMPORTS)
    case("fn: twice", CALL, funcs=[GOOD, GOOD], imports=IMPORTS)
    case("fn: unknown name inside", CALL, funcs=[function([node("Relu", ["q"], ["b"])])],
         imports=IMPORTS)
    case("fn: outer name inside", CALL, funcs=[function([node("Relu", ["x"], ["b"])])],
         imports=IMPORTS)
    case("fn: output of nobody", CALL, funcs=[function([node("Relu", ["a"], ["c"])])],
         imports=IMPORTS)
    case("fn: no import", CALL, funcs=[function([node("Relu", ["a"], ["b"])], imports=[])],
         imports=IMPORTS)
    case("fn: other import", CALL, funcs=[function([node("Relu", ["a"], ["b"])],
         imports=[("", 13)])], imports=IMPORTS)
    case("fn: domain not imported", CALL, funcs=[GOOD], imports=[("", 17)])
    case("fn: calls itself", CALL, funcs=[function([node("f", ["a"], ["b"], domain="z")],
         imports=IMPORTS)], imports=IMPORTS)
    case("fn: too many inputs", [node("f", ["x", "x"], ["y"], domain="z")], funcs=[GOOD],
         imports=IMPORTS)
    case("fn: too few inputs", [node("f", [], ["y"], domain="z")], funcs=[GOOD], imports=IMPORTS)
    case("fn: too many outputs", [node("f", ["x"], ["y", "w"], domain="z")], funcs=[GOOD],
         imports=IMPORTS)
    REFERENCE = node("Softmax", ["a"], ["b"])
    REFERENCE.attribute.append(onnx.AttributeProto(name="axis", type=2, ref_attr_name="k"))
    case("fn: attribute", [node("f", ["x"], ["y"], domain="z", k=0)],
         funcs=[function([REFERENCE], attrs=["k"])], imports=IMPORTS)
    case("fn: attribute not given", CALL, funcs=[function([REFERENCE], attrs=["k"])],
         imports=IMPORTS)
    case("fn: attribute not declared", [node("f", ["x"], ["y"], domain="z", k=0)],
         funcs=[function([REFERENCE])], imports=IMPORTS)
    case("fn: extra attribute", [node("f", ["x"], ["y"], domain="z", q=0)], funcs=[GOOD],
         imports=IMPORTS)
    case("fn: input twice", [node("f", ["x", "x"], ["y"], domain="z")],
         funcs=[function([node("Relu", ["a"], ["b"])], ins=("a", "a"))], imports=IMPORTS)
    case("fn: name twice inside", CALL, funcs=[function([node("Relu", ["a"], ["b"]),
         node("Abs", ["a"], ["b"])])], imports=IMPORTS)
    case("fn: bad type inside", CALL, funcs=[function([node("Cast", ["a"], ["c"], to=INT64),
         node("Relu", ["c"], ["b"])], imports=[("", 13)])], imports=IMPORTS)
    case("fn: no name", CALL, funcs=[function([node("Relu", ["a"], ["b"])], name="")],
         imports=IMPORTS)
    case("fn: overrides Relu", [node("Relu", ["x"], ["y"])],
         funcs=[function([node("Abs", ["a"], ["b"])], name="Relu", dom="")])

    # ---- external data ----

    case("ext: good", ADD, inits=[external(location="data.bin")])
    case("ext: missing file", ADD, inits=[external(location="no.bin")])
    case("ext: no location", ADD, inits=[external(offset="0")])
    case("ext: absolute", ADD, inits=[external(location="/etc/passwd")])
    case("ext: beyond end", ADD, inits=[external(location="data.bin", offset="4", length="8")])
    case("ext: unknown key", ADD, inits=[external(location="data.bin", foo="1")])
    case("ext: and raw", ADD, inits=[external(location="data.bin")])
    CASES["ext: and raw"].graph.initializer[0].raw_data = b"12345678"


# ---- verdicts ---------------------------------------------------------------------------


def ask(path, answers):
    import onnx.checker
    try:
        onnx.checker.check_model(path, full_check=True)
        answers.put("")
    except Exception as error:
        answers.put(str(error).strip() or type(error).__name__)


def onnx_says(path):
    """The error of onnx for a model; in a separate process, because some models crash it."""
    answers = multiprocessing.Queue()
    process = multiprocessing.Process(target=ask, args=(path, answers))
    process.start()
    process.join()
    return "a crash" if process.exitcode else answers.get()


def check(name):
    with open("model.onnx", "wb") as f:
        f.write(CASES[name].SerializeToString())
    theirs = onnx_says("model.onnx")
    code, said, error = peers.calque("check", "--full", "model.onnx")
    same = bool(theirs) == (code != 0)
    if name in DIFFERENT:
        assert not same, "the verdicts are the same now: remove it from DIFFERENT"
    else:
        assert same, f"onnx: {theirs[:200] or 'valid'}; calque: {(said + error)[:200] or 'valid'}"


def main():
    report = peers.Report(__file__)
    if report.needs("onnx"):
        make_cases()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            with open("data.bin", "wb") as f:
                f.write(bytes(8))
            for name in sys.argv[1:] or CASES:
                with report.case(name):
                    check(name)
            os.chdir("/")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

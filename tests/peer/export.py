#!/usr/bin/python3
"""The effect of export options: every model here is checked by onnx, run by ONNX Runtime, and
compared with calque's own run of the module.

    export.py [TEST …]
"""
import contextlib
import os
import sys
import tempfile

import peers
from peers import Report, check_onnx, expect_close

RTOL, ATOL = 1e-4, 1e-5  # a few layers


def images(*shape):
    import numpy as np
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


def check_bytes(model, full=True):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model)
        file.flush()
        check_onnx(file.name, full)


def load(model):
    import onnx
    return onnx.load_model_from_string(model)


def ops_of(model):
    return [node.op_type for node in load(model).graph.node]


@contextlib.contextmanager
def warnings():
    """Collects warnings inside the block: [(message, where)]."""
    import ctypes

    import capi
    heard = []
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    handler = kind(lambda user, message, where: heard.append((message.decode(), where.decode())))
    capi.lib().cq_set_warning_handler(handler, None)
    try:
        yield heard
    finally:
        capi.lib().cq_set_warning_handler(None, None)


# ---- models ---------------------------------------------------------------------------


def block(channels=(3, 4), transposed=False, groups=1, bias=True):
    """Convolution, batch norm with statistics of some data, ReLU."""
    import capi
    import numpy as np

    rng = np.random.default_rng(2)
    spec = capi.ConvSpec(in_=channels[0], out=channels[1], kernel=(3, 3), groups=groups,
                         no_bias=not bias)
    conv = capi.layer("conv_transpose2d" if transposed else "conv2d", spec)
    norm = capi.layer("batch_norm2d", channels[1])
    net = capi.module("Block", lambda cx, x: cx.relu_(cx.call(norm, cx.call(conv, x))),
                      {"conv": conv, "norm": norm})
    net.load({f"norm.{name}": rng.uniform(0.5, 1.5, channels[1]).astype(np.float32)
              for name in ("weight", "bias", "running_mean", "running_var")})
    return net


def nested():
    """Two blocks of the same class, and one inside of another module."""
    import capi

    first, second = block((3, 4)), block((4, 4))
    third, inner = block((4, 4)), capi.layer("sigmoid")
    outer = capi.module("Outer", lambda cx, x: cx.call(inner, cx.call(third, x)),
                        {"block": third, "act": inner})

    def forward(cx, x):
        x = cx.call(second, cx.call(first, x))
        return cx.add(cx.call(outer, x), cx.mul_scalar(cx.call(outer, x), 2.0))
    return capi.module("Nested", forward, {"first": first, "second": second, "outer": outer})


def agree(net, model, x, **kwargs):
    expect_close(peers.run_ort(model, {"input_0": x})[0], net.run(x)[0], RTOL, ATOL, **kwargs)


# ---- tests ----------------------------------------------------------------------------

TESTS = {}


def test(function):
    TESTS[function.__name__] = function
    return function


@test
def batch_norms_are_folded_rightly():
    for options in ({}, {"bias": False}, {"groups": 2, "channels": (4, 6)}, {"transposed": True},
                    {"transposed": True, "groups": 2, "channels": (4, 6)},
                    {"transposed": True, "bias": False}):
        net = block(**options).train(False)
        x = images(2, options.get("channels", (3, 4))[0], 7, 7)
        for opset in (9, 13, 17):
            folded = net.export([x], opset=opset)
            plain = net.export([x], opset=opset, no_constant_folding=True)
            assert "BatchNormalization" in ops_of(plain), "expected something to fold"
            grouped = options.get("transposed") and options.get("groups")
            assert grouped or "BatchNormalization" not in ops_of(folded), f"{options}: not folded"
            for model in (folded, plain):
                check_bytes(model)
                agree(net, model, x, name=str(options))


@test
def batch_norm_is_kept_if_the_convolution_is_used_twice():
    import capi
    conv, norm = capi.layer("conv2d", capi.ConvSpec(in_=3, out=3, kernel=(1, 1))), \
        capi.layer("batch_norm2d", 3)

    def forward(cx, x):
        y = cx.call(conv, x)
        return cx.add(y, cx.call(norm, y))
    net = capi.module("Twice", forward, {"conv": conv, "norm": norm}).train(False)
    x = images(2, 3, 5, 5)
    model = net.export([x])
    assert "BatchNormalization" in ops_of(model)
    agree(net, model, x)

    def shared(cx, x):  # the weights are used twice: with and without the norm
        return cx.add(cx.call(norm, cx.call(conv, x)), cx.call(conv, x))
    conv, norm = capi.layer("conv2d", capi.ConvSpec(in_=3, out=3, kernel=(1, 1))), \
        capi.layer("batch_norm2d", 3)
    net = capi.module("Shared", shared, {"conv": conv, "norm": norm}).train(False)
    net.load({"norm.running_var": images(3) ** 2})
    agree(net, net.export([x]), x)


@test
def modules_become_functions():
    net = nested().train(False)
    x = images(2, 3, 9, 9)
    for opset in (15, 16, 17):
        plain = net.export([x], opset=opset)
        for options in ({"all_modules_as_functions": True}, {"function_classes": ["Block"]},
                        {"function_classes": ["Conv2d", "Outer"]}):
            model = net.export([x], opset=opset, **options)
            check_bytes(model, full=False)  # onnx 1.12 infers nothing through functions
            names = {f.name for f in load(model).functions}
            assert names, "expected functions in the file"
            wanted = set(options.get("function_classes", []))
            assert wanted <= {name.split("_")[0] for name in names}, f"functions are {names}"
            agree(net, model, x, name=str(options))
            agree(net, plain, x)


@test
def modules_of_the_zoo_become_functions():
    import capi
    import numpy as np
    for name, classes in (("resnet18", ["BasicBlock"]), ("super_resolution", ["Conv2d"])):
        net, model = capi.zoo(name)
        net.train(False)
        shape = list(model.inputs[0].sizes[:4])
        shape[2:] = [64, 64] if name == "resnet18" else [16, 16]
        x = images(*shape)
        for options in ({"function_classes": classes}, {"all_modules_as_functions": True}):
            exported = net.export([x], **options)
            check_bytes(exported, full=False)
            agree(net, exported, x, name=name)
        again = net.export([x], **options)
        assert np.array_equal(np.frombuffer(exported, "u1"), np.frombuffer(again, "u1")), \
            "exporting the same model twice gave different bytes"


@test
def modules_as_functions_need_opset_15():
    import capi
    try:
        block().export([images(1, 3, 5, 5)], opset=14, all_modules_as_functions=True)
        raise AssertionError("it was accepted")
    except capi.Error as error:
        assert "opset 15" in error.message, error.message


@test
def training_mode_is_exported():
    import capi
    conv, norm, drop = capi.layer("conv2d", capi.ConvSpec(in_=3, out=4, kernel=(3, 3))), \
        capi.layer("batch_norm2d", 4), capi.layer("dropout", 0.25)
    net = capi.module("Train", lambda cx, x: cx.call(drop, cx.call(norm, cx.call(conv, x))),
                      {"conv": conv, "norm": norm, "drop": drop})
    x = images(4, 3, 6, 6)
    for opset in (9, 11, 12, 13, 17):
        model = net.export([x], opset=opset, training=1)
        check_bytes(model)
        graph = load(model).graph
        if opset >= 14:
            node, = [n for n in graph.node if n.op_type == "BatchNormalization"]
            assert {a.name: a.i for a in node.attribute}["training_mode"] == 1
            assert len(node.output) == 3
        if opset >= 12:
            node, = [n for n in graph.node if n.op_type == "Dropout"]
            assert len(node.input) == 3, "ratio and training_mode are inputs"
            from onnx import numpy_helper
            known = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
            known.update({n.output[0]: numpy_helper.to_array(n.attribute[0].t)
                          for n in graph.node if n.op_type == "Constant"})
            assert abs(float(known[node.input[1]]) - 0.25) < 1e-6
            assert bool(known[node.input[2]])
    evaluated = net.export([x], opset=17)
    assert ops_of(evaluated) == ["Conv"], "in evaluation only the convolution is left"


@test
def training_batch_norm_computes_with_the_batch():
    """Without dropout, training is not random: ONNX Runtime must agree."""
    import capi
    conv, norm = capi.layer("conv2d", capi.ConvSpec(in_=3, out=4, kernel=(3, 3))), \
        capi.layer("batch_norm2d", 4)
    net = capi.module("Train", lambda cx, x: cx.call(norm, cx.call(conv, x)),
                      {"conv": conv, "norm": norm})
    x = images(4, 3, 6, 6)
    for opset in (9, 13, 17):
        model = net.export([x], opset=opset, training=1)
        net.train(True)
        expect_close(peers.run_ort(model, {"input_0": x})[0], net.run(x)[0], RTOL, ATOL,
                     f"opset {opset}")


@test
def sizes_are_symbols_in_the_file():
    import capi
    net, model = capi.zoo("super_resolution")
    x = images(1, 1, 8, 8)
    exported = net.export([x], dynamic_axes=[("input_0", 0, "batch"), ("input_0", 2, "h"),
                                             ("input_0", 3, "w")])
    check_bytes(exported)
    dims = [d.dim_param for d in load(exported).graph.output[0].type.tensor_type.shape.dim]
    assert dims[0] == "batch" and "h" in dims[2] and "w" in dims[3], dims
    net.train(False)
    agree(net, exported, images(3, 1, 5, 11))


@test
def sizes_that_are_read_are_warned_about_once():
    import capi
    import numpy as np

    def forward(cx, x):
        for _ in range(2):
            n = cx.int_value(cx.size(x, 0))
            x = cx.mul_scalar(x, float(n))
        return x
    inner = capi.module("Inner", forward)
    net = capi.module("Net", lambda cx, x: cx.call(inner, x), {"part": inner})
    x = images(3, 2)
    with warnings() as heard:
        model = net.export([x], dynamic_axes=[("input_0", 0, "batch")])
    assert len(heard) == 1, heard
    assert heard[0][1] == "part (Inner)" and "3" in heard[0][0], heard
    other = images(5, 2)
    expect_close(peers.run_ort(model, {"input_0": other})[0], (other * 9).astype(np.float32))
    with warnings() as heard:
        net.export([x])
    assert not heard, "nothing is baked in if the size is fixed"


@test
def numbers_that_are_read_steer_the_capture():
    import capi

    def forward(cx, x):
        total = cx.item(cx.sum(x, 0, None, False))
        return cx.neg(x) if total > 0 else cx.relu(x)
    net = capi.module("Steered", forward)
    for x in (abs(images(3, 2)), -abs(images(3, 2))):
        with warnings() as heard:
            model = net.export([x])
        assert len(heard) == 1 and heard[0][1] == "Steered", heard
        agree(net, model, x)


@test
def weights_given_as_inputs_compute_the_same():
    net = block().train(False)
    x = images(2, 3, 6, 6)
    model = net.export([x], no_params=True, no_constant_folding=True)
    check_bytes(model)
    state = {name: array for name, array, _ in net.state()}
    names = [i.name for i in load(model).graph.input]
    assert names[0] == "input_0" and set(names[1:]) <= set(state), names
    feeds = {"input_0": x, **{name: state[name] for name in names[1:]}}
    expect_close(peers.run_ort(model, feeds)[0], net.run(x)[0], RTOL, ATOL)


@test
def weights_kept_as_inputs_can_be_replaced():
    import numpy as np
    net = block().train(False)
    x = images(2, 3, 6, 6)
    model = net.export([x], keep_initializers_as_inputs=True)
    check_bytes(model)
    agree(net, model, x)
    name = [i.name for i in load(model).graph.input][-1]
    shape = [tuple(t.dims) for t in load(model).graph.initializer if t.name == name][0]
    other = peers.run_ort(model, {"input_0": x, name: np.full(shape, 100, np.float32)})[0]
    assert not np.allclose(other, net.run(x)[0]), "the weight that was given is not used"


@test
def external_data_is_found():
    import onnx
    net = nested().train(False)
    x = images(2, 3, 9, 9)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.onnx")
        net.export([x], path, external_data=True)
        assert os.path.exists(path + ".data") or sum(
            t.data_location for t in onnx.load(path, load_external_data=False).graph.initializer) == 0
        expect_close(peers.run_ort(path, {"input_0": x})[0], net.run(x)[0], RTOL, ATOL)
        check_onnx(path)


@test
def operators_stay_only_where_they_must():
    net = block().train(False)
    x = images(2, 3, 6, 6)
    for mode in (1, 2, 3):
        model = net.export([x], operators=mode)
        check_bytes(model, full=False)
        domains = {n.domain for n in load(model).graph.node if n.op_type != "Constant"}
        assert domains == ({"org.pytorch.aten"} if mode == 1 else {""}), domains


@test
def several_inputs_and_outputs_keep_their_order():
    import capi

    def forward(cx, a, b, c):
        return [cx.sub(b, a), cx.relu(c), a]
    net = capi.module("Three", forward, n_out=3)
    a, b, c = images(3, 2), images(3, 2) * 2, images(4)
    model = net.export([a, b, c], input_names=["a", "b"], output_names=["p", "q"])
    check_bytes(model)
    graph = load(model).graph
    assert [i.name for i in graph.input] == ["a", "b", "input_2"]
    assert [o.name for o in graph.output] == ["p", "q", "output_2"]
    expect_close(peers.run_ort(model, {"a": a, "b": b, "input_2": c}),
                 net.run(a, b, c, n_outputs=3))


@test
def a_shared_batch_size_is_one_symbol():
    import capi

    def forward(cx, a, b):
        return [cx.cat(2, capi.handles([a, b]), 1)]
    net = capi.module("Pair", forward, n_out=1)
    model = net.export([images(3, 2), images(3, 4)], dynamic_axes=[
        ("input_0", 0, "batch"), ("input_1", 0, "batch")])
    check_bytes(model)
    feeds = {"input_0": images(5, 2), "input_1": images(5, 4)}
    expect_close(peers.run_ort(model, feeds)[0], net.run(*feeds.values(), n_outputs=1)[0])


@test
def registered_symbolics_are_used():
    import ctypes

    import capi
    lib = capi.lib()

    def thrice(s, _user):  # relu as x * 3, so that it cannot be confused
        x = lib.cq_sym_in(s, b"self")
        three = lib.cq_sym_const_f64(s, capi.DTYPES["float32"], 3.0)
        return lib.cq_sym_done(s, lib.cq_sym_emit1(s, b"Mul", 2, capi.handles([x, three]), 0, None))
    symbolic = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(thrice)
    net = capi.module("Net", lambda cx, x: cx.relu(x))
    x = images(3, 2)
    capi.check(lib.cq_symbolic_register(b"::relu", 11, symbolic, None))
    try:
        expect_close(peers.run_ort(net.export([x], opset=13), {"input_0": x})[0], x * 3)
        agree(net, net.export([x], opset=10), x)  # not registered for this one
    finally:
        lib.cq_symbolic_unregister(b"::relu", 11)
    agree(net, net.export([x], opset=13), x)


@test
def symbolic_functions_are_used():
    import capi
    net = capi.module("Net", lambda cx, x: cx.silu(x))
    x = images(3, 2)
    head = '@symbolic("aten::silu", opset=9)\ndef silu(self):\n'
    symbolics = f'"""Another silu, of two nodes."""\n{head}    return Mul(self, HardSigmoid(self, alpha=0.25, beta=0.5))\n'
    model = net.export([x], opset=11, symbolics=symbolics)
    check_bytes(model)
    assert ops_of(model) == ["HardSigmoid", "Mul"], ops_of(model)
    expect_close(peers.run_ort(model, {"input_0": x})[0],
                 x * (x * 0.25 + 0.5).clip(0, 1))
    for text, where in (("aten::silu 9: Mul(self)\n", ":1"), ("# x\naten::silu 9 Mul(self)\n", ":2"),
                        ('symbolic("silu", "Relu", opset=9)\n', ":1:"), ('symbolic("aten::silu", "Relu")\n', ":1:"),
                        (head + "    return Mul(self, nobody)\n", ":3:"), (head + "    return Mul(self\n", ":3:"),
                        ("x = 1\n", ":1:")):
        try:
            net.export([x], opset=11, symbolics=text)
            raise AssertionError(f"{text!r} was accepted")
        except capi.Error as error:
            assert where in error.where, f"{text!r}: {error.message!r} in {error.where!r}"


def main():
    report = Report(__file__)
    if report.needs("onnx", "ort"):
        for name, function in TESTS.items():
            if not sys.argv[1:] or name in sys.argv[1:]:
                with report.case(name):
                    function()
    return report.finish()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

#!/usr/bin/python3
"""calque.onnx beside PyTorch: the programs that torch.onnx's documentation shows, each with only its
import changed, its arguments, symbolic functions, and functions of torch.autograd. What a model
computes, PyTorch says; what the file computes, calque's own runtime does."""
import gc
import io
import itertools
import pathlib
import sys
import tempfile
import warnings
from typing import List, Optional, Tuple

from package import Report, Skip, raises

import numpy as np

try:
    import torch
except ImportError:
    torch = None
import calque

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
MEGABYTE = 1 << 20


def export(model, args, **options):
    """The exported model, after a check by its rules."""
    import calque.onnx
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert calque.onnx.export(model, args, file, **options) is None
    made = calque.load(file.getvalue())
    foreign = any(domain for domain in made.opset_import)
    assert foreign or not [found for found in made.check(full=True) if not found.is_warning]
    return made


def agrees(made, model, *inputs, names=None):
    """Whether the file computes what the model does."""
    with torch.no_grad():
        wanted = model(*inputs)
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
    names = names or [value.name for value in made.inputs]
    got = calque.Session(made.to_bytes()).run(
        None, {name: np.asarray(value) for name, value in zip(names, inputs)})
    assert len(got) == len(wanted), (len(got), len(wanted))
    for one, other in zip(got, wanted):
        np.testing.assert_allclose(one, other.detach().numpy(), **CLOSE)


def operators(made):
    return [node.op_type for node in made.graph.nodes if node.op_type != "Constant"]


# ---- programs of the documentation ----


def check_alexnet_with_names_for_all_values():
    try:
        import torchvision
    except ImportError as error:
        raise Skip("torchvision is not installed") from error
    model = torchvision.models.alexnet().eval()
    names = ["actual_input_1"] + [f"learned_{i}" for i in range(16)]
    x = torch.randn(10, 3, 224, 224)
    made = export(model, x, input_names=names, output_names=["output1"])
    assert [value.name for value in made.inputs] == ["actual_input_1"]
    assert {"learned_0", "learned_15"} <= set(made.graph.initializers)
    assert "%output1 = Gemm" in made.printable_graph()
    agrees(made, model, x)


def check_scripted_loop_stays_a_loop():
    class Loop(torch.nn.Module):
        def forward(self, x, y: int):
            for i in range(y):
                x = x + i
            return x

    x = torch.ones(2, 3)
    made = export(torch.jit.script(Loop()), (x, 5), input_names=["x", "y"])
    assert "Loop" in operators(made)
    for count in (5, 9):
        got, = calque.Session(made.to_bytes()).run(None, {"x": x.numpy(), "y": np.int64(count)})
        np.testing.assert_array_equal(got, 1 + sum(range(count)))


def check_trace_and_script_mix():
    @torch.jit.script
    def loop(x, y):
        for i in range(int(y)):
            x = x + i
        return x

    class Mixed(torch.nn.Module):
        def forward(self, x, y):
            return loop(torch.relu(x), y)

    x = torch.randn(2, 3)
    made = export(Mixed(), (x, torch.tensor(4)), input_names=["x", "y"])
    assert "Loop" in operators(made) and "Relu" in operators(made)
    agrees(made, Mixed(), x, torch.tensor(6))


def check_dynamic_axes_in_three_forms():
    class Sum(torch.nn.Module):
        def forward(self, x):
            return torch.sum(x, dim=1)

    x = torch.ones(2, 3)

    def sizes(**options):
        made = export(Sum(), (x,), **options)
        return made.inputs[0].shape, made.outputs[0].shape

    assert sizes(input_names=["x"], output_names=["sum"]) == ((2, 3), (2,))
    assert sizes(input_names=["x"], output_names=["sum"],
                 dynamic_axes={"x": {0: "my_axis"}, "sum": {0: "my_axis"}}) == (
                     ("my_axis", 3), ("my_axis",))
    shape, result = sizes(input_names=["x"], output_names=["sum"], dynamic_axes={"x": [0], "sum": [0]})
    assert shape == ("x_dynamic_axes_1", 3) and isinstance(result[0], str)
    shape, _ = sizes(input_names=["x"], output_names=["sum"],
                     dynamic_axes={"x": {0: "rows", 1: "columns"}, "sum": [0]})
    assert shape == ("rows", "columns")


def check_custom_operator_by_its_symbolic():
    import calque.onnx
    from calque.onnx.symbolic_helper import parse_args

    @parse_args("v", "f", "f")
    def shrink(g, x, low, high):
        assert x.type().sizes() == [2, 3] and x.type().scalarType() == "Float"
        return g.op("com.example::Shrink", x, low_f=low, range_i=[int(low), int(high)], how_s="hard")

    calque.onnx.register_custom_op_symbolic("aten::hardtanh", shrink, 9)
    try:
        made = export(torch.nn.Hardtanh(-1, 4), torch.ones(2, 3), custom_opsets={"com.example": 3})
    finally:
        calque.onnx.unregister_custom_op_symbolic("aten::hardtanh", 9)
    assert operators(made) == ["Shrink"] and made.opset_import["com.example"] == 3
    assert dict(made.graph.nodes[-1].attributes) == {"how": "hard", "low": -1.0, "range": [-1, 4]}
    assert operators(export(torch.nn.Hardtanh(-1, 4), torch.ones(2, 3))) == ["Clip"]


def check_attributes_of_all_kinds():
    import calque.onnx
    parts = torch._C.Graph()
    one = parts.insertNode(parts.create("onnx::Constant", 1))
    one.t_("value", torch.tensor([1.0]))
    added = parts.insertNode(parts.create("onnx::LeakyRelu", [one.output()], 1))
    added.f_("alpha", 0.5)
    parts.registerOutput(added.output())

    def rule(g, x):
        assert x.sizes() == [2] and x.node().kind() == "prim::Param" and x.type().kind() == "TensorType"
        with_lists = g.op("com.example::Lists", x, tables_t=[torch.ones(2), torch.zeros(3)],
                          one_t=torch.tensor(3), zero_z=torch.ones(1), words_s=["a", "b"],
                          bodies_g=[parts, parts])
        return g.op("If", g.op("Constant", value_t=torch.tensor(True)), then_branch_g=parts,
                    else_branch_g=parts), with_lists

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x

        symbolic = staticmethod(rule)

    class Net(torch.nn.Module):
        def forward(self, x):
            return Twice.apply(x)

    made = export(Net(), torch.ones(2), do_constant_folding=False)
    nodes = {node.op_type: node for node in made.graph.nodes}
    attributes = nodes["Lists"].attributes
    assert [table.shape for table in attributes["tables"]] == [(2,), (3,)]
    assert attributes["words"] == ["a", "b"] and len(attributes["bodies"]) == 2
    body = nodes["If"].attributes["then_branch"]
    assert [node.op_type for node in body.nodes] == ["Constant", "LeakyRelu"]
    assert body.nodes[1].attributes["alpha"] == 0.5


def check_operators_that_cannot_be_exported_are_listed():
    library = torch.library.Library("calque_listed", "DEF")
    for name in ("one", "other"):
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, lambda x: x.clone(), "CompositeExplicitAutograd")

    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.ops.calque_listed.one(torch.relu(torch.ops.calque_listed.other(x)))

    graph, missing = calque.onnx.utils.unconvertible_ops(Net(), torch.ones(2), opset_version=13)
    assert sorted(missing) == ["calque_listed::one", "calque_listed::other"]
    assert "aten::relu" in str(graph)
    error = raises(calque.onnx.errors.UnsupportedOperatorError, export, Net(), torch.ones(2))
    assert isinstance(error, calque.onnx.OnnxExporterError) and len(error.report["missing"]) == 2


def check_hints_are_of_its_arguments():
    class Net(torch.nn.Module):
        def forward(self, x, y):
            return torch.fft.fft(x) + y

    error = raises(calque.Error, export, torch.jit.script(Net()), torch.ones(2))
    assert "inputs that fit: args=(torch.zeros(" in error.hint, error.hint
    library = torch.library.Library("calque_hinted", "DEF")
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: x.clone(), "CompositeExplicitAutograd")

    class Unknown(torch.nn.Module):
        def forward(self, x):
            return torch.ops.calque_hinted.one(x)

    hint = raises(calque.UnsupportedError, export, Unknown(), torch.ones(2)).hint
    assert "register_custom_op_symbolic" in hint and "--" not in hint, hint
    assert "operator_export_type=OperatorExportTypes.ONNX_FALLTHROUGH" in hint, hint


def check_errors_of_symbolics_reach_the_caller():
    import calque.onnx

    def broken(g, x):
        raise KeyError("mine")

    calque.onnx.register_custom_op_symbolic("aten::silu", broken, 9)
    try:
        assert "mine" in str(raises(KeyError, export, torch.nn.SiLU(), torch.ones(2)))
    finally:
        calque.onnx.unregister_custom_op_symbolic("aten::silu", 9)
    assert "domain::name" in str(raises(
        ValueError, calque.onnx.register_custom_op_symbolic, "silu", broken, 9))


def check_operators_of_extensions_give_what_they_gave():
    """Dtype, number of dimensions and sizes of their results are those of the trace."""
    import calque.onnx
    library = torch.library.Library("calque_typed", "DEF")
    library.define("best(Tensor x) -> (Tensor, Tensor)")
    library.impl("best", lambda x: tuple(x.max(-1)), "CPU")

    class Net(torch.nn.Module):
        def forward(self, x):
            values, places = torch.ops.calque_typed.best(x)
            return values.unsqueeze(1) * x, places + 1, torch.zeros(places.size(0))

    def best(g, x):
        axis = g.op("Constant", value_t=torch.tensor([-1]))
        found = g.op("TopK", x, g.op("Constant", value_t=torch.tensor([1])), axis_i=-1, outputs=2)
        return tuple(g.op("Squeeze", one, axis) for one in found)

    calque.onnx.register_custom_op_symbolic("calque_typed::best", best, 9)
    try:
        for axes in ({}, {"x": {0: "n"}}):
            made = export(Net(), torch.rand(3, 4), input_names=["x"], dynamic_axes=axes)
            assert [value.type for value in made.outputs] == ["tensor(float)", "tensor(int64)", "tensor(float)"]
            agrees(made, Net(), torch.rand(5 if axes else 3, 4))
    finally:
        calque.onnx.unregister_custom_op_symbolic("calque_typed::best", 9)


def check_helpers_of_symbolics():
    import calque.onnx
    from calque.onnx import symbolic_helper as h
    defined = torch.library.Library("calque_helped", "DEF")
    defined.define("one(Tensor x, int k) -> Tensor")
    x = torch.rand(2, 3, 4)
    for wanted, symbolic in [
            (lambda x: x[:, :, 1:3], lambda g, x, k: h._slice_helper(g, x, [2], [1], [3])),
            (lambda x: x[:, 1:2], lambda g, x, k: h._select_helper(g, x, 1, k)),
            (lambda x: x.topk(1, 2)[0], lambda g, x, k: h._topk_helper(g, x, k, 2)[0]),
            (lambda x: x.sort(1, descending=True)[0], lambda g, x, k: h._sort_helper(g, x, 1)[0]),
            (lambda x: x.argmax(2, True).float(), lambda g, x, k: g.op(
                "Cast", h._argmin_argmax_helper(g, x, 2, True, "ArgMax"), to_i=1)),
            (lambda x: x.flatten(0, 1), lambda g, x, k: h._flatten_helper(g, x, 0, 1, 3)),
            (lambda x: x.flatten(1, 2), lambda g, x, k: h._flatten_helper(g, x, 1, 2, 3)),
            (lambda x: x * x.size(1), lambda g, x, k: g.op("Mul", x, g.op(
                "Cast", h._size_helper(g, x, k), to_i=1)))]:
        library = torch.library.Library("calque_helped", "IMPL")
        library.impl("one", lambda x, k, wanted=wanted: wanted(x).clone(), "CPU")
        calque.onnx.register_custom_op_symbolic("calque_helped::one", symbolic, 9)
        model = type("Net", (torch.nn.Module,), {"forward": lambda self, x: torch.ops.calque_helped.one(x, 1)})()
        for opset in (11, 13, 17):
            agrees(export(model, x, opset_version=opset, input_names=["x"]), model, x)
        calque.onnx.unregister_custom_op_symbolic("calque_helped::one", 9)
        del library

    def not_yet(g, x, k):
        return h._unimplemented("one", "an odd number of dimensions")

    library = torch.library.Library("calque_helped", "IMPL")
    library.impl("one", lambda x, k: x.clone(), "CPU")
    calque.onnx.register_custom_op_symbolic("calque_helped::one", not_yet, 9)
    try:
        error = raises(RuntimeError, export, model, x)
        assert "one, an odd number of dimensions" in str(error), error
    finally:
        calque.onnx.unregister_custom_op_symbolic("calque_helped::one", 9)
    assert isinstance(calque.onnx.errors.SymbolicValueError("no", 1), calque.onnx.OnnxExporterError)
    raises(RuntimeError, export, torch.nn.ReLU(), x, input_names=["a", "b", "c"])


def check_functions_of_autograd():
    import calque.onnx

    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.save_for_backward(x)
            return x / by, x.sum(1)

        @staticmethod
        def symbolic(g, x, by):
            return g.op("com.example::Half", x, by_f=by, outputs=2)

    class Inside(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clamp(min=0)

    bound = Half.apply  # before any export

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = Inside.apply

        def forward(self, x):
            first, second = bound(self.inside(x), 2.0)
            return first + 1, second

    made = export(Net(), torch.randn(2, 3), input_names=["x"], dynamic_axes={"x": {0: "n"}})
    assert operators(made) == ["Clip", "Half", "Add"], operators(made)
    assert made.outputs[0].shape == ("n", 3) and made.outputs[1].shape == ("n",)

    def any_function(ctx: calque.onnx.SymbolicContext, g, *args, name, **_):
        return g.op("Relu" if name == "Inside" else "Neg", args[0], outputs=ctx.cur_node.outputsSize())

    calque.onnx.register_custom_op_symbolic("prim::PythonOp", any_function, 1)
    try:
        class One(torch.nn.Module):
            def forward(self, x):
                return Inside.apply(x)
        assert operators(export(One(), torch.ones(2))) == ["Relu"]
    finally:
        calque.onnx.unregister_custom_op_symbolic("prim::PythonOp", 1)


def check_backend_prepares_and_runs():
    import calque.backend
    model = torch.nn.Linear(3, 2)
    made = export(model, torch.ones(1, 3))
    x = torch.randn(1, 3)
    got = calque.backend.prepare(made, device="CPU").run([x.numpy()])
    np.testing.assert_allclose(got[0], model(x).detach().numpy(), **CLOSE)


# ---- arguments ----


def check_arguments_of_any_kind():
    class Net(torch.nn.Module):
        def forward(self, x, pair, flag=None, *, scale=None, extra=None):
            assert flag is None and extra["text"] == "on"
            return {"sum": x + pair[0] * scale, "rest": [pair[1], None, (extra["z"],)]}

    x, z = torch.ones(2), torch.zeros(3)
    named = {"scale": torch.tensor(2.0), "extra": {"z": z + 1, "text": "on"}}
    made = export(Net(), (x, (x, z), named))
    assert len(made.outputs) == 3
    assert [value.name for value in made.inputs][0] == "x" and len(made.inputs) == 5
    made = export(Net(), (x, (x, z)), kwargs=named)
    assert len(made.inputs) == 5

    class Dict(torch.nn.Module):
        def forward(self, x):
            return x["a"] + x["b"]
    assert len(export(Dict(), ({"a": x, "b": x}, {})).inputs) == 2


def check_flags_of_an_export():
    import calque.onnx
    asked = []

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(3, 3)
            self.bn = torch.nn.BatchNorm1d(3)

        def forward(self, x):
            asked.append((calque.onnx.is_in_onnx_export(), torch.onnx.is_in_onnx_export()))
            return torch.dropout(self.bn(self.fc(x)) + torch.ones(3), 0.5, self.training)

    model, x = Net().train(), torch.randn(4, 3)
    assert operators(export(model, x)) == ["Gemm", "BatchNormalization", "Add"]
    assert model.training and asked[-1] == (True, True)
    assert not calque.onnx.is_in_onnx_export()
    trained = export(model, x, training=calque.onnx.TrainingMode.TRAINING)
    assert operators(trained) == ["Gemm", "BatchNormalization", "Add", "Dropout"]
    assert len(export(model, x, export_params=False).inputs) > 1
    kept = export(model, x, keep_initializers_as_inputs=True)  # the weights, not a constant
    assert [value.name.partition(".")[0] for value in kept.inputs] == ["x", "fc", "fc", *["bn"] * 4]
    assert export(model, x, opset_version=9).opset_import == {"": 9}
    raises(ValueError, export, model, x, opset_version=99)
    assert "calque.export takes files" in str(raises(TypeError, export, "model.pt", x))
    raises(TypeError, calque.onnx.export_to_pretty_string, model, x, opset=14)
    assert export(model, x, export_modules_as_functions={torch.nn.Linear}, opset_version=15).functions
    assert "Gemm" in calque.onnx.export_to_pretty_string(model, x)


def check_inputs_are_those_of_pytorch():
    """Numbers among the arguments are inputs of their types, and what an operator takes is one."""
    class Unsqueeze(torch.nn.Module):
        def forward(self, x, dim: int):
            return torch.unsqueeze(x, dim)

    class Squeeze(torch.nn.Module):
        def forward(self, x, dim: int):
            return torch.squeeze(x, dim)

    class Scale(torch.nn.Module):
        def forward(self, x, by: float):
            return x * by

    class View(torch.nn.Module):
        def forward(self, x, other):
            return x.view_as(other) + x.size(0)

    x = torch.randn(2, 1, 4)
    for model, dims in [(Unsqueeze(), (-1, 0, 2)), (Squeeze(), (1, 0, -1))]:
        for form in (model, torch.jit.script(model)):
            made = export(form, (x, dims[0]))
            for dim in dims:
                agrees(made, form, x, torch.tensor(dim) if form is model else dim)
    made = export(torch.jit.script(Scale()), (x, 2.5))
    assert [value.type for value in made.inputs] == ["tensor(float)", "tensor(double)"]
    agrees(made, Scale(), x, 1.5)
    assert len(export(View(), (x, torch.ones(8))).inputs) == 2


def check_lists_of_scripts_are_sequences():
    class Net(torch.nn.Module):
        def forward(self, x, pad: List[int], more: List[torch.Tensor]):
            return torch.nn.functional.pad(x, pad) * more[1], more[0] + len(more)

    x, more = torch.ones(1, 2), [torch.ones(2), torch.full((1,), 3.0)]
    model = torch.jit.script(Net())
    made = export(model, (x, [1, 2], more), opset_version=14)
    assert [value.type for value in made.inputs] == ["tensor(float)", "seq(tensor(int64))",
                                                     "seq(tensor(float))"]
    feeds = {"x": x.numpy(), "pad": [np.array(0), np.array(3)],
             "more": [np.zeros(2, "float32"), np.full(1, 2, "float32")]}
    got = calque.Session(made.to_bytes()).run(None, feeds)
    assert got[0].tolist() == [[2, 2, 0, 0, 0]] and got[1].tolist() == [2, 2]
    assert len(export(Net(), (x, [1, 2], more)).inputs) == 5  # a trace has them one by one


def check_optionals_of_scripts_may_be_left_out():
    class Net(torch.nn.Module):
        def forward(self, x, y: Optional[torch.Tensor] = torch.ones(2), z: Optional[torch.Tensor] = None):
            if y is not None:
                x = x * y
            return x if z is None else x + z

    one = torch.ones(2)
    model = torch.jit.script(Net())
    for args in (one, one, one), (one, {"z": one}):
        made = export(model, args, opset_version=17, dynamic_axes={"z": [0]}, input_names=["x", "y", "z"])
        assert [(value.name, value.type) for value in made.inputs] == [
            ("x", "tensor(float)"), ("y", "optional(tensor(float))"), ("z", "optional(tensor(float))")]
        session, x = calque.Session(made.to_bytes()), np.array([1, 2], "float32")
        assert session.run(None, {"x": x, "y": 3 * x, "z": x})[0].tolist() == [4, 14]
        assert session.run(None, {"x": x, "y": 3 * x, "z": None})[0].tolist() == [3, 12]
        assert session.run(None, {"x": x, "z": x})[0].tolist() == [2, 4]
        assert session.run(None, {"x": x})[0].tolist() == [1, 2]
    assert len(export(model, (one, one), opset_version=17).inputs) == 2  # of what type z is, nothing tells
    assert [value.type for value in export(model, (one, one)).inputs] == ["tensor(float)"] * 2  # opset 14


def check_none_for_tensors_of_scripts_is_refused():
    """Constants decide branches of a trace; TorchScript would lack an input."""
    class Net(torch.nn.Module):
        def forward(self, x, y: Optional[torch.Tensor] = None,
                    pair: Optional[Tuple[Optional[torch.Tensor], int]] = None, n: Optional[int] = 2):
            if y is not None:
                x = x + y
            if pair is not None:
                scale, by = pair
                x = x * by if scale is None else x * scale
            return x if n is None else x * n

    one, script = torch.ones(2), torch.jit.script(Net())
    for args in (one, None), (one, one, (None, 1)), (one, {"pair": None}), (one, {"y": None, "n": 3}):
        assert "1 None's" in str(raises(ValueError, export, script, args))
        export(Net(), args)
    for args in (one,), (one, {"n": None}):  # a default, and what would not be a tensor
        assert len(export(script, args).inputs) == 1


def check_scripts_that_cannot_be_saved():
    """torch.jit.save fails if the default of a tensor parameter is None."""
    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = torch.nn.RNN(4, 5, bidirectional=True)

        def forward(self, x, state=None):
            return self.rnn(x, state)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.scale = Inner(), torch.nn.Parameter(torch.rand(10))

        def forward(self, x, state):
            return self.inner(x, state)[0] * self.scale

    model, args = torch.jit.script(Net()), (torch.rand(3, 2, 4), torch.rand(2, 2, 5))
    raises(RuntimeError, model.save_to_buffer)
    made = export(model, args)
    assert "scale" in made.graph.initializers
    agrees(made, model, *args)
    error = raises(calque.UnsupportedError, export, torch.jit.script(Inner()), args)
    assert "Optional[Tensor]" in error.hint


def check_pads_that_are_inputs():
    """At any opset, also where the example has none of a pad."""
    class Pad(torch.nn.Module):
        def forward(self, x, pad: List[int]):
            return torch.nn.functional.pad(x, pad)

    for x in (torch.rand(2, 3, 4), torch.arange(24, dtype=torch.int16).reshape(2, 3, 4)):
        for opset, example in itertools.product((9, 10, 11, 17), ([1, 0, 0, 2], [0, 0, 0, 0])):
            made = export(torch.jit.script(Pad()), (x, example), opset_version=opset)
            pads = [np.array(n) for n in (2, 1, 3, 0)]
            feeds = {"pad": pads} if opset > 10 else {f"pad_{i}": pad for i, pad in enumerate(pads)}
            got, = calque.Session(made.to_bytes()).run(None, {"x": x.numpy(), **feeds})
            np.testing.assert_allclose(got, Pad()(x, [2, 1, 3, 0]))


def check_lists_of_numbers_take_tensors():
    class Split(torch.nn.Module):
        def forward(self, x, sizes: List[int]):
            return torch.cat(x.split(sizes)[::-1])

    made = export(torch.jit.script(Split()), (torch.ones(6), [torch.tensor(2), torch.tensor(4)]),
                  opset_version=17)
    got, = calque.Session(made.to_bytes()).run(
        None, {"x": np.arange(6, dtype="float32"), "sizes": [np.array(1), np.array(5)]})
    assert got.tolist() == [1, 2, 3, 4, 5, 0]


def check_inputs_are_called_as_the_library_calls_them():
    class Net(torch.nn.Module):
        def forward(self, x, pair, options, *more):
            return x + pair[1] + options["scale"] + options["my key"] + more[0]

    one = torch.ones(2)
    made = export(Net(), (one, (one, one), {"scale": one, "my key": one}, one))
    assert [value.name for value in made.inputs] == ["x", "pair_1", "options_scale", "options_1",
                                                     "input_5"], made.inputs


def check_bools_that_are_returned_are_inputs():
    class Net(torch.nn.Module):
        def forward(self, x, flag: bool):
            return (x + 1 if flag else x), flag

    made = export(Net(), (torch.ones(2), False))
    assert [value.type for value in made.inputs] == ["tensor(float)", "tensor(bool)"]
    got = calque.Session(made.to_bytes()).run(None, {"x": np.ones(2, "float32"),
                                                     "flag": np.array(True)})
    assert got[1] and (got[0] == 1).all()  # the example decided the branch


def check_default_dtype_is_pytorchs():
    class Half(torch.nn.Module):
        def forward(self, x):
            return x / 2, torch.ones(2) * x

    torch.set_default_dtype(torch.float64)
    try:
        for model in (Half(), torch.jit.script(Half())):
            made = export(model, torch.arange(2))
            assert [value.dtype for value in made.outputs] == ["float64"] * 2
            agrees(made, model, torch.arange(2))
    finally:
        torch.set_default_dtype(torch.float32)
    assert export(Half(), torch.arange(2)).outputs[0].dtype == "float32"


def check_quantized_results_are_three_outputs():
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.quantize_per_tensor(x, 0.2, 3, torch.quint8)

    x = torch.randn(4, 6)
    expected = Net()(x)
    for model in (Net(), torch.jit.script(Net())):
        made = export(model, x)
        got = calque.Session(made.to_bytes()).run(None, {made.inputs[0].name: x.numpy()})
        assert (got[0] == expected.int_repr().numpy()).all() and got[0].dtype == np.uint8
        assert got[1] == np.float32(0.2) and got[2] == 3 and got[2].dtype == np.uint8


def check_frozen_models_have_no_mode():
    model = torch.jit.freeze(torch.jit.script(torch.nn.Linear(3, 2).eval()))
    agrees(export(model, torch.ones(1, 3)), model, torch.randn(1, 3))


def check_sizes_as_tensors():
    class Net(torch.nn.Module):
        def forward(self, x):
            shape = calque.onnx.operators.shape_as_tensor(x)
            return calque.onnx.operators.reshape_from_tensor_shape(x * 2, shape)

    made = export(Net(), torch.ones(2, 3), input_names=["x"], dynamic_axes={"x": {0: "n"}})
    agrees(made, Net(), torch.ones(5, 3))
    text = calque.onnx.export_to_pretty_string(Net(), torch.ones(2, 3), add_node_names=False)
    assert "Mul" in text


def check_random_numbers_in_place():
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.nn.init.normal_(x.new_empty(1, 400, 50), 5.0, 10.0)

    assert "RandomNormal" in operators(export(Net(), torch.ones(1)))


def check_statistics_are_those_after_the_call():
    """As in PyTorch, a model in training mode is called once, be it traced or TorchScript."""
    files = []
    for script in (False, True):
        model = torch.nn.BatchNorm1d(3).train()
        model = torch.jit.script(model) if script else model
        torch.manual_seed(0)
        files.append(export(model, torch.randn(5, 3),
                            training=calque.onnx.TrainingMode.TRAINING).graph.initializers)
    assert files[0]["running_mean"].any()
    for name in ("running_mean", "running_var"):
        np.testing.assert_array_equal(files[0][name], files[1][name])


def check_weights_are_neither_copied_nor_changed():
    class Large(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(3000, 3000)
            self.b = torch.nn.Linear(3000, 3000)
            self.b.weight = self.a.weight  # tied
            self.last = torch.nn.Parameter(torch.randn(3000, 4).t())  # not contiguous

        def forward(self, x):
            return self.b(self.a(x)) @ self.last.t()

    import calque.onnx
    for model in (Large(), torch.jit.script(Large())):
        before = {name: tensor.data_ptr() for name, tensor in model.state_dict().items()}
        x = torch.randn(1, 3000)
        made = calque.onnx.export(model, x)  # no file: the model itself
        weight = made.graph.initializers["a.weight"]
        assert weight.__array_interface__["data"][0] == model.a.weight.data_ptr()
        assert "b.weight" not in made.graph.initializers
        assert before == {name: tensor.data_ptr() for name, tensor in model.state_dict().items()}
        agrees(made, model, x)


def check_nothing_is_left_behind():
    """Of a thousand exports in one process."""
    import calque.onnx
    from calque import _tensor
    from calque.onnx import _symbolic

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def symbolic(g, x):
            return g.op("Add", x, x)

    class Net(torch.nn.Module):
        def forward(self, x):
            return Twice.apply(x)

    model = torch.jit.script(torch.nn.Linear(3, 2))
    for i in range(1000):
        export(Net() if i % 50 == 0 else model, torch.ones(1, 3))
    gc.collect()
    assert not _symbolic._builders and not _tensor._owners, (_symbolic._builders, _tensor._owners)


def check_traces_are_not_kept():
    """PyTorch keeps the types of traced modules, but not the traces."""
    class Net(torch.nn.Module):
        def forward(self, x):
            for _ in range(500):
                x = x + 1
            return x

    def memory():
        gc.collect()
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

    for i in range(120):
        export(Net(), torch.ones(2))
        if i == 19:
            before = memory()
    assert memory() - before < 5 * MEGABYTE, (memory() - before) / MEGABYTE


def check_programs_of_torch_export():
    if not hasattr(torch, "export"):
        error = raises(RuntimeError, export, torch.nn.Linear(3, 2), torch.ones(1, 3), dynamo=True)
        assert "torch.export" in str(error)
        return
    model, x = torch.nn.Linear(3, 2), torch.ones(5, 3)
    made = calque.onnx.export(model, (torch.ones(2, 3),), dynamo=True, input_names=["x"],
                              dynamic_axes={"x": {0: "batch"}})
    assert made.inputs[0].shape == ("batch", 3)
    agrees(made, model, x)


def check_programs_are_called_and_saved():
    """The program of torch.onnx's documentation of today."""
    if not hasattr(torch, "export"):
        raise Skip("this PyTorch has no torch.export")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(24, 8), torch.nn.Linear(8, 2)

        def forward(self, x, by_name: dict, in_a_row: list):
            joined = torch.cat([x, by_name["x"], in_a_row[0]], dim=1)
            return self.second(torch.sigmoid(self.first(joined)))

    def args(n):
        return torch.rand(n, 8), {"x": torch.rand(n, 8)}, [torch.rand(n, 8)]

    model, file = Net(), io.BytesIO()
    program = calque.onnx.export(
        model, args(97), file, input_names=["a", "b", "c"], output_names=["y"], dynamo=True,
        dynamic_shapes=({0: "batch"}, {"x": {0: "batch"}}, [{0: "batch"}]))
    assert [value.shape for value in program.model.graph.inputs] == [("batch", 8)] * 3
    program.optimize()
    assert isinstance(program.exported_program, torch.export.ExportedProgram)
    again = args(5)
    made, = program(*again)
    np.testing.assert_allclose(made, model(*again).detach(), **CLOSE)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.onnx")
        program.save(str(path))
        assert path.read_bytes() == file.getvalue() == program.model_proto.SerializeToString()


def check_what_torch_export_does_not_take_is_traced():
    import calque.onnx
    if not hasattr(torch, "export"):
        raise Skip("this PyTorch has no torch.export")

    class Net(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    x = torch.ones(3)
    raises(Exception, calque.onnx.export, Net(), (x,), dynamo=True)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path = pathlib.Path(folder, "model.onnx")
        assert calque.onnx.export(Net(), (x,), path, dynamo=True, fallback=True,
                                  dump_exported_program=True, artifacts_dir=folder) is None
        assert [one.name for one in pathlib.Path(folder).iterdir()] == ["model.onnx"]
        assert any("traced instead" in str(one.message) for one in said)
        agrees(calque.load(path), Net(), x)
        calque.onnx.export(torch.nn.ReLU(), (x,), path, dynamo=True, dump_exported_program=True,
                           artifacts_dir=folder)
        assert len(list(pathlib.Path(folder).glob("onnx_export_*.pt2"))) == 1


def main():
    report = Report(__file__)
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            with report.case(name[6:]):
                if torch is None:
                    raise Skip("PyTorch is not installed")
                check()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Whole programs as people write them for torch.onnx and pytorch_pfn_extras.onnx, in each of the forms
that their documentation has, with only the lines of imports changed. torch_onnx.py and ppe.py check
what comes of each argument; here a program has to run as it is."""
import contextlib
import io
import os
import sys
import tempfile
import textwrap
import warnings

from package import Report, Skip

try:
    import onnx
    import torch
except ImportError:
    torch = None
import calque

# By name: the program, and an expression that must be true after it, of its variables and of its output `said`.
PROGRAMS = {
    "a vision model, its weights by names, printed, checked and run": ("""
        from calque import torch
        import calque.backend as backend
        import numpy as np
        import onnx

        net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, stride=2), torch.nn.ReLU(inplace=True),
                                  torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                                  torch.nn.Dropout(), torch.nn.Linear(4, 5))
        example = torch.randn(10, 3, 9, 9, device="cpu")
        input_names = ["pixels"] + ["weight_%d" % i for i in range(4)]
        torch.onnx.export(net, example, "net.onnx", verbose=True, input_names=input_names,
                          output_names=["scores"])
        loaded = onnx.load("net.onnx")
        onnx.checker.check_model(loaded)
        print(onnx.helper.printable_graph(loaded.graph))
        rep = backend.prepare(loaded, device="CPU")
        outputs = rep.run(np.random.randn(10, 3, 9, 9).astype(np.float32))
        print(outputs[0])
        """, lambda v, said: v["outputs"][0].shape == (10, 5) and
        "graph(%pixels : Float(10, 3, 9, 9)" in said and "%weight_3 : Float(5)" in said and
        "%scores : Float(10, 5) = onnx::Gemm" in said and
        [item.name for item in v["loaded"].graph.initializer] == v["input_names"][1:]),

    "positions of all arguments": ("""
        from calque import torch

        made = torch.onnx.export(torch.nn.Linear(3, 2), torch.ones(1, 3), "plain.onnx", True, False,
                                 torch.onnx.TrainingMode.EVAL, ["x"], ["y"],
                                 torch.onnx.OperatorExportTypes.ONNX, 13, True, {"x": [0]}, None, None,
                                 False)
        """, lambda v, _: v["made"] is None and calque.load("plain.onnx").opset_import == {"": 13} and
        calque.load("plain.onnx").inputs[0].shape == ("x_dynamic_axes_1", 3)),

    "a loop in TorchScript": ("""
        from calque import torch

        @torch.jit.script
        def accumulate(x, rounds):
            total = torch.zeros_like(x)
            for i in range(int(rounds)):
                total += x * i
            return total

        class Traced(torch.nn.Module):
            def forward(self, x, rounds):
                return accumulate(torch.tanh(x), rounds)

        class Scripted(torch.nn.Module):
            def forward(self, x, rounds: int):
                for i in range(rounds):
                    if i % 2 == 0:
                        x = x + i
                return x

        x = torch.ones(2, 3)
        torch.onnx.export(accumulate, (x, torch.tensor(5)), "function.onnx")
        torch.onnx.export(Traced(), (x, torch.tensor(5)), "mixed.onnx")
        torch.onnx.export(torch.jit.script(Scripted()), (x, 5), "scripted.onnx")
        """, lambda v, _: all("Loop" in [node.op_type for node in calque.load(name).graph.nodes]
                              for name in ("function.onnx", "mixed.onnx", "scripted.onnx"))),

    "arguments by position, by name, and a dict": ("""
        from calque import torch

        class Net(torch.nn.Module):
            def forward(self, x, y=None, z=None):
                return x * 2 if y is None else x + y if z is None else x + y + z

        class Options(torch.nn.Module):
            def forward(self, x, options):
                return x * options["by"]

        x, y, z = torch.ones(2), torch.ones(2), torch.ones(2)
        for args, count in [(x, 1), ((x,), 1), ((x, y), 2), ((x, {"y": y, "z": z}), 3),
                            ((x, {}), 1), ((x, {"y": y}), 2)]:
            torch.onnx.export(Net(), args, "args.onnx")
            assert len(calque.load("args.onnx").inputs) == count, args
        torch.onnx.export(Options(), (x, {"by": y}, {}), "dict.onnx")
        """, lambda v, _: len(calque.load("dict.onnx").inputs) == 2),

    "dynamic axes as names, as numbers, and both": ("""
        from calque import torch

        class Rows(torch.nn.Module):
            def forward(self, x):
                return torch.sum(x, dim=1)

        shapes = []
        for axes in [{}, {"x": {0: "rows"}, "sum": {0: "rows"}}, {"x": [0], "sum": [0]},
                     {"x": {0: "rows", 1: "columns"}, "sum": [0]}]:
            torch.onnx.export(Rows(), (torch.ones(2, 3),), "rows.onnx", input_names=["x"],
                              output_names=["sum"], dynamic_axes=axes)
            made = calque.load("rows.onnx")
            shapes.append((made.inputs[0].shape, made.outputs[0].shape))
        """, lambda v, _: v["shapes"] == [
            ((2, 3), (2,)), (("rows", 3), ("rows",)),
            (("x_dynamic_axes_1", 3), ("sum_dynamic_axes_1",)),
            (("rows", "columns"), ("sum_dynamic_axes_1",))]),

    "an operator of one's own": ("""
        from calque import torch
        from calque.onnx import symbolic_helper

        library = torch.library.Library("calque_programs", "DEF")
        library.define("blend(Tensor a, Tensor b, float weight, int steps) -> Tensor")
        library.impl("blend", lambda a, b, weight, steps: a * weight + b * steps,
                     "CompositeExplicitAutograd")

        @symbolic_helper.parse_args("v", "v", "f", "i")
        def blend(g, a, b, weight, steps):
            return g.op("example.domain::Blend", a, b, weight_f=weight, steps_i=steps)

        class Net(torch.nn.Module):
            def __init__(self, weight, steps):
                super().__init__()
                self.weight, self.steps = weight, steps

            def forward(self, a, b):
                return torch.ops.calque_programs.blend(a, b, self.weight, self.steps)

        x = torch.ones(2, 3)
        graph, before = torch.onnx.utils.unconvertible_ops(Net(0.5, 3), (x, x), opset_version=13)
        torch.onnx.register_custom_op_symbolic("calque_programs::blend", blend, 9)
        _, after = torch.onnx.utils.unconvertible_ops(Net(0.5, 3), (x, x), opset_version=13)
        torch.onnx.export(Net(0.5, 3), (x, x), "own.onnx", custom_opsets={"example.domain": 2})
        node, = calque.load("own.onnx").graph.nodes
        torch.onnx.unregister_custom_op_symbolic("calque_programs::blend", 9)
        """, lambda v, _: set(v["before"]) == {"calque_programs::blend"} and not v["after"] and
        v["node"].domain == "example.domain" and
        v["node"].attributes == {"steps": 3, "weight": 0.5}),

    "arguments of a symbolic function as attributes": ("""
        from calque import torch

        def elu(g, input: torch.Value, alpha: torch.Value, scale, input_scale):
            kinds = torch.onnx.JitScalarType
            kind = (kinds.from_name(input.type().scalarType()) if hasattr(kinds, "from_name")
                    else kinds.from_value(input))
            assert kind.dtype() is torch.float32 and isinstance(input, torch._C.Value)
            return g.op("Elu", input, alpha_f=alpha)

        torch.onnx.register_custom_op_symbolic("aten::elu", elu, 9)
        torch.onnx.export(torch.nn.ELU(0.5), torch.ones(1), "elu.onnx")
        torch.onnx.unregister_custom_op_symbolic("aten::elu", 9)
        """, lambda v, _: calque.load("elu.onnx").graph.nodes[0].attributes == {"alpha": 0.5}),

    "functions of torch.autograd": ("""
        from calque import torch

        class Lower(torch.autograd.Function):
            @staticmethod
            def forward(ctx, input: torch.Tensor) -> torch.Tensor:
                ctx.save_for_backward(input)
                return input.clamp(min=0)

            @staticmethod
            def symbolic(g: "torch.Graph", input: "torch.Value") -> "torch.Value":
                return g.op("Clip", input, g.op("Constant", value_t=torch.tensor(0, dtype=torch.float)))

        class Inside(torch.autograd.Function):
            @staticmethod
            def forward(ctx, input):
                ctx.save_for_backward(input)
                return input.exp().log()

        class Net(torch.nn.Module):
            def __init__(self, function):
                super().__init__()
                self.function = function

            def forward(self, x):
                return self.function(x)

        def operators(function, **options):
            torch.onnx.export(Net(function), torch.ones(1), "function.onnx", **options)
            return [node.op_type for node in calque.load("function.onnx").graph.nodes]

        found = [operators(Lower.apply), operators(Inside.apply),
                 operators(Inside.apply, autograd_inlining=False),
                 operators(Inside.apply,
                           operator_export_type=torch.onnx.OperatorExportTypes.ONNX_FALLTHROUGH)]
        """, lambda v, _: v["found"] == [["Clip"], ["Exp", "Log"], ["PythonOp"], ["PythonOp"]] and
        calque.load("function.onnx").graph.nodes[0].attributes["name"] == "Inside"),

    "a model as text, in a mode, and whether it is exported": ("""
        from calque.onnx import (TrainingMode, export_to_pretty_string, is_in_onnx_export,
                                 select_model_mode_for_export)
        import torch

        asked = []

        class Net(torch.nn.Module):
            def forward(self, x):
                asked.append((is_in_onnx_export(), self.training))
                return x + 1

        model = Net()
        text = export_to_pretty_string(model, torch.ones(2), add_node_names=False)
        with select_model_mode_for_export(model, TrainingMode.TRAINING):
            model(torch.ones(2))
        """, lambda v, _: v["asked"] == [(True, False), (False, True)] and "Add" in v["text"]),

    "test-cases": ("""
        import torch
        import torch.nn as nn
        import calque.ppe as tou
        import os

        model = nn.Sequential(nn.Linear(5, 10, bias=False))
        x = torch.zeros((2, 5))
        tou.export_testcase(model, x, "plain")
        tou.export_testcase(model, x, "gradients", out_grad=True)
        tou.export_testcase(model, x, "given", output_grad=torch.full((2, 10), 0.5))
        tou.export_testcase(model, x + 1, "plain", model_overwrite=False)
        tou.export_testcase(model, x, "bare", metadata=False)
        tou.export_testcase(nn.Linear(100, 100), torch.zeros(1, 100), "slim",
                            strip_large_tensor_data=True, large_tensor_threshold=50)
        files = {name: sorted(os.listdir(name + "/test_data_set_0"))
                 for name in ("plain", "gradients", "given")}
        """, lambda v, _: v["files"] == {
            "plain": ["input_0.pb", "output_0.pb"],
            "gradients": ["gradient_0.pb", "gradient_input_0.pb", "input_0.pb", "output_0.pb"],
            "given": ["gradient_0.pb", "gradient_input_0.pb", "input_0.pb", "output_0.pb"]} and
        os.path.exists("plain/test_data_set_1/output_0.pb") and
        os.path.exists("plain/meta.json") and not os.path.exists("bare/meta.json") and
        os.path.getsize("slim/model.onnx") < 2000),

    "annotations by the full name of the package": ("""
        from calque import pytorch_pfn_extras
        import io, os
        import onnx
        import torch
        import torch.nn.functional as F

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

            def forward(self, x):
                with pytorch_pfn_extras.onnx.annotate(key="value"):
                    h = F.relu(self.first(x))
                h = pytorch_pfn_extras.onnx.apply_annotation(lambda y: F.relu(self.second(y)), h, n=[1, 2])
                with pytorch_pfn_extras.onnx.scoped_anchor(part="last"):
                    h = self.first(h)
                pytorch_pfn_extras.onnx.as_output("sum", h.sum())
                return pytorch_pfn_extras.onnx.no_grad(self.second, h)

        stream = io.BytesIO()
        out = pytorch_pfn_extras.onnx.export(Net(), torch.ones(2, 4), stream, return_output=True)
        proto = onnx.load(io.BytesIO(stream.getvalue()))
        print(onnx.helper.printable_graph(proto.graph))
        notes = [(node.name, attribute.name) for node in proto.graph.node
                 for attribute in node.attribute if attribute.name in ("key", "n", "part")]
        """, lambda v, said: v["out"].shape == (2, 4) and "key = 'value'" in said and v["notes"] == [
            ("/first/Gemm", "key"), ("/second/Gemm", "n"), ("/Relu_1", "n"),
            ("Anchor_2_start", "part"), ("Anchor_2_end", "part")]),
}


def run_program(text, is_right):
    """Runs it in a separate folder."""
    variables, said = {"__name__": "program", "calque": calque}, io.StringIO()
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "program.py")  # TorchScript looks for its source
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(said):
                exec(compile(open(path).read(), path, "exec"), variables)
            assert is_right(variables, said.getvalue()), (
                {name: value for name, value in variables.items() if not name.startswith("_")},
                said.getvalue())
        finally:
            os.chdir(before)


def main():
    report = Report(__file__)
    for name, (text, is_right) in PROGRAMS.items():
        with report.case(name):
            if torch is None:
                raise Skip("PyTorch or onnx is not installed")
            run_program(text, is_right)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""calque.ppe beside PyTorch: the programs that pytorch-pfn-extras' documentation of its ONNX module
shows, each with only its import changed, and what its functions promise."""
import contextlib
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

from package import ENVIRONMENT, Report, Skip, raises

import numpy as np

try:
    import torch
except ImportError:
    torch = None
import calque


def net():
    class Net(torch.nn.Module):
        """The model of the documentation, without its annotations."""

        def __init__(self):
            super().__init__()
            self.conv, self.conv2 = torch.nn.Conv2d(6, 9, 3), torch.nn.Conv2d(9, 12, 3)
            self.linear, self.linear2 = torch.nn.Linear(28, 20), torch.nn.Linear(20, 15)

        def forward(self, x):
            return self.linear2(self.linear(self.conv2(self.conv(x))))

    return Net()


X = (1, 6, 5, 32)


def graph_of(model, x, **options):
    import calque.ppe
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calque.ppe.export(model, x, file, **options)
    return calque.load(file.getvalue()).graph


def tensors(folder):
    """Arrays by the name of their file."""
    import onnx
    import onnx.numpy_helper
    return {path.stem: onnx.numpy_helper.to_array(onnx.load_tensor(str(path)))
            for path in pathlib.Path(folder).glob("*.pb")}


def testcase(*args, **options):
    import calque.ppe
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calque.ppe.export_testcase(*args, **options)


def check_testcase_with_gradients(folder):
    model, x = net(), torch.randn(X)
    got, = testcase(model, x, folder / "a", output_grad=True, return_output=True,
                   training=torch.onnx.TrainingMode.TRAINING, user_meta={"who": "me"},
                   export_chrome_tracing=True)
    data = tensors(folder / "a/test_data_set_0")
    assert sorted(data) == [*(f"gradient_{i}" for i in range(8)), "gradient_input_0", "input_0",
                            "output_0"]
    np.testing.assert_array_equal(data["output_0"], got.detach().numpy())
    np.testing.assert_array_equal(data["input_0"], x.numpy())
    np.testing.assert_array_equal(data["gradient_0"], model.conv.weight.grad.numpy())
    np.testing.assert_array_equal(data["gradient_input_0"], 1)
    meta = json.loads((folder / "a/meta.json").read_text())
    assert meta["user_meta"] == {"who": "me"} and not meta["strip_large_tensor_data"]
    assert json.loads(gzip.open(folder / "a/export_trace.json.gz").read())
    ran, = calque.Session(folder / "a/model.onnx").run(None, {"input_0": x.numpy()})
    np.testing.assert_allclose(ran, data["output_0"], rtol=1e-4, atol=1e-5)


def check_gradients_of_the_caller(folder):
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    seed = torch.randn(4, 2)
    testcase(model, x, folder / "b", out_grad=seed, metadata=False)
    data = tensors(folder / "b/test_data_set_0")
    np.testing.assert_array_equal(data["gradient_input_0"], seed.numpy())
    np.testing.assert_allclose(data["gradient_0"], (seed.t() @ x).numpy(), rtol=1e-5)
    assert sorted(os.listdir(folder / "b")) == ["model.onnx", "test_data_set_0"]


def check_further_data_sets(folder):
    model = torch.nn.Linear(3, 2)
    for _ in range(3):
        testcase(model, torch.randn(1, 3), folder / "c", model_overwrite=False)
    assert not (folder / "c/export_trace.json.gz").exists(), "it was not requested"
    assert {f"test_data_set_{i}" for i in range(3)} <= set(os.listdir(folder / "c"))


def check_names_and_programs(folder):
    class Two(torch.nn.Module):
        def forward(self, a, b, c=None):
            return 2 * b + c, a.shape[0] * b

    a, b, c = torch.ones(2), torch.randn(3), torch.randn(3)
    testcase(Two(), (a, b, {"c": c}), folder / "d", input_names=["a", "b", "c"],
             output_names=["sum", "n"])
    data = tensors(folder / "d/test_data_set_0")
    np.testing.assert_array_equal(data["input_0"], b.numpy())  # nothing but the size of a is used
    np.testing.assert_array_equal(data["input_1"], c.numpy())
    testcase(torch.nn.Linear(3, 2), torch.ones(1, 3), folder / "e", export_torch_script=True,
             export_torch_trace=True)
    for name in ("model_script.pt", "model_trace.pt"):
        assert torch.jit.load(str(folder / "e" / name))(torch.ones(1, 3)).shape == (1, 2)
    raises(AssertionError, testcase, Two(), (a, b, {"c": c}), folder / "f")


def check_a_scripted_model(folder):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(5, 10, bias=False)

        def forward(self, x, flip):
            if flip:
                x = -x
            return self.linear(x)

    model, x = torch.jit.script(Net()), torch.randn(2, 5)
    got, = testcase(model, (x, torch.tensor(True)), folder / "s", return_output=True, output_grad=True,
                    use_pfto=False, training=model.training)
    assert "If" in [node.op_type for node in calque.load(folder / "s/model.onnx").graph.nodes]
    data = tensors(folder / "s/test_data_set_0")
    np.testing.assert_array_equal(data["output_0"], got.detach().numpy())
    np.testing.assert_allclose(data["gradient_0"][0], -x.sum(0).numpy(), rtol=1e-5)


def check_stripped_and_filled_again(folder):
    import calque.ppe.unstrip_tensor
    testcase(torch.nn.Linear(30, 20), torch.ones(1, 30), folder / "g", strip_large_tensor_data=True,
             large_tensor_threshold=50)
    path = folder / "g/model.onnx"
    assert path.stat().st_size < 1500
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        loaded = calque.ppe.load_model(str(path))
    assert "stripped" in str(heard[-1].message) and len(loaded.graph.initializer) == 2
    for program, options in [("unstrip_tensor", ["--out_path", folder / "full.onnx"]),
                             ("strip_large_tensor", ["--out_onnx_path", folder / "small.onnx",
                                                     "--large_tensor_threshold", "10"])]:
        source = path if program == "unstrip_tensor" else folder / "full.onnx"
        subprocess.run([sys.executable, "-m", f"calque.ppe.{program}", source, *options], check=True,
                       env=ENVIRONMENT)
    assert calque.load(folder / "full.onnx").graph.initializers["weight"].shape == (20, 30)
    assert (folder / "small.onnx").stat().st_size < (folder / "full.onnx").stat().st_size
    calque.ppe.unstrip_tensor.unstrip(str(path), "")  # in place, as the original has it
    assert path.read_bytes() == (folder / "full.onnx").read_bytes()


def marked(graph, name):
    return [node.name for node in graph.nodes if name in node.attributes]


def check_annotations():
    import calque.ppe
    model = net()

    def forward(x):
        h = model.conv(x)
        with calque.ppe.annotate(key="value", numbers=[1, 2], ratio=0.5):
            h = model.linear(model.conv2(h))
        return model.linear2(h)

    model.forward = forward
    graph = graph_of(model, torch.randn(X))
    assert marked(graph, "key") == ["/conv2/Conv", "/linear/MatMul"], marked(graph, "key")
    assert graph.nodes[1].attributes["numbers"] == [1, 2]

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x):
            return self.inner(x)

    assert marked(graph_of(Outer(), torch.randn(X)), "key") == [
        "/inner/conv2/Conv", "/inner/linear/MatMul"]
    with calque.ppe.annotate(key="value"):
        assert model(torch.randn(X)).shape == (1, 12, 1, 15)  # nothing happens outside of an export


def check_annotations_as_metadata():
    import calque.ppe

    class Net(torch.nn.Module):
        def forward(self, x):
            return calque.ppe.apply_annotation(torch.relu, x, key="value")

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        calque.ppe.export(Net(), torch.ones(2), io.BytesIO())
    assert 'annotations="metadata" is valid' in str(heard[0].message), heard
    node, = graph_of(Net(), torch.ones(2), annotations="metadata").nodes
    assert not node.attributes and node.metadata == {"key": "value"}
    raises(calque.ArgumentError, graph_of, Net(), torch.ones(2), annotations="else")


def check_applied_annotations():
    import calque.ppe

    class Net(torch.nn.Module):
        def forward(self, x):
            return calque.ppe.apply_annotation(lambda y: torch.relu(y).abs(), x.neg(), key="value")

    graph = graph_of(Net(), torch.ones(2))
    assert marked(graph, "key") == ["/Relu", "/Abs"]


def check_anchors_and_outputs():
    import calque.ppe
    model = net()

    def forward(x):
        h = calque.ppe.as_output("first", model.conv(x))
        with calque.ppe.scoped_anchor(key="value"):
            h = model.linear(model.conv2(h))
        return calque.ppe.anchor(model.linear2(h), place=3)

    model.forward = forward
    graph = graph_of(model, torch.randn(X))
    anchors = [node for node in graph.nodes if node.name.startswith("Anchor")]
    assert [node.name for node in anchors] == ["Anchor_0_start", "Anchor_0_end", "Anchor"], anchors
    assert anchors[0].attributes["key"] == "value" and anchors[2].attributes["place"] == 3
    assert [value.name for value in graph.outputs][1] == "first"


def check_anchors_around_modules_that_do_nothing():
    import calque.ppe

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.id = torch.nn.Identity()
            self.deep = torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU())

        def forward(self, *xs):
            with calque.ppe.scoped_anchor():
                xs = self.id(xs)
                h = torch.cat(self.id({"a": xs[0], "b": list(xs[1:])})["b"])
                return self.id((3, h * 2))[1]

    x = torch.ones(2, 1)
    for _ in range(2):
        nodes = graph_of(Net(), (x, x + 1, x + 2)).nodes
        assert [node.op_type for node in nodes] == ["Identity", "Concat", "Mul", "Identity"], nodes
        assert nodes[0].name == "Anchor_0_start" and nodes[3].name == "Anchor_0_end"
    assert Net()(x, x, x).shape == (4, 1)  # nothing happens outside of an export

    class Outer(Net):
        def forward(self, x):
            with calque.ppe.scoped_anchor():
                return self.deep(x)

    names = [node.name for node in graph_of(Outer(), x).nodes]
    assert names == ["Anchor_0_start", "/deep/1/Relu", "Anchor_0_end"], names


def check_identities_around_outputs():
    import calque.ppe

    class Net(torch.nn.Module):
        def forward(self, x, add_identity=True):
            h = calque.ppe.as_output("h", torch.relu(x), add_identity)
            calque.ppe.as_output("given", x, add_identity)
            return h.abs()

    x = torch.ones(2)
    nodes = graph_of(Net(), x).nodes
    assert [(node.op_type, node.inputs[0]) for node in nodes] == [
        ("Relu", "x"), ("Identity", "/Relu_output_0"), ("Identity", "h"), ("Identity", "x"),
        ("Abs", "/Identity_1_output_0")], nodes
    assert [node.op_type for node in graph_of(Net(), (x, {"add_identity": False})).nodes] == [
        "Relu", "Abs", "Identity"]


def check_buffers_that_are_not_in_the_state():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", torch.ones(2))
            self.register_buffer("passing", torch.full((2,), 3.0), persistent=False)

        def forward(self, x):
            return x * self.kept + self.passing

    for options, inputs in [({}, ["x"]), ({"keep_initializers_as_inputs": True}, ["x", "kept"]),
                            ({"export_params": False}, ["x", "kept"]),
                            ({"operator_export_type":
                              torch.onnx.OperatorExportTypes.ONNX_ATEN_FALLBACK}, ["x", "kept"])]:
        graph = graph_of(Net(), torch.ones(2), input_names=["x"], **options)
        assert [value.name for value in graph.inputs] == inputs, options
    assert sorted(graph_of(Net(), torch.ones(2)).initializers) == ["kept", "passing"]


def check_named_outputs_are_data(folder):
    import calque.ppe

    class Net(torch.nn.Module):
        def forward(self, x):
            with calque.ppe.no_grad():
                calque.ppe.as_output("middle", x + 1)
            return x * 2

    testcase(Net(), torch.ones(2), folder / "h")
    data = tensors(folder / "h/test_data_set_0")
    np.testing.assert_array_equal(data["output_1"], 2)


def runs_as(model, *inputs, also=(), **options):
    """Operators of the exported model, after a check that it computes what the model does, with other
    inputs, too."""
    import calque.ppe
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calque.ppe.export(model, inputs, file, **options)
    made = calque.load(file.getvalue())
    session = calque.Session(made.to_bytes())
    for given in (inputs, *also):
        got, = session.run([made.outputs[0].name],
                           {value.name: x.numpy() for value, x in zip(made.inputs, given)})
        np.testing.assert_allclose(got, model(*given).detach().numpy(), rtol=1e-5)
    return [node.op_type for node in made.graph.nodes]


def looping(forward):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(1, 1)
            torch.nn.init.constant_(self.linear.weight, 2)
            torch.nn.init.constant_(self.linear.bias, 3)

    model = Net()
    model.forward = lambda *args: forward(model, *args)
    return model


def check_loops_stay_loops():
    from calque.ppe import lax
    x = torch.tensor([[0.0], [1.0]])
    double = looping(lambda m, x: m.linear(lax.fori_loop(
        1, 4, lambda i, pair: (i * m.linear(pair[0]), pair[1] + 0.5), (x, x + 1))[0]))
    nested = looping(lambda m, x: lax.fori_loop(
        1, 3, lambda i, h: lax.fori_loop(1, 4, lambda k, g: m.linear(g) + k, i * h), x) + 1)
    until = looping(lambda m, x: lax.while_loop(lambda h: h.sum() < 100, m.linear, x))
    none = looping(lambda m, x: lax.fori_loop(3, 3, lambda i, h: h * i, x) + 1)
    assert [runs_as(model, x).count("Loop") for model in (double, nested, until, none)] == \
        [1, 1, 1, 0]


def check_branches_stay_branches():
    from calque.ppe import lax
    x, other = torch.tensor([[0.0], [1.0]]), (torch.tensor([[3.0], [-5.0]]),)
    plain = looping(lambda m, x: lax.cond(x.sum() > 0, m.linear, torch.neg, m.linear(x)) + 1)
    pair = looping(lambda m, x: sum(lax.cond(
        x.sum() > 0, lambda p: (p[0], p[1] * 2), lambda p: (m.linear(p[1]), p[0]), (x, x + 1))))
    in_loop = looping(lambda m, x: lax.fori_loop(
        0, 3, lambda i, h: lax.cond(h.sum() > 2, lambda g: g - 1,
                                    lambda g: lax.while_loop(lambda y: y.sum() < 4, m.linear, g), h), x))
    made = [runs_as(model, x, also=[other]) for model in (plain, pair, in_loop)]
    assert [(ops.count("If"), ops.count("Loop")) for ops in made] == [(1, 0), (1, 0), (0, 1)], made
    odd = looping(lambda m, x: lax.cond(x.sum() > 0, lambda y: (y, y), torch.neg, x))
    assert "gives 2 tensors, the other 1" in str(raises(ValueError, runs_as, odd, x))


def check_loops_have_gradients(folder):
    from calque.ppe import lax
    model = looping(lambda m, x: lax.fori_loop(0, 3, lambda i, h: m.linear(h), x))
    testcase(model, torch.ones(1, 1), folder / "loop", output_grad=True, input_names=("x",))
    data = tensors(folder / "loop/test_data_set_0")
    assert data["output_0"] == 29 and data["gradient_0"] == 13 + 2 * 5 + 4, data


def check_gradients_inside_of_a_model():
    import calque.ppe

    def forward(m, x):
        x = x * 0.5
        x.requires_grad_(True)
        unused = torch.ones(1, requires_grad=True)
        found = calque.ppe.grad(m.linear(x).pow(3), (x, unused), create_graph=True,
                                allow_unused=True)
        assert found[1] is None
        return m.linear(found[0])

    x = torch.tensor([[2.0], [1.0]])
    ops = runs_as(looping(forward), x)
    assert ops.count("Gradient") == 1 and ops.count("Identity") == 1, ops
    ops = runs_as(looping(forward), x, inline_gradients=True)
    assert "Gradient" not in ops and "Identity" not in ops and ops.count("Mul") == 3, ops

    def of_an_image(m, x):
        x = x * 0.5
        x.requires_grad_(True)
        h = torch.nn.functional.conv2d(x, m.linear.weight.view(1, 1, 1, 1), stride=2)
        return calque.ppe.grad(h * h, (x,), create_graph=True)[0]

    image = torch.rand(1, 1, 4, 5)
    assert "ConvTranspose" in runs_as(looping(of_an_image), image, inline_gradients=True)
    assert "Gradient" in [node.op_type for node in graph_of(looping(of_an_image), image).nodes]


def check_gradients_by_name(folder):
    """A Gradient node has the names of its inputs: graph inputs, weights or other values."""
    import calque.ppe

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(3, 3)

        def forward(self, x):
            x.requires_grad_(True)
            h = self.fc(x) * 2
            return torch.cat(calque.ppe.grad(h.pow(2), (x, self.fc.weight, h), create_graph=True))

    model, x = Net(), torch.randn(2, 3)
    testcase(model, x, folder / "by_name", output_grad=True, input_names=["x"])
    made = calque.load(folder / "by_name/model.onnx")
    node, = [node for node in made.graph.nodes if node.op_type == "Gradient"]
    assert node.domain == "ai.onnx.preview.training" and not made.check(full=True)
    assert node.attributes == {"xs": ["x", "fc.weight", "Gradient_x_2_0"], "y": "Gradient_y_0"}
    assert node.inputs == node.attributes["xs"]
    assert [value.name for value in made.outputs] == [
        "output_0", "Gradient_y_0", "Gradient_x_0_0", "Gradient_x_1_0", "Gradient_x_2_0"]
    data = tensors(folder / "by_name/test_data_set_0")
    for i, got in enumerate(calque.Session(made).run(None, {"x": x.detach().numpy()})):
        np.testing.assert_allclose(got, data[f"output_{i}"], rtol=1e-5, atol=1e-6)


def check_gradients_of_pools_in_a_graph():
    import calque.ppe
    from torch.nn import functional as F
    image, line, solid = (2, 3, 9, 8), (2, 3, 9), (1, 2, 4, 5, 4)
    for pool, sizes in [
            (lambda x: F.max_pool2d(x, 2), image), (lambda x: F.max_pool1d(x, 3, 2, 1), line),
            (lambda x: F.max_pool2d(x, 3, 2, 1, dilation=2, ceil_mode=True), image),
            (lambda x: F.max_pool2d(x, 2), image[1:]), (lambda x: F.max_pool3d(x, 2), solid),
            (lambda x: F.max_pool2d(x, 2, return_indices=True)[0], image),
            (lambda x: F.adaptive_max_pool2d(x, 3), image),
            (lambda x: F.avg_pool2d(x, 2), image), (lambda x: F.avg_pool1d(x, 3, 2, 1), line),
            (lambda x: F.avg_pool2d(x, 3, 2, 1), image), (lambda x: F.avg_pool3d(x, 2), solid),
            (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), image),
            (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), image),
            (lambda x: F.avg_pool2d(x, (3, 2), divisor_override=5), image[1:]),
            (lambda x: F.adaptive_avg_pool2d(x, (3, 4)), image),
            (lambda x: F.adaptive_avg_pool2d(x, 1), image),
            (lambda x: F.adaptive_avg_pool2d(x, (4, 3)), image),
            (lambda x: F.adaptive_avg_pool2d(x, (5, 11)), image[1:]),
            (lambda x: F.adaptive_avg_pool1d(x, 4), line), (lambda x: F.adaptive_avg_pool3d(x, 3), solid)]:
        def forward(_, x):
            x = (x * 0.5).requires_grad_(True)
            return calque.ppe.grad(pool(x).pow(2), (x,), create_graph=True)[0]

        x, other = torch.rand(sizes), torch.rand((sizes[0] + 1, *sizes[1:]))
        runs_as(looping(forward), x, also=[(other,)], inline_gradients=True, input_names=["x"],
                dynamic_axes={"x": {0: "n"}})

    def pooled(_, x):
        x = (x * 0.5).requires_grad_(True)
        return calque.ppe.grad(F.adaptive_avg_pool2d(x, 3).pow(2), (x,), create_graph=True)[0]

    runs_as(looping(pooled), torch.rand(1, 2, 8, 7), also=[(torch.rand(1, 2, 9, 5),), (torch.rand(1, 2, 2, 3),)],
            inline_gradients=True, input_names=["x"], dynamic_axes={"x": {2: "h", 3: "w"}})


def check_gradients_of_what_has_none_in_a_graph():
    """A node asks for the gradient of whatever PyTorch can differentiate, at any size."""
    import calque.ppe

    def forward(_, x):
        x = x * 2
        x.requires_grad_(True)
        return calque.ppe.grad(torch.nn.functional.fractional_max_pool2d(x, 2, output_size=3), (x,))[0]

    graph = graph_of(looping(forward), torch.rand(1, 1, 8, 8), input_names=["x"],
                     dynamic_axes={"x": {0: "n"}},
                     operator_export_type=torch.onnx.OperatorExportTypes.ONNX_FALLTHROUGH)
    node, = [node for node in graph.nodes if node.op_type == "Gradient"]
    assert graph.outputs[0].shape == ("n", 1, 8, 8), graph.outputs
    assert node.attributes["y"] == "Gradient_y_0"


def check_arguments_of_the_originals_exporters(folder):
    testcase(torch.nn.Linear(3, 2), torch.ones(1, 3), folder / "originals", use_dynamo=True,
             onnx_peephole=False, enable_onnx_checker=False, onnx_shape_inference=True)
    raises(TypeError, testcase, torch.nn.Linear(3, 2), torch.ones(1, 3), folder / "originals", nothing=1)


def check_results_as_each_exporter_gives_them(folder):
    model, x = torch.nn.LSTM(3, 4), torch.ones(2, 1, 3)
    nested = testcase(model, x, folder / "nested", return_output=True)
    flat = testcase(model, x, folder / "nested", return_output=True, use_pfto=True)
    assert len(nested) == 2 and torch.equal(nested[1][1], flat[2]) and len(flat) == 3


def check_doc_strings(folder):
    model = torch.nn.Sequential(torch.nn.Linear(3, 2))
    for strip in (True, False):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            testcase(model, torch.ones(1, 3), folder / "doc", strip_doc_string=strip, strict_trace=True)
        docs = [node.doc_string for node in calque.load(folder / "doc/model.onnx").graph.nodes]
        assert not said.getvalue() and ("linear.py" in docs[0]) is not strip, docs


def check_no_gradient_of_a_function():
    import calque.ppe
    model = torch.nn.Linear(3, 2)
    for pack in (list, tuple, lambda pair: dict(zip("ab", pair))):
        found = calque.ppe.no_grad(lambda x: pack([model(x), 3]), torch.ones(1, 3))
        first, second = found.values() if isinstance(found, dict) else found
        assert not first.requires_grad and second == 3 and type(found) is type(pack([1, 2]))


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        for name, check in list(globals().items()):
            if name.startswith("check_"):
                with report.case(name[6:]):
                    if torch is None:
                        raise Skip("PyTorch is not installed")
                    check(*[pathlib.Path(folder)] * check.__code__.co_argcount)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

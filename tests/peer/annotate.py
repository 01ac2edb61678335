#!/usr/bin/python3
"""Annotations, anchors and named outputs on archives of the real PyTorch: the listings of
pytorch-pfn-extras' documentation, and the results of onnx's checker and ONNX Runtime for both
forms."""
import pathlib
import re
import sys
import tempfile

import peers

NOTE = "key = 'value', "
CONV = "dilations = [1, 1], group = 1, kernel_shape = [3, 3], {}pads = [0, 0, 0, 0], strides = [1, 1]"


def make_models(folder):
    """The model of the documentation, traced and scripted, and one with odd modules."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.conv2 = nn.Conv2d(6, 9, 3), nn.Conv2d(9, 12, 3)
            self.linear, self.linear2 = nn.Linear(28, 20), nn.Linear(20, 15)

        def forward(self, x):
            return self.linear2(self.linear(self.conv2(self.conv(x))))

    class Odd(nn.Module):
        """Has a tuple and an unused tensor as arguments, a list and a tuple as results."""

        def forward(self, pair: tuple[torch.Tensor, torch.Tensor], unused: torch.Tensor):
            return [pair[0] + pair[1], pair[0].relu_()], (pair[1], 3)

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))
            self.odd = Odd()

        def forward(self, x):
            y = self.inner(self.inner(x))
            many, (last, _) = self.odd((y, x), x)
            return many[0] * last, y

    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.relu = nn.Linear(4, 4), nn.Linear(4, 4), nn.ReLU(inplace=True)

        def forward(self, x):
            y = x + 1
            if bool(x.sum() > 0):
                y = self.a(y)
            else:
                y = self.relu(self.b(y))
            i = 0
            while i < int(y.abs().sum()) and i < 3:
                y = self.b(self.relu(y)) + y
                i += 1
            return y

    torch.manual_seed(0)
    torch.jit.script(Branches().eval()).save(str(folder / "branches.pt"))
    net, twice = Net().eval(), Twice().eval()
    x, z = torch.randn(1, 6, 32, 32), torch.randn(2, 4)
    torch.jit.trace(net, x).save(str(folder / "traced.pt"))
    torch.jit.script(net).save(str(folder / "scripted.pt"))
    torch.jit.script(twice).save(str(folder / "twice.pt"))
    return {"net": (net, x), "twice": (twice, z)}


def export(folder, name, *options, fails=0):
    import numpy as np
    shape = "2x4" if name in ("twice", "branches") else "1x6x32x32"
    out = folder / f"{name}.onnx"
    example = folder / f"{name}.npy"
    if not example.exists():
        sizes = [int(size) for size in shape.split("x")]
        np.save(example, np.random.default_rng(0).normal(size=sizes).astype(np.float32))
    code, _, errors = peers.calque("export", folder / f"{name}.pt", "-o", out, "--input", example,
                                   "--input-names", "input_0", "-q", *options)
    assert code == fails, f"exit code {code}: {errors}"
    return out, errors


def feed(folder, name):
    import numpy as np
    return {"input_0": np.load(folder / f"{name}.npy")}


def nodes(path):
    """The nodes of onnx's own listing, without the names of values."""
    import onnx.helper
    model = onnx.load(str(path))
    lines = onnx.helper.printable_graph(model.graph).splitlines()
    found = [re.fullmatch(r"  %\S+ = (\w+(?:\[.*\])?)\(.*\)", line) for line in lines]
    return [match[1] for match in found if match]


def check_listings(report, folder):
    plain, marked = f"Conv[{CONV.format('')}]", f"Conv[{CONV.format(chr(107) + 'ey = ' + repr('value') + ', ')}]"
    key = "[key = 'value']"
    for name in ("traced", "scripted"):
        with report.case(f"{name}: conv2 and linear annotated"):
            out, errors = export(folder, name, "--annotate", "conv2:key=value", "--annotate",
                                 "linear:key=value")
            assert nodes(out) == [plain, marked, f"MatMul{key}", "Add", "MatMul", "Add"], nodes(out)
            assert "--annotations metadata" in errors, errors
        with report.case(f"{name}: all nodes of linear annotated"):
            out, _ = export(folder, name, "--annotate", "linear:key=value", "--annotate-all")
            assert nodes(out) == [plain, plain, f"MatMul{key}", f"Add{key}", "MatMul", "Add"]
        with report.case(f"{name}: anchors around conv2 and linear"):
            import onnx
            out, _ = export(folder, name, "--anchor", "conv2:key=value", "--anchor",
                            "linear:key=value")
            anchor = f"Identity{key}"
            assert nodes(out) == [plain, anchor, plain, anchor, anchor, "MatMul", "Add", anchor,
                                  "MatMul", "Add"], nodes(out)
            names = [node.name for node in onnx.load(str(out)).graph.node
                     if node.op_type == "Identity"]
            assert names == ["Anchor_0_start", "Anchor_0_end", "Anchor_1_start", "Anchor_1_end"]


def check_forms(report, folder):
    import onnx.checker
    import ort
    options = ["--annotate", "conv2:a=1", "--annotate", "conv2:b=[x,y]", "--annotate",
               "conv2:c=0.5", "--annotate", 'conv2:d="1"', "--anchor", "linear:e=2"]
    with report.case("attributes: rejected by the checker and by ONNX Runtime, with a warning by calque"):
        import onnx
        out, errors = export(folder, "traced", *options)
        given = {a.name: onnx.helper.get_attribute_value(a)
                 for a in onnx.load(str(out)).graph.node[1].attribute}
        assert list(given)[-4:] == ["a", "b", "c", "d"], list(given)
        assert (given["a"], given["b"], given["c"], given["d"]) == (1, [b"x", b"y"], 0.5, b"1")
        try:
            onnx.checker.check_model(str(out))
            raise RuntimeError("the checker accepts it")
        except onnx.checker.ValidationError:
            pass
        try:
            ort.Session(str(out))
            raise RuntimeError("ONNX Runtime accepts it")
        except ort.OrtError:
            pass
        assert peers.calque("check", out)[0] == 1
        assert "reject the model" in errors, errors
    with report.case("metadata: valid, and runs as without it"):
        expected = peers.run_ort(str(export(folder, "traced")[0]), feed(folder, "traced"))
        out, errors = export(folder, "traced", *options, "--annotations", "metadata")
        assert not errors, errors
        peers.check_onnx(out)
        peers.expect_close(peers.run_ort(str(out), feed(folder, "traced")), expected)
        props = {p.key: p.value for p in onnx.load(str(out)).metadata_props}
        assert props == {"/conv2/Conv:a": "1", "/conv2/Conv:b": '["x", "y"]',
                         "/conv2/Conv:c": "0.5", "/conv2/Conv:d": "1",
                         "Anchor_1_start:e": "2", "Anchor_1_end:e": "2"}, props
    with report.case("anchors without attributes are valid"):
        out, errors = export(folder, "traced", "--anchor", "linear")
        assert not errors, errors
        peers.check_onnx(out)
        peers.expect_close(peers.run_ort(str(out), feed(folder, "traced")), expected)


def check_odd(report, folder, models):
    import torch
    twice, _ = models["twice"]
    with report.case("a module that is called twice, in place, in and out of tuples and lists"):
        out, errors = export(folder, "twice", "--anchor", "inner", "--anchor", "odd", "--annotate",
                             "inner.0:key=1", "--annotations", "metadata")
        peers.check_onnx(out)
        x = feed(folder, "twice")
        expected = [t.detach().numpy() for t in twice(torch.tensor(x["input_0"].copy()))]
        peers.expect_close(peers.run_ort(str(out), x), expected, rtol=1e-5, atol=1e-6)
        import onnx
        model = onnx.load(str(out))
        names = [node.name for node in model.graph.node if node.name.startswith("Anchor")]
        assert len(names) == 6 and len(set(names)) == 6, names
        assert len(model.metadata_props) == 2, model.metadata_props
    with report.case("as-output, by module and by the index of a tensor"):
        out, _ = export(folder, "twice", "--as-output", "h=inner", "--as-output", "sum=odd",
                        "--as-output", "right=odd:2")
        import onnx
        outputs = [v.name for v in onnx.load(str(out)).graph.output]
        assert outputs == ["output_0", "output_1", "h", "h_1", "sum", "right"], outputs
        peers.check_onnx(out)
        got = dict(zip(outputs, peers.run_ort(str(out), x)))
        first = twice.inner(torch.tensor(x["input_0"])).detach()
        second = twice.inner(first.clone()).detach()
        peers.expect_close(got["h"], first.numpy(), rtol=1e-5, atol=1e-6)
        peers.expect_close(got["h_1"], second.numpy(), rtol=1e-5, atol=1e-6)
        peers.expect_close(got["right"], x["input_0"])
        peers.expect_close(got["sum"], (second + torch.tensor(x["input_0"])).numpy(), rtol=1e-5,
                           atol=1e-6)
    with report.case("in branches and loops: annotations and anchors, but no outputs"):
        out, _ = export(folder, "branches", "--annotate", "a:k=1", "--anchor", "relu", "--anchor",
                        "b", "--annotations", "metadata", "--verify")
        peers.check_onnx(out)
        expected = peers.run_ort(str(export(folder, "branches")[0]), feed(folder, "branches"))
        out, _ = export(folder, "branches", "--anchor", "relu", "--anchor", "b")
        peers.expect_close(peers.run_ort(str(out), feed(folder, "branches")), expected)
        _, errors = export(folder, "branches", "--as-output", "h=a", fails=1)
        assert "a value in a branch or loop cannot be an output" in errors, errors
    with report.case("a test-case has the named outputs too, and verifies"):
        case = folder / "case"
        code, _, errors = peers.calque("testcase", folder / "twice.pt", case, "--input",
                                       folder / "twice.npy", "--as-output", "h=inner")
        assert code == 0, errors
        assert peers.calque("verify", case)[0] == 0
        import onnx
        tensor = onnx.TensorProto.FromString((case / "test_data_set_0/output_2.pb").read_bytes())
        assert tensor.name == "h"
        peers.expect_close(peers.to_array(tensor), first.numpy(), rtol=1e-5, atol=1e-6)


def check_errors(report, folder):
    for options, words in ((["--annotate", "conv22:a=1"], "did you mean conv2, conv"),
                           (["--anchor", "liner:a=1"], "did you mean linear, linear2"),
                           (["--as-output", "y=nothing.at.all"], "did you mean"),
                           (["--as-output", "y=conv:1"], "returns 1 tensors"),
                           (["--as-output", "output_0=conv"], "already taken"),
                           (["--annotate", "conv2"], "expects PATH:NAME=VALUE"),
                           (["--annotate", "conv2:=1"], "expects PATH:NAME=VALUE"),
                           (["--as-output", "conv"], "expects NAME=PATH"),
                           (["--annotate", "fc:key=1", "--annotations", "both"], "expected one of attribute, metadata, got 'both'")):
        with report.case(f"refused: {' '.join(options)}"):
            (folder / "traced.onnx").unlink(missing_ok=True)
            out, errors = export(folder, "traced", *options, fails=2)
            assert words in errors, errors
            assert not out.exists()


def main():
    report = peers.Report(__file__)
    if report.needs("torch", "onnx", "ort"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            models = make_models(folder)
            check_listings(report, folder)
            check_forms(report, folder)
            check_odd(report, folder, models)
            check_errors(report, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Scripts of the documentation of torch.onnx and pytorch_pfn_extras.onnx, in scripts_of_docs: calque py
runs them, the real PyTorch runs them, and the files that they write are compared: operators,
attributes, inputs and outputs, and results in ONNX Runtime.

pytorch_pfn_extras is the real one if it is installed, else calque.ppe, which runs on the real PyTorch.

    py_scripts.py [NAME…]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import peers

SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts_of_docs"
ROOT = SCRIPTS.parent.parent.parent

# What calque's graph has besides: a negative count of a loop becomes 0, as range has it; without
# constant folding it does not fold batch norms either. And what it lacks: a condition that is always
# true needs no copy, and one of bool no Cast to it.
MORE = {"loop_scripted/loop.onnx": ["Less", "Where"], "loop_mixed/mixed.onnx": ["Less", "Where"],
        "arguments/unfolded.onnx": ["BatchNormalization"]}
LESS = {"jit_load/net.onnx": ["Cast"], "loop_scripted/loop.onnx": ["Identity"], "loop_mixed/mixed.onnx": ["Identity"]}

# In the mode of training, dropout draws from a generator that the runtime has.
RANDOM = {"arguments/training.onnx"}

# Python's own pytorch_pfn_extras.
RUN = """
import runpy, sys, warnings
warnings.filterwarnings("ignore")
try:
    import pytorch_pfn_extras
except ImportError:
    import calque.ppe, calque.pytorch_pfn_extras
    sys.modules["pytorch_pfn_extras"] = calque.pytorch_pfn_extras
    sys.modules["pytorch_pfn_extras.onnx"] = calque.ppe
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def run_pytorch(script, folder):
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"),
                       CALQUE_LIBRARY=str(pathlib.Path(peers.CALQUE).parent / "libcalque.so"))
    done = subprocess.run([sys.executable, "-c", RUN, script], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr[-800:]
    return done.stdout


def run_calque(script, folder):
    import torchvision
    packages = pathlib.Path(torchvision.__file__).parent.parent
    code, out, err = peers.calque("py", "--path", packages, script, cwd=folder)
    assert code == 0, err[:800]
    return out


def make_archive(path):
    """net.pt of jit_load.py."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(3, 4)

        def forward(self, x):
            y = self.fc(x)
            if bool(y.sum() > 0):
                y = -y
            return y, (x * 3, x + 1)

    torch.manual_seed(7)
    torch.jit.script(Net().eval()).save(str(path))


# ---- models ----


def attributes_of(node):
    """Without defaults, which PyTorch writes."""
    import onnx
    try:
        schema = onnx.defs.get_schema(node.op_type, 17, node.domain).attributes
    except onnx.defs.SchemaError:
        schema = {}
    found = {}
    for a in node.attribute:
        value = onnx.helper.get_attribute_value(a)
        default = schema[a.name].default_value if a.name in schema else None
        if isinstance(value, onnx.GraphProto) or (
                default is not None and default.type and onnx.helper.get_attribute_value(default) == value):
            continue
        found[a.name] = list(value) if a.type in (6, 7, 8) else value
    return found


def nodes_of(graph):
    """(domain, operator, attributes) in order, bodies of nodes behind them; constants are left out,
    because calque makes initializers of them."""
    found = []
    for node in graph.node:
        if node.op_type != "Constant":
            found.append((node.domain, node.op_type, attributes_of(node)))
        for a in node.attribute:
            if a.HasField("g"):
                found += nodes_of(a.g)
    return found


def without(nodes, operators):
    nodes = list(nodes)
    for operator in operators:
        i = next((i for i, node in enumerate(nodes) if node[1] == operator), None)
        assert i is not None, f"there is no {operator}"
        del nodes[i]
    return nodes


def types_of(values):
    """dtype and sizes; a size that PyTorch's inference made up is not one."""
    return [(v.type.tensor_type.elem_type,
             [d.dim_param if d.HasField("dim_param") else d.dim_value for d in v.type.tensor_type.shape.dim])
            for v in values]


def is_made_up(sizes):
    return any(isinstance(size, str) and "_dim_" in size for size in sizes)


def compare_models(name, got, want):
    import onnx
    a, b = (onnx.load(path, load_external_data=False) for path in (want, got))
    expected = without(nodes_of(a.graph), LESS.get(name, []))
    found = without(nodes_of(b.graph), MORE.get(name, []))
    assert [n[:2] for n in found] == [n[:2] for n in expected], \
        f"{[n[1] for n in found]}, expected {[n[1] for n in expected]}"
    for one, other in zip(found, expected):
        assert one == other, f"{one}, expected {other}"
    inputs = (types_of(b.graph.input), types_of(a.graph.input))
    assert inputs[0] == inputs[1], f"inputs {inputs[0]}, expected {inputs[1]}"
    for (dtype, sizes), (other, wanted) in zip(types_of(b.graph.output), types_of(a.graph.output)):
        assert dtype == other and (sizes == wanted or is_made_up(wanted)), f"output {sizes}, expected {wanted}"
    versions = [{o.domain: o.version for o in m.opset_import} for m in (b, a)]
    assert versions[0] == versions[1], f"opsets {versions[0]}, expected {versions[1]}"


def feeds_of(model):
    import numpy as np
    import onnx
    generator, feeds = np.random.RandomState(5), []
    initializers = {i.name for i in model.graph.initializer}
    for value in model.graph.input:
        if value.name in initializers:
            continue
        kind = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[value.type.tensor_type.elem_type]
        shape = [d.dim_value or 3 for d in value.type.tensor_type.shape.dim]
        feeds.append(np.asarray(generator.rand(*shape), kind) if kind.kind == "f" else np.full(shape, 4, kind))
    return feeds


def compare_results(name, got, want):
    import onnx
    models = [onnx.load(path) for path in (got, want)]
    if name in RANDOM or any(n.domain for n in models[1].graph.node):
        return
    results = []
    for path, model in zip((got, want), models):
        names = [v.name for v in model.graph.input if v.name not in {i.name for i in model.graph.initializer}]
        results.append(peers.run_ort(path, dict(zip(names, feeds_of(model)))))
    peers.expect_close(results[0], results[1], 1e-4, 1e-4, name)


def has_weights(path):
    """A stripped model cannot be run; PyTorch's checker would refuse an annotated one."""
    import onnx
    model = onnx.load(path, load_external_data=False)
    return not any(i.HasField("data_location") and i.data_location for i in model.graph.initializer)


# ---- test cases ----


def compare_files(name, got, want):
    if name.endswith(".onnx"):
        compare_models(name, got, want)
        if has_weights(want) and not name.startswith("ppe_marks"):
            compare_results(name, got, want)
    elif name.endswith(".pb"):
        import onnx
        tensors = []
        for path in (got, want):
            tensor = onnx.TensorProto()
            tensor.ParseFromString(path.read_bytes())
            tensors.append(tensor)
        assert tensors[0].dims == tensors[1].dims and tensors[0].data_location == tensors[1].data_location
        if "gradient" in name:
            assert tensors[0].name == tensors[1].name, f"{tensors[0].name}, expected {tensors[1].name}"
        if not tensors[0].data_location:
            peers.expect_close(peers.to_array(tensors[0]), peers.to_array(tensors[1]), 1e-4, 1e-4, name)
    elif name.endswith(".pth"):
        import torch
        compare_values(torch.load(got), torch.load(want))
    elif name.endswith("meta.json"):
        keys = [set(json.loads(path.read_text())) for path in (got, want)]
        assert {"made_by"} & keys[0] == {"made_by"} & keys[1]


def compare_values(got, want):
    """Values of torch.load, to the last bit; an OrderedDict is a dict."""
    import torch
    if isinstance(want, dict):
        assert list(got) == list(want), f"keys {list(got)}, expected {list(want)}"
        for key in want:
            compare_values(got[key], want[key])
    elif isinstance(want, torch.Tensor):
        assert type(got) is type(want) and got.dtype == want.dtype and got.stride() == want.stride()
        assert got.requires_grad == want.requires_grad and torch.equal(got, want)
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want)
        for one, other in zip(got, want):
            compare_values(one, other)
    else:
        assert type(got) is type(want) and got == want, f"{got!r}, expected {want!r}"


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def check(report, script):
    with tempfile.TemporaryDirectory() as top:
        got, want = pathlib.Path(top, "calque"), pathlib.Path(top, "pytorch")
        got.mkdir()
        want.mkdir()
        if script.stem == "jit_load":
            make_archive(got / "net.pt")
            (want / "net.pt").write_bytes((got / "net.pt").read_bytes())
        with report.case(script.stem):
            printed = run_calque(script, got)
            assert printed == run_pytorch(script, want), f"it printed {printed}"
            assert files_of(got) == files_of(want), f"files {files_of(got)}, expected {files_of(want)}"
        for name in files_of(want):
            if (got / name).exists():
                with report.case(f"{script.stem}/{name}"):
                    compare_files(f"{script.stem}/{name}", got / name, want / name)


def main():
    report = peers.Report(__file__)
    if report.needs("torch", "torchvision", "onnx", "ort"):
        for script in sorted(SCRIPTS.glob("*.py")):
            if not sys.argv[1:] or script.stem in sys.argv[1:]:
                check(report, script)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

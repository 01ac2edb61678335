#!/usr/bin/python3
"""The rules of pytorch-pfn-extras' export_testcase, strip and unstrip, a named check for each. Its
bugs are not rules: where it gives the data of one input to another, leaves typed data behind or
keeps a stale length, the check says what is right. Its annotations are in annotate.py, numbers in
strip.py."""
import datetime
import gzip
import json
import pathlib
import sys
import tempfile

import peers

RULES = []

SOURCE = """def forward(a: Tensor, b: Tensor, c: Tensor):
    return 2 * b + c, b - c

def nested(x: Dict[str, Tensor], n: int, pair: Tuple[Tensor, float]):
    return {"sum": x["a"] + n, "list": [pair[0] * pair[1], x["b"]]}
"""


def rule(text):
    def keep(function):
        RULES.append((text, function))
        return function
    return keep


class Case:
    """A folder for one check, with a program and a command that makes a test-case of it."""

    def __init__(self, folder):
        self.folder, self.out = folder, folder / "deep/er/case"
        (folder / "f.py").write_text(SOURCE)
        self.inputs = ["--input", "3x50", "--input", "3x50", "--input", "50=ones"]

    def run(self, *args, code=0, **kwargs):
        got, _, errors = peers.calque(*args, **kwargs)
        assert got == code, f"exit code {got}: {errors}"
        return errors

    def write(self, *options, model=None, **kwargs):
        return self.run("testcase", model or self.folder / "f.py", self.out, *self.inputs,
                        *(["--entry", "forward"] if not model else []), *options, **kwargs)

    def set(self, n=0):
        return self.out / f"test_data_set_{n}"

    def tensors(self, kind, n=0):
        import onnx
        files = sorted(self.set(n).glob(f"{kind}_*.pb"))
        return [onnx.TensorProto.FromString(f.read_bytes()) for f in files]

    def model(self):
        import onnx
        return onnx.load(str(self.out / "model.onnx"), load_external_data=False)

    def meta(self):
        return json.loads((self.out / "meta.json").read_text())


# ---- files ----------------------------------------------------------------------------


@rule("the folder is made, with its parents")
def made(case):
    case.write()
    assert sorted(p.name for p in case.out.iterdir()) == [
        "meta.json", "model.onnx", "test_data_set_0"]


@rule("inputs are called input_0, input_1, … unless they have names")
def default_names(case):
    case.write()
    assert [v.name for v in case.model().graph.input] == ["input_1", "input_2"]
    case.write("--input-names", "a,b,c")
    assert [v.name for v in case.model().graph.input] == ["b", "c"]


@rule("doc_string of nodes is empty")
def no_doc_string(case):
    case.write()
    assert not any(node.doc_string for node in case.model().graph.node)


@rule("model.onnx is written if it may be overwritten or is missing")
def model_overwrite(case):
    case.write("--keep-model")
    first = (case.out / "model.onnx").read_bytes()
    case.write("--keep-model", "--opset", "12")
    assert (case.out / "model.onnx").read_bytes() == first
    case.write("--opset", "12")
    assert (case.out / "model.onnx").read_bytes() != first


@rule("meta.json is indented by 2 and overwritten every time, also when the model is kept")
def meta_overwritten(case):
    case.write("--user-meta", '{"n": 1}')
    text = (case.out / "meta.json").read_text()
    assert text == json.dumps(json.loads(text), indent=2)
    case.write("--keep-model", "--user-meta", '{"n": 2}')
    assert case.meta()["user_meta"] == {"n": 2}


@rule("export_trace.json.gz is a chrome trace and is written only when it is asked for")
def trace(case):
    case.write("--export-chrome-tracing")
    events = json.loads(gzip.decompress((case.out / "export_trace.json.gz").read_bytes()))
    assert all({"name", "ph", "ts", "dur", "pid", "tid"} <= set(e) for e in events["traceEvents"])
    (case.out / "export_trace.json.gz").unlink()
    for options in [], ["--no-trace"]:
        case.write(*options)
        assert not (case.out / "export_trace.json.gz").exists()


@rule("model_script.pt and model_trace.pt when asked for, by the rule of model.onnx")
def scripts(case):
    import torch
    archive = case.folder / "f.pt"
    torch.jit.trace(torch.nn.Linear(50, 2).eval(), torch.ones(3, 50)).save(str(archive))
    case.inputs = ["--input", "3x50"]
    case.write("--export-torch-script", "--export-torch-trace", model=archive)
    for name in ("model_script.pt", "model_trace.pt"):
        assert (case.out / name).read_bytes() == archive.read_bytes()
        assert torch.jit.load(str(case.out / name))(torch.ones(3, 50)).shape == (3, 2)
        (case.out / name).write_bytes(b"kept")
    case.write("--keep-model", "--export-torch-script", model=archive)
    assert (case.out / "model_script.pt").read_bytes() == b"kept"
    case.inputs = ["--input", "3x50"] * 3
    case.write("--export-torch-script", code=2)


@rule("a new model has data set 0, a kept one the first missing number; others stay")
def numbers(case):
    case.write()
    for n in (1, 3):
        case.set(n).mkdir()
    case.write("--keep-model")
    assert len(list(case.set(2).iterdir())) == 4
    case.write("--keep-model")
    assert len(list(case.set(4).iterdir())) == 4
    case.write()
    assert case.set(1).is_dir() and len(list(case.set(4).iterdir())) == 4


@rule("all .pb files of the chosen set are deleted first, nothing else is")
def deleted(case):
    case.write()
    (case.set() / "gradient_7.pb").write_bytes(b"")
    (case.set() / "notes.txt").write_text("mine")
    case.write()
    assert sorted(p.name for p in case.set().iterdir()) == [
        "input_0.pb", "input_1.pb", "notes.txt", "output_0.pb", "output_1.pb"]


# ---- data -----------------------------------------------------------------------------


@rule("input_i counts without unused inputs, and has the data of the input it is named after")
def unused_input(case):
    import numpy as np
    case.write("--input-names", "a,b,c")
    b, c = case.tensors("input")
    assert (b.name, c.name) == ("b", "c")
    peers.expect_close(peers.to_array(c), np.ones(50, np.float32))
    assert list(b.dims) == [3, 50] and b.raw_data and not b.float_data
    peers.expect_close(peers.to_array(case.tensors("output")[0]), 2 * peers.to_array(b) + 1)


@rule("output_i has the name that was given, or no name field")
def output_names(case):
    case.write("--output-names", "sum")
    first, second = case.tensors("output")
    assert first.name == "sum" and not second.HasField("name")
    assert len(case.model().graph.output) == 2


@rule("nested arguments and results are flattened, each with its own data")
def nested(case):
    import numpy as np
    example = case.folder / "example"
    example.mkdir()
    given = [np.float64(0.5), np.full((2, 2), 7, np.float32), np.arange(4, dtype=np.float32),
             np.int64(3), np.ones(4, np.float32)]
    for i, array in enumerate(given):
        np.save(example / f"input_{i}.npy", array)
    args = [{"dict": [["a", {"tensor": 2}], ["b", {"tensor": 1}]]}, {"scalar": 3},
            {"tuple": [{"tensor": 4}, {"scalar": 0}]}]
    (example / "args.json").write_text(json.dumps({"args": args}))
    case.inputs = ["--example", example, "--entry", "nested"]
    case.run("testcase", case.folder / "f.py", case.out, *case.inputs)
    case.run("verify", case.out)
    got = [peers.to_array(t) for t in case.tensors("input")]
    peers.expect_close(got, [given[2], given[1], given[3], given[4], given[0]])
    model = case.model()
    assert [v.type.tensor_type.elem_type for v in model.graph.input] == [1, 1, 7, 1, 11]
    got = [peers.to_array(t) for t in case.tensors("output")]
    peers.expect_close(got, [given[2] + 3, given[4] * np.float32(0.5), given[1]])


# ---- meta.json ------------------------------------------------------------------------


@rule("meta.json: time, folder as given, exporter, strip flag; user_meta and git when there are any")
def meta(case):
    keys = ["generated_at", "output_directory", "exporter", "strip_large_tensor_data"]
    case.write(cwd=case.folder)
    meta = case.meta()
    assert list(meta) == keys, list(meta)
    datetime.datetime.strptime(meta["generated_at"], "%Y-%m-%dT%H:%M:%S.%f")
    assert [meta[key] for key in keys[1:]] == [str(case.out), "torch-onnx-utils", False]
    case.write("--user-meta", "{}", cwd=case.folder)
    assert list(case.meta()) == keys
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    for words in (["init", "-q", "-b", "trunk"], ["remote", "add", "origin", "git@example.com:x"],
                  [*identity, "commit", "-q", "--allow-empty", "-m", "m"]):
        assert peers.run(["git", *words], cwd=case.folder)[0] == 0
    case.write("--user-meta", '{"é": [1, null]}', cwd=case.folder)
    meta = case.meta()
    assert list(meta) == [*keys, "user_meta", "git"] and meta["user_meta"] == {"é": [1, None]}
    assert list(meta["git"]) == ["branch", "commit", "remote", "commit_date"]
    assert (meta["git"]["branch"], meta["git"]["remote"]) == ("trunk", "git@example.com:x")
    head = peers.run(["git", "log", "-1", "--format=%H %ci"], cwd=case.folder)[1].strip()
    assert f"{meta['git']['commit']} {meta['git']['commit_date']}" == head


@rule("without metadata meta.json is not written, and user_meta and strip warn")
def no_metadata(case):
    errors = case.write("--no-metadata", "--user-meta", '{"a": 1}')
    assert "metadata is off" in errors and not (case.out / "meta.json").exists()
    assert "metadata is off" in case.write("--no-metadata", "--strip-large-tensor-data")


# ---- strip and unstrip ----------------------------------------------------------------


def entries(tensor):
    return {e.key: e.value for e in tensor.external_data}


@rule("strip: more elements than the threshold, in model, inputs and outputs; the flag is set")
def strip(case):
    case.write("--strip-large-tensor-data", "--large-tensor-threshold", "149")
    assert case.meta()["strip_large_tensor_data"] is True
    big, small = case.tensors("input")
    assert entries(big).keys() == {"location", "length"} and not small.external_data
    assert all(t.external_data for t in case.tensors("output"))
    case.write("--strip-large-tensor-data", "--large-tensor-threshold", "150")
    assert not any(t.external_data for t in case.tensors("input") + case.tensors("output"))


@rule("a stripped tensor says its mean and variance in Python's JSON, and its length")
def strip_format(case):
    case.write("--strip-large-tensor-data")
    tensor = case.tensors("input")[0]
    location = entries(tensor)["location"]
    fields = json.loads(location)
    assert list(fields) == ["type", "average", "variance"] and fields["type"] == "stripped"
    assert location == json.dumps(fields) and entries(tensor)["length"] == "600"
    assert tensor.data_location == 1 and not tensor.raw_data and not tensor.float_data


@rule("strip takes initializers of subgraphs too; Constants and real external data stay")
def strip_which(case):
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    large = [numpy_helper.from_array(np.arange(200, dtype=np.int64), f"w{i}") for i in range(3)]
    typed = helper.make_tensor("w3", onnx.TensorProto.INT64, [200], range(200))
    there = onnx.TensorProto(name="w4", data_type=1, dims=[200], data_location=1)
    entry = there.external_data.add()
    entry.key, entry.value = "location", "weights.bin"
    inner = helper.make_graph([helper.make_node("Identity", ["w0"], ["i"])], "inner", [],
                              [helper.make_tensor_value_info("i", 7, [200])], [large[0]])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
             helper.make_node("Constant", [], ["k"], value=large[1])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("c", 9, [])],
                              [helper.make_tensor_value_info("y", 7, [200])],
                              [large[2], typed, there])
    path = case.folder / "m.onnx"
    onnx.save(helper.make_model(graph), str(path))
    case.run("strip", path, "--in-place")
    got = onnx.load(str(path), load_external_data=False).graph
    assert [entries(t)["location"][:9] for t in got.initializer] == ['{"type": '] * 2 + ["weights.b"]
    assert not got.initializer[1].int64_data
    assert got.node[0].attribute[0].g.initializer[0].external_data
    assert not got.node[1].attribute[0].t.external_data
    before = path.read_bytes()
    case.run("strip", path, "--in-place")
    assert path.read_bytes() == before


def linear(case):
    """An archive with a large weight and a small bias."""
    import torch
    archive = case.folder / "linear.pt"
    torch.jit.trace(torch.nn.Linear(50, 9).eval(), torch.ones(3, 50)).save(str(archive))
    case.inputs = ["--input", "3x50"]
    return archive


@rule("strip takes gradients too, those that it is given and those that come of it")
def strip_gradients(case):
    case.write("--strip-large-tensor-data", "--large-tensor-threshold", "20", "--grad",
               model=linear(case))
    weight, bias = [t for t in case.tensors("gradient") if t.name]
    assert (weight.name, bias.name) == ("weight", "bias")
    assert weight.external_data and not bias.external_data
    assert case.tensors("gradient_input")[0].external_data


@rule("what is stripped can still be listed")
def listed(case):
    case.write("--strip-large-tensor-data", model=linear(case))
    assert "%weight[FLOAT, 9x50]" in peers.calque("print", case.out / "model.onnx")[1]


@rule("unstrip fills a whole test-case, leaves no entry behind, and clears the flag")
def unstrip(case):
    case.write("--strip-large-tensor-data")
    before = [json.loads(entries(t)["location"]) for t in case.tensors("output")]
    case.run("unstrip", case.out)
    assert case.meta()["strip_large_tensor_data"] is False
    for tensor, expected in zip(case.tensors("output"), before):
        got = peers.to_array(tensor)
        assert not tensor.external_data and got.dtype.name == "float32"
        assert abs(got.mean() - expected["average"]) < 5 * (expected["variance"] / got.size) ** 0.5
        assert 0.5 < got.var() / expected["variance"] < 2
    once = [t.SerializeToString() for t in case.tensors("output")]
    case.write("--strip-large-tensor-data")
    case.run("unstrip", case.out)
    assert once == [t.SerializeToString() for t in case.tensors("output")], "it is not seeded"


@rule("the names of pytorch-pfn-extras' own options are taken")
def option_names(case):
    case.write()
    slim, full = case.folder / "slim.pb", case.folder / "full.pb"
    case.run("strip", case.set() / "input_0.pb", "--out_onnx_path", slim,
             "--large_tensor_threshold", "100")
    case.run("unstrip", slim, "--out_path", full)
    assert peers.load_pb(full).shape == (3, 50)


def main():
    report = peers.Report(__file__)
    if report.needs("torch", "onnx"):
        for text, check in RULES:
            with tempfile.TemporaryDirectory() as name, report.case(text):
                check(Case(pathlib.Path(name)))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

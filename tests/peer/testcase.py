#!/usr/bin/python3
"""Test-cases that calque writes, read by onnx and replayed by ONNX Runtime and calque verify."""
import datetime
import gzip
import json
import pathlib
import sys
import tempfile

import peers

# Small models of the zoo: one and many inputs, indices and floats, one and many outputs.
MODELS = ("dcgan_generator", "dcgan_discriminator", "super_resolution", "word_lstm")

SOURCE = """def forward(a: Tensor, b: Tensor, c: Tensor):
    return 2 * b + c, b - c
"""


def run(*args, **kwargs):
    code, _, errors = peers.calque(*args, **kwargs)
    assert code == 0, f"exit code {code}: {errors}"
    return errors


def tensors(folder, kind):
    """The TensorProtos in kind_0.pb, kind_1.pb, …"""
    import onnx
    files = sorted(folder.glob(f"{kind}_*.pb"))
    assert [f.name for f in files] == [f"{kind}_{i}.pb" for i in range(len(files))], files
    return [onnx.TensorProto.FromString(f.read_bytes()) for f in files]


def replay(case, number=0):
    """Runs the model on its inputs and compares."""
    import onnx
    model = onnx.load(str(case / "model.onnx"))
    given = {t.name for t in model.graph.initializer}
    folder = case / f"test_data_set_{number}"
    inputs, outputs = tensors(folder, "input"), tensors(folder, "output")
    assert [t.name for t in inputs] == [v.name for v in model.graph.input if v.name not in given]
    assert len(outputs) == len(model.graph.output)
    got = peers.run_ort(str(case / "model.onnx"), {t.name: peers.to_array(t) for t in inputs})
    for result, expected in zip(got, outputs):
        # Whole models: errors of many layers add up.
        peers.expect_close(result, peers.to_array(expected), rtol=1e-3, atol=1e-5)


def check_models(report, folder):
    for name in MODELS:
        for opset in ("9", "17"):
            case = folder / f"{name}_{opset}"
            with report.case(f"{name}, opset {opset}"):
                run("testcase", name, case, "--opset", opset)
                peers.check_onnx(case / "model.onnx")
                replay(case)
                run("verify", case)


def check_files(report, folder):
    import numpy as np
    (folder / "f.py").write_text(SOURCE)
    case = folder / "deep/case"
    command = ["testcase", folder / "f.py", case, *["--input", "20x30"] * 3]
    with report.case("names and data of inputs and outputs"):
        run(*command, "--input-names", "x,y", "--output-names", "sum")
        inputs = {t.name: peers.to_array(t) for t in tensors(case / "test_data_set_0", "input")}
        outputs = tensors(case / "test_data_set_0", "output")
        assert {"y", "input_2"} <= set(inputs), set(inputs)
        assert [t.name for t in outputs] == ["sum", ""] and not outputs[1].HasField("name")
        peers.expect_close(peers.to_array(outputs[0]), 2 * inputs["y"] + inputs["input_2"])
        peers.expect_close(peers.to_array(outputs[1]), inputs["y"] - inputs["input_2"])
        replay(case)
    with report.case("--keep-model adds sets, and a new model begins at 0"):
        model = (case / "model.onnx").read_bytes()
        (case / "test_data_set_1").mkdir()
        run(*command, "--keep-model", "--input-names", "x,y,z")
        assert (case / "model.onnx").read_bytes() == model
        assert len(list((case / "test_data_set_2").iterdir())) in (4, 5)
        (case / "test_data_set_0/input_7.pb").write_bytes(b"stale")
        run(*command)
        assert not (case / "test_data_set_0/input_7.pb").exists()
        assert (case / "test_data_set_2").is_dir()
        replay(case)
    with report.case("stripped, and filled again"):
        run(*command, "--strip-large-tensor-data", "--large-tensor-threshold", "599")
        assert json.loads((case / "meta.json").read_text())["strip_large_tensor_data"] is True
        assert all(t.external_data for t in tensors(case / "test_data_set_0", "input"))
        run("unstrip", case)
        assert json.loads((case / "meta.json").read_text())["strip_large_tensor_data"] is False
        assert np.shape(peers.load_pb(case / "test_data_set_0/output_0.pb")) == (20, 30)
        run(*command, "--strip-large-tensor-data", "--large-tensor-threshold", "600")
        assert not any(t.external_data for t in tensors(case / "test_data_set_0", "input"))


def check_meta(report, folder):
    (folder / "f.py").write_text(SOURCE)
    case = folder / "meta"
    command = ["testcase", folder / "f.py", case, *["--input", "2"] * 3]
    keys = ["generated_at", "output_directory", "exporter", "strip_large_tensor_data"]
    with report.case("meta.json"):
        run(*command, cwd=folder)
        text = (case / "meta.json").read_text()
        meta = json.loads(text)
        assert list(meta) == keys, list(meta)
        assert text == json.dumps(meta, indent=2)
        assert meta["output_directory"] == str(case)
        age = datetime.datetime.now() - datetime.datetime.fromisoformat(meta["generated_at"])
        assert 0 <= age.total_seconds() < 60, age
    with report.case("user meta"):
        user = {"é": [1, None, {"b": "c"}]}
        run(*command, "--user-meta", json.dumps(user), cwd=folder)
        text = (case / "meta.json").read_text()
        assert json.loads(text)["user_meta"] == user
        assert text.lower() == json.dumps(json.loads(text), indent=2).lower()  # \\u00E9, \\u00e9
        assert peers.calque(*command, "--user-meta", "[1]")[0] == 2
        run(*command, "--user-meta", "{}", cwd=folder)
        assert list(json.loads((case / "meta.json").read_text())) == keys
    with report.case("git"):
        there = folder / "repository"
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
        for words in (["init", "-q", "-b", "trunk"],
                      [*identity, "commit", "-q", "--allow-empty", "-m", "m"]):
            there.mkdir(exist_ok=True)
            assert peers.run(["git", *words], cwd=there)[0] == 0
        run(*command, cwd=there)
        git = json.loads((case / "meta.json").read_text())["git"]
        head = peers.run(["git", "rev-parse", "HEAD"], cwd=there)[1].strip()
        assert list(git) == ["branch", "commit", "remote", "commit_date"]
        assert git["branch"] == "trunk" and git["commit"] == head, git
    with report.case("without metadata"):
        (case / "meta.json").unlink()
        errors = run(*command, "--no-metadata", "--user-meta", '{"a": 1}',
                     "--strip-large-tensor-data", cwd=folder)
        assert not (case / "meta.json").exists()
        assert errors.count("metadata is off") == 2, errors
    with report.case("trace"):
        run(*command, "--export-chrome-tracing")
        events = json.loads(gzip.decompress((case / "export_trace.json.gz").read_bytes()))
        assert [e["name"] for e in events["traceEvents"]] == ["export", "run", "write"]
        (case / "export_trace.json.gz").unlink()
        run(*command)
        assert not (case / "export_trace.json.gz").exists()


def main():
    report = peers.Report(__file__)
    if report.needs("onnx", "ort"):
        with tempfile.TemporaryDirectory() as name:
            check_files(report, pathlib.Path(name))
            check_meta(report, pathlib.Path(name))
            check_models(report, pathlib.Path(name))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""calque convert: names and sizes of files of weights, and textual forms by the names of files. The
onnx package reads what calque writes, and protobuf's text format goes both ways."""
import pathlib
import sys
import tempfile

import numpy as np

from peers import ONNX_TEST_DATA, Report, calque, optional

onnx = optional("onnx")


def write_model(path):
    from onnx import helper, numpy_helper
    random = np.random.default_rng(0)
    weights = [random.standard_normal((64, 64)).astype(np.float32) for _ in range(6)]
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(6)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x0", 1, [2, 64])],
        [helper.make_tensor_value_info("x6", 1, [2, 64])],
        [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return weights


def convert(*args):
    code, _, err = calque("convert", *args)
    assert code == 0, err.strip()[-300:]


def check_weights(path, weights):
    """As the onnx package reads them."""
    found = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(str(path)).graph.initializer}
    for i, expected in enumerate(weights):
        assert np.array_equal(found[f"w{i}"], expected), f"w{i} differs"


def check_name(folder, source, weights):
    out = folder / "named.onnx"
    for _ in range(2):  # the second time the file is replaced
        convert(source, "--external-data", "weights.bin", "-o", out)
        assert (folder / "weights.bin").stat().st_size >= 6 * 64 * 64 * 4
        check_weights(out, weights)
    convert(source, "--external-data=other.bin", "-o", out)
    check_weights(out, weights)
    convert("--external-data", source, "-o", folder / "plain.onnx")  # IN is not a name of weights
    assert (folder / "plain.onnx.data").exists()
    for bad in ("../w.bin", "/tmp/w.bin", "named.onnx"):
        code, _, err = calque("convert", source, f"--external-data={bad}", "-o", out)
        assert code == 1 and "data file" in err, err


def check_split(folder, source, weights):
    out = folder / "split.onnx"
    convert(source, "--split-size", "40KB", "-o", out)
    files = sorted(folder.glob("split.onnx.data*"))
    assert len(files) == 3 and all(f.stat().st_size <= 40000 for f in files), files
    check_weights(out, weights)
    convert(out, "--split-size", "10KB", "--external-data", "parts.bin", "-o", folder / "again.onnx")
    assert len(list(folder.glob("parts.bin*"))) == 6  # a tensor is not divided
    check_weights(folder / "again.onnx", weights)
    convert(folder / "again.onnx", "--embed", "-o", folder / "whole.onnx")
    assert (folder / "whole.onnx").stat().st_size > 6 * 64 * 64 * 4
    check_weights(folder / "whole.onnx", weights)
    for bad in ("zero", "0", "-1GB", "1XB"):
        assert calque("convert", source, "--split-size", bad, "-o", out)[0] == 2, bad


def check_shared(folder, source, weights):
    """Parts, compositions and changes that refer to the data of another model."""
    whole, head, tail, both = (folder / f"{name}.onnx" for name in ("whole", "head", "tail", "both"))
    convert(source, "--external-data", "shared.bin", "-o", whole)
    before = (folder / "shared.bin").read_bytes()
    for args in (["cut", whole, "--outputs", "x3", "-o", head], ["cut", whole, "--inputs", "x3", "-o", tail],
                 ["join", head, tail, "-o", both], ["optimize", both, "-o", both]):
        code, _, err = calque(*args, "--share-data")
        assert code == 0, err
    check_weights(both, weights)
    assert not list(folder.glob("both.onnx.data*"))
    convert(both, "--to", "float16", "--share-data", "-o", both)  # which changes the weights
    assert list(folder.glob("both.onnx.data*"))
    convert(whole, "--share-data", "-o", whole)
    check_weights(whole, weights)
    assert (folder / "shared.bin").read_bytes() == before
    (folder / "other").mkdir()
    for option, out in (([], folder / "other" / "x.onnx"), (["--embed"], folder / "x.onnx"),
                        (["--external-data=y.bin"], folder / "x.onnx")):
        code, _, err = calque("convert", whole, "--share-data", *option, "-o", out)
        assert code == (2 if option else 1) and not out.exists(), err


def check_text(folder, source):
    from google.protobuf import text_format
    message = onnx.load(str(source))
    theirs, ours = folder / "theirs.textproto", folder / "ours.pbtxt"
    theirs.write_text(text_format.MessageToString(message))
    convert(theirs, "--no-verify", "-o", folder / "from.onnx")
    assert onnx.load(str(folder / "from.onnx")) == message, "protobuf's text is read differently"
    convert(source, "--no-verify", "-o", ours)
    assert text_format.Parse(ours.read_text(), onnx.ModelProto()) == message
    convert(source, "--no-verify", "-o", folder / "m.onnxtxt")
    convert(folder / "m.onnxtxt", "--no-verify", "-o", folder / "m.onnx")
    assert onnx.load(str(folder / "m.onnx")) == message


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata"):
        return report.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "in.onnx"
        weights = write_model(source)
        with report.case("the name of the data file"):
            check_name(folder, source, weights)
        with report.case("several data files"):
            check_split(folder, source, weights)
        with report.case("shared data"):
            check_shared(folder, source, weights)
        with report.case("text of a model with weights"):
            check_text(folder, source)
        for case in sorted((ONNX_TEST_DATA / "node").glob("*/model.onnx"))[::60]:
            with report.case(f"text of {case.parent.name}"):
                check_text(folder, case)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""calque convert --opset on ONNX's own test models, up and down: the test data still pass, the real
checker accepts the result, and ONNX Runtime computes the results of the original. A model that the
target cannot express must be rejected with the names of its nodes."""
import pathlib
import shutil
import sys
import tempfile

from peers import ONNX_TEST_DATA, Report, Skip, calque, check_onnx, expect_close, run_ort
from optimize import feeds_of, is_valid

TARGETS = (9, 11, 13, 17, 21)
EVERY = 3    # every third model, each with another target
TO_ORT = 11  # of those, every 11th also runs in ONNX Runtime


def convert(source, folder, opset):
    """False: the target cannot express it, and calque lists the nodes."""
    code, _, err = calque("convert", source, "-o", folder / "model.onnx", "--opset", opset)
    if code == 0:
        return True
    assert "cannot express" in err or "imports no operators" in err, err.strip()[-300:]
    assert not (folder / "model.onnx").exists(), "a refused conversion leaves a file"
    return False


def check_model(source, folder, opset):
    if not convert(source, folder, opset):
        return False
    if opset <= 17 and is_valid(source):
        check_onnx(folder / "model.onnx", full=False)
    for data in source.parent.glob("test_data_set_*"):
        shutil.copytree(data, folder / data.name)
    if calque("verify", source.parent)[0] == 0:
        code, out, err = calque("verify", folder)
        assert code == 0, (out + err)[-300:]
    return True


def check_in_ort(source, folder):
    try:
        feeds = feeds_of(source, source.parent / "test_data_set_0")
        want = run_ort(source, feeds)
    except Exception as error:
        raise Skip(f"ONNX Runtime does not run the original: {str(error)[:60]}") from error
    for got, expected in zip(run_ort(folder / "model.onnx", feeds), want):
        expect_close(got, expected)


def check_absent_attribute(report):
    """QuantizeLinear has no axis before opset 13."""
    import onnx
    from onnx import TensorProto, helper
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["y"])
    graph = helper.make_graph([node], "quantize", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, [2, 3])],
                              [helper.make_tensor("scale", TensorProto.FLOAT, [], [0.1]),
                               helper.make_tensor("zero", TensorProto.UINT8, [], [3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=5)
    with report.case("QuantizeLinear of opset 10 to 9"), tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "source.onnx"
        onnx.save(model, source)
        assert not convert(source, pathlib.Path(folder), 9), "opset 9 has no Round"


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata", "ort"):
        return report.finish()
    check_absent_attribute(report)
    models = sorted((ONNX_TEST_DATA / "node").glob("*/model.onnx"))[::EVERY]
    for i, source in enumerate(models):
        opset = TARGETS[i % len(TARGETS)]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            with report.case(f"{source.parent.name} {opset}"):
                if check_model(source, folder, opset) and i % TO_ORT == 0 and opset >= 13:
                    check_in_ort(source, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""The bridge to ONNX Runtime passes every element type, shape and kind of value unchanged."""
import sys

from peers import ONNX_TEST_DATA, Report, check_onnx, expect_close, load_pb, run_ort


def identity(helper, info, opset=15):
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [info("x")],
                              [info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                              ir_version=8)
    return model.SerializeToString()


def test_dtypes(report):
    import numpy as np
    import ort
    from onnx import helper

    arrays = {n: ort.to_bf16(np.arange(6)) if n == 16 else np.arange(6).astype(dtype)
              for n, dtype in ort.DTYPES.items() if n not in (14, 15)}  # Identity has no complex
    arrays[8] = np.array(["", "a", "bücher", "x y", "\n", "z" * 1000], object)
    for number, array in arrays.items():
        model = identity(helper, lambda name: helper.make_tensor_value_info(name, number, None))
        with report.case(f"element type {number}"):
            for shaped in (array.reshape(2, 3), array[:1].reshape(()), array[:0].reshape(0, 4),
                           array.reshape(2, 3).T):
                expect_close(run_ort(model, {"x": shaped})[0], shaped, 0, 0)


def test_sequences(report):
    import numpy as np
    from onnx import TensorProto, helper

    model = identity(helper, lambda name: helper.make_tensor_sequence_value_info(
        name, TensorProto.INT64, None))
    with report.case("sequences"):
        items = [np.arange(3), np.arange(4).reshape(2, 2)]
        expect_close(run_ort(model, {"x": items})[0], items)


def test_bf16(report):
    import numpy as np
    import ort
    import torch

    with report.case("bfloat16 is rounded as PyTorch does"):
        values = np.random.default_rng(1).normal(size=10000).astype(np.float32)
        expected = torch.from_numpy(values).bfloat16().float().numpy()
        expect_close(ort.from_bf16(ort.to_bf16(values)), expected, 0, 0)


def test_refusals(report):
    import numpy as np
    import ort
    from onnx import TensorProto, helper

    model = identity(helper, lambda name: helper.make_tensor_value_info(
        name, TensorProto.FLOAT, [2]))
    for name, bad, feeds in [("rubbish is refused", b"rubbish", {}),
                             ("a wrong dtype is refused", model, {"x": np.zeros(2)}),
                             ("a wrong name is refused", model, {"z": np.zeros(2, np.float32)})]:
        try:
            run_ort(bad, feeds)
            report.failed(name, "it was accepted")
        except ort.OrtError:
            report.passed(name)


def test_against_onnx_data(report):
    """A few of ONNX's own cases, so that load_pb, ONNX Runtime and the checker agree."""
    import onnx

    for case in ["add", "strnormalizer_nostopwords_nochangecase", "sequence_insert_at_back",
                 "if_seq", "nonzero_example", "max_float16"]:
        folder = ONNX_TEST_DATA / "node" / f"test_{case}"
        with report.case(f"onnx {case}"):
            check_onnx(folder / "model.onnx")
            graph, data = onnx.load(str(folder / "model.onnx")).graph, folder / "test_data_set_0"
            feeds = {one.name: load_pb(data / f"input_{i}.pb") for i, one in enumerate(graph.input)}
            for i, result in enumerate(run_ort(folder / "model.onnx", feeds)):
                expect_close(result, load_pb(data / f"output_{i}.pb"))


def main():
    report = Report(__file__)
    if report.needs("onnx", "ort"):
        test_dtypes(report)
        test_sequences(report)
        test_refusals(report)
    if report.needs("torch"):
        test_bf16(report)
    if report.needs("onnx-testdata", "onnx", "ort"):
        test_against_onnx_data(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

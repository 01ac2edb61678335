#!/usr/bin/python3
"""strip and unstrip against numpy, onnx and ONNX Runtime. What pytorch-pfn-extras does with a
tensor is written down here as ppe_strip; files from either side must be good for the other."""
import json
import pathlib
import sys
import tempfile

import peers


def ppe_strip(tensor):
    """The result of pytorch-pfn-extras for a large tensor, with every data field cleared."""
    import onnx.numpy_helper
    array = onnx.numpy_helper.to_array(tensor)
    location = {"type": "stripped", "average": float(array.mean()), "variance": float(array.var())}
    length = len(onnx.numpy_helper.from_array(array).raw_data)
    for field in ("raw_data", "float_data", "double_data", "int32_data", "int64_data",
                  "uint64_data"):
        tensor.ClearField(field)
    del tensor.external_data[:]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", json.dumps(location)), ("length", str(length))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value


def arrays():
    """(name, array): every kind of sum that numpy does differently."""
    import numpy as np
    draw = np.random.default_rng(1)
    for n in (101, 127, 128, 129, 135, 136, 1000, 8191, 8193, 100003):
        yield f"float32 {n}", draw.normal(0.1, 2, n).astype(np.float32)
    for shape in ((64, 3, 11, 11), (1, 1000), (1000, 1), (7, 5, 3, 1, 9), (3, 20000)):
        yield f"float32 {shape}", draw.normal(-3, 0.01, shape).astype(np.float32)
    yield "float64", draw.normal(5, 1e-3, (300, 41))
    yield "float32 constant", np.full((11, 11), 0.1, np.float32)
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        yield name, draw.integers(0, 100, (99, 101)).astype(name)
    yield "bool", draw.integers(0, 2, (99, 101)).astype(bool)


def model_of(array, raw=True, opset=13):
    """A model whose output is its weight."""
    import onnx.numpy_helper
    from onnx import helper
    kind = helper.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]
    if raw:
        weight = onnx.numpy_helper.from_array(array, "w")
    else:
        weight = helper.make_tensor("w", kind, array.shape, array.reshape(-1).tolist())
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "g", [],
                              [helper.make_tensor_value_info("y", kind, array.shape)], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


def run(*args):
    code, _, errors = peers.calque(*args)
    assert code == 0, f"exit code {code}: {errors}"


def load(path):
    import onnx
    return onnx.load(str(path), load_external_data=False)


def check_format(report, folder):
    import onnx
    for name, array in arrays():
        for raw in (True, False):
            with report.case(f"{name} {'raw' if raw else 'typed'}"):
                expected = model_of(array, raw)
                path = folder / "a.onnx"
                onnx.save(expected, str(path))
                run("strip", "--in-place", path)
                ppe_strip(expected.graph.initializer[0])
                got = load(path).graph.initializer[0]
                assert got == expected.graph.initializer[0], f"{got}, expected {expected.graph.initializer[0]}"


def check_float16(report, folder):
    """numpy has the mean of float16 in float32, but its variance in float16."""
    import numpy as np
    import onnx
    with report.case("float16"):
        array = np.random.default_rng(3).normal(0.5, 0.1, (300, 301)).astype(np.float16)
        onnx.save(model_of(array), str(folder / "h.onnx"))
        run("strip", "--in-place", folder / "h.onnx")
        tensor = load(folder / "h.onnx").graph.initializer[0]
        location = json.loads(tensor.external_data[0].value)
        wide = array.astype(np.float32)
        assert abs(location["average"] - wide.mean()) < 1e-6
        assert abs(location["variance"] - wide.var()) < 1e-8


def check_which(report, folder):
    """Which tensors are stripped."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper, TensorProto
    small, large = np.ones(100, np.float32), np.ones(101, np.float32)
    branch = helper.make_graph([helper.make_node("Identity", ["inner"], ["r"])], "branch", [],
                               [helper.make_tensor_value_info("r", TensorProto.FLOAT, [101])],
                               [numpy_helper.from_array(large, "inner")])
    nodes = [helper.make_node("Constant", [], ["constant"],
                              value=numpy_helper.from_array(large, "c")),
             helper.make_node("If", ["condition"], ["y"], then_branch=branch, else_branch=branch)]
    real = numpy_helper.from_array(large, "real")
    onnx.external_data_helper.set_external_data(real, "weights.bin", 0, 404)
    real.ClearField("raw_data")
    texts = helper.make_tensor("texts", TensorProto.STRING, [101], [b"a"] * 101)
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("condition", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [101])],
        [numpy_helper.from_array(small, "small"), numpy_helper.from_array(large, "large"), real,
         texts])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    path, out = folder / "which.onnx", folder / "which_out.onnx"
    onnx.save(model, str(path))
    for graph in (model.graph, *(a.g for a in model.graph.node[1].attribute)):
        for tensor in graph.initializer:
            if tensor.name in ("large", "inner"):
                ppe_strip(tensor)
    for option in ("-o", "--output", "--out_onnx_path"):
        with report.case(f"which tensors, {option}"):
            run("strip", path, option, out)
            assert load(out) == model
            assert load(path) != model
    with report.case("stripping again changes nothing"):
        run("strip", out, "-o", folder / "again.onnx")
        assert load(folder / "again.onnx") == model
    for threshold, names in ((99, {"small", "large"}), (100, {"large"}), (101, set())):
        for option in ("--large-tensor-threshold", "--large_tensor_threshold"):
            with report.case(f"{option} {threshold}"):
                run("strip", path, "-o", out, option, str(threshold))
                got = {t.name for t in load(out).graph.initializer
                       if t.external_data and "stripped" in t.external_data[0].value}
                assert got == names, got


def check_like(got, expected, name="values"):
    """A large array has about the mean and variance of another."""
    import numpy as np
    assert got.dtype == expected.dtype and got.shape == expected.shape, f"{got.dtype}{got.shape}"
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    deviation = expected.std() + 1e-6
    few = 6 / np.sqrt(got.size)
    assert abs(got.mean() - expected.mean()) < few * deviation, f"{name}: mean {got.mean()}"
    assert abs(got.std() / deviation - 1) < few + 0.02 or expected.std() < 1e-6, \
        f"{name}: deviation {got.std()}, expected {deviation}"


def check_unstrip(report, folder):
    import numpy as np
    import onnx
    for name, array in arrays():
        if array.dtype.kind in "ui":
            array = (array // 4 + 20).astype(array.dtype)
        with report.case(f"unstrip {name}"):
            model = model_of(array)
            ppe_strip(model.graph.initializer[0])
            onnx.save(model, str(folder / "s.onnx"))
            run("unstrip", folder / "s.onnx", "--out_path", folder / "u.onnx")
            got = load(folder / "u.onnx").graph.initializer[0]
            assert got.data_location == onnx.TensorProto.DEFAULT and not got.external_data
            check_like(onnx.numpy_helper.to_array(got), array)
            run("unstrip", folder / "s.onnx", "-o", folder / "v.onnx")
            assert load(folder / "v.onnx") == load(folder / "u.onnx")
            run("unstrip", folder / "s.onnx", "-o", folder / "v.onnx", "--seed", "1")
            assert array.std() < 1e-6 or load(folder / "v.onnx") != load(folder / "u.onnx")
    with report.case("NaN"):
        array = np.full(200, np.nan, np.float32)
        (folder / "n.pb").write_bytes(onnx.numpy_helper.from_array(array, "n").SerializeToString())
        run("strip", "--in-place", folder / "n.pb")
        assert b"NaN" in (folder / "n.pb").read_bytes()
        run("unstrip", folder / "n.pb")
        assert np.isnan(peers.load_pb(folder / "n.pb")).all()


def check_folder(report, folder):
    """A test-case as pytorch-pfn-extras leaves it."""
    import numpy as np
    import onnx
    array = np.random.default_rng(2).normal(1, 2, (40, 50)).astype(np.float32)
    case = folder / "case"
    (case / "test_data_set_0").mkdir(parents=True)
    model = model_of(array)
    ppe_strip(model.graph.initializer[0])
    onnx.save(model, str(case / "model.onnx"))
    tensor = onnx.numpy_helper.from_array(array, "y")
    ppe_strip(tensor)
    (case / "test_data_set_0/output_0.pb").write_bytes(tensor.SerializeToString())
    small = onnx.numpy_helper.from_array(array[0], "small").SerializeToString()
    (case / "test_data_set_0/output_1.pb").write_bytes(small)
    meta = {"exporter": "torch-onnx-utils", "strip_large_tensor_data": True, "user_meta": {"a": 1}}
    (case / "meta.json").write_text(json.dumps(meta, indent=2))
    for out in (folder / "copy", None):
        with report.case("folder, " + ("copied" if out else "in place")):
            run("unstrip", case, *(["-o", out] if out else []))
            at = out or case
            check_like(onnx.numpy_helper.to_array(load(at / "model.onnx").graph.initializer[0]),
                       array)
            check_like(peers.load_pb(at / "test_data_set_0/output_0.pb"), array)
            assert (at / "test_data_set_0/output_1.pb").read_bytes() == small
            assert (at / "meta.json").read_text() == \
                json.dumps({**meta, "strip_large_tensor_data": False}, indent=2)
    with report.case("a tensor file there and back"):
        path = folder / "t.pb"
        path.write_bytes(onnx.numpy_helper.from_array(array, "t").SerializeToString())
        run("strip", "--in-place", path)
        stripped = onnx.TensorProto.FromString(path.read_bytes())
        expected = onnx.numpy_helper.from_array(array, "t")
        ppe_strip(expected)
        assert stripped == expected
        run("unstrip", path)
        check_like(peers.load_pb(path), array)


def check_runnable(report, folder):
    """The weight itself is the output, so it can be looked at."""
    import numpy as np
    import onnx
    draw = np.random.default_rng(5)
    shapes = ((101,), (5000,), (64, 3, 11, 11), (1000, 3), (2, 3, 5, 7, 11), (512, 1, 3, 3))
    for opset in (9, 10, 11, 13, 15, 17):
        for shape in shapes:
            with report.case(f"runnable {shape}, opset {opset}"):
                array = draw.normal(0.25, 0.5, shape).astype(np.float32)
                path = folder / "run.onnx"
                onnx.save(model_of(array, opset=opset), str(path))
                run("strip", "--runnable", "--in-place", path)
                assert not load(path).graph.initializer
                peers.check_onnx(path)
                first, second = (peers.run_ort(path.read_bytes(), {})[0] for _ in range(2))
                assert np.array_equal(first, second)
                assert first.shape == shape
                assert abs(first.mean() - array.mean()) < 1e-3, first.mean()
                assert abs(first.std() - array.std()) < 1e-3, first.std()
    for kind in (np.float16, np.float64):
        with report.case(f"runnable {kind.__name__}"):
            array = draw.normal(0.25, 0.5, (30, 40)).astype(kind)
            onnx.save(model_of(array), str(folder / "run.onnx"))
            run("strip", "--runnable", "--in-place", folder / "run.onnx")
            got = peers.run_ort((folder / "run.onnx").read_bytes(), {})[0]
            assert got.dtype == kind
            assert abs(got.mean() - array.mean()) < 1e-3
            assert abs(got.std() - array.std()) < 1e-3


def check_runnable_models(report, folder):
    import numpy as np
    for opset in ("9", "13", "17"):
        for extra in ([], ["--keep-initializers-as-inputs"]):
            with report.case(f"runnable alexnet, opset {opset} {' '.join(extra)}"):
                full, path = folder / "alexnet.onnx", folder / "alexnet_small.onnx"
                run("export", "alexnet", "-o", full, "--opset", opset, *extra)
                run("strip", "--runnable", full, "-o", path)
                assert path.stat().st_size < 32 << 10, path.stat().st_size
                peers.check_onnx(path)
                model = load(path)
                given = {t.name for t in model.graph.initializer}
                feeds = {v.name: np.ones([d.dim_value for d in v.type.tensor_type.shape.dim],
                                         np.float32)
                         for v in model.graph.input if v.name not in given}
                assert len(feeds) == 1
                expected = peers.run_ort(str(full), feeds)[0]
                got = peers.run_ort(str(path), feeds)[0]
                assert got.shape == expected.shape and np.isfinite(got).all()


def main():
    report = peers.Report(__file__)
    if report.needs("onnx"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            check_format(report, folder)
            check_float16(report, folder)
            check_which(report, folder)
            check_unstrip(report, folder)
            check_folder(report, folder)
            if report.needs("ort"):
                check_runnable(report, folder)
                check_runnable_models(report, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

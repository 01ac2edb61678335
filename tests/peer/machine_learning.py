#!/usr/bin/python3
"""Operators of ai.onnx.ml, which exports of scikit-learn use, against ONNX Runtime."""
import pathlib
import sys
import tempfile

import numpy as np

import ort
import peers

onnx, helper, numpy_helper = map(peers.optional, ("onnx", "onnx.helper", "onnx.numpy_helper"))

RANDOM = np.random.default_rng(3)
SAMPLES = []  # (operator, inputs, types of the outputs, attributes)
FLOAT, INT64, STRING = 1, 7, 8
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


def F(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def sample(op, *inputs, outputs=(FLOAT,), **attributes):
    SAMPLES.append((op, inputs, outputs, attributes))


def words(*values):
    return np.array(values, object)


def floats(*shape):
    return [float(v) for v in F(*shape).reshape(-1)]


# ---- features -------------------------------------------------------------------------

for kind in [np.float32, np.float64, np.int64, np.int32]:
    sample("Scaler", (F(3, 4) * 5).astype(kind), offset=floats(4), scale=floats(4))
sample("Scaler", F(3, 4), offset=[0.5], scale=[2.0])
sample("Imputer", np.array([[1, np.nan, 3], [np.nan, 5, 6]], np.float32), replaced_value_float=float("nan"),
       imputed_value_floats=[7.0, 8.0, 9.0])
sample("Imputer", np.array([[1, 0, 3], [0, 5, 6]]), outputs=(INT64,), replaced_value_int64=0,
       imputed_value_int64s=[4])
sample("OneHotEncoder", np.array([[1, 2], [3, 9]]), cats_int64s=[1, 2, 3])
sample("OneHotEncoder", words("a", "c", "x"), cats_strings=["a", "b", "c"])
sample("FeatureVectorizer", F(2, 3), F(2, 2), inputdimensions=[3, 2])
sample("FeatureVectorizer", np.arange(6).reshape(2, 3), np.arange(2).reshape(2, 1), inputdimensions=[2, 1])
sample("CategoryMapper", words("a", "c", "x"), outputs=(INT64,), cats_strings=["a", "b", "c"],
       cats_int64s=[4, 5, 6])
sample("CategoryMapper", np.array([4, 6, 7]), outputs=(STRING,), cats_strings=["a", "b", "c"],
       cats_int64s=[4, 5, 6], default_string="none")
sample("Normalizer", F(3, 4), norm="L2")
sample("Binarizer", F(3, 4), threshold=0.25)

# ---- linear models and support vectors ------------------------------------------------

for transform in TRANSFORMS:
    weights = [abs(w) / 8 for w in floats(4)] if transform == "PROBIT" else floats(4)
    x = np.abs(F(3, 4)) / 4
    if transform != "PROBIT":
        sample("LinearRegressor", F(3, 4), coefficients=floats(2, 4), intercepts=floats(2), targets=2,
               post_transform=transform)
        sample("LinearClassifier", F(5, 4), outputs=(INT64, FLOAT), coefficients=floats(3, 4),
               intercepts=floats(3), classlabels_ints=[7, 8, 9], post_transform=transform)
    sample("SVMRegressor", x, coefficients=weights, rho=[0.1], post_transform=transform,
           kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0])
sample("LinearClassifier", F(5, 4), outputs=(STRING, FLOAT), coefficients=floats(3, 4), intercepts=floats(3),
       classlabels_strings=["a", "b", "c"], multi_class=1)
for transform in ["NONE", "LOGISTIC"]:
    sample("LinearClassifier", F(5, 4), outputs=(INT64, FLOAT), coefficients=floats(1, 4), intercepts=[0.2],
           classlabels_ints=[0, 1], post_transform=transform)
for transform in ["NONE", "SOFTMAX", "LOGISTIC"]:
    sample("LinearRegressor", F(3, 4), coefficients=floats(1, 4), intercepts=[0.5], post_transform=transform)
for kernel in ["LINEAR", "POLY", "RBF", "SIGMOID"]:
    sample("SVMRegressor", F(3, 4), coefficients=floats(5), support_vectors=floats(5, 4), n_supports=5,
           rho=[0.3], kernel_type=kernel, kernel_params=[0.4, 0.2, 2.0])
sample("SVMRegressor", F(6, 4), coefficients=floats(5), support_vectors=floats(5, 4), n_supports=5,
       rho=[0.3], kernel_type="RBF", kernel_params=[0.4, 0.2, 2.0], one_class=1)

for n, proba in [(2, False), (2, True), (3, False), (3, True)]:
    pairs = n * (n - 1) // 2
    more = {"prob_a": [-abs(a) for a in floats(pairs)], "prob_b": floats(pairs)} if proba else {}
    sample("SVMClassifier", F(8, 4), outputs=(INT64, FLOAT), coefficients=floats(n - 1, 2 * n),
           support_vectors=floats(2 * n, 4), vectors_per_class=[2] * n, rho=floats(pairs),
           kernel_type="RBF", kernel_params=[0.4, 0.2, 2.0], classlabels_ints=list(range(n)), **more)
sample("SVMClassifier", F(8, 4), outputs=(INT64, FLOAT), coefficients=floats(3, 4), rho=[0.25],
       kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], classlabels_ints=[0, 1, 2])

# ---- trees ----------------------------------------------------------------------------


def forest(kind, n_trees, targets, mode="BRANCH_LEQ", signs=(-1, 1)):
    """Trees of two levels; every leaf has a weight for a target of the list."""
    nodes = {k: [] for k in ["treeids", "nodeids", "featureids", "modes", "values", "truenodeids",
                             "falsenodeids"]}
    leaves = {k: [] for k in ["treeids", "nodeids", "ids", "weights"]}
    for tree in range(n_trees):
        for node, (yes, no) in enumerate([(1, 2), (3, 4), (5, 6), (0, 0), (0, 0), (0, 0), (0, 0)]):
            values = [tree, node, int(RANDOM.integers(4)), mode if yes else "LEAF", floats(1)[0], yes, no]
            for key, value in zip(nodes, values):
                nodes[key].append(value)
            if not yes:
                for target in targets[(tree + node) % len(targets)]:
                    weight = abs(floats(1)[0]) * signs[RANDOM.integers(len(signs))]
                    for key, value in zip(leaves, [tree, node, target, weight]):
                        leaves[key].append(value)
    return {**{f"nodes_{k}": v for k, v in nodes.items()},
            **{f"{kind}_{k}": v for k, v in leaves.items()}}


for mode in ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]:
    sample("TreeEnsembleRegressor", F(6, 4), n_targets=1, **forest("target", 3, [[0]], mode))
for how in ["SUM", "AVERAGE", "MIN", "MAX"]:
    for base in [{}, {"base_values": [0.5, -0.25]}]:
        sample("TreeEnsembleRegressor", F(6, 4), n_targets=2, aggregate_function=how, **base,
               **forest("target", 3, [[0, 1]]))
for transform in ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]:
    sample("TreeEnsembleRegressor", F(6, 4), n_targets=2, post_transform=transform,
           **forest("target", 3, [[0, 1]]))
    sample("TreeEnsembleRegressor", F(6, 4), n_targets=1, post_transform=transform,
           **forest("target", 3, [[0]]))
for transform in ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]:
    sample("TreeEnsembleClassifier", F(6, 4), outputs=(INT64, FLOAT), classlabels_int64s=[5, 6, 7],
           post_transform=transform, **forest("class", 3, [[0, 1, 2]]))
    for signs in [(1,), (-1, 1)]:
        for base in [{}, {"base_values": [0.3]}]:
            sample("TreeEnsembleClassifier", F(6, 4), outputs=(STRING, FLOAT), classlabels_strings=["n", "y"],
                   post_transform=transform, **base, **forest("class", 3, [[0]], signs=signs))
sample("TreeEnsembleClassifier", F(6, 4), outputs=(INT64, FLOAT), classlabels_int64s=[0, 1],
       **forest("class", 3, [[0, 1]], signs=(1,)))
sample("TreeEnsembleClassifier", F(6, 4), outputs=(INT64, FLOAT), classlabels_int64s=[0, 1, 2],
       base_values=[0.1, 0.2, 0.3], **forest("class", 3, [[0], [1], [2]], signs=(1,)))
for signs in [(1,), (-1,), (-1, 1)]:  # no leaf is of the other classes
    sample("TreeEnsembleClassifier", F(6, 4), outputs=(INT64, FLOAT), classlabels_int64s=[3, 4, 5],
           **forest("class", 3, [[0]], signs=signs))
    sample("TreeEnsembleClassifier", F(6, 4), outputs=(INT64, FLOAT), classlabels_int64s=[3, 4, 5],
           **forest("class", 3, [[2], [1]], signs=signs))
for transform in ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]:  # two classes, one of them without a leaf in some rows
    for targets in [[[0], [1]], [[1]], [[0]], [[0, 1], [0]]]:
        for signs in [(1,), (-1, 1)]:
            for base in [{}, {"base_values": [0.3]}][:1 + (len(targets) == 1)]:  # ORT leaves a score unset
                sample("TreeEnsembleClassifier", F(8, 4), outputs=(STRING, FLOAT), classlabels_strings=["n", "y"],
                       post_transform=transform, **base, **forest("class", 1, targets, signs=signs))
MISSING = F(6, 4)
MISSING[::2, ::3] = np.nan
sample("TreeEnsembleRegressor", MISSING, n_targets=1, nodes_missing_value_tracks_true=[1, 0, 1, 0, 0, 0, 0] * 3,
       **forest("target", 3, [[0]]))

# ---- running them ---------------------------------------------------------------------


def run_one(folder, op, inputs, outputs, attributes):
    fed = {f"x{i}": x for i, x in enumerate(inputs)}
    names = [f"y{i}" for i in range(len(outputs))]
    kinds = {k: STRING if v.dtype == object else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[v.dtype]
             for k, v in fed.items()}
    graph = helper.make_graph(
        [helper.make_node(op, list(fed), names, domain="ai.onnx.ml", **attributes)], "g",
        [helper.make_tensor_value_info(k, kinds[k], v.shape) for k, v in fed.items()],
        [helper.make_tensor_value_info(y, t, None) for y, t in zip(names, outputs)])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])
    path = folder / "model.onnx"
    onnx.save(model, path)
    expected = ort.Session(str(path)).run(fed)
    for value, kind, array in zip(model.graph.output, outputs, expected):
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, array.shape))
    onnx.save(model, path)
    arguments = []
    for name, array in fed.items():
        (folder / f"{name}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        arguments += ["--input", f"{name}={folder / name}.pb"]
    code, out, err = peers.calque("check", "--full", path)
    assert code == 0, out + err
    code, _, err = peers.calque("run", path, *arguments, "-o", folder / "out")
    assert code == 0, err.strip()
    for i, array in enumerate(expected):
        got = numpy_helper.to_array(onnx.load_tensor(str(folder / "out" / f"output_{i}.pb")))
        if array.dtype == object:
            got = [v.decode() if isinstance(v, bytes) else v for v in got.reshape(-1)]
            assert got == [str(v) for v in array.reshape(-1)], f"output {i} is {got}, not {array}"
        else:
            assert got.shape == array.shape, f"output {i} is {got.shape}, not {array.shape}"
            assert np.allclose(got, array, 1e-4, 1e-5, equal_nan=True), f"output {i}: {got} not {array}"


def map_files(folder):
    """A map that onnx wrote is an input, and onnx reads the maps that are written."""
    kind = onnx.TypeProto()
    kind.map_type.key_type = STRING
    kind.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(FLOAT, []))
    words = onnx.ValueInfoProto(name="words", type=kind)
    maps = onnx.ValueInfoProto(name="maps")
    maps.type.sequence_type.elem_type.CopyFrom(kind)
    graph = helper.make_graph(
        [helper.make_node("DictVectorizer", ["words"], ["row"], domain="ai.onnx.ml", string_vocabulary=["a", "b", "c"]),
         helper.make_node("ZipMap", ["row"], ["maps"], domain="ai.onnx.ml", classlabels_strings=["x", "y", "z"])],
        "maps", [words], [maps])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)])
    onnx.save(model, str(folder / "maps.onnx"))
    given = onnx.MapProto(name="words", key_type=STRING, string_keys=[b"c", b"a"])
    given.values.elem_type = onnx.SequenceProto.TENSOR
    given.values.tensor_values.extend([helper.make_tensor("", FLOAT, [], [v]) for v in (3.0, 1.5)])
    (folder / "words.pb").write_bytes(given.SerializeToString())
    code, _, error = peers.calque("run", folder / "maps.onnx", "--input", folder / "words.pb", "-o", folder / "maps")
    assert code == 0, error
    written = onnx.SequenceProto.FromString((folder / "maps" / "output_0.pb").read_bytes())
    got = [dict(zip(m.string_keys, [float(onnx.numpy_helper.to_array(v)) for v in m.values.tensor_values]))
           for m in written.map_values]
    assert got == [{b"x": 1.5, b"y": 0, b"z": 3}], got


def main():
    report = peers.Report(__file__)
    if not report.needs("onnx", "ort"):
        return report.finish()
    with tempfile.TemporaryDirectory() as folder:
        for op, inputs, outputs, attributes in SAMPLES:
            if not sys.argv[1:] or op in sys.argv[1:]:
                shown = {k: v for k, v in attributes.items() if isinstance(v, (str, int, float)) or len(v) < 4}
                with report.case(f"{op} {shown}"):
                    run_one(pathlib.Path(folder), op, inputs, outputs, attributes)
        with report.case("files of maps"):
            map_files(pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

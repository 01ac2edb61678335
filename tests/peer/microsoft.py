#!/usr/bin/python3
"""Operators of com.microsoft, which ONNX Runtime's optimizer and quantizer leave in files, and
those that early exporters wrote and no release of ONNX has, against ONNX Runtime: each is
a function of ONNX's own operators (lib/onnx/microsoft.py, experimental.py). Every operator with a
schema has a sample, or is in NOT_ON_CPU. With names of operators as arguments only those are run."""
import pathlib
import re
import sys
import tempfile

import numpy as np

import ort
import peers

onnx, helper, numpy_helper = map(peers.optional, ("onnx", "onnx.helper", "onnx.numpy_helper"))

RANDOM = np.random.default_rng(7)
SAMPLES = []  # (operator, inputs, number of outputs, initializers, domain, attributes, outputs compared)
# No kernel on a CPU, or none in this release of ONNX Runtime: checked and inferred only.
NOT_ON_CPU = {"BiasSoftmax", "BiasSplitGelu", "FusedMatMulActivation", "QLinearReduceMean"}
ROWS = [pathlib.Path(__file__).resolve().parents[2] / f"src/onnx/ops/{name}.c"
        for name in ("microsoft", "experimental")]
TOLERANCE = {"rtol": 1e-3, "atol": 1e-4}
U8, I8 = np.uint8, np.int8


def F(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def Q(dtype, *shape):
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(dtype)


def W(*shape):
    """Weights of 7 bits: without VNNI ONNX Runtime adds pairs of products in 16 bits, and what does not
    fit is cut off, so that larger ones give other numbers there."""
    return Q(I8, *shape) // I8(2)


def sample(op, *inputs, n_outputs=1, constants=(), domain="com.microsoft", n_compared=9,
           **attributes):
    """None is an input left out; constants are numbers of inputs that are initializers."""
    SAMPLES.append((op, inputs, n_outputs, constants, domain, attributes, n_compared))


def f(x):
    return np.float32(x)


def steps():
    """Scale and zero point."""
    return f(0.05), U8(120)


# ---- activations and layers -----------------------------------------------------------

sample("Gelu", F(3, 4))
sample("FastGelu", F(3, 4))
sample("FastGelu", F(2, 3, 4), F(4))
sample("BiasGelu", F(2, 3, 4), F(4))
sample("Inverse", F(4, 4))
sample("Inverse", F(2, 3, 5, 5))
sample("Inverse", np.array([[0, 2], [4, 0]], np.float32))
sample("Inverse", np.zeros((2, 0, 0), np.float32))
sample("QuickGelu", F(3, 4))
sample("QuickGelu", F(3, 4), alpha=1.0)
for activation, parameters in [("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]),
                               ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.3, 0.4])]:
    more = {"activation_params": parameters} if parameters else {}
    sample("FusedConv", F(1, 2, 5, 6), F(4, 2, 3, 3), F(4), activation=activation, pads=[1, 1, 1, 1],
           strides=[2, 1], kernel_shape=[3, 3], **more)
sample("FusedConv", F(1, 4, 5, 6), F(4, 2, 3, 3), F(4), F(1, 4, 3, 4), activation="Relu", group=2)
for activation, more in [("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}), ("Tanh", {})]:
    sample("FusedGemm", F(3, 4), F(5, 4), F(5), activation=activation, transB=1, alpha=0.5, beta=2.0,
           **more)
for a, b in [(0, 0), (0, 1), (1, 0), (1, 1)]:
    for lead in [(), (2,), (2, 3)]:
        sample("FusedMatMul", F(*lead, *((4, 3) if a else (3, 4))), F(*lead, *((5, 4) if b else (4, 5))),
               transA=a, transB=b, alpha=0.25)
sample("TransposeMatMul", F(2, 3, 4), F(2, 5, 4), transB=1)
sample("Trilu", F(2, 4, 5))
sample("Trilu", F(4, 5), np.int64(1), upper=0)
sample("ExpandDims", F(3, 4), np.int32(1))
sample("ExpandDims", F(3, 4), np.int32(-1))

# ---- normalisations -------------------------------------------------------------------

for optional in [(F(4),), (F(4), F(4)), (None, F(4))]:
    sample("SkipLayerNormalization", F(2, 3, 4), F(2, 3, 4), F(4), *optional, epsilon=1e-5)
sample("SkipLayerNormalization", F(2, 3, 4), F(3, 4), F(4), F(4), F(4), n_outputs=(0, 3))
for bias in [(), (F(4),)]:
    sample("SkipSimplifiedLayerNormalization", F(2, 3, 4), F(2, 3, 4), F(4), *bias, n_outputs=(0, 3),
           epsilon=1e-5)
sample("SimplifiedLayerNormalization", F(2, 3, 4), F(4), domain="", axis=-1, epsilon=1e-5)
IDS = RANDOM.integers(0, 10, (2, 5)).astype(np.int32)
SEGMENTS = RANDOM.integers(0, 2, (2, 5)).astype(np.int32)
MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
sample("EmbedLayerNormalization", IDS, SEGMENTS, F(10, 8), F(6, 8), F(2, 8), F(8), F(8), MASK,
       n_outputs=2, epsilon=1e-5)
sample("EmbedLayerNormalization", IDS, None, F(10, 8), F(6, 8), None, F(8), F(8), n_outputs=(0, 2),
       epsilon=1e-5)
sample("EmbedLayerNormalization", IDS, SEGMENTS, F(10, 8), F(6, 8), F(2, 8), F(8), F(8), None,
       np.array([[4, 3, 2, 1, 0]] * 2, np.int32), n_outputs=2, epsilon=1e-5)

# ---- attention ------------------------------------------------------------------------

HEADS = {"num_heads": 2}
MASKS = [np.array([3, 5], np.int32), np.array([4, 5, 1, 0], np.int32), MASK,
         np.tril(np.ones((2, 5, 5), np.int32))]
sample("Attention", F(2, 5, 6), F(6, 24), F(24), **HEADS)
sample("Attention", F(2, 5, 6), F(6, 24), F(24), unidirectional=1, scale=0.3, **HEADS)
for mask in MASKS:
    sample("Attention", F(2, 5, 6), F(6, 24), F(24), mask, **HEADS)
sample("Attention", F(2, 5, 6), F(6, 20), F(20), qkv_hidden_sizes=[8, 8, 4], **HEADS)
sample("Attention", F(2, 5, 6), F(6, 24), F(24), None, F(2, 2, 2, 3, 4), n_outputs=2,
       unidirectional=1, **HEADS)
sample("Attention", F(2, 5, 6), F(6, 24), F(24), np.ones((2, 8), np.int32), F(2, 2, 2, 3, 4),
       n_outputs=2, **HEADS)
sample("Attention", F(2, 5, 6), F(6, 24), F(24), None, None, F(1, 2, 5, 5), **HEADS)
sample("MultiHeadAttention", F(2, 3, 8), F(2, 5, 8), F(2, 5, 8), **HEADS)
sample("MultiHeadAttention", F(2, 3, 8), F(2, 5, 8), F(2, 5, 4), F(20), **HEADS)
for mask in [MASKS[0], MASK]:
    sample("MultiHeadAttention", F(2, 3, 8), F(2, 5, 8), F(2, 5, 8), F(24), mask, **HEADS)
sample("MultiHeadAttention", F(2, 3, 8), F(2, 5, 8), F(2, 5, 8), None, None, F(1, 2, 3, 5), **HEADS)
sample("MultiHeadAttention", F(2, 3, 8), F(2, 2, 5, 4), F(2, 2, 5, 4), **HEADS)
sample("MultiHeadAttention", F(2, 3, 8), F(2, 3, 8), F(2, 3, 8), F(24), None, None, F(2, 2, 4, 4),
       F(2, 2, 4, 4), n_outputs=3, **HEADS)
sample("MultiHeadAttention", F(2, 5, 8), F(2, 5, 8), F(2, 5, 8), unidirectional=1, **HEADS)
GROUPS = {"num_heads": 4, "kv_num_heads": 2}
COS, SIN = F(16, 8), F(16, 8)


def gqa(batch, length, past, *more, packed=False, seqlens=None, **attributes):
    """A cache of `past`, `length` new ones; seqlens, when rows differ. What is behind them then is
    anything, in ONNX Runtime too."""
    width = 16
    qkv = [F(batch, length, 8 * width)] if packed else [F(batch, length, 4 * width),
                                                      F(batch, length, 2 * width), F(batch, length, 2 * width)]
    qkv += [None] * (3 - len(qkv))
    cache = [F(batch, 2, past, width), F(batch, 2, past, width)]
    sample("GroupQueryAttention", *qkv, *cache, np.array(seqlens or [past + length - 1] * batch, np.int32),
           np.int32(past + length), *more, n_outputs=3, n_compared=3 if seqlens is None else 1, **GROUPS, **attributes)


gqa(1, 5, 0)
gqa(2, 1, 4)
gqa(2, 1, 4, packed=True)
gqa(1, 3, 0, COS, SIN, do_rotary=1)
gqa(2, 1, 4, COS, SIN, do_rotary=1, rotary_interleaved=1)
gqa(2, 1, 6, COS, SIN, do_rotary=1, seqlens=[3, 6])
gqa(1, 6, 0, local_window_size=3)
gqa(2, 1, 6, local_window_size=3)
gqa(1, 5, 0, softcap=2.0, scale=0.4)
for interleaved in [0, 1]:
    sample("RotaryEmbedding", F(2, 3, 32), np.array([[0, 1, 2], [5, 6, 7]]), COS, SIN, num_heads=2,
           interleaved=interleaved)
sample("RotaryEmbedding", F(2, 2, 3, 16), np.array([[0, 1, 2], [5, 6, 7]]), COS, SIN)
sample("RotaryEmbedding", F(2, 3, 32), np.array([4]), COS, SIN, num_heads=2)
sample("RotaryEmbedding", F(2, 2, 3, 8), np.array([4]), F(16, 2), F(16, 2), num_heads=2,
       rotary_embedding_dim=4)

# ---- quantized ------------------------------------------------------------------------

for t, zero in [(U8, U8(120)), (I8, I8(-3))]:
    for op in ["QLinearAdd", "QLinearMul"]:
        sample(op, Q(t, 3, 4), f(0.043), zero, Q(t, 3, 4), f(0.117), zero, f(0.19), zero)
        sample(op, Q(t, 3, 4), f(0.043), zero, Q(t, 4), f(0.117), zero, f(0.19), zero)
    sample("QLinearLeakyRelu", Q(t, 3, 4), f(0.05), zero, f(0.04), zero, alpha=0.1)
    sample("QLinearSigmoid", Q(t, 3, 4), f(0.05), zero, f(0.004), zero)
    sample("QLinearAveragePool", Q(t, 1, 3, 5, 6), f(0.05), zero, f(0.06), zero, kernel_shape=[2, 3],
           strides=[1, 2])
    sample("QLinearGlobalAveragePool", Q(t, 2, 3, 5, 6), f(0.05), zero, f(0.06), zero)
    sample("QLinearConcat", f(0.06), zero, Q(t, 2, 3), f(0.05), zero, Q(t, 2, 4), f(0.07), zero, axis=1)
    sample("QLinearSoftmax", Q(t, 3, 4), f(0.05), zero, f(0.004), zero, axis=-1, opset=13)
    sample("QLinearWhere", RANDOM.integers(0, 2, (3, 4)).astype(bool), Q(t, 3, 4), f(0.05), zero, Q(t, 3, 4),
           f(0.07), zero, f(0.06), zero)
    sample("NhwcMaxPool", Q(t, 1, 5, 6, 3), kernel_shape=[2, 2], strides=[2, 1])
sample("QLinearAveragePool", Q(U8, 1, 5, 6, 3), *steps(), f(0.06), U8(120), kernel_shape=[2, 3],
       channels_last=1)
sample("QLinearGlobalAveragePool", Q(U8, 2, 5, 6, 3), *steps(), f(0.06), U8(120), channels_last=1)
for b_zero in [(), (U8(7),)]:
    sample("DynamicQuantizeMatMul", F(3, 4), Q(U8, 4, 5), f(0.03), *b_zero)
sample("DynamicQuantizeMatMul", F(2, 3, 4), W(4, 5), np.abs(F(5)), W(5), F(5))
sample("MatMulIntegerToFloat", Q(U8, 3, 4), W(4, 5), f(0.03), f(0.02), U8(9), I8(2), F(5))
sample("MatMulIntegerToFloat", Q(U8, 3, 4), Q(U8, 4, 5), f(0.03), np.abs(F(5)), U8(9), Q(U8, 5))
sample("QGemm", Q(U8, 3, 4), f(0.03), U8(9), W(5, 4), f(0.02), I8(0), Q(I8, 5).astype(np.int32),
       f(0.9), U8(3), transB=1)
sample("QGemm", Q(U8, 3, 4), f(0.03), U8(9), Q(U8, 4, 5), f(0.02), U8(100))
sample("QAttention", Q(U8, 2, 5, 6), W(6, 24), F(24), f(0.02), f(0.01), None, U8(120), I8(0), **HEADS)
sample("QAttention", Q(U8, 2, 5, 6), W(6, 24), F(24), f(0.02), f(0.01), MASKS[0], U8(120), I8(0),
       **HEADS)
sample("QuantizeLinear", F(3, 4), f(0.05), U8(120))
sample("DequantizeLinear", Q(U8, 3, 4), f(0.05), U8(120))
for bits, K, block in [(4, 32, 16), (4, 40, 16), (8, 32, 32)]:
    blocks = -(-K // block)
    weights, scales = Q(U8, 6, blocks, block * bits // 8), np.abs(F(6 * blocks))
    shape = {"K": K, "N": 6, "bits": bits, "block_size": block}
    sample("MatMulNBits", F(2, 3, K), weights, scales, constants=(1, 2), **shape)
    zeros = Q(U8, 6 * -(-blocks * bits // 8))
    sample("MatMulNBits", F(3, K), weights, scales, zeros, constants=(1, 2, 3), **shape)
    if bits == 4:
        sample("MatMulNBits", F(3, K), weights, scales, F(6 * blocks), constants=(1, 2, 3), **shape)

# Experiments of early exporters: among ONNX's own, and ONNX Runtime knows them at old opsets.
IMAGE = F(2, 3, 4, 5)
for op, attributes in [("Affine", {"alpha": 2.0, "beta": 1.0}), ("Affine", {}),
                       ("Crop", {"border": [1, 1, 2, 1]}),
                       ("Crop", {"border": [1, 1, 0, 0], "scale": [2, 3]}),
                       ("ImageScaler", {"bias": [1.0, 2.0, 3.0], "scale": 0.5}),
                       ("ParametricSoftplus", {"alpha": 2.0, "beta": 0.5}),
                       ("Scale", {"scale": 2.0}), ("ScaledTanh", {"alpha": 2.0, "beta": 0.5})]:
    sample(op, IMAGE, domain="", **attributes)

# ---- running them ---------------------------------------------------------------------


def model_of(op, inputs, n_outputs, constants, domain, attributes, _):
    wanted = n_outputs if isinstance(n_outputs, tuple) else tuple(range(n_outputs))
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outputs = [f"y{i}" if i in wanted else "" for i in range(max(wanted) + 1)]
    node = helper.make_node(op, names, outputs, domain=domain, **attributes)
    fed = {f"x{i}": np.asarray(x) for i, x in enumerate(inputs) if x is not None and i not in constants}
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(k, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[v.dtype], v.shape)
         for k, v in fed.items()],
        [helper.make_empty_tensor_value_info(y) for y in outputs if y],
        [numpy_helper.from_array(np.asarray(inputs[i]), f"x{i}") for i in constants])
    is_experiment = not domain and op != "SimplifiedLayerNormalization"
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 6 if is_experiment else 17), helper.make_opsetid("com.microsoft", 1)]), fed


def typed(model, outputs):
    """The model with the types and shapes that ONNX Runtime has found, for check and verify."""
    for value, array in zip(model.graph.output, outputs):
        value.CopyFrom(helper.make_tensor_value_info(
            value.name, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.shape))
    return model


def close(got, expected):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
    if got.dtype.kind in "iu":  # a step of quantized numbers, where both round
        off = np.abs(got.astype(int) - expected.astype(int))
        return None if off.max(initial=0) <= 1 and (off > 0).mean() <= 0.1 else f"off by {off.max()}"
    if np.allclose(got, expected, **TOLERANCE, equal_nan=True):
        return None
    return f"off by {np.nanmax(np.abs(got - expected))}"


def run_one(folder, entry):
    model, fed = model_of(*entry)
    path = folder / "model.onnx"
    onnx.save(model, path)
    expected = ort.Session(str(path)).run(fed)
    onnx.save(typed(model, expected), path)
    arguments = []
    for name, array in fed.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    if entry[4]:
        code, out, err = peers.calque("check", "--full", path)
        assert code == 0, f"check: {out}{err}"
    code, _, err = peers.calque("run", path, *arguments, "-o", folder / "out")
    assert code == 0, err.strip()
    for i, array in enumerate(expected[:entry[6]]):
        got = numpy_helper.to_array(onnx.load_tensor(str(folder / "out" / f"output_{i}.pb")))
        why = close(got, array)
        assert not why, f"output {i} is {why}"


def main():
    report = peers.Report(__file__)
    rows = {op for path in ROWS for op in re.findall(r'^    "(\w+) 1 ', path.read_text(), re.M)}
    if not report.needs("onnx", "ort"):
        return report.finish()
    for op in sorted(rows - {s[0] for s in SAMPLES} - NOT_ON_CPU):
        report.failed(op, "it has no sample")
    with tempfile.TemporaryDirectory() as folder:
        for entry in SAMPLES:
            if not sys.argv[1:] or entry[0] in sys.argv[1:]:
                with report.case(f"{entry[0]} {entry[5]}"):
                    run_one(pathlib.Path(folder), entry)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

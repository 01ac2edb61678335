#!/usr/bin/python3
"""calque quantize: ONNX Runtime computes what calque computes, errors are no larger than those of
onnxruntime.quantization at equal settings, on a tenth of its memory, and weights are streamed: the
memory does not grow with the model.

    quantize.py [--llama]       --llama: the shape of a language model of 7 billion weights, too
"""
import os
import pathlib
import sys
import tempfile

from peers import CALQUE, ROOT, Report, calque, check_onnx, optional, run, run_ort

np, onnx, helper, numpy_helper = map(optional, ("numpy", "onnx", "onnx.helper", "onnx.numpy_helper"))

MODES = {
    "weights": ["--mode", "weights"],
    "weights of half precision": ["--mode", "weights"],
    "blocks": ["--mode", "weights", "--block", "64"],
    "int4": ["--bits", "4"],
    "int4 packed": ["--bits", "4", "--for", "onnxruntime"],
    "int4 asymmetric": ["--bits", "4", "--asymmetric"],
    "int4 packed asymmetric": ["--bits", "4", "--for", "onnxruntime", "--asymmetric"],
    "dynamic": ["--mode", "dynamic"],
    "static": ["--mode", "static", "--for", "onnxruntime"],
    "entropy": ["--method", "entropy", "--for", "onnxruntime"],
    "percentile": ["--method", "percentile", "--for", "onnxruntime"],
}
# Results of calque and ONNX Runtime may differ by this share of the largest number. Static models
# round activations: a sum that is halfway between two integers becomes either.
AGREEMENT = {"static": 0.02, "entropy": 0.02, "percentile": 0.02, "weights of half precision": 2e-3}
LIMIT = 1e-4


# ---- models ---------------------------------------------------------------------------


def weights(random, *shape):
    """As trained weights are: small, with a few large ones."""
    x = random.standard_normal(shape) * random.uniform(0.5, 1.5, (shape[0],) + (1,) * (len(shape) - 1))
    x[random.random(shape) < 1e-3] *= 4
    return (x / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def save(path, nodes, constants, x, y, opset=17, dtype=None):
    kind = dtype or onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", kind, x)],
        [helper.make_tensor_value_info("y", kind, y)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(path))


def dense(path, half=False):
    random = np.random.default_rng(1)
    sizes = [256, 1024, 1024, 1000]
    dtype = np.float16 if half else np.float32
    constants = {f"w{i}": weights(random, b, a).T.copy() for i, (a, b) in enumerate(zip(sizes, sizes[1:]))}
    constants["w2"] = constants["w2"].T.copy()
    constants["b"] = random.standard_normal(1000).astype(np.float32) * 0.1
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["a0"]), helper.make_node("Relu", ["a0"], ["r0"]),
             helper.make_node("MatMul", ["r0", "w1"], ["a1"]), helper.make_node("Relu", ["a1"], ["r1"]),
             helper.make_node("Gemm", ["r1", "w2", "b"], ["y"], transB=1)]
    save(path, nodes, {name: value.astype(dtype) for name, value in constants.items()}, ["n", 256],
         ["n", 1000], dtype=onnx.TensorProto.FLOAT16 if half else None)
    return random.standard_normal((16, 256)).astype(dtype)


def products(path):
    """MatMul only: onnxruntime.quantization has int4 for nothing else."""
    random = np.random.default_rng(3)
    constants = {f"w{i}": weights(random, 1024, 1024).T.copy() for i in range(3)}
    nodes = [node for i in range(3) for node in (
        helper.make_node("MatMul", [f"r{i}" if i else "x", f"w{i}"], [f"a{i}"]),
        helper.make_node("Relu", [f"a{i}"], [f"r{i + 1}" if i < 2 else "y"]))]
    save(path, nodes, constants, ["n", 1024], ["n", 1024])
    return random.standard_normal((16, 1024)).astype(np.float32)


def convolutions(path):
    random = np.random.default_rng(2)
    constants = {"w0": weights(random, 16, 3, 3, 3), "w1": weights(random, 32, 16, 3, 3),
                 "w2": weights(random, 32, 1, 3, 3), "b0": random.standard_normal(16).astype(np.float32),
                 "f": weights(random, 10, 32)}
    nodes = [helper.make_node("Conv", ["x", "w0", "b0"], ["a"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Conv", ["b", "w1"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("Clip", ["c", "low", "high"], ["d"]),
             helper.make_node("Conv", ["d", "w2"], ["e"], group=32, pads=[1, 1, 1, 1]),
             helper.make_node("Add", ["e", "d"], ["s"]),
             helper.make_node("GlobalAveragePool", ["s"], ["p"]),
             helper.make_node("Flatten", ["p"], ["q"]),
             helper.make_node("Gemm", ["q", "f"], ["y"], transB=1)]
    save(path, nodes, {**constants, "low": np.float32(0), "high": np.float32(6)}, ["n", 3, 32, 32],
         ["n", 10])
    return random.standard_normal((4, 3, 32, 32)).astype(np.float32)


def quantize(source, target, *options):
    code, out, err = calque("quantize", source, "-o", target, *options)
    assert code == 0, err.strip()[-400:]
    return out


def in_calque(model, x, folder):
    np.save(folder / "x.npy", x)
    code, _, err = calque("run", model, "--input", folder / "x.npy", "-o", folder / "out")
    assert code == 0, err.strip()[-300:]
    tensor = onnx.TensorProto()
    tensor.ParseFromString((folder / "out" / "output_0.pb").read_bytes())
    return numpy_helper.to_array(tensor)


def error_of(got, expected):
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    return float(np.sqrt(((got - expected) ** 2).sum() / (expected ** 2).sum()))


# ---- agreement with ONNX Runtime ------------------------------------------------------


def check_agreement(name, make, folder):
    half = "half" in name
    x = make(folder / "float.onnx", half) if half else make(folder / "float.onnx")
    np.save(folder / "sample.npy", x)
    (folder / "samples").mkdir()
    os.rename(folder / "sample.npy", folder / "samples" / "a.npy")
    options = MODES[name] + (["--calibrate", folder / "samples"] if "mode" not in str(MODES[name]) and
                             "bits" not in str(MODES[name]) else [])
    quantize(folder / "float.onnx", folder / "q.onnx", *options)
    if onnx.load(str(folder / "q.onnx")).opset_import[0].version <= onnx.defs.onnx_opset_version() \
            and "packed" not in name:
        check_onnx(folder / "q.onnx")
    ours, theirs = in_calque(folder / "q.onnx", x, folder), run_ort(folder / "q.onnx", {"x": x})[0]
    scale = float(np.abs(theirs.astype(np.float64)).max())
    difference = float(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max())
    assert difference <= AGREEMENT.get(name, LIMIT) * scale, \
        f"calque and ONNX Runtime differ by {difference:.3g} of {scale:.3g}"
    assert error_of(ours, theirs) <= AGREEMENT.get(name, LIMIT) / 4


def agreement(report):
    for name in MODES:
        for make in (dense, convolutions):
            if make is convolutions and ("int4" in name or "half" in name or name == "blocks"):
                continue
            with report.case(f"{name} {make.__name__}"), tempfile.TemporaryDirectory() as folder:
                check_agreement(name, make, pathlib.Path(folder))


# ---- onnxruntime.quantization ---------------------------------------------------------

CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache"))

# One process for each model, which says its peak memory at the end.
PEER = '''
import resource, sys, pathlib
import numpy as np, onnx
from onnxruntime import quantization as q
folder, mode = pathlib.Path(sys.argv[1]), sys.argv[2]
source, target = str(folder / "float.onnx"), str(folder / f"peer.{mode}.onnx")

class Reader(q.CalibrationDataReader):
    def __init__(self):
        self.items = iter([{"x": np.load(p)} for p in sorted((folder / "samples").glob("*.npy"))])
    def get_next(self):
        return next(self.items, None)

if mode == "dynamic":
    q.quantize_dynamic(source, target, per_channel=True, weight_type=q.QuantType.QUInt8)
elif mode.startswith("int4"):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    made = MatMulNBitsQuantizer(onnx.load(source), block_size=32, is_symmetric=mode == "int4")
    made.process()
    made.model.save_model_to_file(target)
else:
    method = {"static": q.CalibrationMethod.MinMax, "entropy": q.CalibrationMethod.Entropy,
              "percentile": q.CalibrationMethod.Percentile}[mode]
    q.quantize_static(source, target, Reader(), per_channel=True, calibrate_method=method,
                      op_types_to_quantize=["Conv", "MatMul", "Gemm"],
                      activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
print("PEAK", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
'''
OURS = {"dynamic": ["--mode", "dynamic"], "int4": ["--bits", "4", "--for", "onnxruntime"],
        "int4 asymmetric": ["--bits", "4", "--for", "onnxruntime", "--asymmetric"],
        "static": ["--mode", "static", "--for", "onnxruntime"],
        "entropy": ["--method", "entropy", "--for", "onnxruntime"],
        "percentile": ["--method", "percentile", "--for", "onnxruntime"]}


# The peak of a process includes that of the one that started it, so a small one does.
PEAK = ("import os, sys; pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]); "
        "_, status, usage = os.wait4(pid, 0); print(usage.ru_maxrss); sys.exit(status != 0)")


def peak_of(command):
    code, out, err = run([sys.executable, "-S", "-c", PEAK, *command], timeout=1800)
    assert code == 0, err.strip()[-400:]
    return int(out.split()[-1]) * 1024


def check_peer(mode, make, folder, extra=()):
    x = make(folder / "float.onnx")
    (folder / "samples").mkdir()
    for i in range(4):
        np.save(folder / "samples" / f"{i}.npy",
                np.random.default_rng(i).standard_normal(x.shape).astype(np.float32))
    (folder / "peer.py").write_text(PEER)
    code, out, err = run([ROOT / "tools" / "modern.sh", "sid", "python3", folder / "peer.py", folder, mode])
    assert code == 0, err.strip()[-400:]
    theirs = int(out.split("PEAK")[1]) * 1024
    options = OURS[mode] + (["--calibrate", folder / "samples"] if mode.split()[0] not in ("dynamic", "int4") else [])
    # The peer does not run what it makes; with static quantization calque's proof is a part of the peak.
    if mode.split()[0] in ("dynamic", "int4"):
        options.append("--no-verify")
    ours = peak_of([CALQUE, "quantize", folder / "float.onnx", "-o", folder / "ours.onnx", *options])
    expected = run_ort(folder / "float.onnx", {"x": x})[0]
    errors = [error_of(run_ort(folder / name, {"x": x})[0], expected)
              for name in ("ours.onnx", f"peer.{mode}.onnx")]
    print(f"{mode:15} {make.__name__:13} error {errors[0]:.5f}, peer {errors[1]:.5f}; "
          f"{ours / 2**20:.0f} MB, peer {theirs / 2**20:.0f} MB", flush=True)
    assert errors[0] <= errors[1] * 1.001, "the error is larger than the peer's"
    return ours, theirs


def against_peer(report):
    if not (CACHE / "modern" / "sid" / ".complete").exists():
        report.skipped("onnxruntime.quantization", "*** sid IS MISSING *** (tools/setup.sh modern)")
        return
    for mode in OURS:
        for make in (products,) if "int4" in mode else (dense, convolutions):
            with report.case(f"peer {mode} {make.__name__}"), \
                    tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
                ours, theirs = check_peer(mode, make, pathlib.Path(folder))
                assert ours <= theirs / 10, "more than a tenth of the peer's memory"


# ---- streaming ------------------------------------------------------------------------


def language_model(path, layers, width, hidden, words):
    """Layers of a language model; the weights are a hole in a file."""
    nodes, tensors, offset, x = [], [], 0, "x"

    def product(name, a, rows, cols):
        nonlocal offset
        tensor = onnx.TensorProto(name=name, data_type=onnx.TensorProto.FLOAT, dims=[rows, cols],
                                  data_location=onnx.TensorProto.EXTERNAL)
        for key, value in (("location", path.name + ".data"), ("offset", offset),
                           ("length", rows * cols * 4)):
            tensor.external_data.add(key=key, value=str(value))
        offset += rows * cols * 4
        tensors.append(tensor)
        nodes.append(helper.make_node("MatMul", [a, name], [name + "_y"]))
        return name + "_y"

    for i in range(layers):
        a = [product(f"l{i}.{k}", x, width, width) for k in "qkv"]
        nodes.append(helper.make_node("Sum", a, [f"l{i}.s"]))
        o = product(f"l{i}.o", f"l{i}.s", width, width)
        up, gate = (product(f"l{i}.{k}", o, width, hidden) for k in ("up", "gate"))
        nodes.append(helper.make_node("Mul", [up, gate], [f"l{i}.m"]))
        x = product(f"l{i}.down", f"l{i}.m", hidden, width)
    y = product("head", x, width, words)
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, ["n", width])],
                              [helper.make_tensor_value_info(y, 1, ["n", words])], tensors)
    path.write_bytes(helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 21)]).SerializeToString())
    with open(str(path) + ".data", "wb") as data:
        data.truncate(offset)
    return offset // 4


def streaming(report, layers, width, hidden, words, limit):
    for options in (["--bits", "4"], ["--bits", "4", "--for", "onnxruntime"], ["--bits", "8"]):
        with report.case(f"memory of {layers} layers, {' '.join(options)}"), \
                tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            source = pathlib.Path(folder) / "m.onnx"
            n = language_model(source, layers, width, hidden, words)
            peak = peak_of([CALQUE, "quantize", source, "-o", pathlib.Path(folder) / "q.onnx",
                            "--no-verify", *options])
            print(f"{n / 1e9:.2f} billion weights, {' '.join(options)}: {peak / 2**20:.0f} MB", flush=True)
            assert peak <= limit, f"{peak} bytes, more than {limit}"


def main():
    report = Report(__file__)
    if not report.needs("onnx", "ort"):
        return report.finish()
    agreement(report)
    streaming(report, 2, 1024, 2816, 8000, 90 << 20)
    against_peer(report)
    if "--llama" in sys.argv:
        streaming(report, 32, 4096, 11008, 32000, 500 << 20)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

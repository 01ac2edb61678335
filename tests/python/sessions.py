#!/usr/bin/python3
"""Sessions run models on arrays, texts, sequences, maps and optionals, from any thread; the backend
interface is onnx's."""
import json
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import warnings

from package import RELU, Report, Skip, raises

import numpy as np
import calque
import calque.backend

HEAD = '<ir_version: 8, opset_import: ["": 17, "ai.onnx.ml": 3]> '


def session(text, **options):
    return calque.Session(calque.Model.parse(HEAD + text), **options)


def check_run():
    s = session("g (float[n] x, float[n] z) => (float[n] y, float[n] w) { y = Add(x, z) w = Neg(x) }")
    x, z = np.array([1, 2], "float32"), np.array([3, 4], "float32")
    y, w = s.run(None, {"z": z, "x": x})
    assert y.tolist() == [4, 6] and w.tolist() == [-1, -2] and y.flags.writeable
    assert [a.tolist() for a in s.run(["w"], {"x": x, "z": z})] == [[-1, -2]]
    assert s.run_in_order([x, z])[0].tolist() == [4, 6]
    assert "y, w" in raises(calque.NotFound, s.run, ["v"], {"x": x, "z": z}).hint
    assert "z" in raises(calque.Error, s.run, None, {"x": x}).message
    raises(calque.Error, s.run, None, {"x": x, "z": z, "q": z})
    error = raises(calque.TypeMismatch, s.run, None, {"x": x, "z": z.astype("int64")})
    assert isinstance(error, TypeError) and "int64" in error.message and error.where == "z", error


def check_arguments():
    s = session("g (float[n, 3] x, float[2] d) => (float[n, 3] y) <float[2] d = {1, 2}> "
                "{ y = Relu(x) }")
    assert repr(s.get_inputs()) == "[NodeArg(name='x', type='tensor(float)', shape=['n', 3])]"
    assert [a.name for a in s.get_overridable_initializers()] == ["d"]
    assert s.get_outputs()[0].shape == ["n", 3]


def check_no_copy():
    s = session("g (float[n] x) => (float[n] y) { y = Identity(x) }")
    x = np.arange(3, dtype="float32")
    y, = s.run(None, {"x": x})
    assert not y.flags.writeable or not np.shares_memory(x, y), "who writes to y changes x"
    constant = session("g () => (float[2] y) <float[2] w = {1, 2}> { y = Identity(w) }")
    y, = constant.run(None, {})
    assert not y.flags.writeable or not np.shares_memory(y, constant.run(None, {})[0])
    wide = session("g (float[2, 3] x) => (float[2, 3] y) { y = Neg(x) }")
    x = np.arange(6, dtype="float32").reshape(3, 2)
    assert (wide.run(None, {"x": x.T})[0] == -x.T).all(), "strides"


def check_feeds_of_python():
    """Lists and numbers of Python have the dtype that the model declares; arrays have their own."""
    s = session("g (float[n] x, int64[n] i, bool b) => (float[n] y, int64[n] j, bool c) "
                "{ y = Neg(x) j = Neg(i) c = Not(b) }")
    y, j, c = s.run(None, {"x": [1, 2.5], "i": (1, 2), "b": True})
    assert y.tolist() == [-1, -2.5] and j.tolist() == [-1, -2] and not c
    assert s.run(None, {"x": [], "i": [], "b": False})[0].shape == (0,)
    error = raises(calque.TypeMismatch, s.run, None, {"x": [1.0], "i": [1.5], "b": True})
    assert "float64" in error.message and error.hint == 'convert it: array.astype("int64")', error
    error = raises(calque.NotFound, s.run, None, {"X": [1.0]})
    assert error.hint == "its inputs are x, i, b", error


def check_numbers():
    model = calque.Model.parse(RELU)
    for name in ("threads", "max_memory", "max_steps"):
        assert name in raises(calque.ArgumentError, calque.Session, model, **{name: -1}).message
        raises(TypeError, calque.Session, model, **{name: "2"})
    for number in (-1, 65):
        assert "0 to 64" in raises(calque.ArgumentError, calque.set_threads, number).message
    raises(TypeError, calque.set_threads, "a")


def check_fork():
    """A child has sessions of its parent, even if threads of that are computing."""
    s = session(SLOW.replace("ROUNDS", "20"), threads=3)
    x = np.eye(200, dtype="float32")
    expected, stop = s.run(None, {"x": x})[0], threading.Event()

    def work():
        while not stop.is_set():
            s.run(None, {"x": x})

    worker = threading.Thread(target=work)
    worker.start()
    codes = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            signal.alarm(120)
            os._exit(0 if (s.run(None, {"x": x})[0] == expected).all() else 1)
        codes.append(os.waitpid(child, 0)[1])
    stop.set()
    worker.join()
    assert codes == [0, 0, 0], codes


def check_torch():
    try:
        import torch
    except ImportError:
        raise Skip("PyTorch is not installed") from None
    s = calque.Session(calque.Model.parse(RELU))
    for given in (torch.tensor([-1.0, 2.0]), torch.nn.Parameter(torch.tensor([-1.0, 2.0]))):
        assert s.run(None, {"x": given})[0].tolist() == [0, 2]


def check_sequences():
    s = session("g (seq(float[]) x) => (seq(float[]) y, int64 n, float[] first) "
                "{ zero = Constant <value = int64 {0}> () y = SequenceErase(x, zero) "
                "n = SequenceLength(x) first = SequenceAt(x, zero) }")
    items = [np.full(i, i, "float32") for i in range(1, 4)]
    y, n, first = s.run(None, {"x": items})
    assert [a.tolist() for a in y] == [[2, 2], [3, 3, 3]] and n == 3 and first.tolist() == [1]


def check_optionals():
    s = session("g (optional(float[n]) x) => (bool b) { b = OptionalHasElement(x) }")
    assert not s.run(None, {"x": None})[0] and s.run(None, {"x": np.ones(2, "float32")})[0]


def check_texts():
    s = calque.Session(calque.Model.parse(HEAD + "g (string[n] x) => (string[m] y) { "
                       'y = StringNormalizer <case_change_action = "UPPER"> (x) }'))
    for given in [np.array(["ab", "ç\0d"]), np.array(["ab", "ç\0d"], object)]:
        y, = s.run(None, {"x": given})
        assert y.tolist() == ["AB", "Ç\0D"] and y.dtype == object, y
    assert s.run(None, {"x": ["q"]})[0].tolist() == ["Q"]


def check_maps():
    z = session("g (float[n, 2] x) => (seq(map(int64, float)) y) { "
                "y = ai.onnx.ml.ZipMap <classlabels_int64s = [5, 7]> (x) }")
    assert z.run(None, {"x": np.array([[1, 2]], "float32")})[0] == [{5: 1.0, 7: 2.0}]


def check_half():
    s = session("g (float16[n] x) => (float16[n] y, bfloat16[n] b) "
                "{ y = Neg(x) b = Cast <to = 16> (x) }")
    y, b = s.run(None, {"x": np.array([1, 2], "float16")})
    assert y.dtype == np.float16 and y.tolist() == [-1, -2]
    try:
        import ml_dtypes
        assert b.dtype == ml_dtypes.bfloat16 and b.astype("float32").tolist() == [1, 2]
        half = session("g (bfloat16[n] x) => (bfloat16[n] y) { y = Neg(x) }")
        assert half.run(None, {"x": b})[0].astype("float32").tolist() == [-1, -2]
    except ImportError:
        assert b.dtype == np.uint16 and b.tolist() == [0x3F80, 0x4000], "the bits of bfloat16"
    bits = np.array([[0x3F80, 0], [0x4000, 0]], np.uint16)[:, 0]
    back = session("g (bfloat16[n] x) => (float[n] y) { y = Cast<to = 1>(x) }")
    assert back.run(None, {"x": bits})[0].tolist() == [1, 2]


def check_fetch():
    s = session("g (float[n] x) => (float[n] y) { t = Neg(x) y = Relu(t) }", fetch=["t"])
    assert s.run(["t"], {"x": np.ones(2, "float32")})[0].tolist() == [-1, -1]


def check_profile(folder):
    path = folder / "trace.json"
    s = session("g (float[n] x) => (float[n] y) { t = Neg(x) y = Relu(t) }", profile=path, threads=1)
    s.run(None, {"x": np.ones(2, "float32")})
    assert s.end_profiling() == str(path)
    events = json.loads(path.read_text())["traceEvents"]
    assert [event["cat"] for event in events] == ["Neg+Relu"] and events[0]["dur"] >= 0
    assert s.peak_memory >= 0
    raises(calque.NotFound, session("g (float[n] x) => (float[n] y) { y = Neg(x) }").end_profiling)


def check_limits():
    s = session("g (int64[1] n) => (float[m] y) { y = ConstantOfShape(n) }", max_memory=1000)
    raises(calque.Error, s.run, None, {"n": np.array([10 ** 6])})
    trap = session("g (float[n] x) => (float[n] y) { y = Log(x) }", trap_nan=True)
    assert "Log" in str(raises(calque.Error, trap.run, None, {"x": np.array([-1.0], "float32")}))


SLOW = """g (float[n, n] x) => (float[n, n] y) <int64 rounds = {ROUNDS}, bool yes = {1}> {
  y = Loop <body = b (int64 i, bool c, float[n, n] a) => (bool d, float[n, n] e) {
    d = Identity(c) p = MatMul(a, x) e = Tanh(p) }> (rounds, yes, x) }"""


def check_threads():
    """While one thread is in C, another one runs Python; and results are each thread's own."""
    s = session(SLOW.replace("ROUNDS", "400"), threads=1, max_steps=2 ** 63)
    x = np.eye(300, dtype="float32")
    expected = s.run(None, {"x": x})[0]
    done, results, ticks = threading.Event(), [], 0

    def work(scale):
        results.append((scale, s.run(None, {"x": x * scale})[0]))
        done.set()

    workers = [threading.Thread(target=work, args=(scale,)) for scale in (1, 1)]
    for worker in workers:
        worker.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    for worker in workers:
        worker.join()
    assert ticks > 5, f"Python ran {ticks} times while C worked"
    assert len(results) == 2 and all((got == expected).all() for _, got in results)


def check_onnxruntimes_arguments(folder):
    """Programs that say onnxruntime.InferenceSession need another name and nothing else."""
    path, x = folder / "relu.onnx", np.array([-1, 2], "float32")
    calque.Model.parse(RELU).save(path)
    options = calque.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    options.enable_profiling, options.profile_file_prefix = True, str(folder / "prefix")
    assert options.graph_optimization_level == 99
    error = raises(AttributeError, setattr, options, "intra_op_num_thread", 2)
    assert "did you mean intra_op_num_threads?" in str(error), error
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = calque.Session(str(path), options, ["CPUExecutionProvider"], [{}])
        assert calque.Session(path, sess_options=None, providers=None).get_providers() == \
            ["CPUExecutionProvider"] == s.get_providers()
    assert s.run(["y"], {"x": x}, None)[0].tolist() == [0, 2]
    assert pathlib.Path(s.end_profiling()).name.startswith("prefix_")
    assert (s.get_modelmeta().graph_name, s.get_modelmeta().custom_metadata_map) == ("relu", {})
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        s = calque.Session(path, providers=[("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"])
    assert len(heard) == 1 and "CUDAExecutionProvider" in str(heard[0].message), heard
    assert heard[0].filename == __file__ and s.run(None, {"x": x})[0].tolist() == [0, 2]
    raises(TypeError, calque.Session, path, providers="CPUExecutionProvider")


def check_reprs():
    """Short, whatever the model is; and tables in a notebook."""
    names = [f"x{i}" for i in range(300)]
    s = session(f"g ({', '.join(f'float[n] {name}' for name in names)}) => (float[n] y) "
                f"{{ y = Sum({', '.join(names)}) }}")
    for shown in (s, s.model, s.model.graph, s.model.graph.nodes[0], s.get_inputs()[0],
                  calque.inspect(s.model.to_bytes())):
        assert len(repr(shown)) < 120, repr(shown)
    assert repr(s) == "Session(x0, x1, x2, x3, x4, x5, … 300 in all -> y)"
    assert "<td style='text-align:left'>x1</td>" in s._repr_html_() and "300 in all" not in repr(s.model)
    wild = session("g (float[n] x) => (float[n] y) { y = Relu(x) }")
    wild.get_outputs()[0].name = "<script>"
    assert "&lt;script&gt;" in wild._repr_html_() and "<script>" not in wild._repr_html_()
    for shown in (s, s.model, s.model.graph, s.model.graph.initializers, calque.inspect(s.model.to_bytes())):
        page = shown._repr_html_()
        assert page.startswith("<table>") and page.count("<tr") < 100, page
    assert str(calque.inspect(s.model.to_bytes())).startswith("format: ONNX model")
    assert len(str(calque.inspect(s.model.to_bytes()))) < 3000


def check_backend():
    model = calque.Model.parse(HEAD + "g (float[n] x) => (float[n] y) { y = Neg(x) }")
    x = np.array([1, 2], "float32")
    for given in [[x], x, {"x": x}]:
        assert calque.backend.prepare(model).run(given).y.tolist() == [-1, -2]
    assert calque.backend.run_model(model.to_bytes(), [x])[0].tolist() == [-1, -2]
    assert calque.backend.is_compatible(model) and not calque.backend.is_compatible(model, "CUDA")
    unknown = calque.Model.parse(HEAD + "g (float[n] x) => (float[n] y) { y = Nothing(x) }")
    assert not calque.backend.is_compatible(unknown)
    raises(calque.NotFound, calque.backend.prepare, model, "CUDA")
    # A NodeProto: inputs are field 1, outputs 2, op_type 4.
    node = b"\x0a\x01x\x12\x01y\x22\x03Neg"
    assert calque.backend.run_node(node, [x]).y.tolist() == [-1, -2]


def check_onnx():
    """Messages of the onnx package are models and nodes."""
    try:
        import onnx
        from onnx import helper
    except ImportError:
        raise Skip("*** onnx IS MISSING *** (tools/setup.sh peers installs it)") from None
    x = np.array([-1, 2], "float32")
    proto = onnx.ModelProto.FromString(calque.Model.parse(RELU).to_bytes())
    assert calque.Session(proto).run(None, {"x": x})[0].tolist() == [0, 2]
    assert calque.backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [x]).y.tolist() == [0, 2]


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        for name, check in list(globals().items()):
            if name.startswith("check_"):
                with report.case(name[6:]):
                    check(*[pathlib.Path(folder)] * check.__code__.co_argcount)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Copies, pickles and sub-interpreters: every object that owns or shows memory of the library is either
copied with that memory or refused with a message. Under AddressSanitizer where there is a build with it."""
import copy
import gc
import inspect
import multiprocessing
import pathlib
import pickle
import sys
import tempfile

from package import ENVIRONMENT, RELU, Report, Skip, raises, run, sanitized

import numpy as np
import calque
import calque.backend
from calque import _call, _graph, _tensor

X = np.array([-1, 2], "float32")
WAYS = {"copy.copy": copy.copy, "copy.deepcopy": copy.deepcopy,
        **{f"pickle protocol {n}": lambda it, n=n: pickle.loads(pickle.dumps(it, n))
           for n in range(pickle.HIGHEST_PROTOCOL + 1)}}
WEIGHTED = """<ir_version: 8, opset_import: ["": 17], producer_name: "me">
g (float[n] x) => (float[n] y) <float[2] w = {1, 2}> {
  t = Mul(x, w)
  y = If(yes) <then_branch = a () => (float[n] p) { p = Relu(t) },
               else_branch = b () => (float[n] q) { q = Neg(t) }>
}""".replace("y = If(yes)", "yes = Constant <value = bool {1}> () y = If(yes)")


def model():
    return calque.Model.parse(WEIGHTED)


def subclasses(kind):
    found = [kind]
    for derived in kind.__subclasses__():
        found += subclasses(derived)
    return found


def check_models(way):
    first = model()
    first.report = {"operators": [{"name": "Mul"}]}
    second = way(first)
    assert second is not first and second.pointer.value != first.pointer.value
    assert second.to_bytes() == first.to_bytes() and second.report == first.report
    second.strip(threshold=0)
    assert first.graph.initializers["w"].tolist() == [1, 2], "a change of the copy is one of the original"
    third = way(second)
    assert third._is_stripped and third.to_bytes() == second.to_bytes()
    weight = way(first).graph.initializers["w"]
    del first, second
    gc.collect()
    assert weight.tolist() == [1, 2]


def check_external_data(way):
    """A copy has the weights that its original has in another file."""
    source = b"def forward(x: Tensor):\n    return x + torch.ones(2) * 4\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        calque.export(source, inputs=[X]).save(path, external_data=True, threshold=1)
        assert len(list(path.parent.iterdir())) == 2, "external data is missing"
        first, session = way(calque.load(path)), way(calque.Session(path))
    weight, = first.graph.initializers.values()
    assert weight.tolist() == [4, 4]
    assert session.run(None, {"x": X})[0].tolist() == [3, 6]


def check_sessions(way):
    first = calque.Session(model(), threads=1, fetch=["t"])
    second = way(first)
    del first
    gc.collect()
    assert [y.tolist() for y in second.run(None, {"x": X})] == [[0, 4], [-1, 4]]
    third = way(second)
    assert repr(third) == repr(second) and third.run(["t"], {"x": X})[0].tolist() == [-1, 4]
    assert way(calque.backend.prepare(model())).run([X]).y.tolist() == [0, 4]


def check_tensors(way):
    for array in [X, X[::-1], np.zeros((0, 3)), np.array(3), np.array([True]), np.ones(2, "complex64")]:
        first = calque.Tensor(array)
        second = way(first)
        assert np.array_equal(second.numpy(), array) and second.dtype == array.dtype
        assert (second.address == first.address) == (way is copy.copy or array.size == 0 and
                                                     second.address == first.address)
    half = calque.Tensor(np.array([0x3F80], np.uint16)).viewed(calque._dtypes.CODES["bfloat16"])
    assert repr(way(half)) == "Tensor(bfloat16[1])"


def check_views(way):
    graph = model().graph
    views = [graph, graph.nodes[0], graph.inputs[0], graph.initializers,
             graph.nodes[-1].attributes["then_branch"]]
    for view in views:
        if way is copy.copy:
            assert repr(way(view)) == repr(view)
        else:
            message = str(raises(TypeError, way, view))
            assert type(view).__name__ in message and "copy or pickle its model" in message, message


def check_plain(way):
    session = calque.Session(model())
    assert repr(way(session.get_inputs())) == repr(session.get_inputs())
    wrong = calque.Model.parse(RELU.replace("Relu(x)", "Nothing(x)"))
    assert way(wrong.check()) == wrong.check() != []
    verified = calque.Verified("y", (2,), 0.5)
    assert way(verified) == verified
    proof = calque.Proof(2, 0.5, "", "right at batch=2,3")
    assert way(proof) == proof
    info, options = calque.inspect(wrong.to_bytes()), calque.SessionOptions()
    options.intra_op_num_threads = 3
    assert way(info) == info and repr(way(info)) == repr(info) and repr(way(options)) == repr(options)
    assert way(session.get_modelmeta()) == session.get_modelmeta()


def check_programs(way):
    program = calque.Program(b"def forward(x: Tensor):\n    return x\n")
    assert "load the file again" in str(raises(TypeError, way, program))


def check_errors(way):
    for kind in subclasses(calque.Error):
        first = kind("what", "where", "hint", "excerpt")
        first.report = {"missing": []}
        second = way(first)
        assert type(second) is kind and str(second) == str(first), (kind, second)
        assert (second.message, second.where, second.hint, second.excerpt, second.report) == \
            ("what", "where", "hint", "excerpt", {"missing": []})


def check_handles(way):
    for kind in subclasses(_call.Handle):
        assert "owns memory" in str(raises(TypeError, way, kind())), kind


def check_no_class_is_left_out(_way):
    """Whatever the package exports is copied by one of the checks above."""
    known = {calque.Info, calque.Audit, calque.AuditFinding, calque.ModelMetadata, calque.SessionOptions, calque.Program, calque.Verified, calque.Model, calque.Session, calque.Tensor, calque.NodeArg, calque.Finding, calque.Proof,
             *subclasses(calque.Error), calque.CalqueWarning, *subclasses(_graph.View)}
    classes = {what for what in vars(calque).values() if inspect.isclass(what)}
    assert classes <= known, classes - known
    assert all(kind in classes or kind is _graph.View for kind in subclasses(_graph.View))


def check_views_come_from_models():
    for kind in subclasses(_graph.View):
        assert "of a model" in str(raises(TypeError, kind, model(), 1)), kind


def in_child(session, array):
    return session.run(None, {"x": array})[0].tolist(), pickle.dumps(session.model)


def failing_child():
    calque.load("/nowhere/model.onnx")


def check_processes():
    """As pools do it: a session goes to a new process, and an error comes back."""
    session = calque.Session(model())
    for method in ("spawn", "fork"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            outputs, pickled = pool.apply(in_child, (session, X))
            assert outputs == [0, 4] and pickle.loads(pickled).diff(session.model) == []
            error = raises(calque.NotFound, pool.apply, failing_child)
            assert error.where == "/nowhere/model.onnx", vars(error)


SUBINTERPRETER = """
import calque, sys
try:
    import _xxsubinterpreters as interpreters  # 3.11, 3.12
    run = interpreters.run_string
except ImportError:
    import _interpreters as interpreters
    run = interpreters.exec
def new():
    try:
        return interpreters.create(isolated=False)
    except TypeError:
        return interpreters.create("legacy")
inner = new()
said = run(inner, '''
try:
    import calque
except ImportError as error:
    print("refused:", error)
else:
    print("imported")
''')
interpreters.destroy(inner)
print(calque.Model.parse('<ir_version: 8, opset_import: ["": 17]> g (x) => (y) { y = Relu(x) }'))
"""


def check_subinterpreters():
    code, out, err = run([sys.executable, "-c", SUBINTERPRETER], env=ENVIRONMENT)
    if "ModuleNotFoundError" in err:
        raise Skip("this Python has no sub-interpreters")
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("refused: ") and lines[-1].startswith("Model("), out + err
    assert "sub-interpreter" in lines[0].replace("subinterpreter", "sub-interpreter"), lines


def main():
    report = Report(__file__)
    checks = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}
    for name, check in checks.items():
        if check.__code__.co_argcount:
            for way in WAYS:
                with report.case(f"{name}, {way}"):
                    check(WAYS[way])
        else:
            with report.case(name):
                check()
    if sys.argv[1:] != ["sanitized"]:
        with report.case("AddressSanitizer finds no error"):
            sanitized([__file__, "sanitized"])
    gc.collect()
    report.check("no memory of others is kept", not _tensor._owners, f"{len(_tensor._owners)} owners")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Ctrl-C during a long call raises KeyboardInterrupt, soon; handlers of the program are called as if
nothing was in between; and what was under way leaves nothing behind."""
import importlib.util
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

from package import ENVIRONMENT, Report, Skip, run
from peers import TIMEOUT, cpu_seconds, slowness, wait_for_cpu

SETUP = '''
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs tests in the background ignores it
import numpy as np
import calque
x = np.eye(64, dtype="float32")
loop = """<ir_version: 8, opset_import: ["": 17]>
g (float[n, n] x) => (float[n, n] y) <int64 rounds = {1000000000}, bool yes = {1}> {
  y = Loop <body = b (int64 i, bool c, float[n, n] a) => (bool d, float[n, n] e) {
    d = Identity(c) p = MatMul(a, x) e = Tanh(p) }> (rounds, yes, x) }"""
source = (b"def forward(x: Tensor):\\n    a = [0] * 1000000\\n    for i in range(1000):\\n"
          b"        for j in range(1000):\\n            a.reverse()\\n    return x * a[0]\\n")
def run():
    calque.Session(calque.Model.parse(loop), max_steps=2 ** 63).run(None, {"x": x})
def export():
    calque.export(source, sys.argv[1], [x], max_steps=2 ** 62)
'''
BODIES = {
    "while a session runs": "run()",
    "while a model is exported": "export()",
    "in a thread, while the main one waits": """
import threading, os
worker = threading.Thread(target=run, daemon=True)
worker.start()
worker.join()""",
}
CAUGHT = """
try:
    print("ready", flush=True)
    {body}
except KeyboardInterrupt:
    print("caught", signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)
    import os
    os._exit(0)
"""
HANDLED = """
def handle(number, frame):
    print("handled", number, flush=True)
    sys.exit(3)
signal.signal(signal.SIGINT, handle)
print("ready", flush=True)
run()
"""
AGAIN = """
try:
    print("ready", flush=True)
    run()
except KeyboardInterrupt:
    pass
y, = calque.Session(calque.Model.parse(loop.replace("1000000000", "3"))).run(None, {"x": x})
print("again", y.shape, flush=True)
"""


# A handler of any signal may raise what it likes, as in a program that sets an alarm.
ALARM = """
class Late(Exception):
    pass
def handle(number, frame):
    raise Late(number)
signal.signal(signal.SIGALRM, handle)
def late(work):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        work()
    except Late as error:
        assert error.__context__ is None, error.__context__
        print("late", *error.args, flush=True)
late(run)
late(export)
late(lambda: calque.Session(calque.Model.parse(loop), max_steps=2 ** 63).run_in_order([x]))
y, = calque.Session(calque.Model.parse(loop.replace("1000000000", "3"))).run(None, {"x": x})
print("again", y.shape, flush=True)
"""
# One that returns interrupts nothing, but may use calque itself.
RETURNS = """
model = calque.Model.parse(loop.replace("1000000000", "3"))
def handle(number, frame):
    print("handled", calque.Session(model).run(None, {"x": x})[0].shape, flush=True)
signal.signal(signal.SIGALRM, handle)
signal.signal(signal.SIGINT, handle)
signal.setitimer(signal.ITIMER_REAL, 0.05)
y, = calque.Session(calque.Model.parse(loop.replace("1000000000", ROUNDS)), threads=1, max_steps=2 ** 63).run(None, {"x": x})
print("ended", y.shape, flush=True)
"""
# During a callback from C: the exception is that of the symbolic function, or of the handler in it.
SYMBOLIC = """
import torch, calque.onnx
def handle(number, frame):
    raise ZeroDivisionError
signal.signal(signal.SIGALRM, handle)
calls = []
def hardswish(g, x):
    calls.append(x)
    if len(calls) == 100:
        signal.raise_signal(signal.SIGALRM)
    return g.op("HardSwish", x)
calque.onnx.register_custom_op_symbolic("aten::hardswish", hardswish, 14)
model = torch.nn.Sequential(*[torch.nn.Hardswish() for _ in range(300)])
try:
    calque.onnx.export(model, torch.ones(2), opset_version=14)
except ZeroDivisionError:
    print("raised", flush=True)
"""


def finished(program):
    """What a program prints that runs to its end."""
    code, out, err = run([sys.executable, "-c", SETUP + program, os.devnull], env=ENVIRONMENT)
    assert code == 0 and not err, (code, out, err)
    return out


def children_seconds():
    """The processor time of all programs that were started here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def interrupted(program, out):
    """Runs a program, presses Ctrl-C when it has computed for half a second: (exit code, output, seconds
    of the processor from there on)."""
    process = subprocess.Popen([sys.executable, "-c", SETUP + program, str(out)], env=ENVIRONMENT,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    wait_for_cpu(process, cpu_seconds(process.pid) + 0.5)
    assert process.poll() is None, "it was over before it was interrupted"
    began, others = cpu_seconds(process.pid), children_seconds()
    process.send_signal(signal.SIGINT)
    try:
        said, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("it goes on") from None
    return process.returncode, said + err, children_seconds() - others - began


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.onnx"
        for name, body in BODIES.items():
            with report.case(f"Ctrl-C {name}"):
                code, said, seconds = interrupted(CAUGHT.format(body=body.replace("\n", "\n    ")),
                                                  out)
                assert code == 0 and said == "caught True\n", (code, said)
                assert seconds < 5 * slowness(), f"it took {seconds:.1f} s"
                assert not list(pathlib.Path(folder).iterdir()), "a file was left behind"
        with report.case("the program's own handler is called"):
            code, said, _ = interrupted(HANDLED, out)
            assert (code, said) == (3, "handled 2\n"), (code, said)
        with report.case("the next call works"):
            code, said, _ = interrupted(AGAIN, out)
            assert (code, said) == (0, "again (64, 64)\n"), (code, said)
        with report.case("what a handler raises comes out of the call"):
            said = finished(ALARM)
            assert said == "late 14\n" * 3 + "again (64, 64)\n", said
        with report.case("a handler that returns interrupts nothing"):
            said = finished(RETURNS.replace("ROUNDS", "'30000'"))
            assert said == "handled (64, 64)\nended (64, 64)\n", said
        with report.case("what a handler raises during a symbolic function comes out of the export"):
            if not importlib.util.find_spec("torch"):
                raise Skip("PyTorch is not installed")
            assert finished(SYMBOLIC) == "raised\n"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

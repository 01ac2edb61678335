#!/usr/bin/python3
"""Ctrl-C during a long call raises KeyboardInterrupt, soon; handlers of the program are called as if
nothing was in between; and what was under way leaves nothing behind."""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from package import ENVIRONMENT, Report

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
print("ready", flush=True)
try:
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
print("ready", flush=True)
try:
    run()
except KeyboardInterrupt:
    pass
y, = calque.Session(calque.Model.parse(loop.replace("1000000000", "3"))).run(None, {"x": x})
print("again", y.shape, flush=True)
"""


def interrupted(program, out):
    """Runs a program, presses Ctrl-C half a second after it is ready: (exit code, output, seconds)."""
    process = subprocess.Popen([sys.executable, "-c", SETUP + program, str(out)], env=ENVIRONMENT,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    time.sleep(0.5)
    assert process.poll() is None, "it was over before it was interrupted"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        said, err = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("it goes on") from None
    return process.returncode, said + err, time.monotonic() - began


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.onnx"
        for name, body in BODIES.items():
            with report.case(f"Ctrl-C {name}"):
                code, said, seconds = interrupted(CAUGHT.format(body=body.replace("\n", "\n    ")),
                                                  out)
                assert code == 0 and said == "caught True\n", (code, said)
                assert seconds < 5, f"it took {seconds:.1f} s"
                assert not list(pathlib.Path(folder).iterdir()), "a file was left behind"
        with report.case("the program's own handler is called"):
            code, said, _ = interrupted(HANDLED, out)
            assert (code, said) == (3, "handled 2\n"), (code, said)
        with report.case("the next call works"):
            code, said, _ = interrupted(AGAIN, out)
            assert (code, said) == (0, "again (64, 64)\n"), (code, said)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

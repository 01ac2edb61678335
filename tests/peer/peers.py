"""What the tests of tests/peer, tests/golden and tests/repo share: the calque binary, the real
onnx and ONNX Runtime, comparison of arrays, and the counting of results.

    report = Report(__file__)
    if report.needs("onnx", "ort"):
        for name in names:
            with report.case(name):             # an exception is a failure
                expect_close(run_ort(path, feeds)[0], want)
    sys.exit(report.finish())                   # prints `N passed, M failed`

A script finds this module with `sys.path.insert(0, <tests/peer>)` if it lives elsewhere.
run_tests.py sets CALQUE (the binary), CALQUE_BUILD (its build folder) and CALQUE_JOBS.
"""
import contextlib
import functools
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

import peer_cpu  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("CALQUE_BUILD", ROOT / "build"))
CALQUE = os.environ.get("CALQUE", str(BUILD / "calque"))
JOBS = int(os.environ.get("CALQUE_JOBS", os.cpu_count() or 1))
IN_CI = os.environ.get("CI") == "true"
ONNX_TEST_DATA = pathlib.Path("/usr/include/onnx/backend/test/data")

SHOWN_FAILURES = 50

# Modules of peers: where one is missing, what needs it is skipped.
MODULES = {"numpy", "onnx", "onnxruntime", "PIL", "torch", "torchvision"}

# Relative and absolute tolerance for results of one operator, by element type. Whole models,
# whose errors add up, pass their own and say why.
TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
              "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}


# ---- counting -------------------------------------------------------------------------


def has_ort():
    import ort
    return ort.find_library() is not None


def has_module(name):
    return importlib.util.find_spec(name) is not None


PEERS = {
    "torch": (functools.partial(has_module, "torch"), "python3-torch"),
    "torchvision": (functools.partial(has_module, "torchvision"), "python3-torchvision"),
    "onnx": (functools.partial(has_module, "onnx"), "python3-onnx"),
    "onnx-testdata": (ONNX_TEST_DATA.is_dir, "libonnx-testdata"),
    "ort": (has_ort, "onnxruntime-node"),
    "pil": (functools.partial(has_module, "PIL"), "python3-pil, which comes with python3-torchvision"),
}


class Skip(Exception):
    """Raised inside Report.case to skip it, with the reason."""


class Report:
    """Counts results, prints what failed, and ends with the line that run_tests.py adds up."""

    def __init__(self, title):
        self.title = pathlib.Path(title).name
        self.n_passed = self.n_failed = self.n_skipped = 0

    def passed(self, name=None):
        self.n_passed += 1

    def failed(self, name, why):
        self.n_failed += 1
        if self.n_failed <= SHOWN_FAILURES:
            print(f"FAIL {name}: {why}", flush=True)
        elif self.n_failed == SHOWN_FAILURES + 1:
            print("further failures are counted, not shown", flush=True)

    def skipped(self, name, why):
        self.n_skipped += 1
        print(f"skip {name}: {why}", flush=True)

    def check(self, name, ok, why="not so"):
        """One test that is a yes or no."""
        if ok:
            self.passed(name)
        else:
            self.failed(name, why)
        return ok

    @contextlib.contextmanager
    def case(self, name):
        """One test that passes when its block ends, and fails when it raises."""
        try:
            yield
        except Skip as why:
            self.skipped(name, why)
        except ModuleNotFoundError as error:
            missing = str(error.name).split(".")[0]
            if missing not in MODULES or IN_CI:
                self.failed(name, f"{type(error).__name__}: {error}")
            else:
                self.skipped(name, f"*** {missing} IS MISSING ***")
        except AssertionError as error:
            self.failed(name, str(error) or traceback.format_exc(limit=-1).strip())
        except Exception as error:  # a test that breaks is a test that fails
            self.failed(name, f"{type(error).__name__}: {error}")
        else:
            self.passed(name)

    def needs(self, *names):
        """Whether all these peers are installed. If not, prints a warning; in CI it fails."""
        missing = [name for name in names if not PEERS[name][0]()]
        for name in missing:
            note = self.failed if IN_CI else self.skipped
            note(self.title, f"*** {name} IS MISSING *** (tools/setup.sh peers installs "
                 f"{PEERS[name][1]}); nothing here was tested")
        return not missing

    def expected_refusals(self, found, was_run=lambda op: True):
        """Compares refusals, {operator: number of cases}, with the list of expected ones in
        tests/peer/expected/. A new refusal fails; so does a listed one that no longer happens, until
        `--bless` rewrites the list. Lines of operators that were not run stay as they are."""
        path = ROOT / "tests" / "peer" / "expected" / f"{pathlib.Path(self.title).stem}.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        listed = {op: int(n) for op, n in (line.rsplit(" ", 1) for line in lines)}
        expected = {op: n for op, n in listed.items() if was_run(op)}
        if "--bless" in sys.argv:
            listed = {op: n for op, n in listed.items() if not was_run(op)} | found
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{op} {n}\n" for op, n in sorted(listed.items())))
            expected = found
        for op in sorted(found.keys() | expected.keys()):
            now, before = found.get(op, 0), expected.get(op, 0)
            hint = "a new refusal" if now > before else "fewer refusals: run it with --bless"
            self.check(op, now == before, f"refused in {now} cases, expected {before} ({hint})")

    def finish(self):
        """Prints the summary; returns the exit code."""
        skipped = f", {self.n_skipped} skipped" if self.n_skipped else ""
        print(f"{self.n_passed} passed, {self.n_failed} failed{skipped}", flush=True)
        return 1 if self.n_failed else 0


def optional(name):
    """A module of a peer for a script that says later what it needs; None if it is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def run_cases(title, cases, check):
    """The main of a script whose models are cases by name, all or those that its arguments name:
    check(name, folder) exports and runs one, in a folder of its own. Returns the exit code."""
    warnings.filterwarnings("ignore")
    report = Report(title)
    if report.needs("torch", "onnx", "ort"):
        for name in [word for word in sys.argv[1:] if word != "-v"] or cases:
            with report.case(name), tempfile.TemporaryDirectory() as folder:
                check(name, pathlib.Path(folder))
    return report.finish()


# ---- programs -------------------------------------------------------------------------


TIMEOUT = 600  # seconds: for programs that take a second on a quiet machine, on a busy one


@functools.lru_cache(maxsize=1)
def slowness():
    """How much slower than the reference, of 2026, one processor of this machine is; at least 1."""
    best = 1e9
    for _ in range(5):
        began, n = time.process_time(), 0
        for i in range(1_000_000):
            n += i * i
        best = min(best, time.process_time() - began)
    return max(1.0, best / 0.07)


def cpu_seconds(pid):
    """The processor time of a process so far, of all its threads; None if it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_cpu(process, seconds):
    """Waits until a process has computed that long, or has ended: other programs do not matter."""
    while process.poll() is None and (cpu_seconds(process.pid) or 0) < seconds:
        time.sleep(0.01)


def run(command, timeout=TIMEOUT, **kwargs):
    """Runs a program: (exit code, standard output, standard error), both as text."""
    done = subprocess.run([str(arg) for arg in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, text=True, errors="replace",
                          **kwargs)
    return done.returncode, done.stdout, done.stderr


def calque(*args, **kwargs):
    """Runs the calque binary: (exit code, standard output, standard error)."""
    return run([CALQUE, *args], **kwargs)


def has_verb(verb):
    """Whether the binary knows a verb yet."""
    return os.path.exists(CALQUE) and calque(verb, "--help")[0] == 0


@functools.lru_cache(maxsize=8)
def session_of(path, stamp, optimize):
    import ort
    return ort.Session(path, optimize=optimize)


def run_ort(model, feeds, optimize="basic"):
    """Runs a model (a path, or bytes) in ONNX Runtime: {name: array} to a list of arrays."""
    import ort
    if isinstance(model, bytes):
        return ort.Session(model, optimize=optimize).run(feeds)
    path, stat = os.path.abspath(model), os.stat(model)
    return session_of(path, (stat.st_mtime_ns, stat.st_size, stat.st_ino), optimize).run(feeds)


def check_onnx(path, full=True):
    """Raises what the real onnx checker has against a model file."""
    import onnx.checker
    onnx.checker.check_model(str(path), full_check=full)


# ---- tensors --------------------------------------------------------------------------


def load_pb(path):
    """A TensorProto or SequenceProto file as an array, or a list of them."""
    import onnx
    import onnx.numpy_helper
    data = pathlib.Path(path).read_bytes()
    tensor = onnx.TensorProto()
    try:
        tensor.ParseFromString(data)
        if tensor.data_type:
            return to_array(tensor)
    except Exception:  # not a tensor: the field numbers of a sequence do not fit
        pass
    sequence = onnx.SequenceProto()
    sequence.ParseFromString(data)
    return [to_array(item) for item in sequence.tensor_values]


def to_array(tensor):
    """As onnx.numpy_helper.to_array, but strings are str and bfloat16 stays what it is."""
    import numpy as np
    import onnx
    import onnx.numpy_helper
    import ort
    if tensor.data_type == onnx.TensorProto.BFLOAT16:
        if tensor.HasField("raw_data"):
            bits = np.frombuffer(tensor.raw_data, "<u2")
        else:
            bits = np.array(tensor.int32_data, np.uint16)
        return bits.astype(np.uint16).view(ort.bfloat16).reshape(tuple(tensor.dims))
    array = onnx.numpy_helper.to_array(tensor)
    if tensor.data_type == onnx.TensorProto.STRING:
        texts = [t.decode() if isinstance(t, bytes) else t for t in array.reshape(-1)]
        array = np.array(texts, object).reshape(array.shape)
    return array


def expect_close(got, want, rtol=None, atol=None, name="result"):
    """Raises AssertionError unless got has the dtype, shape and, within tolerance, the values
    of want. NaN equals NaN; lists are compared item by item."""
    import numpy as np
    import ort
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want), f"{name}: {len(got)} items, expected {len(want)}"
        for i, (one, other) in enumerate(zip(got, want)):
            expect_close(one, other, rtol, atol, f"{name}[{i}]")
        return
    got, want = np.asarray(got), np.asarray(want)
    kinds = ["bfloat16" if a.dtype.names else a.dtype.name for a in (got, want)]
    assert kinds[0] == kinds[1], f"{name}: dtype {kinds[0]}, expected {kinds[1]}"
    assert got.shape == want.shape, f"{name}: shape {got.shape}, expected {want.shape}"
    if kinds[0] == "bfloat16":
        got, want = ort.from_bf16(got), ort.from_bf16(want)
    default = TOLERANCES.get(kinds[0], (0, 0))
    rtol, atol = (default[0] if rtol is None else rtol), (default[1] if atol is None else atol)
    if got.dtype.kind in "fc":
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        close = np.isclose(got.astype(wide), want.astype(wide), rtol, atol, equal_nan=True)
    else:
        close = got == want
    if not np.all(close):
        at = tuple(int(i) for i in np.argwhere(~np.asarray(close))[0])
        raise AssertionError(f"{name}: {np.size(close) - np.count_nonzero(close)} of "
                             f"{np.size(close)} differ, first at {at}: {got[at]}, expected {want[at]}")

"""What the tests of the Python package share: the package of this tree, on the library that was
built last, and Report."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/peer"), str(ROOT / "python")]
from peers import BUILD, CALQUE, Report, Skip, run  # noqa: E402, F401

os.environ["CALQUE_LIBRARY"] = str(BUILD / "libcalque.so")
DATA = ROOT / "tests/data"

# For programs that a test starts.
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(ROOT / "python"))

RELU = """<ir_version: 8, opset_import: ["": 17]>
relu (float[n] x) => (float[n] y) { y = Relu(x) }"""


def raises(kind, function, *arguments, **keywords):
    """The exception of that kind that a call raises."""
    try:
        function(*arguments, **keywords)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def sanitized(arguments, timeout=2400):
    """What a test prints that runs on the library of the build with AddressSanitizer, which must find
    nothing; nor may memory of the library leak."""
    build = ROOT / "build/asan"
    if not (build / "libcalque.so").exists() or BUILD.name == "quick":
        raise Skip("the build with AddressSanitizer is missing")
    # The sanitizer looks for C++'s exceptions, which PyTorch throws, before PyTorch is loaded.
    preload = " ".join(
        subprocess.run(["gcc", f"-print-file-name={name}"], text=True, check=True,
                       stdout=subprocess.PIPE).stdout.strip()
        for name in ("libasan.so", "libstdc++.so.6"))
    # Python itself leaves memory behind at its end: a leak of calque's is one with its frames. With
    # Python's own allocator the sanitizer would not see objects being freed.
    environment = dict(ENVIRONMENT, CALQUE_BUILD=str(build), LD_PRELOAD=preload,
                       PYTHONMALLOC="malloc",
                       ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=0:"
                                    "alloc_dealloc_mismatch=0",  # PyTorch mixes them
                       LSAN_OPTIONS="exitcode=0")
    code, out, err = run([sys.executable, *map(str, arguments)], env=environment, timeout=timeout)
    assert code == 0 and "ERROR: AddressSanitizer" not in err, out[-2000:] + err[:3000]
    leaks = [leak for leak in err.split("\n\n") if " leak of " in leak and "libcalque" in leak]
    assert not leaks, "\n\n".join(leaks[:3])
    return out

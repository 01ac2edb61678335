"""What the tests of the Python package share: the package of this tree, on the library that was
built last, and Report."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/peer"), str(ROOT / "python")]
from peers import BUILD, Report, Skip, run  # noqa: E402, F401

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

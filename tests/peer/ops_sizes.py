#!/usr/bin/python3
"""The models of ops_export.py with dynamic sizes, run on other sizes than those they were exported
with, against PyTorch on the same. This detects sizes that were wrongly fixed to the example.

    ops_sizes.py [FAMILY …]

Every size above 1 is one larger; the other arguments stay. Where PyTorch refuses the new sizes
(a view to a fixed shape) there is nothing to compare.
"""
import concurrent.futures
import json
import os
import sys
import warnings

import ops_export
import peers
from ops_export import DATA, NO_KERNEL
from peers import JOBS, ROOT, Report, expect_close

OPSETS = [8, 11, 17]

# Generated data cancels more than the hand-written cases.
TOLERANCES = {"float16": (2e-3, 1e-3)}
TOLERANCE = (1e-4, 1e-5)

# Operators for which other sizes mean nothing, with the reason.
NOT_HERE = {
    "aten::multinomial": "random", "aten::bernoulli": "random", "aten::poisson": "random",
    "aten::searchsorted": "made-up numbers are not sorted",
    "aten::bucketize": "made-up numbers are not sorted",
    "aten::split": "the number of parts is fixed", "aten::unsafe_split": "the number of parts is fixed",
    "aten::chunk": "the number of parts is fixed", "aten::unsafe_chunk": "the number of parts is fixed",
    "aten::tensor_split": "the number of parts is fixed",
    "aten::native_channel_shuffle": "PyTorch does not check that groups divide the channels",
    "aten::_reshape_alias": "PyTorch does not check it",
    "aten::embedding_bag": "PyTorch does not check made-up bags, and writes past its memory",
    "aten::_embedding_bag": "PyTorch does not check made-up bags, and writes past its memory",
    "aten::_embedding_bag_forward_only": "PyTorch does not check made-up bags, and writes past its memory",
    "aten::pdist": "the number of rows is baked in, with a warning",
    "aten::cross": "the dimension is the example's, with a warning",
    "aten::linalg_inv": "the number of rows is baked in, with a warning",
    "aten::inverse": "the number of rows is baked in, with a warning",
    "aten::fft_irfft": "the length of the transform is baked in, with a warning",
    "aten::fft_hfft": "the length of the transform is baked in, with a warning",
    "aten::fft_fftshift": "the way to shift is baked in, with a warning",
    "aten::fft_ifftshift": "the way to shift is baked in, with a warning",
    "aten::linalg_inv_ex": "the number of rows is baked in, with a warning",
    "aten::cholesky_solve": "the number of rows is baked in, with a warning",
    "aten::cholesky_inverse": "the number of rows is baked in, with a warning",
    "aten::linalg_cholesky_ex": "the number of rows is baked in, with a warning",
    "aten::linalg_solve": "the number of rows is baked in, with a warning",
    "aten::linalg_solve_ex": "the number of rows is baked in, with a warning",
    "aten::linalg_solve_triangular": "the number of rows is baked in, with a warning",
    "aten::triangular_solve": "the number of rows is baked in, with a warning",
    "aten::lu_solve": "the number of rows is baked in, with a warning",
    "aten::qr": "the number of columns is baked in, with a warning",
    "aten::matrix_power": "negative powers are inverses, whose number of rows is baked in",
    "aten::linalg_matrix_power": "negative powers are inverses, whose number of rows is baked in",
    "aten::baddbmm": "PyTorch lets NaN through where beta is 0, at random",
}
# The same for some types only: those that ONNX Runtime has no kernel for, so that calque
# decomposes the operator; what it bakes in it warns of.
NOT_IN = {
    ("aten::det", "float64"): "the number of rows is baked in, with a warning",
    ("aten::conv1d", "float64"): "the size of the kernel is baked in, with a warning",
    ("aten::conv2d.padding", "float32"): "\"same\" needs the size of the kernel, which is baked in",
}
RECURRENT = "rnn"  # sizes of weights hang together: 4 * hidden
HOST = "meta"      # results are numbers
PACKED = "prepacked"  # weights are packed by a separate call
# Tensors that NumPy has no type for, and regions whose sizes mean something. Families that end in
# _2 are of operators that the PyTorch of this test does not have.
APART = {RECURRENT, HOST, PACKED, "quantized", "vision"} | {path.stem for path in DATA.glob("*_2.json")}


def grown(array, random):
    """An array of the same kind and range whose sizes above 1 are one larger."""
    import numpy as np
    shape = [n + 1 if n > 1 else n for n in array.shape]
    if array.dtype.kind != "f" or not array.size:
        return np.resize(array, shape)
    finite = array[np.isfinite(array)]
    low, high = np.min(finite, initial=0), np.max(finite, initial=1)
    values = np.linspace(low, high, max(int(np.prod(shape)), 1))
    return random.permutation(values).astype(array.dtype).reshape(shape)


def arguments(values, random, feeds):
    """A case's arguments for PyTorch, with grown tensors, which are added to feeds too."""
    import numpy as np
    import torch

    def one(value):
        if isinstance(value, list):
            return [one(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "t" in value:
            feeds.append(grown(ops_export.array(value), random))
            return torch.from_numpy(np.array(feeds[-1]))
        if "dtype" in value:
            return getattr(torch, value["dtype"])
        if "device" in value:
            return torch.device(value["device"])
        return complex(*value["c"]) if "c" in value else float(value["f"])
    return [one(value) for value in values]


def expected(one, random, feeds):
    """PyTorch's results for the new sizes; None if it rejects them."""
    import make
    import torch
    op = make.overload_of(one["op"])
    args = arguments(one["args"], random, feeds)
    schema = op._schema.arguments
    named = {a.name: value for a, value in zip(schema, args) if a.kwarg_only}
    try:
        result = make.call(op, [v for a, v in zip(schema, args) if not a.kwarg_only], named)
    except (RuntimeError, IndexError, ValueError, NotImplementedError):
        return None
    flat = []
    for item in result if isinstance(result, tuple) else [result]:
        flat += item if isinstance(item, (list, tuple)) else [item]
    return [item.contiguous().numpy() for item in flat if isinstance(item, torch.Tensor)]


def compare(index, one, model):
    """True if it was compared, False if PyTorch refuses the sizes."""
    import numpy as np
    import onnx
    feeds = []
    want = expected(one, np.random.default_rng(index), feeds)
    if want is None:
        return False
    feeds = []  # once more, for an in-place operator has changed the first ones
    arguments(one["args"], np.random.default_rng(index), feeds)
    used = {i.name for i in onnx.load_model_from_string(model).graph.input}
    got = peers.run_ort(model, {f"x{i}": x for i, x in enumerate(feeds) if f"x{i}" in used})
    for i, (a, b) in enumerate(zip(got, want)):
        tolerance = one.get("tol", TOLERANCES.get(str(b.dtype), TOLERANCE))
        expect_close(a, b, *tolerance, name=f"output {i}")
    return True


def is_meant(one):
    return one.get("values", True) and one.get("ort", True) and "bfloat16" not in json.dumps(one) \
        and one["op"].split(".")[0] not in NOT_HERE \
        and (one["op"], one["args"][0].get("t") if isinstance(one["args"][0], dict) else None) not in NOT_IN


def run_family(family):
    """(name, error or None) for every model that could be compared; in a separate process."""
    import torch
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    cases = json.loads((DATA / f"{family}.json").read_text())
    results = []
    for index, opset, dynamic, model, message in ops_export.models_of(cases, OPSETS):
        if index is None:
            results.append((family, message))
            continue
        if not dynamic or not model or not is_meant(cases[index]):
            continue
        name = ops_export.name_of(cases[index], opset, True)
        try:
            if compare(index, cases[index], model):
                results.append((name, None))
        except Exception as error:  # the model is at fault, whatever it is
            text = " ".join(str(error).split("\n"))[:300]
            if not NO_KERNEL.search(text):
                results.append((name, text))
    return results


def main():
    report = Report(__file__)
    families = sys.argv[1:] or sorted(path.stem for path in DATA.glob("*.json")
                                      if path.stem not in APART)
    if report.needs("torch", "onnx", "ort"):
        sys.path.insert(0, str(ROOT / "tests" / "ops"))
        with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
            for results in pool.map(run_family, families):
                for name, error in results:
                    report.check(name, error is None, error)
    return report.finish()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

#!/usr/bin/python3
"""Programs that are exported with dynamic sizes on one example and run in ONNX Runtime on others, against PyTorch. The sizes
are chosen to cross a boundary that the example does not show: an empty axis, a part that becomes empty, a size of 1.

    other_sizes.py [NAME …]

An export is refused only if it has bfloat16 and the opset has not; a file that is written has to be right, unless calque
warned that it fixed something.
"""
import pathlib
import sys
import tempfile
import warnings

import numpy as np

from peers import Report, calque, expect_close, run_ort

OPSETS = [10, 12, 17]

# name, source of forward, types and sizes of the inputs with names for those that are dynamic, the values of the names in
# the example, and those in other runs.
CASES = [
    ("chunk", "return x.chunk(3, 1)", "2xn", [6], [[3], [9], [7], [8], [1 + 6]]),
    ("chunk_last_smaller", "return x.chunk(3, 1)", "2xn", [7], [[8], [9], [6], [13]]),
    ("chunk_sum", "a, b = x.chunk(2, 0)\n    return a.sum() + 2 * b.sum()", "nx3", [4], [[6], [5], [3], [2]]),
    ("chunk_of_size_one", "return x.chunk(2, 1)", "2xn", [2], [[4], [3], [6]]),
    ("chunk_empty_example", "return x.chunk(2, 1)", "2xn", [0], [[4], [0]]),
    ("chunk_fewer", "return x.chunk(4, 1)", "2xn", [3], [[6], [8], [5]]),
    ("chunk_of_even", "return torch.cat([x, x], 1).chunk(2, 1)", "2xn", [3], [[6], [8], [5]]),
    ("chunk_middle", "return x.chunk(3, 1)[1]", "2xn", [6], [[3], [9], [7], [5]]),
    ("tensor_split", "return torch.tensor_split(x, 3, 1)", "2xn", [6], [[5], [7], [2], [0]]),
    ("roll", "return x.roll(1, 0)", "nx3", [4], [[5], [1], [0]]),
    ("roll_of_empty_example", "return x.roll(1, 0)", "nx3", [0], [[5], [4], [1], [0]]),
    ("roll_of_one", "return x.roll(3, 0)", "nx3", [1], [[5], [4], [2], [0]]),
    ("roll_flat", "return x.roll(5)", "nx3", [2], [[1], [3], [4], [0]]),
    ("roll_two", "return x.roll([1, -2], [0, 1])", "nxm", [2, 5], [[1, 2], [3, 3], [0, 3], [4, 1]]),
    ("rot90", "return x.rot90(1, [0, 1])", "nxm", [0, 3], [[2, 3], [1, 1]]),
    ("instance_norm", "return torch.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False)", "2xcx5", [3],
     [[4], [1], [2]]),
    ("instance_norm_one", "return torch.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False)", "2xcx5", [1],
     [[4], [3]]),
    ("instance_norm_double", "return torch.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False)",
     "float64[2,c,5]", [3], [[4], [1]]),
    ("group_norm", "return torch.group_norm(x, 2)", "2xcx5", [4], [[2], [6]]),
    ("layer_norm", "return torch.layer_norm(x, [x.size(1), x.size(2)])", "2xcxd", [4, 3], [[2, 5], [1, 7]]),
    ("batch_norm_train", "return torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)", "2xcx5", [3],
     [[4], [1]]),
    ("reflect_cut", "return torch.nn.functional.pad(x, [-2, 3], mode='reflect')", "1x2xn", [7], [[5], [6], [8], [9]]),
    ("reflect_cut_end", "return torch.nn.functional.pad(x, [3, -2], mode='reflect')", "1x2xn", [7], [[5], [6], [8]]),
    ("reflect_cut_more", "return torch.nn.functional.pad(x, [-3, 4], mode='reflect')", "1x2xn", [9], [[5], [6], [8]]),
    ("replicate_cut", "return torch.nn.functional.pad(x, [-2, 3], mode='replicate')", "1x2xn", [7], [[5], [6], [3], [2]]),
    ("circular_cut", "return torch.nn.functional.pad(x, [-1, 3], mode='circular')", "1x2xn", [7], [[5], [6], [4]]),
    ("constant_cut", "return torch.nn.functional.pad(x, [-2, 3], value=1.5)", "1x2xn", [7], [[5], [6], [3], [2]]),
    ("assign_masked_bool", "y = x > 0\n    y[x > 1] = True\n    return y", "nx3", [4], [[5], [1], [0]]),
    ("assign_masked_int8", "y = x.to(torch.int8)\n    y[x > 1] = 5\n    return y", "nx3", [4], [[5], [1], [0]]),
    ("fill_bfloat16", "y = x.to(torch.bfloat16)\n    y.diagonal().fill_(5)\n    return y.float()", "nx3", [4], [[5], [1], [0]]),
    ("fill_empty_diagonal", "y = x.clone()\n    y.diagonal().fill_(5)\n    return y", "3xn", [4], [[5], [1], [0]]),
    ("select_bfloat16", "y = x.to(torch.bfloat16)\n    return y[y > 0].float()", "nx3", [4], [[5], [1], [0]]),
    ("bucketize_other_dtype", "return torch.bucketize(x, torch.tensor([-1, 0, 2]))", "nx3", [4], [[5], [1], [0]]),
    ("searchsorted_other_dtype", "return torch.searchsorted(torch.tensor([-0.5, 0.5, 2.5]), x)", "int64[n,3]", [4],
     [[5], [1], [0]]),
    ("searchsorted_number", "return torch.searchsorted(x, 0.5)", "int64[n,3]", [4], [[5], [1], [0]]),
    ("assign_empty", "y = x.clone()\n    y[2:] = 7\n    return y", "nx3", [2], [[4], [3], [1], [0]]),
    ("assign_empty_row", "y = x.clone()\n    y[:, 3:5] = 7\n    return y", "2xn", [3], [[4], [5], [6], [2]]),
    ("assign_between", "y = x.clone()\n    y[3:1] = 7\n    return y", "nx3", [4], [[5], [2], [0]]),
    ("assign_negative", "y = x.clone()\n    y[-2:] = 7\n    return y", "nx3", [4], [[5], [2], [1], [0]]),
    ("assign_negative_end", "y = x.clone()\n    y[:-2] = 7\n    return y", "nx3", [2], [[5], [3], [2]]),
    ("assign_tensor", "y = x.clone()\n    y[2:] = x[2:] * 2\n    return y", "nx3", [2], [[4], [3], [1], [0]]),
    ("assign_add", "y = x.clone()\n    y[2:] += 5\n    return y", "nx3", [2], [[4], [3], [1]]),
    ("assign_crossed", "y = x.clone()\n    y[2:-2] = 7\n    return y", "nx3", [6], [[4], [3], [2], [1], [5]]),
    ("assign_crossed_tensor", "y = x.clone()\n    y[2:-2] = x[2:-2] * 2\n    return y", "nx3", [6], [[4], [3], [2], [1]]),
    ("assign_crossed_empty", "y = x.clone()\n    y[2:-2] = 7\n    return y", "nx3", [3], [[4], [6], [2], [1], [5]]),
    ("assign_from_size", "y = x.clone()\n    y[x.size(0) - 2:] = 7\n    return y", "nx3", [2], [[4], [6], [5]]),
    ("assign_to_half", "y = x.clone()\n    y[:x.size(0) // 2] = 7\n    return y", "nx3", [1], [[4], [6], [5]]),
    ("assign_two", "y = x.clone()\n    y[2:, 3:] = 7\n    return y", "nxm", [2, 3], [[4, 5], [2, 5], [3, 2], [1, 1]]),
    ("assign_beyond", "y = x.clone()\n    y[5:9] = 7\n    return y", "nx3", [3], [[4], [6], [10], [12]]),
    ("assign_end_empty", "y = x.clone()\n    y[-2:-2] = 7\n    return y", "nx3", [3], [[4], [6], [1]]),
    ("assign_negative_beyond", "y = x.clone()\n    y[:-4] = 7\n    return y", "nx3", [3], [[4], [6], [5], [1]]),
    ("assign_step", "y = x.clone()\n    y[2::2] = 7\n    return y", "nx3", [2], [[4], [3], [7], [1]]),
    ("slice_negative", "return x[-3:]", "nx3", [2], [[4], [3], [1], [0]]),
    ("slice_middle", "return x[1:-1]", "nx3", [2], [[4], [3], [1], [0]]),
    ("narrow_half", "return x[: x.size(0) // 2]", "nx3", [1], [[4], [3], [1], [0]]),
    ("conv1d_unbatched", "return torch.conv1d(x, y)", "3xn;4x3x3", [7], [[3], [5], [8]]),
    ("conv1d_batched", "return torch.conv1d(x, y)", "bx3xn;4x3x3", [1, 7], [[3, 5], [2, 3]]),
    ("conv2d_unbatched", "return torch.conv2d(x, y, None, 2, 1)", "3xnxm;4x3x3x3", [7, 6], [[3, 4], [5, 5]]),
    ("conv3d_unbatched", "return torch.conv3d(x, y)", "1xnxmx3;2x1x2x2x2", [4, 4], [[3, 4], [5, 5]]),
    ("conv_transpose1d_unbatched", "return torch.conv_transpose1d(x, y)", "3xn;3x4x3", [7], [[3], [5]]),
    ("conv_transpose2d_unbatched", "return torch.conv_transpose2d(x, y)", "3xnxm;3x4x3x3", [7, 5], [[3, 2], [5, 5]]),
    ("conv1d_unbatched_double", "return torch.conv1d(x, y, None, 2, 1)", "float64[3,n];float64[4,3,3]", [7], [[3], [8]]),
    ("conv1d_unbatched_same", "return torch.conv1d(x, y, None, padding='same')", "3xn;4x3x3", [7], [[3], [5], [8]]),
    ("conv1d_unbatched_groups", "return torch.conv1d(x, y, groups=3)", "3xn;3x1x3", [7], [[3], [5], [8]]),
    ("conv1d_unbatched_channels", "return torch.conv1d(x, y)", "cxn;4xcx3", [3, 7], [[1, 5], [2, 5]]),
    ("conv2d_unbatched_double", "return torch.conv2d(x, y, None, 2, 1)", "float64[3,n,m];float64[4,3,3,3]", [7, 6],
     [[3, 4], [5, 5]]),
    ("conv2d_unbatched_then", "return torch.conv2d(x, y).flatten(1).sum(1)", "3xnxm;4x3x3x3", [7, 6], [[3, 4], [5, 5]]),
    ("conv2d_unbatched_sizes", "y = torch.conv2d(x, y)\n    return y.reshape([4, y.size(1) * y.size(2)])",
     "3xnxm;4x3x3x3", [7, 6], [[3, 4], [5, 5]]),
    ("conv2d_unbatched_one", "return torch.conv2d(x, y)", "cx3x3;4xcx3x3", [1], [[3], [5]]),
    ("max_pool_unbatched", "return torch.max_pool2d(x, 2)", "3xnxm", [7, 5], [[3, 2], [5, 5]]),
    ("avg_pool_unbatched", "return torch.nn.functional.avg_pool2d(x, 2)", "3xnxm", [7, 5], [[3, 2], [5, 5]]),
    ("adaptive_pool_unbatched", "return torch.nn.functional.adaptive_avg_pool2d(x, [1, 1])", "3xnxm", [7, 5],
     [[3, 2], [5, 5]]),
    ("two_names", "return x + y", "bx3;cx3", [2, 2], [[4, 4], [1, 1], [1, 3], [3, 1]]),
    ("two_names_one", "return x + y", "bx3;cx3", [2, 1], [[4, 1], [1, 1], [3, 3], [1, 3]]),
    ("where_names", "return torch.where(x > 0, x, y)", "bx3;cx3", [2, 2], [[4, 4], [1, 3]]),
    ("matmul_names", "return x @ y", "bx2x3;cx3x4", [2, 2], [[4, 4], [1, 3], [3, 1]]),
    ("broadcast_tensors", "a, b = torch.broadcast_tensors([x, y])\n    return a, b", "bx3;cx3", [2, 2], [[4, 4], [1, 3]]),
    ("names_then_size", "z = x + y\n    return z.reshape([z.size(0) * 3])", "bx3;cx3", [2, 2], [[4, 4], [1, 3], [3, 1]]),
    ("addcmul_names", "return torch.addcmul(x, x, y)", "bx3;cx3", [2, 2], [[4, 4], [1, 3], [3, 1]]),
    ("number_minus_bytes", "return 0.5 - x.abs().to(torch.uint8)", "n", [3], [[5]]),
    ("ifftshift", "return torch.fft.ifftshift(x)", "nx3", [4], [[5], [1], [2]]),
    ("fftshift", "return torch.fft.fftshift(x)", "nx3", [4], [[5], [1], [2]]),
    ("lu", "return torch.linalg.lu(x)", "nxm", [3, 3], [[4, 4], [2, 5], [5, 2], [1, 1]]),
    ("lu_of_batches", "return torch.linalg.lu(x)", "2xnxn", [3], [[4], [1]]),
    ("lu_factor", "a, p = torch.linalg.lu_factor(x)\n    return a, p, torch.lu_unpack(a, p)[0]", "nxm", [3, 4],
     [[4, 4], [2, 5], [5, 2]]),
    ("lu_solve", "a, p = torch.linalg.lu_factor(x @ x.t() + torch.eye(x.size(0)))\n    return torch.lu_solve(x, a, p)", "nxm",
     [3, 2], [[4, 1], [1, 3]]),
    ("inverse", "return torch.linalg.inv(x @ x.t() + torch.eye(x.size(0)))", "nx3", [3], [[4], [1], [6]]),
    ("solve", "return torch.linalg.solve(x @ x.t() + torch.eye(x.size(0)), x)", "nx3", [3], [[4], [1], [6]]),
    ("qr", "q, r = torch.linalg.qr(x)\n    return q @ r, r.abs()", "nxm", [4, 3], [[3, 5], [5, 2], [1, 1]]),
    ("qr_complete", "q, r = torch.linalg.qr(x, mode='complete')\n    return q @ r, r.abs()", "nxm", [4, 3], [[3, 5], [5, 2]]),
    ("ormqr", "a, tau = torch.geqrf(x)\n    return torch.ormqr(a, tau, x), torch.ormqr(a, tau, x.t(), False, True)", "nxn", [3],
     [[4], [2]]),
    ("triangular_solve", "return torch.triangular_solve(x, x @ x.t() + torch.eye(x.size(0)), transpose=True)", "nx3", [3],
     [[4], [1]]),
    ("cholesky", "return torch.linalg.cholesky(x @ x.t() + torch.eye(x.size(0)))", "nx3", [3], [[4], [1], [6]]),
]


def inputs_of(spec, values):
    """(dtype, shape, sizes as written) of each input, where the names have these values in order of
    appearance."""
    given, inputs = {}, []
    for part in spec.split(";"):
        dtype, sizes = part.rstrip("]").split("[") if "[" in part else ("float32", part.replace("x", ","))
        sizes = sizes.split(",")
        for size in sizes:
            if not size.isdigit() and size not in given:
                given[size] = values[len(given)]
        inputs.append((dtype, [int(given.get(size, size)) for size in sizes], sizes))
    return inputs


def export(folder, case, text, opset):
    """The model's path, and what calque said; no path if it is refused."""
    name, _, spec, example, _ = case
    source, out = folder / f"{name}.py", folder / f"{name}.onnx"
    source.write_text(text)
    options = []
    for dtype, shape, sizes in inputs_of(spec, example):
        shown = [s if s.isdigit() else f"{s}={n}" for s, n in zip(sizes, shape)]
        options += ["--input", f"{dtype}[{','.join(shown)}]"]
    code, _, said = calque("export", source, *options, "--opset", opset, "-o", out)
    return None if code else out, said


def declared_sizes_hold(outputs, results, spec, values):
    """The declared sizes of the outputs: numbers, and names of input sizes."""
    given = {name: n for _, shape, sizes in inputs_of(spec, values) for name, n in zip(sizes, shape)}
    for output, result in zip(outputs, results):
        dims = [dim.dim_value if dim.HasField("dim_value") else given.get(dim.dim_param)
                for dim in output.type.tensor_type.shape.dim]
        assert all(expected in (None, n) for expected, n in zip(dims, result.shape)), \
            f"{output.name} has sizes {list(result.shape)}, declared {dims}"


def compare(function, model, spec, values):
    """Runs one set of sizes; nothing to compare where PyTorch refuses it."""
    import onnx
    import torch
    random = np.random.default_rng(len(spec))
    feeds = [random.uniform(-2, 2, shape).astype(dtype) for dtype, shape, _ in inputs_of(spec, values)]
    try:
        expected = function(*[torch.from_numpy(feed.copy()) for feed in feeds])
    except RuntimeError:
        return
    graph = onnx.load_model_from_string(model).graph
    got = run_ort(model, dict(zip([x.name for x in graph.input], feeds)))
    expected = [expected] if isinstance(expected, torch.Tensor) else expected
    assert len(got) == len(expected), f"{len(got)} results, expected {len(expected)}"
    for one, other in zip(got, expected):
        expect_close(one, other.numpy(), 1e-4, 1e-5)
    declared_sizes_hold(graph.output, got, spec, values)


def check(report, folder, case, opset):
    import torch
    name, body, spec, example, others = case
    arguments = ", ".join(f"{a}: Tensor" for a in ("x", "y")[:spec.count(";") + 1])
    text = f"def forward({arguments}):\n    {body}\n"
    function = torch.jit.CompilationUnit(text).forward
    path, said = export(folder, case, text, opset)
    if path is None:
        is_due = opset < 13 and "bfloat16" in body and "bfloat16 requires opset 13" in said
        return report.check(f"{name} opset {opset}", is_due, " ".join(said.split())[:200])
    for values in [example, *others]:
        try:
            compare(function, path.read_bytes(), spec, values)
        except Exception as error:  # the model is at fault, whatever it is
            if "warning" not in said:
                return report.failed(f"{name} opset {opset}", f"sizes {values}: {' '.join(str(error).split())[:200]}")
    report.passed()


def main():
    report = Report(__file__)
    warnings.simplefilter("ignore")
    if report.needs("torch", "onnx", "ort"):
        with tempfile.TemporaryDirectory() as folder:
            for case in CASES:
                if len(sys.argv) < 2 or case[0] in sys.argv[1:]:
                    for opset in OPSETS:
                        check(report, pathlib.Path(folder), case, opset)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

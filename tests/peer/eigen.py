#!/usr/bin/python3
"""Eigenvectors and singular vectors of small matrices: their signs are arbitrary, so exports are
compared by results that do not depend on signs. Each program returns the matrix recomputed from its
factors, and the products of the vectors with each other.

    eigen.py
"""
import pathlib
import sys
import tempfile

import numpy as np

from peers import Report, calque, expect_close, run_ort

EIGH = """def forward(x: Tensor):
    w, v = torch.linalg.eigh(x + x.mT)
    return (v * w.unsqueeze(-2)) @ v.mT, v.mT @ v, w
"""
SVD = """def forward(x: Tensor):
    u, s, v = torch.linalg.svd(x, full_matrices={full})
    k = min(x.size(-1), x.size(-2))
    return (u[..., :k] * s.unsqueeze(-2)) @ v[..., :k, :], u.mT @ u, s
"""
SIZES = [(2, 2), (3, 3), (2, 5, 5), (8, 8), (16, 16)]
WIDE = [(2, 2), (5, 3), (3, 5), (2, 4, 6), (12, 16)]


def check(folder, text, shape, dtype):
    x = np.random.default_rng(len(shape) + shape[-1]).normal(size=shape).astype(dtype)
    source, model = folder / "program.py", folder / "program.onnx"
    source.write_text(text)
    code, _, said = calque("export", source, "--input", f"{dtype}[{','.join(map(str, shape))}]", "-o", model)
    assert code == 0, said
    again, unit, values = run_ort(model.read_bytes(), {"x": x})
    eigen = "eigh" in text
    expected = x + np.swapaxes(x, -2, -1) if eigen else x
    tolerance = (1e-4, 2e-5) if dtype == "float32" else (1e-11, 1e-12)
    expect_close(again, expected, *tolerance, name="the product of the factors")
    expect_close(unit, np.broadcast_to(np.eye(unit.shape[-1], dtype=dtype), unit.shape), *tolerance, name="the vectors")
    expect_close(values, np.linalg.eigvalsh(expected) if eigen else np.linalg.svd(x, compute_uv=False), *tolerance, name="the values")


def main():
    report = Report(__file__)
    if report.needs("onnx", "ort"):
        with tempfile.TemporaryDirectory() as folder:
            for dtype in ("float32", "float64"):
                for shape in SIZES:
                    with report.case(f"eigh {shape} {dtype}"):
                        check(pathlib.Path(folder), EIGH, shape, dtype)
                for shape in WIDE:
                    for full in (False, True):
                        with report.case(f"svd {shape} {dtype} full_matrices={full}"):
                            check(pathlib.Path(folder), SVD.format(full=full), shape, dtype)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

"""Products of matrices.

A layer of two float matrices and a bias becomes Gemm, other products MatMul, which has PyTorch's
rules for vectors and batches.
"""

import torch

from calque.onnx import *

symbolic("aten::linalg_det", opset=7, decompose=True)


@symbolic("aten::linalg_det", opset=11, decompose=True)
def linalg_det(A):
    if A.dtype != torch.float32:
        return unsupported("ONNX Runtime supports only float32")
    return Det(A)


def product(a, b):
    """MatMul has integers since opset 9."""
    left = computable(a, 9)
    return MatMul(left, computable(b, 9))


@symbolic("aten::mm", opset=7)
@symbolic("aten::bmm", opset=7)
def mm(self, mat2):
    return product(self, mat2)


@symbolic("aten::mv", opset=7)
def mv(self, vec):
    return product(self, vec)


@symbolic("aten::dot", opset=7)
def dot(self, tensor):
    return product(self, tensor)


@symbolic("aten::matmul", opset=7)
def matmul(self, other):
    return product(self, other)


def add_product(x, a, b, beta, alpha):
    """beta * x + alpha * a @ b in separate nodes: for batches, integers, data-dependent factors, or
    without x."""
    skips_x = is_known(beta) and beta == 0
    y = product(a, b)
    scaled = y * alpha
    return scaled if skips_x else scaled + cast(x, y.dtype) * beta


@symbolic("aten::addmm", opset=7)
def addmm(self, mat1, mat2, beta, alpha):
    x = without_bfloat16(mat1)
    if (
        is_float(x)
        and is_known(beta)
        and is_known(alpha)
        and beta != 0
        and (x.dtype != torch.float64 or alpha == 1 and beta == 1)
    ):
        w = without_bfloat16(mat2)
        return Gemm(x, w, without_bfloat16(self), alpha=alpha, beta=beta)
    return add_product(self, mat1, mat2, beta, alpha)


@symbolic("aten::baddbmm", opset=7)
def baddbmm(self, batch1, batch2, beta, alpha):
    return add_product(self, batch1, batch2, beta, alpha)


@symbolic("aten::linear", opset=7)
def linear(input, weight, bias):
    has_bias = bias is not None
    x = without_bfloat16(input)
    if has_bias and x.ndim == 2 and weight.ndim == 2 and is_float(x):
        w = without_bfloat16(weight)
        return Gemm(x, w, without_bfloat16(bias), transB=1)
    left = computable(x, 9)
    w = without_bfloat16(weight)
    right = swap_dims(computable(w, 9), 0, 1) if w.ndim == 2 else computable(w, 9)
    y = MatMul(left, right)
    return Add(y, cast(without_bfloat16(bias), y.dtype)) if has_bias else y

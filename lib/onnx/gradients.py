"""Gradients of ONNX operators, for Gradient of ai.onnx.preview.training.

A function gets the gradient of the node's first result (grad), that result, and inputs and
attributes of the node by their names in the schema. It returns the gradients of inputs by their
names; those that are not needed are not computed. Inputs that were broadcast are summed to their
shape afterwards (summed_to).
"""

import math

from calque.onnx import *


def total(a, b):
    return a + b


def zeros_of(x):
    return CastLike(ConstantOfShape(Shape(x)), x)


def ones_of(x):
    return zeros_of(x) + 1


def shaped_as(gradient, operand):
    return Reshape(gradient, Shape(operand))


def summed_to(gradient, operand):
    """The gradient of a value that was broadcast: the sum along axes that were made larger, which
    are known when the model is run."""
    shape = Shape(gradient)
    ones = Expand(1, Shape(shape))
    is_larger = Not(Equal(Shape(Expand(operand, ones)), shape))
    axes = Reshape(NonZero(is_larger), [-1])
    return shaped_as(ReduceSum(gradient, axes, noop_with_empty_axes=1), operand)


@backward("Add")
def add(grad):
    return {"A": grad, "B": grad}


@backward("Sub")
def sub(grad):
    return {"A": grad, "B": -grad}


@backward("Mul")
def mul(grad, A, B):
    return {"A": grad * B, "B": grad * A}


@backward("Div")
def div(grad, result, B):
    return {"A": grad / B, "B": -(grad * result / B)}


@backward("Pow")
def pow(grad, result, X, Y):
    return {"X": grad * Y * Pow(X, Y - 1), "Y": grad * result * Log(X)}


@backward("MatMul")
def matmul(grad, A, B):
    return {
        "A": Einsum(grad, B, equation="...ik,...jk->...ij"),
        "B": Einsum(A, grad, equation="...ki,...kj->...ij"),
    }


@backward("Gemm")
def gemm(grad, A, B, alpha, beta, transA, transB):
    a = "km" if transA else "mk"
    b = "nk" if transB else "kn"
    return {
        "A": Einsum(grad, B, equation=f"mn,{b}->{a}") * alpha,
        "B": Einsum(A, grad, equation=f"{a},mn->{b}") * alpha,
        "C": grad * beta,
    }


@backward("Identity")
def identity(grad):
    return {"input": grad}


@backward("Neg")
def neg(grad):
    return {"X": -grad}


@backward("Abs")
def abs(grad, X):
    return {"X": grad * Sign(X)}


@backward("Exp")
def exp(grad, result):
    return {"input": grad * result}


@backward("Log")
def log(grad, input):
    return {"input": grad / input}


@backward("Sqrt")
def sqrt(grad, result):
    return {"X": grad / (result + result)}


@backward("Reciprocal")
def reciprocal(grad, result):
    return {"X": -(grad * result * result)}


@backward("Sin")
def sin(grad, input):
    return {"input": grad * Cos(input)}


@backward("Cos")
def cos(grad, input):
    return {"input": -(grad * Sin(input))}


@backward("Erf")
def erf(grad, input):
    return {"input": grad * Exp(-(input * input)) * (2 / math.sqrt(math.pi))}


@backward("Relu")
def relu(grad, result):
    return {"X": grad * Sign(result)}


@backward("Sigmoid")
def sigmoid(grad, result):
    return {"X": grad * (result - result * result)}


@backward("Tanh")
def tanh(grad, result):
    return {"input": grad - grad * result * result}


@backward("Softplus")
def softplus(grad, X):
    return {"X": grad * Sigmoid(X)}


@backward("Softsign")
def softsign(grad, input):
    size = Abs(input) + 1
    return {"input": grad / (size * size)}


@backward("Softmax")
def softmax(grad, result, axis):
    return {"input": result * (grad - ReduceSum(grad * result, [axis]))}


@backward("LogSoftmax")
def log_softmax(grad, result, axis):
    return {"input": grad - Exp(result) * ReduceSum(grad, [axis])}

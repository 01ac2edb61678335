"""Patterns of ONNX nodes that become one node.

The value that a function returns is looked for in the graph. A parameter stands for one value,
wherever it occurs. A variable stands for the value of a node of the pattern. maybe(Cast, x) is x
with or without that node, and ... stands for any further inputs. Add and Mul also match with their
operands exchanged; the operand that says more comes first, because it is matched first.

The first argument of the decorator names what becomes of the pattern, a function in C that also
checks attributes and constants (src/export/passes/fuse_layers.c, fuse_norms.c). Of several
functions the first in this file is tried first. A later stage sees the nodes that an earlier one
made, and no longer those that became useless. use="optimizer" keeps a pattern from the exporter,
which keeps the operators of the model; use="onnxruntime" is for operators of com.microsoft.
"""

from calque.onnx import *


# ---- quantized values ----


@rewrite("steps", opset=10)
def steps_of_a_quantized_value(q, step, zero, by):
    return Round(Div(DequantizeLinear(q, step, zero), by))


@rewrite("scaled", opset=10)
def scaled_quantized_value(q, step, zero, by):
    return Mul(DequantizeLinear(q, step, zero), by)


@rewrite("bias", opset=10)
def bias_of_a_quantized_convolution(x, w, bias):
    layer = Conv(x, w, bias)
    return QuantizeLinear(maybe(Clip, maybe(Relu, layer), ...), ...)


@rewrite("bias", opset=10)
def bias_of_a_quantized_product(x, w, bias):
    layer = Gemm(x, w, bias)
    return QuantizeLinear(maybe(Clip, maybe(Relu, layer), ...), ...)


# ---- layers of language models ----


@rewrite("rms_norm", opset=23)
def rms_norm_by_reciprocal(x, two, axes, eps, w):
    mean = ReduceMean(Pow(x, two), axes)
    return Mul(maybe(Cast, Mul(Reciprocal(Sqrt(Add(mean, eps))), x)), w)


@rewrite("rms_norm", opset=23)
def rms_norm_by_division(x, two, axes, eps, w):
    mean = ReduceMean(Pow(x, two), axes)
    return Mul(maybe(Cast, Div(x, Sqrt(Add(mean, eps)))), w)


@rewrite("rotary", opset=23)
def rotary_embedding(x, sin, cos):
    high = Slice(x, ...)
    low = Slice(x, ...)
    join = Concat(Neg(high), low)
    return Add(Mul(join, sin), Mul(x, cos))


@rewrite("attention", opset=23)
def attention(q, k, v, factor, divisor, mask):
    turned = Transpose(k)
    scores = maybe(Div, maybe(Mul, MatMul(q, turned), factor), divisor)
    soft = Softmax(maybe(Add, scores, mask))
    return MatMul(soft, v)


@rewrite("grouped", opset=23, stage=1)
def attention_of_repeated_heads(q, k, v, axis, axis2):
    more_k = Reshape(Expand(Unsqueeze(k, axis), ...), ...)
    more_v = Reshape(Expand(Unsqueeze(v, axis2), ...), ...)
    return Attention(q, more_k, more_v, ...)


@rewrite("past", opset=23, stage=2)
def attention_with_a_cache(q, k, v, past_k, past_v):
    keys = Concat(past_k, k)
    values = Concat(past_v, v)
    return Attention(q, keys, values, ...)


# ---- normalization and activation ----


@rewrite("layer_norm", opset=17, use="optimizer")
def layer_norm(x, two, eps, w):
    mean = ReduceMean(x, ...)
    c = Sub(x, mean)
    var = ReduceMean(Pow(c, two), ...)
    return Mul(Div(c, Sqrt(Add(var, eps))), w)


@rewrite("layer_norm", opset=17, use="optimizer")
def layer_norm_by_product(x, eps, w):
    mean = ReduceMean(x, ...)
    c = Sub(x, mean)
    var = ReduceMean(Mul(c, c), ...)
    return Mul(Div(c, Sqrt(Add(var, eps))), w)


@rewrite("flat_linear", opset=13, use="optimizer")
def linear_in_front_of_reshape(x, w, b):
    product = MatMul(x, w)
    sum = Add(product, b)
    return Reshape(sum, ...)


@rewrite("gelu_erf", opset=13, use="optimizer")
def gelu_halved_last(x, inner, one, half):
    return Mul(Mul(x, Add(Erf(inner), one)), half)


@rewrite("gelu_erf", opset=13, use="optimizer")
def gelu_halved_first(x, inner, one, half):
    return Mul(Mul(x, half), Add(Erf(inner), one))


@rewrite("gelu_erf", opset=13, use="optimizer")
def gelu_halved_inside(x, inner, one, half):
    return Mul(x, Mul(Add(Erf(inner), one), half))


@rewrite("gelu_tanh", opset=13, use="optimizer")
def gelu_tanh_halved_last(x, inner, one, half):
    return Mul(Mul(x, Add(Tanh(inner), one)), half)


@rewrite("gelu_tanh", opset=13, use="optimizer")
def gelu_tanh_halved_first(x, inner, one, half):
    return Mul(Mul(x, half), Add(Tanh(inner), one))


@rewrite("gelu_tanh", opset=13, use="optimizer")
def gelu_tanh_halved_inside(x, inner, one, half):
    return Mul(x, Mul(Add(Tanh(inner), one), half))


@rewrite("heads", opset=13, use="onnxruntime")
def multi_head_attention(q, k, v, factor, divisor, mask):
    hq = Transpose(Reshape(q, ...))
    hk = Transpose(Reshape(k, ...))
    hv = Transpose(Reshape(v, ...))
    scores = maybe(Div, maybe(Mul, MatMul(hq, hk), factor), divisor)
    soft = Softmax(maybe(Add, scores, mask))
    joined = Transpose(MatMul(soft, hv))
    return Reshape(joined, ...)


@rewrite("heads", opset=13, use="onnxruntime")
def multi_head_attention_of_scaled_queries(q, k, v, factor, divisor, mask):
    hq = Transpose(Reshape(q, ...))
    hk = Transpose(Reshape(k, ...))
    hv = Transpose(Reshape(v, ...))
    scores = maybe(Div, MatMul(Mul(hq, factor), hk), divisor)
    soft = Softmax(maybe(Add, scores, mask))
    joined = Transpose(MatMul(soft, hv))
    return Reshape(joined, ...)


@rewrite("norm_bias", opset=17, stage=1, use="optimizer")
def bias_of_layer_norm(x, w, b):
    norm = LayerNormalization(x, w)
    return Add(norm, b)


@rewrite("layer_norm", opset=17, stage=2, use="optimizer")
def layer_norm_without_weight(x, two, eps):
    mean = ReduceMean(x, ...)
    c = Sub(x, mean)
    var = ReduceMean(Pow(c, two), ...)
    return Div(c, Sqrt(Add(var, eps)))


@rewrite("layer_norm", opset=17, stage=2, use="optimizer")
def layer_norm_by_product_without_weight(x, eps):
    mean = ReduceMean(x, ...)
    c = Sub(x, mean)
    var = ReduceMean(Mul(c, c), ...)
    return Div(c, Sqrt(Add(var, eps)))


# ---- operators of com.microsoft ----


@rewrite("matmul", opset=13, stage=1, use="onnxruntime")
def divided_product_of_a_transpose(a, b, divisor):
    turned = Transpose(b)
    product = MatMul(a, turned)
    return Div(product, divisor)


@rewrite("matmul", opset=13, stage=1, use="onnxruntime")
def scaled_product_of_a_transpose(a, b, factor):
    turned = Transpose(b)
    product = MatMul(a, turned)
    return Mul(product, factor)


@rewrite("matmul", opset=13, stage=2, use="onnxruntime")
def divided_product(a, b, divisor):
    product = MatMul(a, b)
    return Div(product, divisor)


@rewrite("matmul", opset=13, stage=2, use="onnxruntime")
def scaled_product(a, b, factor):
    product = MatMul(a, b)
    return Mul(product, factor)


@rewrite("matmul", opset=13, stage=2, use="onnxruntime")
def product_of_a_transpose(a, b):
    turned = Transpose(b)
    return MatMul(a, turned)


@rewrite("bias_gelu", opset=13, stage=2, use="onnxruntime")
def gelu_of_a_sum(x, b):
    sum = Add(x, b)
    return Gelu(sum)


@rewrite("bias_gelu", opset=13, stage=2, use="onnxruntime")
def fast_gelu_of_a_sum(x, b):
    sum = Add(x, b)
    return FastGelu(sum)


@rewrite("skip_norm", opset=17, stage=2, use="onnxruntime")
def layer_norm_of_a_sum(x, skip, w, b):
    sum = Add(x, skip)
    return LayerNormalization(sum, w, b)

"""Quantized layers."""

import torch

from calque import (
    bias_on_grid,
    floats,
    gradient,
    grid_dtype,
    narrow_range,
    operator,
    qparams,
    quantized,
    regrid,
    traits,
)
from aten.normalization import norm_back, normalised


def on_grid(x, y, scale, zero_point):
    """y quantized with these parameters, in the integer type of x."""
    return quantized(y, scale, zero_point, grid_dtype(x))


def grid_of(x):
    g = qparams(x)
    if g is None or g[4] is not None:
        raise NotImplementedError("the scale of the quantized tensor depends on data")
    return g


def add_number(x, b, with_relu):
    """Adding a number only moves the zero point, within the range of the integers."""
    scale, zero, low, high, axis, dtype = grid_of(x)
    steps = round(b / scale)
    at = zero - steps
    by = steps * scale
    if at < low:
        scale = scale * ((high - at) / (high - low))
        at = low
    elif at > high:
        scale = scale * ((at - low) / (high - low))
        at = high
    y = x + by
    return on_grid(x, y.relu() if with_relu else y, scale, at)


def times_number(x, b, with_relu):
    scale, zero, low, high, axis, dtype = grid_of(x)
    y = x * b
    if with_relu:
        y = y.relu()
    if b == 0:
        return on_grid(x, y, 1.0, 0)
    return on_grid(x, y, scale * abs(b), zero if b > 0 else high + low - zero)


def join_on_grid(tensors, dim, scale, zero_point, with_relu):
    assert len(tensors) > 0, "expected at least one tensor"
    parts = [floats(x) for x in tensors]
    if scale is None or zero_point is None:
        g = grid_of(parts[0])
        scale = g[0]
        zero_point = g[1]
    y = torch.cat(parts, dim)
    return on_grid(parts[0], y.relu() if with_relu else y, scale, zero_point)


def unpacked(packed, n):
    """At least n items of packed weights, with the weight as floats."""
    if (
        not isinstance(packed, tuple)
        or len(packed) < n
        or (not isinstance(packed[0], torch.Tensor))
    ):
        raise TypeError("expected packed weights")
    return [floats(packed[0])] + packed[1:]


def linear_packed(x, packed):
    p = unpacked(packed, 2)
    return torch.ops.aten.linear(x, p[0], bias_on_grid(p[1], x, p[0]))


def conv_packed(x, packed):
    w, b, stride, padding, dilation, groups, output_padding = unpacked(packed, 7)
    b = bias_on_grid(b, x, w)
    if w.ndim == 3:
        return torch.conv1d(x, w, b, stride, padding, dilation, groups)
    if w.ndim == 4:
        return torch.conv2d(x, w, b, stride, padding, dilation, groups)
    if w.ndim == 5:
        return torch.conv3d(x, w, b, stride, padding, dilation, groups)
    raise TypeError(f"unexpected weight of {w.ndim} dimensions")


def conv_transpose_packed(x, packed):
    w, b, stride, padding, dilation, groups, more = unpacked(packed, 7)
    b = bias_on_grid(b, x, w)
    if w.ndim == 3:
        return torch.conv_transpose1d(x, w, b, stride, padding, more, groups, dilation)
    if w.ndim == 4:
        return torch.conv_transpose2d(x, w, b, stride, padding, more, groups, dilation)
    if w.ndim == 5:
        return torch.conv_transpose3d(x, w, b, stride, padding, more, groups, dilation)
    raise TypeError(f"unexpected weight of {w.ndim} dimensions")


def rounded_by_range(x, high):
    """x quantized and dequantized with the scale that maps its range, extended to 0, to 0 … high
    (255 or 127)."""
    least = x.min().clamp_max(0)
    most = x.max().clamp_min(0)
    scale = (most - least) / high
    scale = torch.ops.aten.where.ScalarOther(scale > 0, scale, 0.1)
    zero = (-least / scale).round().clamp(0, high).to(torch.int32)
    return torch.fake_quantize_per_tensor_affine(x, scale, zero, 0, int(high))


def linear_rounded(x, packed, reduce_range):
    p = unpacked(packed, 2)
    return torch.ops.aten.linear(
        rounded_by_range(x, 127.0 if narrow_range(reduce_range) else 255.0), p[0], p[1]
    )


@operator(
    "quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
    of_views=True,
)
def quantized_add(qa, qb, scale, zero_point):
    """Quantized sum."""
    return on_grid(qa, qa + qb, scale, zero_point)


@operator(
    "quantized::add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
    of_views=True,
)
def quantized_add_relu(qa, qb, scale, zero_point):
    """Quantized sum and relu."""
    return on_grid(qa, torch.relu(qa + qb), scale, zero_point)


@operator(
    "quantized::mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
    of_views=True,
)
def quantized_mul(qa, qb, scale, zero_point):
    """Quantized product."""
    return on_grid(qa, qa * qb, scale, zero_point)


@operator(
    "quantized::mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
    of_views=True,
)
def quantized_mul_relu(qa, qb, scale, zero_point):
    """Quantized product and relu."""
    return on_grid(qa, torch.relu(qa * qb), scale, zero_point)


@operator("quantized::add_scalar(Tensor qa, Scalar b) -> Tensor qc", of_views=True)
def quantized_add_scalar(qa, b):
    """Quantized sum with a number."""
    return add_number(qa, b, False)


@operator("quantized::add_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", of_views=True)
def quantized_add_scalar_relu(qa, b):
    """Quantized sum with a number, and relu."""
    return add_number(qa, b, True)


@operator("quantized::mul_scalar(Tensor qa, Scalar b) -> Tensor qc", of_views=True)
def quantized_mul_scalar(qa, b):
    """Quantized product with a number."""
    return times_number(qa, b, False)


@operator("quantized::mul_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", of_views=True)
def quantized_mul_scalar_relu(qa, b):
    """Quantized product with a number, and relu."""
    return times_number(qa, b, True)


@operator(
    "quantized::cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
    of_views=True,
)
def quantized_cat_relu(qx, dim, scale, zero_point):
    """Concatenation of quantized tensors, and relu."""
    return join_on_grid(qx, dim, scale, zero_point, True)


@operator(
    "quantized::sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_sigmoid(qx, output_scale, output_zero_point):
    """Quantized sigmoid."""
    return on_grid(qx, qx.sigmoid(), output_scale, output_zero_point)


@operator(
    "quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_leaky_relu(qx, negative_slope, inplace, output_scale, output_zero_point):
    """Quantized leaky_relu."""
    return on_grid(
        qx, torch.ops.aten.leaky_relu(qx, negative_slope), output_scale, output_zero_point
    )


@operator(
    "quantized::celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) "
    "-> Tensor",
    of_views=True,
)
def quantized_celu(self, output_scale, output_zero_point, alpha):
    """Quantized celu."""
    return on_grid(self, torch.celu(self, alpha), output_scale, output_zero_point)


@operator(
    "quantized::prelu(Tensor qx, Tensor weight, float output_scale, int output_zero_point) "
    "-> Tensor",
    of_views=True,
)
def quantized_prelu(qx, weight, output_scale, output_zero_point):
    """Quantized prelu."""
    return on_grid(qx, qx.prelu(weight), output_scale, output_zero_point)


@operator(
    "quantized::softmax(Tensor qx, int dim, float output_scale, int output_zero_point) "
    "-> Tensor",
    of_views=True,
)
def quantized_softmax(qx, dim, output_scale, output_zero_point):
    """Quantized softmax."""
    return on_grid(qx, qx.softmax(dim), output_scale, output_zero_point)


@operator(
    "quantized::clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy",
    of_views=True,
)
def quantized_clamp(qx, min, max):
    """Quantized clamp."""
    return regrid(qx.clamp(min, max), qx)


@operator(
    "quantized::threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy",
    of_views=True,
)
def quantized_threshold(qx, threshold, value):
    """Quantized threshold."""
    return regrid(torch.threshold(qx, threshold, value), qx)


@operator(
    "quantized::max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, "
    "int[] dilation, bool ceil_mode) -> Tensor",
    of_views=True,
    cost="pool",
)
def quantized_max_pool1d(qx, kernel_size, stride, padding, dilation, ceil_mode):
    """Quantized max_pool1d."""
    return regrid(torch.max_pool1d(qx, kernel_size, stride, padding, dilation, ceil_mode), qx)


@operator(
    "quantized::max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, "
    "int[] dilation, bool ceil_mode) -> Tensor",
    of_views=True,
    cost="pool",
)
def quantized_max_pool2d(qx, kernel_size, stride, padding, dilation, ceil_mode):
    """Quantized max_pool2d."""
    return regrid(torch.max_pool2d(qx, kernel_size, stride, padding, dilation, ceil_mode), qx)


@operator(
    "quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, "
    "Tensor? bias, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_layer_norm(
    input, normalized_shape, weight, bias, eps, output_scale, output_zero_point
):
    """Quantized layer_norm."""
    return on_grid(
        input,
        torch.layer_norm(input, normalized_shape, weight, bias, eps),
        output_scale,
        output_zero_point,
    )


@operator(
    "quantized::group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, "
    "float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_group_norm(input, num_groups, weight, bias, eps, output_scale, output_zero_point):
    """Quantized group_norm."""
    return on_grid(
        input,
        torch.group_norm(input, num_groups, weight, bias, eps),
        output_scale,
        output_zero_point,
    )


@operator(
    "quantized::instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_instance_norm(input, weight, bias, eps, output_scale, output_zero_point):
    """Quantized instance_norm."""
    return on_grid(
        input,
        torch.instance_norm(input, weight, bias, None, None, True, 0.0, eps, False),
        output_scale,
        output_zero_point,
    )


@operator(
    "quantized::batch_norm(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, "
    "float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::batch_norm1d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
    "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::batch_norm2d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
    "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::batch_norm3d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
    "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_batch_norm(qx, weight, bias, mean, var, eps, output_scale, output_zero_point):
    """Quantized batch_norm."""
    return on_grid(
        qx,
        torch.batch_norm(qx, weight, bias, mean, var, False, 0.0, eps, False),
        output_scale,
        output_zero_point,
    )


@operator(
    "quantized::batch_norm_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
    "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::batch_norm1d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
    "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::batch_norm2d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
    "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::batch_norm3d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
    "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_batch_norm_relu(qx, weight, bias, mean, var, eps, output_scale, output_zero_point):
    """Quantized batch_norm."""
    return on_grid(
        qx,
        torch.relu(torch.batch_norm(qx, weight, bias, mean, var, False, 0.0, eps, False)),
        output_scale,
        output_zero_point,
    )


@operator(
    "quantized::linear_prepack(Tensor W, Tensor? B=None) "
    "-> __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack",
    of_views=True,
)
def quantized_linear_prepack(W, B):
    """Packs the weight of a quantized linear layer."""
    return (W, B)


@operator(
    ""
    "quantized::linear_unpack(__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) "
    "-> (Tensor W_origin, Tensor? B_origin)",
    of_views=True,
)
def quantized_linear_unpack(W_prepack):
    """The weight and the bias of a packed linear layer."""
    return unpacked(W_prepack, 2)[:2]


@operator(
    "quantized::linear_relu(Tensor X, "
    "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, "
    "int Y_zero_point_i) -> Tensor Y",
    of_views=True,
)
def quantized_linear_relu(X, W_prepack, Y_scale_i, Y_zero_point_i):
    """Quantized linear layer and relu."""
    return on_grid(X, torch.relu(linear_packed(X, W_prepack)), Y_scale_i, Y_zero_point_i)


@operator(
    "quantized::linear_dynamic(Tensor X, "
    "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, "
    "bool reduce_range=False) -> Tensor Y",
    of_views=True,
)
def quantized_linear_dynamic(X, W_prepack, reduce_range):
    """Linear layer with quantized weights and a dynamically quantized input."""
    return linear_rounded(X, W_prepack, reduce_range)


@operator(
    "quantized::linear_relu_dynamic(Tensor X, "
    "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, "
    "bool reduce_range=False) -> Tensor Y",
    of_views=True,
)
def quantized_linear_relu_dynamic(X, W_prepack, reduce_range):
    """Linear_dynamic and relu."""
    return torch.relu(linear_rounded(X, W_prepack, reduce_range))


@operator(
    "quantized::conv1d_relu(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::conv2d_relu.new(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::conv3d_relu.new(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_conv1d_relu(qx, packed_weight, output_scale, output_zero_point):
    """Quantized convolution."""
    return on_grid(qx, torch.relu(conv_packed(qx, packed_weight)), output_scale, output_zero_point)


@operator(
    "quantized::conv2d.new(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
@operator(
    "quantized::conv3d.new(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_conv2d_new(qx, packed_weight, output_scale, output_zero_point):
    """Quantized convolution."""
    return on_grid(qx, conv_packed(qx, packed_weight), output_scale, output_zero_point)


@operator(
    "quantized::conv_transpose1d(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
    cost="convolution",
)
@operator(
    "quantized::conv_transpose3d(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
    cost="convolution",
)
def quantized_conv_transpose1d(qx, packed_weight, output_scale, output_zero_point):
    """Quantized convolution."""
    return on_grid(qx, conv_transpose_packed(qx, packed_weight), output_scale, output_zero_point)


@gradient("aten::sigmoid")
def sigmoid_gradient(grad, result):
    return {"self": grad * (1 - result) * result}


@gradient("aten::batch_norm")
def batch_norm_gradient(grad, input, weight, bias, running_mean, running_var, training, eps):
    x = input.to(torch.float64)
    g = grad.to(torch.float64)
    dims = [i for i in range(input.ndim) if i != 1] if training else None
    sizes = [input.shape[i] if i == 1 else 1 for i in range(input.ndim)]
    hat, rstd = normalised(
        x,
        dims,
        None
        if training
        else running_mean.reshape([input.shape[i] if i == 1 else 1 for i in range(input.ndim)]),
        None
        if training
        else running_var.reshape([input.shape[i] if i == 1 else 1 for i in range(input.ndim)]),
        eps,
    )
    d = g if weight is None else g * weight.reshape(sizes)
    return {
        "weight": (g * hat.reshape(input.shape)).sum_to_size(sizes).reshape(weight.shape),
        "bias": g.sum_to_size(sizes).reshape(bias.shape),
        "input": norm_back(d.reshape(x.shape), hat, rstd, dims).reshape(input.shape),
    }


# ---- traits of operators whose rows are in C ----

traits("quantized::conv2d.*", cost="convolution")
traits("quantized::conv3d.*", cost="convolution")
traits("aten::sigmoid", vmap="elementwise")
traits("quantized::linear_prepack", quantized="stored")

"""Internal operators of PyTorch."""

import math
import torch

from calque import dtype_name, gradient, operator, result_type, wrap_dim
from aten.attention import divide_by_power
from aten.loss import reduced
from aten.normalization import norm_back, normalised


def trained_norm(input, weight, bias, running_mean, running_var, momentum, eps):
    """Batch normalization in training: the result, its statistics, and the updated running
    statistics, whose variance is unbiased."""
    dims = [i for i in range(input.ndim) if i != 1]
    y, mean, scale = torch.native_batch_norm(input, weight, bias, None, None, True, momentum, eps)
    moved_mean = running_mean + (input.mean(dims) - running_mean) * momentum
    moved_var = running_var + (torch.var(input, dims) - running_var) * momentum
    return (y, mean, scale, moved_mean, moved_var)


def scattered(x, like, indices, n):
    """The inverse of a gather: adds x to zeros in the shape of like, at indices of the last n
    dimensions."""
    y = torch.zeros_like(like).flatten(-n, -1)
    y = y.scatter_add(-1, indices.flatten(-n, -1), x.flatten(-n, -1))
    return y.reshape(like.shape)


def within(x, indices):
    """Indices clamped to valid positions of x."""
    return [
        indices[k] if indices[k] is None else indices[k].clamp(-x.shape[k], x.shape[k] - 1)
        for k in range(len(indices))
    ]


@operator(
    "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, "
    "float eps) -> (Tensor, Tensor, Tensor)"
)
def _native_batch_norm_legit(
    input, weight, bias, running_mean, running_var, training, momentum, eps
):
    """The same as native_batch_norm."""
    return torch.native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


@operator(
    "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, "
    "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"
)
def _native_batch_norm_legit_no_stats(input, weight, bias, training, momentum, eps):
    """Native_batch_norm without running statistics."""
    return torch.native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


@operator(
    "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, "
    "Tensor)"
)
def _native_batch_norm_legit_no_training(
    input, weight, bias, running_mean, running_var, momentum, eps
):
    """Native_batch_norm in inference."""
    return torch.native_batch_norm(
        input, weight, bias, running_mean, running_var, False, momentum, eps
    )


@operator(
    "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) "
    "-> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)"
)
def _native_batch_norm_legit_functional(
    input, weight, bias, running_mean, running_var, training, momentum, eps
):
    """native_batch_norm that also returns the updated running statistics."""
    if not training:
        moved_mean = running_mean.clone()
        moved_var = running_var.clone()
        y, mean, scale = torch.native_batch_norm(
            input, weight, bias, running_mean, running_var, False, momentum, eps
        )
    else:
        y, mean, scale, moved_mean, moved_var = trained_norm(
            input, weight, bias, running_mean, running_var, momentum, eps
        )
    return (y, mean, scale, moved_mean, moved_var)


@operator(
    "aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, "
    "Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)"
)
def _batch_norm_with_update_functional(
    input, weight, bias, running_mean, running_var, momentum, eps
):
    """native_batch_norm in training mode that also returns the updated running statistics."""
    y, mean, scale, moved_mean, moved_var = trained_norm(
        input, weight, bias, running_mean, running_var, momentum, eps
    )
    return (y, mean, scale, torch.zeros([0], dtype=torch.uint8), moved_mean, moved_var)


@operator(
    "aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, "
    "Tensor, Tensor, Tensor)"
)
def _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    """Native_batch_norm in training."""
    y, mean, scale = torch.native_batch_norm(
        input, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return (y, mean, scale, torch.zeros([0], dtype=torch.uint8))


@operator(
    "aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, "
    "Tensor? running_mean, Tensor? running_var, float momentum, float eps) -> (Tensor, "
    "Tensor, Tensor, Tensor)"
)
def _batch_norm_no_update(input, weight, bias, running_mean, running_var, momentum, eps):
    """Native_batch_norm in inference."""
    y, mean, scale = torch.native_batch_norm(
        input, weight, bias, running_mean, running_var, False, momentum, eps
    )
    return (y, mean, scale, torch.zeros([0], dtype=torch.uint8))


@operator(
    "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, "
    "Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, "
    "float? scale=None) -> (Tensor output, Tensor logsumexp)"
)
def _scaled_dot_product_flash_attention_for_cpu(
    query, key, value, dropout_p, is_causal, attn_mask, scale
):
    """Scaled_dot_product_attention, and the logarithms of the sums of exponentials."""
    y = torch.ops.aten.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale
    )
    q = query * scale if scale is not None else divide_by_power(query, query.shape[-1], 0.5)
    s = q @ key.transpose(-2, -1)
    if attn_mask is not None:
        s = s + attn_mask
    if is_causal:
        seen = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
        s = s.masked_fill(seen.logical_not(), -math.inf)
    return (y, s.to(torch.float32).logsumexp(-1))


@operator("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor")
def _cdist_forward(x1, x2, p, compute_mode):
    """The internal operator of cdist."""
    return torch.ops.aten.cdist(x1, x2, p, compute_mode)


@operator("aten::_pdist_forward(Tensor self, float p=2.) -> Tensor")
def _pdist_forward(self, p):
    """The internal operator of pdist."""
    return torch.pdist(self, p)


@operator(
    "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, "
    "int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor"
)
def _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim):
    """Sums of products of three tensors, each expanded at the given dimensions."""
    n = i1.ndim + len(expand1)
    for d in range(n):
        if d in expand1:
            i1 = i1.unsqueeze(d)
    for d in range(n):
        if d in expand2:
            i2 = i2.unsqueeze(d)
    for d in range(n):
        if d in expand3:
            i3 = i3.unsqueeze(d)
    y = i1 * i2 * i3
    return y.sum(sumdim) if len(sumdim) > 0 else y


@operator(
    "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, "
    "int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, "
    "Tensor indices) -> Tensor"
)
def max_pool2d_with_indices_backward(
    grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
):
    """The gradient of max_pool2d."""
    return scattered(grad_output, self, indices, 2)


@operator(
    "aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, "
    "int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, "
    "Tensor indices) -> Tensor"
)
def max_pool3d_with_indices_backward(
    grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
):
    """The gradient of max_pool3d."""
    return scattered(grad_output, self, indices, 3)


@operator(
    "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) "
    "-> Tensor"
)
def _unsafe_masked_index(self, mask, indices, fill):
    """Self[indices] where the mask is true, fill elsewhere."""
    return torch.ops.aten.index(self, within(self, indices)).masked_fill(mask.logical_not(), fill)


@operator(
    "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, "
    "Tensor values) -> Tensor"
)
def _unsafe_masked_index_put_accumulate(self, mask, indices, values):
    """The tensor with values added at indices, where the mask is true."""
    values = values.masked_fill(mask.logical_not(), 0)
    return self.index_put(within(self, indices), values, True)


@operator("aten::fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor")
def fill_diagonal(self, fill_value, wrap):
    """The tensor with a number on the diagonal.

    PyTorch has only the in-place form, fill_diagonal_. With wrap, the diagonal of a tall matrix
    starts again below the square part, after one empty row.
    """
    n = self.ndim
    assert n > 1, "expected at least two dimensions"
    at = [
        torch.arange(self.shape[k]).reshape([-1 if i == k else 1 for i in range(n)])
        for k in range(n)
    ]
    first = at[0] % (self.shape[1] + 1) if wrap and n == 2 else at[0]
    on = first == at[1]
    for k in range(2, n):
        on = torch.logical_and(on, at[0] == at[k])
    return self.masked_fill(on, fill_value)


@operator("aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor")
def _chunk_cat(tensors, dim, num_chunks):
    """Concatenation of corresponding chunks of tensors.

    Tensors are padded with zeros to a whole number of chunks.
    """
    d = wrap_dim(dim, tensors[0].ndim)
    parts = [
        torch.constant_pad_nd(
            t,
            [0] * (2 * (t.ndim - 1 - d)) + [0, (num_chunks - t.shape[d] % num_chunks) % num_chunks],
            0,
        ).reshape(list(t.shape[:d]) + [num_chunks, -1])
        for t in tensors
    ]
    return torch.cat(parts, d + 1)


@operator(
    "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
def _embedding_bag_forward_only(
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
    padding_idx,
):
    """The same as _embedding_bag."""
    return torch._embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )


@operator(
    "aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def empty_permuted(size, physical_layout, dtype, layout, device, pin_memory):
    """Zeros, in a given memory order."""
    return torch.empty(size, dtype=dtype)


@operator(
    "aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, "
    "int zero_point, int quant_min, int quant_max) -> (Tensor output, Tensor mask)"
)
def fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max):
    """Fake_quantize_per_tensor_affine, and a mask of the elements within its range."""
    q = (self * (1 / scale)).round() + zero_point
    return (
        torch.fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max),
        torch.logical_and(q >= quant_min, q <= quant_max),
    )


@operator(
    "aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, "
    "Tensor zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, "
    "Tensor mask)"
)
def fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max):
    """Fake_quantize_per_channel_affine, and a mask of the elements within its range."""
    sizes = [-1 if i == axis else 1 for i in range(self.ndim)]
    q = (self / scale.reshape(sizes)).round() + zero_point.reshape(sizes)
    return (
        torch.fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max),
        torch.logical_and(q >= quant_min, q <= quant_max),
    )


@operator("aten::gcd(Tensor self, Tensor other) -> Tensor")
def gcd(self, other):
    """The greatest common divisor.

    Euclid's algorithm, with the maximum number of steps for the dtype.
    """
    d = result_type(self, other)
    assert (
        not d.is_floating_point and (not d.is_complex) and (d != torch.bool)
    ), f"expected integers, got {dtype_name(d)}"
    a = self.to(d).abs()
    b = other.to(d).abs()
    steps = 91 if d == torch.int64 else 46 if d == torch.int32 else 23 if d == torch.int16 else 13
    for i in range(steps):
        done = b == 0
        r = a % b.masked_fill(done, 1)
        a = torch.where(done, a, b)
        b = r.masked_fill(done, 0)
    return a


@operator("aten::lcm(Tensor self, Tensor other) -> Tensor")
def lcm(self, other):
    """The least common multiple."""
    g = torch.gcd(self, other)
    return (self.div(g.masked_fill(g == 0, 1), rounding_mode="trunc") * other).abs()


@operator("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)")
def frexp_Tensor(self):
    """The decomposition x = m * 2 ** e, with m from 0.5 to 1."""
    rest = torch.logical_or(self == 0, self.isfinite().logical_not())
    x = self.masked_fill(rest, 1)
    e = x.abs().log2().floor() + 1
    half = (e / 2).floor()
    m = x * torch.exp2(-half) * torch.exp2(half - e)
    large = m.abs() >= 1
    small = m.abs() < 0.5
    m = torch.where(large, m / 2, torch.where(small, m * 2, m))
    e = torch.where(large, e + 1, torch.where(small, e - 1, e))
    return (torch.where(rest, self, m), e.masked_fill(rest, 0).to(torch.int32))


@operator(
    "aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    autocast="float32",
)
def multilabel_margin_loss(self, target, reduction):
    """Multi-label margin loss.

    Targets before the first negative one count; each is compared with all other classes.
    """
    x = self.reshape([-1, self.shape[-1]]) if self.ndim > 0 else self.reshape([1, 1])
    at = target.reshape(x.shape)
    n = x.shape[1]
    counts = (at >= 0).to(torch.int64).cumprod(1) > 0
    at = at.clamp(min=0)
    named = torch.logical_and(at.unsqueeze(2) == torch.arange(n), counts.unsqueeze(2)).any(1)
    gap = (1 - x.gather(1, at).unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)
    hidden = torch.logical_or(counts.logical_not().unsqueeze(2), named.unsqueeze(1))
    y = gap.masked_fill(hidden, 0).sum([1, 2]) / n
    if self.ndim < 2:
        y = y.squeeze(0)
    return reduced(y, reduction)


@operator("aten::_is_all_true(Tensor self) -> Tensor")
def _is_all_true(self):
    """Whether all elements are true."""
    return self.all()


@operator("aten::_is_any_true(Tensor self) -> Tensor")
def _is_any_true(self):
    """Whether any element is true."""
    return self.any()


@gradient("aten::native_batch_norm", first_only=True)
@gradient("aten::_native_batch_norm_legit", first_only=True)
@gradient("aten::_native_batch_norm_legit_functional", first_only=True)
def native_batch_norm_gradient(grad, input, weight, bias, running_mean, running_var, training, eps):
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


@gradient("aten::_native_batch_norm_legit.no_stats", first_only=True)
@gradient("aten::_batch_norm_with_update", first_only=True)
@gradient("aten::_batch_norm_with_update_functional", first_only=True)
def _native_batch_norm_legit_no_stats_gradient(grad, input, weight, bias, eps):
    x = input.to(torch.float64)
    g = grad.to(torch.float64)
    dims = [i for i in range(input.ndim) if i != 1]
    sizes = [input.shape[i] if i == 1 else 1 for i in range(input.ndim)]
    hat, rstd = normalised(x, dims, None, None, eps)
    d = g if weight is None else g * weight.reshape(sizes)
    return {
        "weight": (g * hat.reshape(input.shape)).sum_to_size(sizes).reshape(weight.shape),
        "bias": g.sum_to_size(sizes).reshape(bias.shape),
        "input": norm_back(d.reshape(x.shape), hat, rstd, dims).reshape(input.shape),
    }


@gradient("aten::_native_batch_norm_legit_no_training", first_only=True)
@gradient("aten::_batch_norm_no_update", first_only=True)
def _native_batch_norm_legit_no_training_gradient(
    grad, input, weight, bias, running_mean, running_var, eps
):
    x = input.to(torch.float64)
    g = grad.to(torch.float64)
    dims = None
    sizes = [input.shape[i] if i == 1 else 1 for i in range(input.ndim)]
    hat, rstd = normalised(
        x,
        dims,
        running_mean.reshape([input.shape[i] if i == 1 else 1 for i in range(input.ndim)]),
        running_var.reshape([input.shape[i] if i == 1 else 1 for i in range(input.ndim)]),
        eps,
    )
    d = g if weight is None else g * weight.reshape(sizes)
    return {
        "weight": (g * hat.reshape(input.shape)).sum_to_size(sizes).reshape(weight.shape),
        "bias": g.sum_to_size(sizes).reshape(bias.shape),
        "input": norm_back(d.reshape(x.shape), hat, rstd, dims).reshape(input.shape),
    }

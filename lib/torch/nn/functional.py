"""torch.nn.functional: the functions that PyTorch has in Python, in terms of operators.

A name that is not defined here is the operator of the same name (`conv2d`, `linear`, `gelu`, …).
TorchScript source, model files and torch.nn share this file.
"""
import math
from typing import List, Optional

import torch


def __getattr__(name):
    return getattr(torch.ops.aten, name)


# ---- activations ----


def relu(input, inplace: bool = False):
    return torch.ops.aten.relu_(input) if inplace else torch.ops.aten.relu(input)


def relu6(input, inplace: bool = False):
    return torch.ops.aten.relu6_(input) if inplace else torch.ops.aten.relu6(input)


def selu(input, inplace: bool = False):
    return torch.ops.aten.selu_(input) if inplace else torch.ops.aten.selu(input)


def silu(input, inplace: bool = False):
    return torch.ops.aten.silu_(input) if inplace else torch.ops.aten.silu(input)


def mish(input, inplace: bool = False):
    return torch.ops.aten.mish_(input) if inplace else torch.ops.aten.mish(input)


def hardswish(input, inplace: bool = False):
    return torch.ops.aten.hardswish_(input) if inplace else torch.ops.aten.hardswish(input)


def hardsigmoid(input, inplace: bool = False):
    return torch.ops.aten.hardsigmoid_(input) if inplace else torch.ops.aten.hardsigmoid(input)


def elu(input, alpha: float = 1.0, inplace: bool = False):
    return torch.ops.aten.elu_(input, alpha) if inplace else torch.ops.aten.elu(input, alpha)


def celu(input, alpha: float = 1.0, inplace: bool = False):
    return torch.ops.aten.celu_(input, alpha) if inplace else torch.ops.aten.celu(input, alpha)


def leaky_relu(input, negative_slope: float = 0.01, inplace: bool = False):
    if inplace:
        return torch.ops.aten.leaky_relu_(input, negative_slope)
    return torch.ops.aten.leaky_relu(input, negative_slope)


def hardtanh(input, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False):
    if inplace:
        return torch.ops.aten.hardtanh_(input, min_val, max_val)
    return torch.ops.aten.hardtanh(input, min_val, max_val)


def threshold(input, threshold: float, value: float, inplace: bool = False):
    if inplace:
        return torch.ops.aten.threshold_(input, threshold, value)
    return torch.ops.aten.threshold(input, threshold, value)


def rrelu(input, lower: float = 0.125, upper: float = 1.0 / 3, training: bool = False,
          inplace: bool = False):
    if inplace:
        return torch.ops.aten.rrelu_(input, lower, upper, training)
    return torch.ops.aten.rrelu(input, lower, upper, training)


def sigmoid(input):
    return torch.sigmoid(input)


def tanh(input):
    return torch.tanh(input)


def logsigmoid(input):
    return torch.ops.aten.log_sigmoid(input)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def _softmax_axis(dim: Optional[int], rank: int):
    """The default is the axis of channels of a batch, or of a single example."""
    if dim is not None:
        return dim
    return 0 if rank == 0 or rank == 1 or rank == 3 else 1


def softmax(input, dim: Optional[int] = None, _stacklevel: int = 3, dtype=None):
    return torch.softmax(input, _softmax_axis(dim, input.dim()), dtype)


def log_softmax(input, dim: Optional[int] = None, _stacklevel: int = 3, dtype=None):
    return torch.log_softmax(input, _softmax_axis(dim, input.dim()), dtype)


def softmin(input, dim: Optional[int] = None, _stacklevel: int = 3, dtype=None):
    return torch.softmax(-input, _softmax_axis(dim, input.dim()), dtype)


def gumbel_softmax(logits, tau: float = 1.0, hard: bool = False, eps: float = 1e-10,
                   dim: int = -1):
    noise = -torch.empty_like(logits).exponential_().log()
    soft = torch.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    return torch.zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)


# ---- dropout ----


def dropout(input, p: float = 0.5, training: bool = True, inplace: bool = False):
    if inplace:
        return torch.dropout_(input, p, training)
    return torch.dropout(input, p, training)


def alpha_dropout(input, p: float = 0.5, training: bool = False, inplace: bool = False):
    return torch.alpha_dropout(input, p, training)


def feature_alpha_dropout(input, p: float = 0.5, training: bool = False, inplace: bool = False):
    return torch.feature_alpha_dropout(input, p, training)


def dropout1d(input, p: float = 0.5, training: bool = True, inplace: bool = False):
    return torch.feature_dropout(input, p, training)


def dropout2d(input, p: float = 0.5, training: bool = True, inplace: bool = False):
    return torch.feature_dropout(input, p, training)


def dropout3d(input, p: float = 0.5, training: bool = True, inplace: bool = False):
    return torch.feature_dropout(input, p, training)


# ---- normalization ----


def normalize(input, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out=None):
    axes = [dim] if isinstance(dim, int) else dim
    return input / input.norm(p, axes, True).clamp_min(eps).expand_as(input)


def batch_norm(input, running_mean, running_var, weight=None, bias=None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-05):
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training,
                            momentum, eps, True)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None,
                  use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-05):
    return torch.instance_norm(input, weight, bias, running_mean, running_var,
                               use_input_stats, momentum, eps, True)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps: float = 1e-05):
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, True)


def group_norm(input, num_groups: int, weight=None, bias=None, eps: float = 1e-05):
    return torch.group_norm(input, num_groups, weight, bias, eps, True)


def rms_norm(input, normalized_shape, weight=None, eps: Optional[float] = None):
    return torch.ops.aten.rms_norm(input, normalized_shape, weight, eps)


def local_response_norm(input, size: int, alpha: float = 0.0001, beta: float = 0.75,
                        k: float = 1.0):
    """Sums over neighbouring channels: a pooling window along their axis."""
    n, c = input.size(0), input.size(1)
    squares = (input * input).reshape(n, 1, c, -1)
    squares = torch.ops.aten.pad(squares, [0, 0, size // 2, (size - 1) // 2])
    mean = torch.ops.aten.avg_pool2d(squares, [size, 1], [1, 1]).reshape(input.shape)
    return input / (mean * alpha + k) ** beta


# ---- pooling ----


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1,
               ceil_mode: bool = False, return_indices: bool = False):
    stride = kernel_size if stride is None else stride
    if return_indices:
        return torch.ops.aten.max_pool1d_with_indices(input, kernel_size, stride, padding,
                                                      dilation, ceil_mode)
    return torch.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
                            ceil_mode: bool = False, return_indices: bool = True):
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def adaptive_max_pool1d(input, output_size, return_indices: bool = False):
    both = torch.ops.aten.adaptive_max_pool1d(input, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool1d_with_indices(input, output_size, return_indices: bool = True):
    return adaptive_max_pool1d(input, output_size, True)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1,
               ceil_mode: bool = False, return_indices: bool = False):
    stride = kernel_size if stride is None else stride
    if return_indices:
        return torch.ops.aten.max_pool2d_with_indices(input, kernel_size, stride, padding,
                                                      dilation, ceil_mode)
    return torch.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
                            ceil_mode: bool = False, return_indices: bool = True):
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def adaptive_max_pool2d(input, output_size, return_indices: bool = False):
    both = torch.ops.aten.adaptive_max_pool2d(input, _sizes(output_size, input, 2))
    return both if return_indices else both[0]


def adaptive_max_pool2d_with_indices(input, output_size, return_indices: bool = True):
    return adaptive_max_pool2d(input, output_size, True)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1,
               ceil_mode: bool = False, return_indices: bool = False):
    stride = kernel_size if stride is None else stride
    if return_indices:
        return torch.ops.aten.max_pool3d_with_indices(input, kernel_size, stride, padding,
                                                      dilation, ceil_mode)
    return torch.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1,
                            ceil_mode: bool = False, return_indices: bool = True):
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def adaptive_max_pool3d(input, output_size, return_indices: bool = False):
    both = torch.ops.aten.adaptive_max_pool3d(input, _sizes(output_size, input, 3))
    return both if return_indices else both[0]


def adaptive_max_pool3d_with_indices(input, output_size, return_indices: bool = True):
    return adaptive_max_pool3d(input, output_size, True)


def _sizes(output_size, input, n: int):
    """One size for all axes, or a list in which None keeps the size of the input."""
    if isinstance(output_size, int):
        return [output_size] * n
    sizes = list(output_size)
    return [input.size(i - n) if sizes[i] is None else sizes[i] for i in range(n)]


def adaptive_avg_pool1d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool1d(input, _sizes(output_size, input, 1))


def adaptive_avg_pool2d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool2d(input, _sizes(output_size, input, 2))


def adaptive_avg_pool3d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool3d(input, _sizes(output_size, input, 3))


def _lp_root(mean, norm_type: float, count: int):
    return (mean.sign() * mean.abs().relu() * count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type: float, kernel_size: int, stride=None, ceil_mode: bool = False):
    stride = kernel_size if stride is None else stride
    mean = torch.ops.aten.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _lp_root(mean, norm_type, kernel_size)


def lp_pool2d(input, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False):
    stride = kernel_size if stride is None else stride
    mean = torch.ops.aten.avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    h, w = _pair(kernel_size)
    return _lp_root(mean, norm_type, h * w)


def lp_pool3d(input, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False):
    stride = kernel_size if stride is None else stride
    mean = torch.ops.aten.avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    d, h, w = _triple(kernel_size)
    return _lp_root(mean, norm_type, d * h * w)


def _fractional_sizes(input, kernel_size, output_size, output_ratio, n: int):
    if output_size is not None:
        return _sizes(output_size, input, n)
    assert output_ratio is not None, \
        "fractional_max_pool requires specifying either an output_size or an output_ratio"
    ratios = [output_ratio] * n if isinstance(output_ratio, float) else output_ratio
    return [int(input.size(i - n) * ratios[i]) for i in range(n)]


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None,
                          return_indices: bool = False, _random_samples=None):
    sizes = _fractional_sizes(input, kernel_size, output_size, output_ratio, 2)
    if _random_samples is None:
        batch = 1 if input.dim() == 3 else input.size(0)
        _random_samples = torch.rand(batch, input.size(-3), 2, dtype=input.dtype)
    both = torch.ops.aten.fractional_max_pool2d(input, _pair(kernel_size), sizes,
                                                _random_samples)
    return both if return_indices else both[0]


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None,
                          return_indices: bool = False, _random_samples=None):
    sizes = _fractional_sizes(input, kernel_size, output_size, output_ratio, 3)
    if _random_samples is None:
        batch = 1 if input.dim() == 4 else input.size(0)
        _random_samples = torch.rand(batch, input.size(-4), 3, dtype=input.dtype)
    both = torch.ops.aten.fractional_max_pool3d(input, _triple(kernel_size), sizes,
                                                _random_samples)
    return both if return_indices else both[0]


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None,
                                       return_indices: bool = False, _random_samples=None):
    return fractional_max_pool2d(input, kernel_size, output_size, output_ratio, True,
                                 _random_samples)


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None,
                                       return_indices: bool = False, _random_samples=None):
    return fractional_max_pool3d(input, kernel_size, output_size, output_ratio, True,
                                 _random_samples)


def _list(x, n: int):
    return [x] * n if isinstance(x, int) else list(x)


def _unpooled_sizes(input, kernel_size, stride, padding, output_size, n: int):
    kernel = _list(kernel_size, n)
    step = kernel if stride is None else _list(stride, n)
    pad = _list(padding, n)
    if output_size is None:
        return [(input.size(i - n) - 1) * step[i] + kernel[i] - 2 * pad[i] for i in range(n)]
    return list(output_size)[-n:]


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 1)
    image = torch.ops.aten.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), sizes + [1])
    return image.squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 2)
    return torch.ops.aten.max_unpool2d(input, indices, sizes)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 3)
    step = _list(kernel_size if stride is None else stride, 3)
    return torch.ops.aten.max_unpool3d(input, indices, sizes, step, _list(padding, 3))


# ---- feature maps ----


def _pair(x):
    return (x, x) if isinstance(x, int) else (x[0], x[1])


def _triple(x):
    return (x, x, x) if isinstance(x, int) else (x[0], x[1], x[2])


def pad(input, pad, mode: str = 'constant', value: Optional[float] = None):
    return torch.ops.aten.pad(input, pad, mode, value)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    return torch.ops.aten.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding),
                                 _pair(stride))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return torch.ops.aten.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation),
                                 _pair(padding), _pair(stride))


def interpolate(input, size=None, scale_factor=None, mode: str = 'nearest',
                align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None, antialias: bool = False):
    n = input.dim() - 2
    align = align_corners is not None and align_corners
    if mode == 'nearest' or mode == 'area' or mode == 'nearest-exact':
        assert align_corners is None, \
            "align_corners option can only be set with the interpolating modes: " \
            "linear | bilinear | bicubic | trilinear"
    sizes = None
    scales = None
    if size is not None:
        assert scale_factor is None, "only one of size or scale_factor should be defined"
        sizes = list(size) if isinstance(size, (list, tuple)) else [int(size)] * n
        assert len(sizes) == n, "size must have one element for each spatial dimension"
    else:
        assert scale_factor is not None, "either size or scale_factor should be defined"
        if isinstance(scale_factor, (list, tuple)):
            scales = [float(scale) for scale in scale_factor]
        else:
            scales = [float(scale_factor)] * n
        assert len(scales) == n, "scale_factor must have one element for each spatial dimension"
        if mode == 'area' or (recompute_scale_factor is not None and recompute_scale_factor):
            sizes = [int(math.floor(input.size(i + 2) * scales[i])) for i in range(n)]
            scales = None
    if mode == 'area':
        if n == 1:
            return torch.ops.aten.adaptive_avg_pool1d(input, sizes)
        if n == 2:
            return torch.ops.aten.adaptive_avg_pool2d(input, sizes)
        return torch.ops.aten.adaptive_avg_pool3d(input, sizes)
    if mode == 'nearest':
        if n == 1:
            return torch.ops.aten.upsample_nearest1d(input, sizes, scales)
        if n == 2:
            return torch.ops.aten.upsample_nearest2d(input, sizes, scales)
        return torch.ops.aten.upsample_nearest3d(input, sizes, scales)
    if mode == 'nearest-exact':
        if n == 1:
            return torch.ops.aten._upsample_nearest_exact1d(input, sizes, scales)
        if n == 2:
            return torch.ops.aten._upsample_nearest_exact2d(input, sizes, scales)
        return torch.ops.aten._upsample_nearest_exact3d(input, sizes, scales)
    if mode == 'linear' and n == 1:
        return torch.ops.aten.upsample_linear1d(input, sizes, align, scales)
    if mode == 'bilinear' and n == 2:
        if antialias:
            return torch.ops.aten._upsample_bilinear2d_aa(input, sizes, align, scales)
        return torch.ops.aten.upsample_bilinear2d(input, sizes, align, scales)
    if mode == 'bicubic' and n == 2:
        if antialias:
            return torch.ops.aten._upsample_bicubic2d_aa(input, sizes, align, scales)
        return torch.ops.aten.upsample_bicubic2d(input, sizes, align, scales)
    if mode == 'trilinear' and n == 3:
        return torch.ops.aten.upsample_trilinear3d(input, sizes, align, scales)
    raise NotImplementedError(f"interpolate: mode '{mode}' is not defined for {n + 2}D inputs")


def upsample(input, size=None, scale_factor=None, mode: str = 'nearest',
             align_corners: Optional[bool] = None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, 'bilinear', True)


def grid_sample(input, grid, mode: str = 'bilinear', padding_mode: str = 'zeros',
                align_corners: Optional[bool] = None):
    how = ['bilinear', 'nearest', 'bicubic'].index(mode)
    outside = ['zeros', 'border', 'reflection'].index(padding_mode)
    align = align_corners is not None and align_corners
    return torch.grid_sampler(input, grid, how, outside, align)


def affine_grid(theta, size: List[int], align_corners: Optional[bool] = None):
    align = align_corners is not None and align_corners
    return torch.affine_grid_generator(theta, size, align)


# ---- look-up ----


def embedding(input, weight, padding_idx: Optional[int] = None, max_norm=None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False):
    assert max_norm is None, 'max_norm changes the weight, which cannot be exported'
    row = -1 if padding_idx is None else padding_idx
    return torch.embedding(weight, input, row, scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type: float = 2.0,
                  scale_grad_by_freq: bool = False, mode: str = 'mean',
                  sparse: bool = False, per_sample_weights=None,
                  include_last_offset: bool = False, padding_idx: Optional[int] = None):
    assert max_norm is None, 'max_norm changes the weight, which cannot be exported'
    if offsets is None:
        offsets = torch.arange(0, input.numel(), input.size(1))
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    how = ['sum', 'mean', 'max'].index(mode)
    return torch.embedding_bag(weight, input, offsets, scale_grad_by_freq, how, sparse,
                               per_sample_weights, include_last_offset, padding_idx)[0]


# ---- distances ----


def pairwise_distance(x1, x2, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False):
    return torch.pairwise_distance(x1, x2, p, eps, keepdim)


# ---- losses ----


def _reduction(reduction: str, size_average=None, reduce=None):
    """The number of a reduction; size_average and reduce are its older form."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            return 0
        return 1 if size_average is None or size_average else 2
    return ['none', 'mean', 'sum'].index(reduction)


def _reduced(loss, reduction: str):
    if reduction == 'mean':
        return loss.mean()
    return loss.sum() if reduction == 'sum' else loss


def mse_loss(input, target, size_average=None, reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.mse_loss(input, target, how)


def l1_loss(input, target, size_average=None, reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.l1_loss(input, target, how)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.soft_margin_loss(input, target, how)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.multilabel_margin_loss(input, target, how)


def hinge_embedding_loss(input, target, margin: float = 1.0, size_average=None, reduce=None,
                         reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.hinge_embedding_loss(input, target, margin, how)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction: str = 'mean',
                   beta: float = 1.0):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.smooth_l1_loss(input, target, how, beta)


def huber_loss(input, target, reduction: str = 'mean', delta: float = 1.0):
    return torch.ops.aten.huber_loss(input, target, _reduction(reduction), delta)


def kl_div(input, target, size_average=None, reduce=None, reduction: str = 'mean',
           log_target: bool = False):
    if reduction == 'batchmean':
        return torch.ops.aten.kl_div(input, target, 2, log_target=log_target) / input.size(0)
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.kl_div(input, target, how, log_target=log_target)


def nll_loss(input, target, weight=None, size_average=None, ignore_index: int = -100,
             reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.nll_loss_nd(input, target, weight, how, ignore_index)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index: int = -100,
                  reduce=None, reduction: str = 'mean', label_smoothing: float = 0.0):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.cross_entropy_loss(input, target, weight, how, ignore_index,
                                             label_smoothing)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None,
                         reduction: str = 'mean', ignore_index=None, label_smoothing: float = 0.0,
                         options=None):
    """`options` choose how PyTorch saves memory; the result is the same."""
    outputs = list(linear_weight.shape[:-1])
    logits = linear(input, linear_weight.reshape(-1, linear_weight.shape[-1]),
                    None if linear_bias is None else linear_bias.reshape(-1))
    logits = logits.reshape(list(input.shape[:-1]) + outputs)
    return cross_entropy(logits, target, weight, reduction=reduction,
                         ignore_index=-100 if ignore_index is None else ignore_index,
                         label_smoothing=label_smoothing)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None,
                         reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.binary_cross_entropy(input, target, weight, how)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None,
                                     reduce=None, reduction: str = 'mean', pos_weight=None):
    how = _reduction(reduction, size_average, reduce)
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, how)


def poisson_nll_loss(input, target, log_input: bool = True, full: bool = False,
                     size_average=None, eps: float = 1e-08, reduce=None,
                     reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.poisson_nll_loss(input, target, log_input, full, eps, how)


def gaussian_nll_loss(input, target, var, full: bool = False, eps: float = 1e-06,
                      reduction: str = 'mean'):
    if var.size() != input.size() and var.dim() + 1 == input.dim():
        var = var.unsqueeze(-1)
    var = var.clamp_min(eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def multi_margin_loss(input, target, p: int = 1, margin: float = 1.0, weight=None,
                      size_average=None, reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.ops.aten.multi_margin_loss(input, target, p, margin, weight, how)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None,
                                reduction: str = 'mean'):
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    how = _reduction(reduction, size_average, reduce)
    return _reduced(loss.mean(-1), ['none', 'mean', 'sum'][how])


def margin_ranking_loss(input1, input2, target, margin: float = 0.0, size_average=None,
                        reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.margin_ranking_loss(input1, input2, target, margin, how)


def cosine_embedding_loss(input1, input2, target, margin: float = 0.0, size_average=None,
                          reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.cosine_embedding_loss(input1, input2, target, margin, how)


def triplet_margin_loss(anchor, positive, negative, margin: float = 1.0, p: float = 2.0,
                        eps: float = 1e-06, swap: bool = False, size_average=None,
                        reduce=None, reduction: str = 'mean'):
    how = _reduction(reduction, size_average, reduce)
    return torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, how)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None,
                                      margin: float = 1.0, swap: bool = False,
                                      reduction: str = 'mean'):
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank: int = 0,
             reduction: str = 'mean', zero_infinity: bool = False):
    return torch.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank,
                          _reduction(reduction), zero_infinity)


# ---- attention ----


def _float_mask(mask, dtype):
    """True means "not attended": it adds minus infinity."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, float('-inf'))


def _project(query, key, value, weight, bias):
    """The three projections of attention, whose weights are the rows of one matrix."""
    n = query.size(-1)
    if key is value and query is key:
        both = linear(query, weight, bias)
        return both[..., :n], both[..., n:2 * n], both[..., 2 * n:]
    b = [None, None, None] if bias is None else [bias[:n], bias[n:2 * n], bias[2 * n:]]
    return (linear(query, weight[:n], b[0]), linear(key, weight[n:2 * n], b[1]),
            linear(value, weight[2 * n:], b[2]))


def linear(input, weight, bias=None):
    return torch.ops.aten.linear(input, weight, bias)


def multi_head_attention_forward(
        query, key, value, embed_dim_to_check: int, num_heads: int, in_proj_weight, in_proj_bias,
        bias_k, bias_v, add_zero_attn: bool, dropout_p: float, out_proj_weight, out_proj_bias,
        training: bool = True, key_padding_mask=None, need_weights: bool = True, attn_mask=None,
        use_separate_proj_weight: bool = False, q_proj_weight=None, k_proj_weight=None,
        v_proj_weight=None, static_k=None, static_v=None, average_attn_weights: bool = True,
        is_causal: bool = False):
    """Query, key and value are (length, batch, features), or (length, features)."""
    is_batched = query.dim() == 3
    if not is_batched:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    assert not is_causal or attn_mask is not None, \
        "Need attn_mask if specifying the is_causal hint."
    length, batch, features = query.size(0), query.size(1), query.size(2)
    assert embed_dim_to_check == features, \
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {features}"
    head = features // num_heads
    if use_separate_proj_weight:
        b = [None, None, None]
        if in_proj_bias is not None:
            b = [in_proj_bias[:features], in_proj_bias[features:2 * features],
                 in_proj_bias[2 * features:]]
        q = linear(query, q_proj_weight, b[0])
        k = linear(key, k_proj_weight, b[1])
        v = linear(value, v_proj_weight, b[2])
    else:
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _float_mask(attn_mask, q.dtype)
    key_padding_mask = _float_mask(key_padding_mask, q.dtype)
    if attn_mask is not None and attn_mask.dim() == 2:
        attn_mask = attn_mask.unsqueeze(0)
    if bias_k is not None:
        k = torch.cat([k, bias_k.repeat(1, batch, 1)])
        v = torch.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask = None if attn_mask is None else pad(attn_mask, [0, 1])
        key_padding_mask = None if key_padding_mask is None else pad(key_padding_mask, [0, 1])
    q = q.contiguous().view(length, batch * num_heads, head).transpose(0, 1)
    if static_k is not None:
        k = static_k
    else:
        k = k.contiguous().view(k.size(0), batch * num_heads, head).transpose(0, 1)
    if static_v is not None:
        v = static_v
    else:
        v = v.contiguous().view(v.size(0), batch * num_heads, head).transpose(0, 1)
    if add_zero_attn:
        zeros = torch.zeros([batch * num_heads, 1, head], dtype=k.dtype)
        k = torch.cat([k, zeros], 1)
        v = torch.cat([v, zeros], 1)
        attn_mask = None if attn_mask is None else pad(attn_mask, [0, 1])
        key_padding_mask = None if key_padding_mask is None else pad(key_padding_mask, [0, 1])
    n_keys = k.size(1)
    if key_padding_mask is not None:
        padding = key_padding_mask.view(batch, 1, 1, n_keys).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(batch * num_heads, 1, n_keys)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    p = dropout_p if training else 0.0
    if need_weights:
        scores = torch.bmm(q * math.sqrt(1.0 / head), k.transpose(-2, -1))
        if attn_mask is not None:
            scores = scores + attn_mask
        weights = softmax(scores, -1)
        if p > 0.0:
            weights = dropout(weights, p)
        out = torch.bmm(weights, v).transpose(0, 1).contiguous()
        out = out.view(length * batch, features)
    else:
        if attn_mask is not None:
            if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
                attn_mask = attn_mask.unsqueeze(0)
            else:
                attn_mask = attn_mask.view(batch, num_heads, -1, n_keys)
        out = scaled_dot_product_attention(
            q.view(batch, num_heads, length, head), k.view(batch, num_heads, n_keys, head),
            v.view(batch, num_heads, n_keys, head), attn_mask, p)
        out = out.permute(2, 0, 1, 3).contiguous().view(length * batch, features)
    out = linear(out, out_proj_weight, out_proj_bias).view(length, batch, features)
    if not is_batched:
        out = out.squeeze(1)
    if not need_weights:
        return out, None
    weights = weights.view(batch, num_heads, length, n_keys)
    if average_attn_weights:
        weights = weights.mean(1)
    return out, (weights if is_batched else weights.squeeze(0))


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: Optional[float] = None,
                                 enable_gqa: bool = False):
    return torch.ops.aten.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)

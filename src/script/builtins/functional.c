/* Functions that PyTorch has in Python, in TorchScript: torch.nn.functional, and a few of torch.
 * Archives have them in their own code, as PyTorch wrote it; here they are for programs in source
 * form. What is an operator under the same name and with the same arguments is not listed: a name
 * that is not found here is looked for there. */
#include "script/eval.h"

/* An activation that PyTorch can do in place. */
#define ACTIVATION(name)                                                                           \
    "def " name "(input, inplace: bool = False):\n"                                                \
    "    return torch." name "_(input) if inplace else torch." name "(input)\n"

#define FEATURE_DROPOUT(d)                                                                         \
    "def dropout" d "(input, p: float = 0.5, training: bool = True, inplace: bool = False):\n"     \
    "    return torch.feature_dropout(input, p, training)\n"

#define MAX_POOL(d)                                                                                \
    "def max_pool" d "(input, kernel_size, stride=None, padding=0, dilation=1,\n"                  \
    "                  ceil_mode: bool = False, return_indices: bool = False):\n"                  \
    "    stride = kernel_size if stride is None else stride\n"                                     \
    "    if return_indices:\n"                                                                     \
    "        return torch.max_pool" d "_with_indices(input, kernel_size, stride, padding,\n"       \
    "                                                dilation, ceil_mode)\n"                       \
    "    return torch.max_pool" d "(input, kernel_size, stride, padding, dilation, ceil_mode)\n"

#define ADAPTIVE_MAX_POOL(d)                                                                       \
    "def adaptive_max_pool" d "(input, output_size, return_indices: bool = False):\n"              \
    "    both = torch.adaptive_max_pool" d "(input, output_size)\n"                                \
    "    return both if return_indices else both[0]\n"

/* A loss whose last argument says what becomes of the elements. */
#define LOSS(name, params, args)                                                                   \
    "def " name "(input, target, " params "size_average=None, reduce=None, "                       \
    "reduction: str = 'mean'):\n"                                                                  \
    "    return torch." name "(input, target, " args ")\n"

#define REDUCTION "_reduction(reduction, size_average, reduce)"

/* clang-format off */
static const char nn_functional[] =
    /* ---- activations ---- */
    ACTIVATION("relu") ACTIVATION("relu6") ACTIVATION("selu") ACTIVATION("silu")
    ACTIVATION("mish") ACTIVATION("hardswish") ACTIVATION("hardsigmoid")
    "def elu(input, alpha: float = 1.0, inplace: bool = False):\n"
    "    return torch.elu_(input, alpha) if inplace else torch.elu(input, alpha)\n"
    "def celu(input, alpha: float = 1.0, inplace: bool = False):\n"
    "    return torch.celu_(input, alpha) if inplace else torch.celu(input, alpha)\n"
    "def leaky_relu(input, negative_slope: float = 0.01, inplace: bool = False):\n"
    "    if inplace:\n"
    "        return torch.leaky_relu_(input, negative_slope)\n"
    "    return torch.leaky_relu(input, negative_slope)\n"
    "def hardtanh(input, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False):\n"
    "    if inplace:\n"
    "        return torch.hardtanh_(input, min_val, max_val)\n"
    "    return torch.hardtanh(input, min_val, max_val)\n"
    "def threshold(input, threshold: float, value: float, inplace: bool = False):\n"
    "    if inplace:\n"
    "        return torch.threshold_(input, threshold, value)\n"
    "    return torch.threshold(input, threshold, value)\n"
    "def rrelu(input, lower: float = 0.125, upper: float = 1.0 / 3, training: bool = False,\n"
    "          inplace: bool = False):\n"
    "    if inplace:\n"
    "        return torch.rrelu_(input, lower, upper, training)\n"
    "    return torch.rrelu(input, lower, upper, training)\n"
    "def logsigmoid(input):\n"
    "    return torch.log_sigmoid(input)\n"
    "def softsign(input):\n"
    "    return input / (input.abs() + 1)\n"
    "def tanhshrink(input):\n"
    "    return input - input.tanh()\n"
    /* The axis of who gives none: that of channels, if there is one. */
    "def _softmax_axis(dim: Optional[int], rank: int):\n"
    "    if dim is not None:\n"
    "        return dim\n"
    "    return 0 if rank == 0 or rank == 1 or rank == 3 else 1\n"
    "def softmax(input, dim: Optional[int] = None, _stacklevel: int = 3, dtype=None):\n"
    "    return torch.softmax(input, _softmax_axis(dim, input.dim()), dtype)\n"
    "def log_softmax(input, dim: Optional[int] = None, _stacklevel: int = 3, dtype=None):\n"
    "    return torch.log_softmax(input, _softmax_axis(dim, input.dim()), dtype)\n"
    "def softmin(input, dim: Optional[int] = None, _stacklevel: int = 3, dtype=None):\n"
    "    return torch.softmax(-input, _softmax_axis(dim, input.dim()), dtype)\n"
    "def gumbel_softmax(logits, tau: float = 1.0, hard: bool = False, eps: float = 1e-10,\n"
    "                   dim: int = -1):\n"
    "    noise = -torch.empty_like(logits).exponential_().log()\n"
    "    soft = torch.softmax((logits + noise) / tau, dim)\n"
    "    if not hard:\n"
    "        return soft\n"
    "    return torch.zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)\n"

    /* ---- dropout ---- */
    "def dropout(input, p: float = 0.5, training: bool = True, inplace: bool = False):\n"
    "    if inplace:\n"
    "        return torch.dropout_(input, p, training)\n"
    "    return torch.dropout(input, p, training)\n"
    "def alpha_dropout(input, p: float = 0.5, training: bool = False, inplace: bool = False):\n"
    "    return torch.alpha_dropout(input, p, training)\n"
    "def feature_alpha_dropout(input, p: float = 0.5, training: bool = False,\n"
    "                          inplace: bool = False):\n"
    "    return torch.feature_alpha_dropout(input, p, training)\n"
    FEATURE_DROPOUT("1d") FEATURE_DROPOUT("2d") FEATURE_DROPOUT("3d")

    /* ---- normalisation ---- */
    "def normalize(input, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out=None):\n"
    "    return input / input.norm(p, [dim], True).clamp_min(eps).expand_as(input)\n"
    "def batch_norm(input, running_mean, running_var, weight=None, bias=None,\n"
    "               training: bool = False, momentum: float = 0.1, eps: float = 1e-05):\n"
    "    return torch.batch_norm(input, weight, bias, running_mean, running_var, training,\n"
    "                            momentum, eps, True)\n"
    "def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None,\n"
    "                  use_input_stats: bool = True, momentum: float = 0.1,\n"
    "                  eps: float = 1e-05):\n"
    "    return torch.instance_norm(input, weight, bias, running_mean, running_var,\n"
    "                               use_input_stats, momentum, eps, True)\n"
    /* Sums over neighbouring channels: those of a window that goes along their axis. */
    "def local_response_norm(input, size: int, alpha: float = 0.0001, beta: float = 0.75,\n"
    "                        k: float = 1.0):\n"
    "    n, c = input.size(0), input.size(1)\n"
    "    squares = (input * input).reshape(n, 1, c, -1)\n"
    "    squares = torch.pad(squares, [0, 0, size // 2, (size - 1) // 2])\n"
    "    mean = torch.avg_pool2d(squares, [size, 1], [1, 1]).reshape(input.shape)\n"
    "    return input / (mean * alpha + k) ** beta\n"

    /* ---- pools ---- */
    MAX_POOL("1d") MAX_POOL("2d") MAX_POOL("3d")
    ADAPTIVE_MAX_POOL("1d") ADAPTIVE_MAX_POOL("2d") ADAPTIVE_MAX_POOL("3d")
    "def lp_pool1d(input, norm_type: float, kernel_size: int, stride=None,\n"
    "              ceil_mode: bool = False):\n"
    "    stride = kernel_size if stride is None else stride\n"
    "    sums = torch.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)\n"
    "    return (sums.sign() * sums.abs().relu() * kernel_size).pow(1.0 / norm_type)\n"
    "def lp_pool2d(input, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False):\n"
    "    stride = kernel_size if stride is None else stride\n"
    "    sums = torch.avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)\n"
    "    h, w = _pair(kernel_size)\n"
    "    return (sums.sign() * sums.abs().relu() * (h * w)).pow(1.0 / norm_type)\n"

    /* ---- images ---- */
    "def _pair(x):\n"
    "    return (x, x) if isinstance(x, int) else (x[0], x[1])\n"
    "def unfold(input, kernel_size, dilation=1, padding=0, stride=1):\n"
    "    return torch.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding),\n"
    "                        _pair(stride))\n"
    "def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):\n"
    "    return torch.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation),\n"
    "                        _pair(padding), _pair(stride))\n"
    "def interpolate(input, size=None, scale_factor=None, mode: str = 'nearest',\n"
    "                align_corners: Optional[bool] = None,\n"
    "                recompute_scale_factor: Optional[bool] = None, antialias: bool = False):\n"
    "    again = recompute_scale_factor is not None and recompute_scale_factor\n"
    "    return ops.aten.__interpolate(input, size, scale_factor, mode, align_corners, again,\n"
    "                                  antialias)\n"
    "def upsample(input, size=None, scale_factor=None, mode: str = 'nearest',\n"
    "             align_corners: Optional[bool] = None):\n"
    "    return interpolate(input, size, scale_factor, mode, align_corners)\n"
    "def upsample_nearest(input, size=None, scale_factor=None):\n"
    "    return interpolate(input, size, scale_factor)\n"
    "def upsample_bilinear(input, size=None, scale_factor=None):\n"
    "    return interpolate(input, size, scale_factor, 'bilinear', True)\n"
    "def grid_sample(input, grid, mode: str = 'bilinear', padding_mode: str = 'zeros',\n"
    "                align_corners: Optional[bool] = None):\n"
    "    how = ['bilinear', 'nearest', 'bicubic'].index(mode)\n"
    "    outside = ['zeros', 'border', 'reflection'].index(padding_mode)\n"
    "    align = align_corners is not None and align_corners\n"
    "    return torch.grid_sampler(input, grid, how, outside, align)\n"
    "def affine_grid(theta, size: List[int], align_corners: Optional[bool] = None):\n"
    "    align = align_corners is not None and align_corners\n"
    "    return torch.affine_grid_generator(theta, size, align)\n"

    /* ---- look-up ---- */
    "def embedding(input, weight, padding_idx: Optional[int] = None, max_norm=None,\n"
    "              norm_type: float = 2.0, scale_grad_by_freq: bool = False,\n"
    "              sparse: bool = False):\n"
    "    assert max_norm is None, 'max_norm changes the weight, which cannot be exported'\n"
    "    row = -1 if padding_idx is None else padding_idx\n"
    "    return torch.embedding(weight, input, row, scale_grad_by_freq, sparse)\n"
    "def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type: float = 2.0,\n"
    "                  scale_grad_by_freq: bool = False, mode: str = 'mean',\n"
    "                  sparse: bool = False, per_sample_weights=None,\n"
    "                  include_last_offset: bool = False, padding_idx: Optional[int] = None):\n"
    "    assert max_norm is None, 'max_norm changes the weight, which cannot be exported'\n"
    "    if offsets is None:\n"
    "        offsets = torch.arange(0, input.numel(), input.size(1))\n"
    "        input = input.reshape(-1)\n"
    "        if per_sample_weights is not None:\n"
    "            per_sample_weights = per_sample_weights.reshape(-1)\n"
    "    how = ['sum', 'mean', 'max'].index(mode)\n"
    "    return torch.embedding_bag(weight, input, offsets, scale_grad_by_freq, how, sparse,\n"
    "                               per_sample_weights, include_last_offset, padding_idx)[0]\n"

    /* ---- losses ---- */
    "def _reduction(reduction: str, size_average=None, reduce=None):\n"
    "    if size_average is not None or reduce is not None:\n"
    "        if reduce is not None and not reduce:\n"
    "            return 0\n"
    "        return 1 if size_average is None or size_average else 2\n"
    "    return ['none', 'mean', 'sum'].index(reduction)\n"
    "def _reduced(loss, reduction: str):\n"
    "    if reduction == 'mean':\n"
    "        return loss.mean()\n"
    "    return loss.sum() if reduction == 'sum' else loss\n"
    LOSS("mse_loss", "", REDUCTION)
    LOSS("l1_loss", "", REDUCTION)
    LOSS("soft_margin_loss", "", REDUCTION)
    LOSS("multilabel_margin_loss", "", REDUCTION)
    LOSS("hinge_embedding_loss", "margin: float = 1.0, ", "margin, " REDUCTION)
    "def smooth_l1_loss(input, target, size_average=None, reduce=None,\n"
    "                   reduction: str = 'mean', beta: float = 1.0):\n"
    "    return torch.smooth_l1_loss(input, target, " REDUCTION ", beta)\n"
    "def huber_loss(input, target, reduction: str = 'mean', delta: float = 1.0):\n"
    "    return torch.huber_loss(input, target, _reduction(reduction), delta)\n"
    "def kl_div(input, target, size_average=None, reduce=None, reduction: str = 'mean',\n"
    "           log_target: bool = False):\n"
    "    if reduction == 'batchmean':\n"
    "        return torch.kl_div(input, target, 2, log_target=log_target) / input.size(0)\n"
    "    return torch.kl_div(input, target, " REDUCTION ", log_target=log_target)\n"
    "def nll_loss(input, target, weight=None, size_average=None, ignore_index: int = -100,\n"
    "             reduce=None, reduction: str = 'mean'):\n"
    "    return torch.nll_loss_nd(input, target, weight, " REDUCTION ", ignore_index)\n"
    "def cross_entropy(input, target, weight=None, size_average=None, ignore_index: int = -100,\n"
    "                  reduce=None, reduction: str = 'mean', label_smoothing: float = 0.0):\n"
    "    return torch.cross_entropy_loss(input, target, weight, " REDUCTION ", ignore_index,\n"
    "                                    label_smoothing)\n"
    "def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None,\n"
    "                         reduction: str = 'mean'):\n"
    "    return torch.binary_cross_entropy(input, target, weight, " REDUCTION ")\n"
    "def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None,\n"
    "                                     reduce=None, reduction: str = 'mean',\n"
    "                                     pos_weight=None):\n"
    "    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight,\n"
    "                                                  " REDUCTION ")\n"
    "def poisson_nll_loss(input, target, log_input: bool = True, full: bool = False,\n"
    "                     size_average=None, eps: float = 1e-08, reduce=None,\n"
    "                     reduction: str = 'mean'):\n"
    "    return torch.poisson_nll_loss(input, target, log_input, full, eps, " REDUCTION ")\n"
    "def gaussian_nll_loss(input, target, var, full: bool = False, eps: float = 1e-06,\n"
    "                      reduction: str = 'mean'):\n"
    "    if var.size() != input.size() and var.dim() + 1 == input.dim():\n"
    "        var = var.unsqueeze(-1)\n"
    "    var = var.clamp_min(eps)\n"
    "    loss = 0.5 * (var.log() + (input - target) ** 2 / var)\n"
    "    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)\n"
    "def multi_margin_loss(input, target, p: int = 1, margin: float = 1.0, weight=None,\n"
    "                      size_average=None, reduce=None, reduction: str = 'mean'):\n"
    "    return torch.multi_margin_loss(input, target, p, margin, weight, " REDUCTION ")\n"
    "def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None,\n"
    "                                reduction: str = 'mean'):\n"
    "    loss = -(target * torch.log_sigmoid(input) + (1 - target) * torch.log_sigmoid(-input))\n"
    "    if weight is not None:\n"
    "        loss = loss * weight\n"
    "    return _reduced(loss.mean(-1), ['none', 'mean', 'sum'][" REDUCTION "])\n"
    "def margin_ranking_loss(input1, input2, target, margin: float = 0.0, size_average=None,\n"
    "                        reduce=None, reduction: str = 'mean'):\n"
    "    return torch.margin_ranking_loss(input1, input2, target, margin, " REDUCTION ")\n"
    "def cosine_embedding_loss(input1, input2, target, margin: float = 0.0, size_average=None,\n"
    "                          reduce=None, reduction: str = 'mean'):\n"
    "    return torch.cosine_embedding_loss(input1, input2, target, margin, " REDUCTION ")\n"
    "def triplet_margin_loss(anchor, positive, negative, margin: float = 1.0, p: float = 2.0,\n"
    "                        eps: float = 1e-06, swap: bool = False, size_average=None,\n"
    "                        reduce=None, reduction: str = 'mean'):\n"
    "    return torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,\n"
    "                                     " REDUCTION ")\n";

/* What functions of Python make of arguments that the operators of their names do not take. */
static const char torch[] =
    "def unique(input, sorted: bool = True, return_inverse: bool = False,\n"
    "           return_counts: bool = False, dim: Optional[int] = None):\n"
    "    if dim is None:\n"
    "        v, i, n = torch._unique2(input, sorted, return_inverse, return_counts)\n"
    "    else:\n"
    "        v, i, n = torch.unique_dim(input, dim, sorted, return_inverse, return_counts)\n"
    "    return _asked(v, i, n, return_inverse, return_counts)\n"
    "def unique_consecutive(input, return_inverse: bool = False, return_counts: bool = False,\n"
    "                       dim: Optional[int] = None):\n"
    "    v, i, n = ops.aten.unique_consecutive(input, return_inverse, return_counts, dim)\n"
    "    return _asked(v, i, n, return_inverse, return_counts)\n"
    "def _asked(v, i, n, return_inverse: bool, return_counts: bool):\n"
    "    if return_inverse:\n"
    "        return (v, i, n) if return_counts else (v, i)\n"
    "    return (v, n) if return_counts else v\n"
    "def stft(input, n_fft: int, hop_length: Optional[int] = None,\n"
    "         win_length: Optional[int] = None, window=None, center: bool = True,\n"
    "         pad_mode: str = 'reflect', normalized: bool = False,\n"
    "         onesided: Optional[bool] = None, return_complex: Optional[bool] = None):\n"
    "    if center:\n"
    "        rank = input.dim()\n"
    "        input = input.reshape([1] * (3 - rank) + list(input.shape))\n"
    "        input = torch.pad(input, [n_fft // 2, n_fft // 2], pad_mode)\n"
    "        input = input.reshape(list(input.shape)[3 - rank:])\n"
    "    return ops.aten.stft(input, n_fft, hop_length, win_length, window, normalized, onesided,\n"
    "                         return_complex)\n"
    "def tensordot(a, b, dims=2, out=None):\n"
    "    if isinstance(dims, int):\n"
    "        return ops.aten.tensordot(a, b, list(range(-dims, 0)), list(range(dims)))\n"
    "    return ops.aten.tensordot(a, b, dims[0], dims[1])\n"
    "def norm(input, p=2, dim=None, keepdim: bool = False, out=None, dtype=None):\n"
    "    if p == 'nuc':\n"
    "        axes = [-2, -1] if dim is None else dim\n"
    "        return torch.linalg.matrix_norm(input, 'nuc', axes, keepdim)\n"
    "    order = 2.0 if p == 'fro' else p\n"
    "    dim = list(range(input.dim())) if dim is None else dim\n"
    "    axes = [dim] if isinstance(dim, int) else dim\n"
    "    return torch.linalg.vector_norm(input, order, axes, keepdim, dtype=dtype)\n";
/* clang-format on */

const char *cq_functional_text(const char *qualifier)
{
    return strcmp(qualifier, CQ_FUNCTIONAL) == 0 ? nn_functional
           : strcmp(qualifier, CQ_TORCH) == 0    ? torch
                                                 : NULL;
}

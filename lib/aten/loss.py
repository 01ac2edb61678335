"""Loss functions."""

import math
import torch

from calque import operator
from aten.common import scaled, shifted


def reduced(loss, reduction):
    """The reduction of a loss: none, its mean or its sum."""
    assert reduction in [0, 1, 2], f"unknown reduction {reduction}"
    return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss


def class_weights(weight, target, ignored, dtype):
    """The weight of each target's class, 1 without weights, 0 where the target is ignored."""
    if weight is None:
        return ignored.logical_not().to(dtype)
    w = weight.index_select(0, target.reshape([-1]))
    return w.reshape(target.shape).masked_fill(ignored, 0)


def sum_classes(x, weight, dim):
    """Minus the weighted sum over all classes."""
    if weight is not None:
        x = x * weight.reshape([x.shape[i] if i == dim else 1 for i in range(x.ndim)])
    return -x.sum(dim)


def share(part, classes, dtype):
    """Part / classes, where the number of classes may be a symbol."""
    return scaled(torch.scalar_tensor(classes, dtype=dtype).reciprocal(), part)


@operator(
    "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    autocast="float32",
)
def mse_loss(self, target, reduction):
    """Squared differences."""
    d = self - target
    return reduced(d * d, reduction)


@operator(
    "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    autocast="float32",
    complex=True,
)
def l1_loss(self, target, reduction):
    """Absolute differences."""
    return reduced((self - target).abs(), reduction)


@operator(
    "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) " "-> Tensor",
    autocast="float32",
)
def smooth_l1_loss(self, target, reduction, beta):
    """Differences, squared where they are small.

    Quadratic up to beta, linear beyond.
    """
    assert beta >= 0, f"expected beta of at least 0, got {beta}"
    d = self - target
    size = d.abs()
    if beta == 0:
        return reduced(size, reduction)
    near = scaled(d * d, 0.5 / beta)
    return reduced(torch.where(size < beta, near, size - 0.5 * beta), reduction)


@operator(
    "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
    autocast="float32",
)
def huber_loss(self, target, reduction, delta):
    """Differences, squared where they are small."""
    assert delta > 0, f"expected delta above 0, got {delta}"
    d = self - target
    size = d.abs()
    near = d * d * 0.5
    far = scaled(size - 0.5 * delta, delta)
    return reduced(torch.where(size <= delta, near, far), reduction)


@operator(
    "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1, int ignore_index=-100, float label_smoothing=0.) -> Tensor",
    autocast="float32",
)
def cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing):
    """Log_softmax, then nll_loss.

    Targets are classes, or probabilities of every class. Smoothing spreads a part of the loss over
    all classes.
    """
    assert self.ndim > 0, "expected at least one dimension"
    dim = 0 if self.ndim == 1 else 1
    log_p = self.log_softmax(dim)
    n = self.shape[dim]
    of_all = target.ndim == self.ndim and target.is_floating_point()
    if of_all and label_smoothing > 0:
        target = scaled(target, 1 - label_smoothing) + share(label_smoothing, n, log_p.dtype)
    if of_all:
        return reduced(sum_classes(log_p * target, weight, dim), reduction)
    nll = torch.ops.aten.nll_loss_nd(log_p, target, weight, reduction, ignore_index)
    if label_smoothing <= 0:
        return nll
    ignored = target == ignore_index
    even = sum_classes(log_p, weight, dim).masked_fill(ignored, 0)
    if reduction != 0:
        even = even.sum()
    if reduction == 1:
        even = (
            even / class_weights(weight, target.masked_fill(ignored, 0), ignored, log_p.dtype).sum()
        )
    even = even * share(label_smoothing, n, log_p.dtype)
    return scaled(nll, 1 - label_smoothing) + even


def nll_and_weight(self, target, weight, reduction, ignore_index):
    """Minus the log-probabilities of target classes, and the sum of the classes' weights."""
    assert (
        self.ndim > 0 and target.ndim + 1 == self.ndim
    ), f"expected a target of {self.ndim - 1} dimensions, got {target.ndim}"
    dim = 0 if self.ndim == 1 else 1
    ignored = target == ignore_index
    safe = target.masked_fill(ignored, 0)
    loss = self.gather(dim, safe.unsqueeze(dim)).squeeze(dim)
    loss = (-loss).masked_fill(ignored, 0)
    w = class_weights(weight, safe, ignored, self.dtype)
    loss = loss * w
    total = w.sum()
    return loss.sum() / total if reduction == 1 else reduced(loss, reduction), total


@operator(
    "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "int ignore_index=-100) -> Tensor"
)
@operator(
    "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "int ignore_index=-100) -> Tensor",
    autocast="float32",
)
@operator(
    "aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "int ignore_index=-100) -> Tensor",
    autocast="float32",
)
def nll_loss_nd(self, target, weight, reduction, ignore_index):
    """Minus the log-probabilities of target classes."""
    loss, total = nll_and_weight(self, target, weight, reduction, ignore_index)
    return loss


@operator(
    "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
    "int ignore_index) -> (Tensor output, Tensor total_weight)"
)
def nll_loss_forward(self, target, weight, reduction, ignore_index):
    """Nll_loss of one sample or a batch, and the sum of the weights of its targets."""
    assert self.ndim <= 2, f"expected 1 or 2 dimensions, got {self.ndim}"
    loss, total = nll_and_weight(self, target, weight, reduction, ignore_index)
    return loss, total if reduction != 0 or self.ndim == 1 else torch.zeros_like(total)


@operator(
    "aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
    "int ignore_index) -> (Tensor output, Tensor total_weight)"
)
def nll_loss2d_forward(self, target, weight, reduction, ignore_index):
    """Nll_loss of the pixels of a batch, and the sum of the weights of their targets."""
    assert self.ndim == 4, f"expected 4 dimensions, got {self.ndim}"
    loss, total = nll_and_weight(self, target, weight, reduction, ignore_index)
    return loss, total if reduction != 0 else torch.zeros_like(total)


@operator(
    "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    autocast="float32",
)
def binary_cross_entropy(self, target, weight, reduction):
    """Cross entropy of two classes.

    Logarithms are clamped to -100, so that the loss stays finite.
    """
    yes = self.log().clamp_min(-100.0)
    no = (1 - self).log().clamp_min(-100.0)
    loss = -(target * yes + (1 - target) * no)
    return reduced(loss if weight is None else loss * weight, reduction)


@operator(
    "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, int reduction=1) -> Tensor",
    autocast="float32",
)
def binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction):
    """Sigmoid, then binary_cross_entropy.

    Written so that no exponential overflows.
    """
    log_part = -torch.ops.aten.log_sigmoid(self)
    if pos_weight is not None:
        log_part = log_part * ((pos_weight + -1.0) * target + 1.0)
    loss = (1 - target) * self + log_part
    return reduced(loss if weight is None else loss * weight, reduction)


@operator(
    "aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) "
    "-> Tensor",
    autocast="float32",
)
def kl_div(self, target, reduction, log_target):
    """Divergence of two distributions."""
    if log_target:
        return reduced(target.exp() * (target - self), reduction)
    return reduced(torch.xlogy(target, target) - target * self, reduction)


@operator(
    "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, "
    "float eps, int reduction) -> Tensor",
    autocast="float32",
)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Minus the log-likelihood of counts."""
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * shifted(input, eps).log()
    if not full:
        return reduced(loss, reduction)
    stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5
    return reduced(loss + stirling.masked_fill(target <= 1, 0), reduction)


@operator(
    "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
    autocast="float32",
)
def multi_margin_loss(self, target, p, margin, weight, reduction):
    """Multi-class margin loss."""
    assert self.ndim <= 2 and p in [1, 2], "expected at most two dimensions, and p of 1 or 2"
    x = self.reshape([1, -1]) if self.ndim < 2 else self
    column = target.reshape([-1, 1])
    t = (x - x.gather(1, column) + margin).clamp_min(0.0)
    if p == 2:
        t = t * t
    if weight is not None:
        t = t * weight.index_select(0, column.reshape([-1])).unsqueeze(1)
    t = t.masked_fill(column == torch.arange(x.shape[1], dtype=torch.int64), 0)
    t = t.sum(1) / x.shape[1]
    return reduced(t.squeeze(0) if self.ndim < 2 and target.ndim == 0 else t, reduction)


@operator(
    "aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    autocast="float32",
)
def soft_margin_loss(self, target, reduction):
    """Logistic loss of labels 1 and -1."""
    return reduced(-torch.ops.aten.log_sigmoid(self * target), reduction)


@operator(
    "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
    "int reduction=1) -> Tensor",
    autocast="float32",
)
def margin_ranking_loss(input1, input2, target, margin, reduction):
    """Margin ranking loss of two inputs."""
    d = -(target * (input1 - input2))
    return reduced(shifted(d, margin).clamp_min(0.0), reduction)


@operator(
    "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., "
    "int reduction=1) -> Tensor",
    autocast="float32",
)
def hinge_embedding_loss(self, target, margin, reduction):
    """Hinge loss of distances, for labels 1 and -1."""
    far = (margin - self).clamp_min(0.0).masked_fill(target == 1, 0)
    return reduced(far + self.masked_fill(target == -1, 0), reduction)


@operator(
    "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, "
    "float margin=0., int reduction=1) -> Tensor",
    autocast="float32",
)
def cosine_embedding_loss(input1, input2, target, margin, reduction):
    """Loss of cosine similarities, for labels 1 and -1."""
    dim = max(input1.ndim, input2.ndim) - 1
    size1 = (input1 * input1).sum(dim) + 1e-12
    size2 = (input2 * input2).sum(dim) + 1e-12
    cosine = (input1 * input2).sum(dim) / (size1 * size2).sqrt()
    far = shifted(cosine, -margin).clamp_min(0.0)
    loss = (1 - cosine).masked_fill(target != 1, 0) + far.masked_fill(target != -1, 0)
    return reduced(loss, reduction)


@operator(
    "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, "
    "float margin=1., float p=2., float eps=9.9999999999999995e-07, bool swap=False, "
    "int reduction=1) -> Tensor",
    autocast="float32",
)
def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    """Triplet loss: distance to the positive, minus distance to the negative, plus a margin."""
    near = torch.pairwise_distance(anchor, positive, p, eps)
    far = torch.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, torch.pairwise_distance(positive, negative, p, eps))
    return reduced(shifted(near - far, margin).clamp_min(0.0), reduction)


@operator(
    "torch_nn::_linear_cross_entropy_batch_chunked(Tensor input, Tensor linear_weight, "
    "Tensor target, Tensor? linear_bias, Tensor? weight, str reduction, int ignore_index, "
    "float label_smoothing, int batch_chunk_size, str acc_policy, ScalarType acc_dtype, "
    "bool allow_retain_graph, bool compute_input_grad, bool compute_linear_weight_grad, "
    "bool compute_linear_bias_grad) -> (Tensor, Tensor, Tensor, Tensor)"
)
def torch_nn__linear_cross_entropy_batch_chunked(
    input,
    linear_weight,
    target,
    linear_bias,
    weight,
    reduction,
    ignore_index,
    label_smoothing,
    batch_chunk_size,
    acc_policy,
    acc_dtype,
    allow_retain_graph,
    compute_input_grad,
    compute_linear_weight_grad,
    compute_linear_bias_grad,
):
    """Cross entropy of a linear layer.

    A layer fused with its loss. PyTorch processes the batch in chunks, which does not change the
    result. It can also prepare gradients for training.
    """
    assert (
        not compute_input_grad
        and (not compute_linear_weight_grad)
        and (not compute_linear_bias_grad)
    ), "gradients cannot be exported"
    x = torch.ops.aten.linear(input, linear_weight, linear_bias).to(acc_dtype)
    w = None if weight is None else weight.to(acc_dtype)
    loss = torch.ops.aten.cross_entropy_loss(
        x, target, w, 2 if reduction == "sum" else 1, ignore_index, label_smoothing
    ).to(input.dtype)
    none = input.new_empty([0, 0])
    return (loss, none, none.clone(), input.new_empty([0]))


@operator(
    "torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(Tensor input, "
    "Tensor linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight, "
    "int ignore_index, int batch_chunk_size, str acc_policy, ScalarType acc_dtype) -> Tensor"
)
def torch_nn__linear_cross_entropy_batch_chunked_no_reduction(
    input,
    linear_weight,
    target,
    linear_bias,
    weight,
    ignore_index,
    batch_chunk_size,
    acc_policy,
    acc_dtype,
):
    """Cross entropy of a linear layer, for each target."""
    x = torch.ops.aten.linear(input, linear_weight, linear_bias).to(acc_dtype)
    w = None if weight is None else weight.to(acc_dtype)
    return torch.ops.aten.cross_entropy_loss(x, target, w, 0, ignore_index).to(input.dtype)

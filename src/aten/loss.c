/* Losses: how far a prediction is from its target. What several need is in body_functions.c. */
#include "aten/op.h"

#define NLL_ARGS                                                                                   \
    "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100)"

/* Minus the log-probability of the target class, weighted. The mean is by weight. */
#define NLL_LOSS                                                                                   \
    "assert self.ndim > 0 and target.ndim + 1 == self.ndim, 'a target of {target.ndim} "           \
    "dimensions does not fit an input of {self.ndim}'\n"                                           \
    "dim = 0 if self.ndim == 1 else 1\n"                                                           \
    "ignored = target == ignore_index\n"                                                           \
    "safe = target.masked_fill(ignored, 0)\n"                                                      \
    "loss = self.gather(dim, safe.unsqueeze(dim)).squeeze(dim)\n"                                  \
    "loss = (-loss).masked_fill(ignored, 0)\n"                                                     \
    "w = class_weights(weight, safe, ignored, self.dtype)\n"                                       \
    "loss = loss * w\n"                                                                            \
    "return loss.sum() / w.sum() if reduction == 1 else reduced(loss, reduction)"

const cq_op_def cq_ops_loss[] = {
    CQ_BODY("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
            "squared differences",
            "d = self - target\n"
            "return reduced(d * d, reduction)"),
    CQ_BODY("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
            "absolute differences", "reduced((self - target).abs(), reduction)"),

    /* A parabola up to beta, then a line. */
    CQ_BODY("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> "
            "Tensor",
            "differences, squared where they are small",
            "assert beta >= 0, 'beta should not be negative'\n"
            "d = self - target\n"
            "size = d.abs()\n"
            "if beta == 0: return reduced(size, reduction)\n"
            "near = scaled(d * d, 0.5 / beta)\n"
            "return reduced(where(size < beta, near, size - 0.5 * beta), reduction)"),
    CQ_BODY(
        "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
        "differences, squared where they are small",
        "assert delta > 0, 'delta should be positive'\n"
        "d = self - target\n"
        "size = d.abs()\n"
        "near = d * d * 0.5\n"
        "far = scaled(size - 0.5 * delta, delta)\n"
        "return reduced(where(size <= delta, near, far), reduction)"),

    /* Targets are classes, or probabilities of every class. Smoothing spreads a part of the loss
     * over all classes. */
    CQ_BODY(
        "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int "
        "reduction=1, "
        "int ignore_index=-100, float label_smoothing=0.) -> Tensor",
        "log_softmax, then nll_loss",
        "assert self.ndim > 0, 'the input needs at least one dimension'\n"
        "dim = 0 if self.ndim == 1 else 1\n"
        "log_p = self.log_softmax(dim)\n"
        "n = self.shape[dim]\n"
        "of_all = target.ndim == self.ndim and target.is_floating_point()\n"
        "if of_all and label_smoothing > 0:"
        " target = scaled(target, 1 - label_smoothing) + share(label_smoothing, n, log_p.dtype)\n"
        "if of_all: return reduced(sum_classes(log_p * target, weight, dim), reduction)\n"
        "nll = nll_loss_nd(log_p, target, weight, reduction, ignore_index)\n"
        "if label_smoothing <= 0: return nll\n"
        "ignored = target == ignore_index\n"
        "even = sum_classes(log_p, weight, dim).masked_fill(ignored, 0)\n"
        "if reduction != 0: even = even.sum()\n"
        "if reduction == 1: even = even / class_weights(weight, target.masked_fill(ignored, 0),"
        " ignored, log_p.dtype).sum()\n"
        "even = even * share(label_smoothing, n, log_p.dtype)\n"
        "return scaled(nll, 1 - label_smoothing) + even"),
    CQ_BODY("aten::nll_loss_nd" NLL_ARGS " -> Tensor",
            "minus the log-probabilities of target classes", NLL_LOSS),
    CQ_BODY("aten::nll_loss" NLL_ARGS " -> Tensor", "minus the log-probabilities of target classes",
            NLL_LOSS),
    CQ_BODY("aten::nll_loss2d" NLL_ARGS " -> Tensor", "nll_loss on images", NLL_LOSS),

    /* Logarithms are cut off at -100, so that a sure but wrong prediction costs a finite sum. */
    CQ_BODY("aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int "
            "reduction=1) -> Tensor",
            "cross entropy of two classes",
            "yes = self.log().clamp_min(-100.)\n"
            "no = (1 - self).log().clamp_min(-100.)\n"
            "loss = -(target * yes + (1 - target) * no)\n"
            "return reduced(loss if weight is None else loss * weight, reduction)"),

    /* The logarithm is taken so that no exponential overflows. */
    CQ_BODY(
        "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
        "Tensor? pos_weight=None, int reduction=1) -> Tensor",
        "sigmoid, then binary_cross_entropy",
        "log_part = -self.log_sigmoid()\n"
        "if pos_weight is not None: log_part = log_part * ((pos_weight + -1.) * target + 1.)\n"
        "loss = (1 - target) * self + log_part\n"
        "return reduced(loss if weight is None else loss * weight, reduction)"),
    CQ_BODY("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) "
            "-> Tensor",
            "divergence of two distributions",
            "if log_target: return reduced(target.exp() * (target - self), reduction)\n"
            "return reduced(xlogy(target, target) - target * self, reduction)"),
    CQ_BODY(
        "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
        "int reduction) -> Tensor",
        "minus the log-likelihood of counts",
        "if log_input: loss = input.exp() - target * input\n"
        "else: loss = input - target * shifted(input, eps).log()\n"
        "if not full: return reduced(loss, reduction)\n"
        "stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5\n"
        "return reduced(loss + stirling.masked_fill(target <= 1, 0), reduction)"),
    CQ_BODY(
        "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
        "weight=None, int reduction=1) -> Tensor",
        "whether a class scores above all others, by a margin",
        "assert self.ndim <= 2 and p in [1, 2], 'wants at most two dimensions, and p of 1 or 2'\n"
        "x = self.reshape([1, -1]) if self.ndim < 2 else self\n"
        "column = target.reshape([-1, 1])\n"
        "t = (x - x.gather(1, column) + margin).clamp_min(0.)\n"
        "if p == 2: t = t * t\n"
        "if weight is not None:"
        " t = t * weight.index_select(0, column.reshape([-1])).unsqueeze(1)\n"
        "t = t.masked_fill(column == arange(x.shape[1], dtype=torch.int64), 0)\n"
        "t = t.sum(1) / x.shape[1]\n"
        "return reduced(t.squeeze(0) if self.ndim < 2 and target.ndim == 0 else t, reduction)"),
    CQ_BODY("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
            "logistic loss of labels 1 and -1",
            "reduced(-(self * target).log_sigmoid(), reduction)"),
    CQ_BODY(
        "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
        "int reduction=1) -> Tensor",
        "whether one input ranks above the other",
        "d = -(target * (input1 - input2))\n"
        "return reduced(shifted(d, margin).clamp_min(0.), reduction)"),
    CQ_BODY("aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int "
            "reduction=1) -> Tensor",
            "distances of like and unlike pairs",
            "far = (margin - self).clamp_min(0.).masked_fill(target == 1, 0)\n"
            "return reduced(far + self.masked_fill(target == -1, 0), reduction)"),
    CQ_BODY(
        "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
        "int reduction=1) -> Tensor",
        "cosines of like and unlike pairs",
        "dim = max(input1.ndim, input2.ndim) - 1\n"
        "size1 = (input1 * input1).sum(dim) + 1e-12\n"
        "size2 = (input2 * input2).sum(dim) + 1e-12\n"
        "cosine = (input1 * input2).sum(dim) / (size1 * size2).sqrt()\n"
        "far = shifted(cosine, -margin).clamp_min(0.)\n"
        "loss = (1 - cosine).masked_fill(target != 1, 0) + far.masked_fill(target != -1, 0)\n"
        "return reduced(loss, reduction)"),
    CQ_BODY(
        "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float "
        "margin=1., "
        "float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
        "an anchor should be nearer to the positive than to the negative",
        "near = pairwise_distance(anchor, positive, p, eps)\n"
        "far = pairwise_distance(anchor, negative, p, eps)\n"
        "if swap: far = minimum(far, pairwise_distance(positive, negative, p, eps))\n"
        "return reduced(shifted(near - far, margin).clamp_min(0.), reduction)"),
    /* A layer and its loss in one; PyTorch iterates over parts of the batch, which changes nothing.
     * The gradients that it may prepare are for training alone. */
    CQ_BODY("torch_nn::_linear_cross_entropy_batch_chunked(Tensor input, Tensor linear_weight, "
            "Tensor target, Tensor? linear_bias, Tensor? weight, str reduction, int "
            "ignore_index, float label_smoothing, int batch_chunk_size, str acc_policy, "
            "ScalarType acc_dtype, bool allow_retain_graph, bool compute_input_grad, bool "
            "compute_linear_weight_grad, bool compute_linear_bias_grad) -> (Tensor, Tensor, "
            "Tensor, Tensor)",
            "cross entropy of a linear layer",
            "assert not compute_input_grad and not compute_linear_weight_grad and"
            " not compute_linear_bias_grad, 'gradients cannot be exported'\n"
            "x = linear(input, linear_weight, linear_bias).to(acc_dtype)\n"
            "w = None if weight is None else weight.to(acc_dtype)\n"
            "loss = cross_entropy_loss(x, target, w, 2 if reduction == 'sum' else 1,"
            " ignore_index, label_smoothing).to(input.dtype)\n"
            "none = input.new_empty([0, 0])\n"
            "return loss, none, none.clone(), input.new_empty([0])"),
    CQ_BODY("torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(Tensor input, Tensor "
            "linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight, int "
            "ignore_index, int batch_chunk_size, str acc_policy, ScalarType acc_dtype) -> Tensor",
            "cross entropy of a linear layer, for each target",
            "x = linear(input, linear_weight, linear_bias).to(acc_dtype)\n"
            "w = None if weight is None else weight.to(acc_dtype)\n"
            "return cross_entropy_loss(x, target, w, 0, ignore_index).to(input.dtype)"),
    { 0 }
};

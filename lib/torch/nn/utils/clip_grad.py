"""Limits of gradients, for scripts that train before they export."""
import torch


def _gradients(parameters):
    parameters = [parameters] if torch.is_tensor(parameters) else list(parameters)
    return [p.grad for p in parameters if p.grad is not None]


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    tensors = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
    if len(tensors) == 0:
        return torch.tensor(0.0)
    norms = torch.stack([torch.linalg.vector_norm(t, norm_type) for t in tensors])
    return torch.linalg.vector_norm(norms, norm_type)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for g in _gradients(parameters):
        g.mul_(factor)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    grads = _gradients(parameters)
    if len(grads) == 0:
        return torch.tensor(0.0)
    total = get_total_norm(grads, norm_type)
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for g in grads:
        g.mul_(factor)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0):
    return clip_grad_norm_(parameters, max_norm, norm_type)


def clip_grad_value_(parameters, clip_value, foreach=None):
    for g in _gradients(parameters):
        g.clamp_(-float(clip_value), float(clip_value))

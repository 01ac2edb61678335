"""Kullback-Leibler divergences."""
import torch
from torch.distributions.composed import Independent
from torch.distributions.continuous import Laplace, MultivariateNormal, Normal
from torch.distributions.discrete import Bernoulli, Categorical, OneHotCategorical
from torch.distributions.distribution import sum_rightmost


def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


def _laplace(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * torch.exp(-away / p.scale) - 1


def _categorical(p, q):
    return (p.probs * (p.logits - q.logits)).sum(-1)


def _bernoulli(p, q):
    one = p.probs * (
        torch.nn.functional.softplus(-q.logits) - torch.nn.functional.softplus(-p.logits)
    )
    zero = (1 - p.probs) * (
        torch.nn.functional.softplus(q.logits) - torch.nn.functional.softplus(p.logits)
    )
    return one + zero


def _multivariate_normal(p, q):
    n = p.event_shape[0]
    half = q._half_log_det() - p._half_log_det()
    m = torch.linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False)
    away = (q.loc - p.loc).unsqueeze(-1)
    z = torch.linalg.solve_triangular(q.scale_tril, away, upper=False)
    return half + 0.5 * (m.pow(2).sum([-2, -1]) + z.pow(2).sum([-2, -1]) - n)


_RULES = [
    (Normal, _normal),
    (Laplace, _laplace),
    (Categorical, _categorical),
    (OneHotCategorical, _categorical),
    (Bernoulli, _bernoulli),
    (MultivariateNormal, _multivariate_normal),
]


def kl_divergence(p, q):
    if isinstance(p, Independent) and isinstance(q, Independent):
        return sum_rightmost(
            kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims
        )
    for kind, rule in _RULES:
        if isinstance(p, kind) and isinstance(q, kind):
            return rule(p, q)
    raise NotImplementedError(f"kl_divergence of {type(p).__name__} and {type(q).__name__}")

"""Base class of distributions. Arguments are not validated: they are data of the model."""
import torch


def broadcast_all(*values):
    """Numbers become tensors, and all get one shape."""
    like = next((v for v in values if isinstance(v, torch.Tensor)), torch.tensor(0.0))
    return torch.broadcast_tensors(
        *[v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=like.dtype) for v in values]
    )


def sum_rightmost(value, n):
    return value if n == 0 else value.sum(list(range(-n, 0)))


def probs_of(logits, is_binary=False):
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def logits_of(probs, is_binary=False):
    eps = torch.finfo(probs.dtype).eps
    clamped = probs.clamp(min=eps, max=1 - eps)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


class Distribution:
    has_rsample = False
    has_enumerate_support = False

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)

    @staticmethod
    def set_default_validate_args(value):
        pass

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def stddev(self):
        return self.variance.sqrt()

    def _extended_shape(self, sample_shape=torch.Size()):
        return tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape)

    def sample(self, sample_shape=torch.Size()):
        return self.rsample(sample_shape).detach()

    def sample_n(self, n):
        return self.sample((n,))

    def rsample(self, sample_shape=torch.Size()):
        raise NotImplementedError(f"rsample of {type(self).__name__}")

    def log_prob(self, value):
        raise NotImplementedError(f"log_prob of {type(self).__name__}")

    def cdf(self, value):
        raise NotImplementedError(f"cdf of {type(self).__name__}")

    def icdf(self, value):
        raise NotImplementedError(f"icdf of {type(self).__name__}")

    def entropy(self):
        raise NotImplementedError(f"entropy of {type(self).__name__}")

    def perplexity(self):
        return torch.exp(self.entropy())

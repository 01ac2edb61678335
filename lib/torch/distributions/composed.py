"""Distributions built from others."""
import torch
from torch.distributions.continuous import Normal
from torch.distributions.distribution import Distribution, sum_rightmost
from torch.distributions.transforms import ComposeTransform, ExpTransform, Transform


class Independent(Distribution):
    """The last axes of the batch become one event."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        n = reinterpreted_batch_ndims
        batch, event = tuple(base_distribution.batch_shape), tuple(base_distribution.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        split = len(batch) - n
        super().__init__(batch[:split], batch[split:] + event)

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def mode(self):
        return self.base_dist.mode

    @property
    def variance(self):
        return self.base_dist.variance

    def sample(self, sample_shape=torch.Size()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)


class TransformedDistribution(Distribution):
    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        n = ComposeTransform(self.transforms).event_dim - len(base_distribution.event_shape)
        if n > 0:
            self.base_dist = Independent(base_distribution, n)
        super().__init__(self.base_dist.batch_shape, self.base_dist.event_shape)

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    def _apply(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=torch.Size()):
        return self._apply(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=torch.Size()):
        return self._apply(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        n = len(self._event_shape)
        result, y = 0.0, value
        for transform in reversed(self.transforms):
            x = transform._inverse(y)
            term = transform.log_abs_det_jacobian(x, y)
            result = result - sum_rightmost(term, n - transform.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return result + sum_rightmost(base, n - len(self.base_dist.event_shape))


class LogNormal(TransformedDistribution):
    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale), ExpTransform())

    @property
    def loc(self):
        return self.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def variance(self):
        s2 = self.scale.pow(2)
        return s2.expm1() * (2 * self.loc + s2).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class MixtureSameFamily(Distribution):
    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        event = component_distribution.event_shape
        super().__init__(tuple(component_distribution.batch_shape)[:-1], event)

    def _pad(self, x):
        return x.reshape(list(x.shape) + [1] * len(self._event_shape))

    @property
    def mean(self):
        probs = self._pad(self.mixture_distribution.probs)
        return (probs * self.component_distribution.mean).sum(-1 - len(self._event_shape))

    @property
    def variance(self):
        probs = self._pad(self.mixture_distribution.probs)
        dim = -1 - len(self._event_shape)
        inner = (probs * self.component_distribution.variance).sum(dim)
        away = self.component_distribution.mean - self.mean.unsqueeze(dim)
        return inner + (probs * away.pow(2)).sum(dim)

    def log_prob(self, value):
        value = value.unsqueeze(-1 - len(self._event_shape))
        log_mix = torch.log_softmax(self.mixture_distribution.logits, -1)
        return torch.logsumexp(self.component_distribution.log_prob(value) + log_mix, -1)

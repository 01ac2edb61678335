"""Distributions of categories and counts."""
import torch
from torch.distributions.distribution import Distribution, broadcast_all, logits_of, probs_of


class Categorical(Distribution):
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            self.logits = logits_of(self.probs)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
            self.probs = probs_of(self.logits)
        self._num_events = self.logits.shape[-1]
        super().__init__(self.logits.shape[:-1])

    @property
    def param_shape(self):
        return self.logits.size()

    @property
    def mode(self):
        return self.probs.argmax(-1)

    def sample(self, sample_shape=torch.Size()):
        n = 1
        for size in sample_shape:
            n = n * size
        drawn = torch.multinomial(self.probs.reshape(-1, self._num_events), n, True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        value = value.long().unsqueeze(-1)
        value, logits = torch.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        n = self._num_events
        values = torch.arange(n).reshape([n] + [1] * len(self._batch_shape))
        return values.expand([n] + list(self._batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:])

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        n = self._event_shape[0]
        return torch.nn.functional.one_hot(self.probs.argmax(-1), n).to(self.probs.dtype)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        drawn = self._categorical.sample(sample_shape)
        return torch.nn.functional.one_hot(drawn, self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value):
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Bernoulli(Distribution):
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            self.logits = logits_of(self.probs, is_binary=True)
        else:
            (self.logits,) = broadcast_all(logits)
            self.probs = probs_of(self.logits, is_binary=True)
        super().__init__(self.probs.size())

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return (self.probs >= 0.5).to(self.probs.dtype)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=torch.Size()):
        return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        logits, value = torch.broadcast_tensors(self.logits, value)
        return -torch.nn.functional.binary_cross_entropy_with_logits(
            logits, value, reduction="none"
        )

    def entropy(self):
        return torch.nn.functional.binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )


class Poisson(Distribution):
    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size())

    @property
    def mean(self):
        return self.rate

    @property
    def variance(self):
        return self.rate

    def log_prob(self, value):
        return value.xlogy(self.rate) - self.rate - (value + 1).lgamma()

"""Invertible functions of distributed values."""
import math

import torch
from torch.distributions.distribution import sum_rightmost


class Transform:
    bijective = False
    event_dim = 0

    def __init__(self, cache_size=0):
        pass

    @property
    def inv(self):
        return _Inverse(self)

    def __call__(self, x):
        return self._call(x)


class _Inverse(Transform):
    def __init__(self, forward):
        self._forward = forward
        self.event_dim = forward.event_dim

    @property
    def inv(self):
        return self._forward

    def _call(self, y):
        return self._forward._inverse(y)

    def _inverse(self, x):
        return self._forward._call(x)

    def log_abs_det_jacobian(self, x, y):
        return -self._forward.log_abs_det_jacobian(y, x)


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        self.parts = list(parts)
        self.event_dim = max([part.event_dim for part in self.parts], default=0)

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        result = 0
        for part in self.parts:
            after = part(x)
            term = part.log_abs_det_jacobian(x, after)
            result = result + sum_rightmost(term, self.event_dim - part.event_dim)
            x = after
        return result


class ExpTransform(Transform):
    bijective = True

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform(Transform):
    bijective = True

    def _call(self, x):
        return torch.sigmoid(x)

    def _inverse(self, y):
        return torch.logit(y.clamp(torch.finfo(y.dtype).tiny, 1.0 - torch.finfo(y.dtype).eps))

    def log_abs_det_jacobian(self, x, y):
        return -torch.nn.functional.softplus(-x) - torch.nn.functional.softplus(x)


class TanhTransform(Transform):
    bijective = True

    @staticmethod
    def atanh(x):
        return 0.5 * (x.log1p() - (-x).log1p())

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return self.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - torch.nn.functional.softplus(-2.0 * x))


class AffineTransform(Transform):
    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        if isinstance(self.scale, torch.Tensor):
            result = torch.log(torch.abs(self.scale)).expand(x.shape)
        else:
            result = torch.full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(result, self.event_dim)

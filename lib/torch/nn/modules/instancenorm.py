"""Instance normalization and its lazy forms."""
from .. import functional as F
from .batchnorm import _Lazy, _NormBase


class _InstanceNorm(_NormBase):
    rank = 0  # without the batch

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False,
                 track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def _check_input_dim(self, input):
        if input.dim() not in (self.rank, self.rank + 1):
            raise ValueError(f"expected {self.rank}D or {self.rank + 1}D input "
                             f"(got {input.dim()}D input)")

    def _normalize(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               0.0 if self.momentum is None else self.momentum, self.eps)

    def forward(self, input):
        self._check_input_dim(input)
        if input.dim() == self.rank:
            return self._normalize(input.unsqueeze(0)).squeeze(0)
        return self._normalize(input)


class InstanceNorm1d(_InstanceNorm):
    rank = 2


class InstanceNorm2d(_InstanceNorm):
    rank = 3


class InstanceNorm3d(_InstanceNorm):
    rank = 4


class _LazyInstance(_Lazy):
    def _channel_axis(self, input):
        return 0 if input.dim() == self.rank else 1


class LazyInstanceNorm1d(_LazyInstance, InstanceNorm1d):
    cls_to_become = InstanceNorm1d

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None):
        super().__init__(0, eps, momentum, False, False)
        self._make_lazy(affine, track_running_stats, dtype)


class LazyInstanceNorm2d(_LazyInstance, InstanceNorm2d):
    cls_to_become = InstanceNorm2d

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None):
        super().__init__(0, eps, momentum, False, False)
        self._make_lazy(affine, track_running_stats, dtype)


class LazyInstanceNorm3d(_LazyInstance, InstanceNorm3d):
    cls_to_become = InstanceNorm3d

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None):
        super().__init__(0, eps, momentum, False, False)
        self._make_lazy(affine, track_running_stats, dtype)

"""torch.amp: the exporter keeps the dtypes of the source, so autocast changes nothing."""
from ..autograd_mode import _Mode


class autocast(_Mode):
    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.enabled = enabled


def custom_fwd(fwd=None, *, device_type=None, cast_inputs=None):
    return (lambda f: f) if fwd is None else fwd


def custom_bwd(bwd=None, *, device_type=None):
    return (lambda f: f) if bwd is None else bwd


class GradScaler:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("GradScaler is not implemented: calque exports models and does "
                                  "not train them")

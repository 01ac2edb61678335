"""Modules without initial values."""


def skip_init(module_cls, *args, **kwargs):
    """The values are drawn when they are read, so the ordinary constructor costs nothing."""
    kwargs.pop("device", None)
    return module_cls(*args, **kwargs)

"""no_grad and the like: gradients are computed by the exporter alone, so they change nothing.

Each is a context manager, and a decorator with and without parentheses.
"""


class _Mode:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None

    def __call__(self, fn):
        return fn


def no_grad(orig_func=None):
    return _Mode() if orig_func is None else orig_func


def enable_grad(orig_func=None):
    return _Mode() if orig_func is None else orig_func


def inference_mode(mode=True):
    return mode if callable(mode) else _Mode()


def set_grad_enabled(mode):
    return _Mode()

"""Marks that a forward function puts on its parts. Outside of an export they do nothing."""
import json

from calque import (
    anchor as _anchor, annotate_begin, annotate_end, as_output as _as_output, identity,
    is_capturing, scoped_anchor_begin, scoped_anchor_end)

_OPERATORS = 1  # CQ_ANNOTATE_OPERATORS


class annotate:
    """The first node of each module that is called in the scope gets these attributes."""

    def __init__(self, **attrs):
        self._attrs = json.dumps(attrs)
        self._flags = 0

    def __enter__(self):
        self._active = is_capturing()
        if self._active:
            annotate_begin(self._flags, self._attrs)

    def __exit__(self, kind, value, trace):
        if self._active and kind is None:
            annotate_end()


def apply_annotation(fn, *args, **attrs):
    """Calls fn(*args); all operators that it calls get these attributes."""
    scope = annotate(**attrs)
    scope._flags = _OPERATORS
    with scope:
        return fn(*args)


class scoped_anchor:
    """An Identity before the first module that is called in the scope, and one after the last."""

    def __init__(self, **attrs):
        self._attrs = json.dumps(attrs)

    def __enter__(self):
        self._active = is_capturing()
        if self._active:
            scoped_anchor_begin(self._attrs)

    def __exit__(self, kind, value, trace):
        if self._active and kind is None:
            scoped_anchor_end()


def anchor(value, **attrs):
    """An Identity with these attributes at value; returns its result."""
    return _anchor(value, json.dumps(attrs)) if is_capturing() else value


def as_output(name, value, add_identity=True):
    """Makes value an output of the model, after those that it returns; returns value."""
    if not is_capturing():
        return value
    if add_identity:
        value = identity(value)
    value = _as_output(name, value)
    return identity(value) if add_identity else value


def no_grad(fn=None, *args, **kwargs):
    import torch
    return torch.no_grad() if fn is None else fn(*args, **kwargs)

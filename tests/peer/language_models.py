"""The programs of language.py: functions of TorchScript that each test one combination of control
flow, containers and numbers.

A program has several lists of arguments: the first is the example of the export, the others take
other branches and other numbers of iterations. The programs are in language_TOPIC.py, one file per
topic of language.py, and register themselves in the list of this file.
"""
import torch

PROGRAMS = {}
ROWS = {"in_0": {"0": "rows"}}
SIZES = {"in_0": {"0": "rows", "1": "columns"}}


def program(*sets, axes=None, kinds=("script", "source"), refused=None, opset=17,
            optionals=False):
    """sets: functions that make the arguments; kinds: an archive of the scripted function, its
    source, or an archive of a trace; refused: what the error says if it cannot be exported; optionals:
    inputs may be left out (None)."""
    def add(fn):
        assert fn.__name__ not in PROGRAMS, fn.__name__
        PROGRAMS[fn.__name__] = (fn, sets, axes, kinds, refused, opset, optionals)
        return fn
    return add


def x34():
    return [torch.randn(3, 4)]


def up():
    return [torch.ones(3)]


def down():
    return [-torch.ones(3)]


def matrix(n, *rest):
    return lambda: [torch.randn(n, 4), *rest]


def count(n, *rest):
    return lambda: [torch.randn(3, 4), n, *rest]


def numbers(*values):
    return lambda: [torch.tensor(values)]

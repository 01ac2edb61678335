"""torch.export: names of dynamic sizes, for torch.onnx.export(dynamic_shapes=…)."""


class Dim:
    """A dynamic size by its name."""

    AUTO = None
    STATIC = None

    def __init__(self, name, *, min=None, max=None):
        self.__name__ = name
        self.min = min
        self.max = max


class _Hint:
    """A dynamic size without a name."""

    __name__ = None


Dim.AUTO = _Hint()
Dim.DYNAMIC = _Hint()


def dims(*names, min=None, max=None):
    return tuple(Dim(name, min=min, max=max) for name in names)


def export(*args, **kwargs):
    raise NotImplementedError("torch.export.export is not implemented; "
                              "torch.onnx.export exports a module")

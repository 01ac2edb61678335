"""torch.ops: operators by their namespace, torch.ops.torchvision.nms."""
from calque import operator


class _Namespace:
    def __init__(self, name):
        self.__dict__["namespace"] = name

    def __getattr__(self, name):
        return operator(self.namespace + "::" + name)


def load_library(path):
    """Operators of C++ extensions are those that calque defines."""


def __getattr__(name):
    return _Namespace(name)

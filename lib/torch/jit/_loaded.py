"""Modules of torch.jit.load: programs of archives, which src/py/programs.c calls."""
from collections import OrderedDict

from calque import host
from ._modes import ScriptModule


class LoadedModule(ScriptModule):
    """Its tensors are views of the archive; submodules are not objects of Python."""

    def __init__(self, program):
        super().__init__()
        self.__dict__["_program"] = program
        self.eval()

    def forward(self, *args, **kwargs):
        return host("jit_call", self._program, "forward", list(args), kwargs)

    def train(self, mode=True):
        self.__dict__["training"] = mode
        host("jit_train", self._program, mode)
        return self

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        return OrderedDict((prefix + name, tensor if keep_vars else tensor.detach())
                           for name, tensor, is_parameter in host("jit_tensors", self._program))

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return [(name, tensor) for name, tensor, is_parameter in host("jit_tensors", self._program)
                if is_parameter]

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return [(name, tensor) for name, tensor, is_parameter in host("jit_tensors", self._program)
                if not is_parameter]

    def parameters(self, recurse=True):
        return [tensor for name, tensor in self.named_parameters()]

    def buffers(self, recurse=True):
        return [tensor for name, tensor in self.named_buffers()]

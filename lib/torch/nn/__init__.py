"""torch.nn."""
from calque import Parameter
from . import functional, init, modules, utils
from .modules import *
from .parameter import Buffer, UninitializedBuffer, UninitializedParameter


class DataParallel(modules.module.Module):
    """There is one device: the call goes to the module."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = []
        self.dim = dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

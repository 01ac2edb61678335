"""Parametrizations: a tensor that a module computes from other parameters.

PyTorch gives the module a new class with a property for the tensor. Here the module keeps the
names in `_parametrized`, and a hook before forward computes the tensors; reading the attribute
between calls gives the value of the last computation, which is up to date after registration, after
load_state_dict and after each call.
"""
import torch
from calque import Parameter
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module


class ParametrizationList(ModuleList):
    """The chain of functions of one tensor, and the tensors that it begins with."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        value = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                value = module.right_inverse(value)
        self.is_tensor = torch.is_tensor(value)
        if self.is_tensor:
            if isinstance(original, Parameter):
                self.original = Parameter(value.data, original.requires_grad)
            else:
                self.register_buffer("original", value)
        else:
            self.ntensors = len(value)
            for i, part in enumerate(value):
                if isinstance(original, Parameter):
                    setattr(self, f"original{i}", Parameter(part.data, original.requires_grad))
                else:
                    self.register_buffer(f"original{i}", part)

    def forward(self):
        if self.is_tensor:
            parts = (self.original,)
        else:
            parts = tuple(getattr(self, f"original{i}") for i in range(self.ntensors))
        modules = list(self)
        x = modules[0](*parts)
        for module in modules[1:]:
            x = module(x)
        return x


def _compute(module):
    for name, chain in module.parametrizations.items():
        object.__setattr__(module, name, chain())


class _Compute:
    """A hook before forward, and one after load_state_dict."""

    def __call__(self, module, *args):
        _compute(module)
        return None


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        _compute(module)
        return module
    if tensor_name in module._parameters:
        original = module._parameters.pop(tensor_name)
    elif tensor_name in module._buffers:
        original = module._buffers.pop(tensor_name)
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a "
                         f"parametrized element with name '{tensor_name}'")
    chain = ParametrizationList([parametrization], original, unsafe)
    if "parametrizations" not in module._modules:
        module.parametrizations = ModuleDict()
        module._register("_forward_pre_hooks", _Compute())
        module._register("_load_state_dict_post_hooks", _Compute())
    module.parametrizations[tensor_name] = chain
    _compute(module)
    return module


def is_parametrized(module, tensor_name=None):
    chains = module._modules.get("parametrizations")
    if chains is None or not isinstance(chains, ModuleDict):
        return False
    return len(chains) > 0 if tensor_name is None else tensor_name in chains


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if leave_parametrized:
        value = chain()
    elif chain.is_tensor:
        value = chain.original
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that "
                         "is parametrized in terms of a sequence of tensors.")
    is_parameter = len(chain._parameters) > 0
    del module.parametrizations[tensor_name]
    if tensor_name in module.__dict__:
        del module.__dict__[tensor_name]
    if is_parameter:
        module.register_parameter(tensor_name, Parameter(value.data))
    else:
        module.register_buffer(tensor_name, value)
    if len(module.parametrizations) == 0:
        del module._modules["parametrizations"]
        for group in ("_forward_pre_hooks", "_load_state_dict_post_hooks"):
            hooks = module.__dict__[group]
            for key, hook in list(hooks.items()):
                if isinstance(hook, _Compute):
                    del hooks[key]
    return module


class cached:
    """A block in which PyTorch computes each tensor once."""

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


def type_before_parametrizations(module):
    return type(module)

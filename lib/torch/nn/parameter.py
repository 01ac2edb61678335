"""Parameters, buffers, and the placeholders that lazy modules have instead of them."""
import torch
from calque import Parameter


class Buffer:
    """A tensor that a module registers as a buffer when it is assigned to an attribute."""

    def __init__(self, data=None, *, persistent=True):
        self.data = torch.empty(0) if data is None else data
        self.persistent = persistent


class UninitializedTensor:
    """A parameter or buffer without a shape; `materialize` makes the tensor."""

    is_buffer = False

    def __init__(self, requires_grad=True, device=None, dtype=None):
        self.requires_grad = requires_grad
        self.dtype = torch.get_default_dtype() if dtype is None else dtype

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. "
                           "This error usually happens in `load_state_dict` when trying to load "
                           "an uninitialized parameter into an initialized one.")

    @property
    def data(self):
        return self

    def to(self, dtype):
        self.dtype = dtype
        return self

    def is_floating_point(self):
        return True

    def detach(self):
        return self

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self

    def __repr__(self):
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensor):
    def materialize(self, shape, device=None, dtype=None):
        data = torch.empty(shape, dtype=self.dtype if dtype is None else dtype)
        return Parameter(data, self.requires_grad)


class UninitializedBuffer(UninitializedTensor):
    is_buffer = True

    def materialize(self, shape, device=None, dtype=None):
        return torch.empty(shape, dtype=self.dtype if dtype is None else dtype)


def is_lazy(value):
    return isinstance(value, UninitializedTensor)

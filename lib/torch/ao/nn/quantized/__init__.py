"""torch.ao.nn.quantized: the layer that models hold before they are quantized."""
from torch import add, cat, matmul, mul
from torch.nn import Identity, Module
from torch.nn.functional import relu


class FloatFunctional(Module):
    """Operators as methods. Quantization replaces the submodule, which observes activations."""

    def __init__(self):
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. "
                           "Please use the underlying operation")

    def add(self, x, y):
        return self.activation_post_process(add(x, y))

    def add_scalar(self, x, y):
        return add(x, y)

    def mul(self, x, y):
        return self.activation_post_process(mul(x, y))

    def mul_scalar(self, x, y):
        return mul(x, y)

    def cat(self, x, dim=0):
        return self.activation_post_process(cat(x, dim=dim))

    def add_relu(self, x, y):
        return self.activation_post_process(relu(add(x, y)))

    def matmul(self, x, y):
        return self.activation_post_process(matmul(x, y))


class FXFloatFunctional(Module):
    """FloatFunctional without the observer."""

    def add(self, x, y):
        return add(x, y)

    def add_scalar(self, x, y):
        return add(x, y)

    def mul(self, x, y):
        return mul(x, y)

    def mul_scalar(self, x, y):
        return mul(x, y)

    def cat(self, x, dim=0):
        return cat(x, dim=dim)

    def add_relu(self, x, y):
        return relu(add(x, y))

    def matmul(self, x, y):
        return matmul(x, y)

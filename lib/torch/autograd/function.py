"""torch.autograd.Function: forward runs as ordinary code, unless the class has `symbolic`."""
from calque import call_function, has_host, host, is_capturing, operator


class FunctionCtx:
    """The values that forward keeps for backward."""

    def __init__(self):
        self.saved_tensors = ()
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors):
        return None

    def mark_dirty(self, *args):
        return None

    def mark_non_differentiable(self, *args):
        return None

    def set_materialize_grads(self, value):
        return None


class Function:
    @staticmethod
    def forward(ctx, *args, **kwargs):
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD.")

    @classmethod
    def apply(cls, *args, **kwargs):
        ctx = FunctionCtx()

        def run(*inputs):
            if hasattr(cls, "setup_context"):
                result = cls.forward(*inputs, **kwargs)
                cls.setup_context(ctx, inputs, result)
                return result
            return cls.forward(ctx, *inputs, **kwargs)

        result = call_function(cls, run, args)
        if hasattr(cls, "symbolic") and has_host() and is_capturing():
            return _as_operator(cls, args, result)
        return result


_numbers = [0]


def _as_operator(cls, args, result):
    """An operator of its own, which cls.symbolic(g, *args) exports; result says what its results
    look like."""
    from torch import Tensor
    from ..onnx._graph import GraphContext, finish
    _numbers[0] += 1
    name = f"calque_functions::{cls.__name__}_{_numbers[0]}"
    tensors = [arg for arg in args if isinstance(arg, Tensor)]

    def build():
        g = GraphContext()
        values = iter(g.arguments())
        given = [next(values) if isinstance(arg, Tensor) else arg for arg in args]
        return finish(g, cls.symbolic(g, *given))

    host("register", name, 7, build)
    many = isinstance(result, (list, tuple))
    made = operator("calque::function")(name, tensors, list(result) if many else [result])
    return tuple(made) if many else made[0]


def once_differentiable(fn):
    return fn

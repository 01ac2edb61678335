"""torch.autograd.Function: forward runs as ordinary code, unless the class has `symbolic`."""
from calque import call_function


class FunctionCtx:
    """What forward keeps for backward."""

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

        # The exporter calls cls.symbolic(g, *args), if the class has it, for the node of this call.
        return call_function(cls, run, args)


def once_differentiable(fn):
    return fn

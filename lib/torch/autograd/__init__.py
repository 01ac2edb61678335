"""torch.autograd."""
from calque import operator
from ..autograd_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .function import Function

Variable = lambda data, requires_grad=False, volatile=False: data  # noqa: E731


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         allow_unused=False, **options):
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    return operator("aten::grad")(list(outputs), list(inputs), grad_outputs, retain_graph,
                                  create_graph, allow_unused)

"""torch.fx: model files mark functions for it; symbolic tracing itself is not implemented."""


def wrap(fn_or_name):
    return fn_or_name


class Proxy:
    """No value is one: isinstance answers False."""


class GraphModule:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.fx.GraphModule is not implemented")


def symbolic_trace(root, concrete_args=None):
    raise NotImplementedError("torch.fx.symbolic_trace is not implemented")


class Tracer:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.fx.Tracer is not implemented")

"""torch.compiler: nothing is compiled, so its decorators return the function."""
from ._dynamo import allow_in_graph, disable, is_compiling, reset


def is_dynamo_compiling():
    return False


def is_exporting():
    return False


def assume_constant_result(fn):
    return fn


def substitute_in_graph(original_fn, **options):
    return lambda fn: fn


def cudagraph_mark_step_begin():
    return None


def set_stance(stance="default", **options):
    return None


def list_backends(exclude_tags=()):
    return []

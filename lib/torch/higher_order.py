"""Operators of torch.export that take graphs. A condition that depends on data becomes an If or a
Loop of the exported graph."""


def sym_ite(condition, a, b):
    return a if condition else b


def cond(condition, yes, no, xs):
    if condition:
        results = yes(xs)
    else:
        results = no(xs)
    return results


def while_loop(test, body, carried, extra):
    while test(carried, extra)[0]:
        carried = body(carried, extra)
    return carried

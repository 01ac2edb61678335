import a.b as c
from d import (e, f as g)
@h.i
def j(k, l=[1], *m, n: Dict[str, int]=None, **o):  # type: (...) -> int
    '''doc'''
    x = [p for p, *q in r if s]  # type: int
    x[0, 1:, ::2, ..., None] += f"{x}{{{y['z']}" r'\n' if not 0x1F < 2j <= .5 is not None else {1: 2, **t}
    while True:
        with u as v, w: break
        assert x @ ~y ** -z // 2, "no"
    raise E from F

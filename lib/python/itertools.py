"""itertools. Results are lists, except for the endless ones, which are iterators."""


class count:
    def __init__(self, start=0, step=1):
        self.value = start
        self.step = step

    def __iter__(self):
        return self

    def __next__(self):
        value = self.value
        self.value = value + self.step
        return value


class cycle:
    def __init__(self, iterable):
        self.items = list(iterable)
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if len(self.items) == 0:
            raise StopIteration
        value = self.items[self.i]
        self.i = (self.i + 1) % len(self.items)
        return value


class _Endless:
    def __init__(self, value):
        self.value = value

    def __iter__(self):
        return self

    def __next__(self):
        return self.value


def repeat(object, times=None):
    return _Endless(object) if times is None else iter([object] * times)


class chain:
    def __init__(self, *iterables):
        self.items = [x for iterable in iterables for x in iterable]

    @classmethod
    def from_iterable(cls, iterables):
        return cls(*list(iterables))

    def __iter__(self):
        return iter(self.items)


def accumulate(iterable, func=None, *, initial=None):
    out = [] if initial is None else [initial]
    for x in iterable:
        if len(out) == 0:
            out.append(x)
        else:
            out.append(out[-1] + x if func is None else func(out[-1], x))
    return iter(out)


def islice(iterable, *args):
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (
        args[0], args[1], 1 if len(args) < 3 else args[2])
    start = 0 if start is None else start
    step = 1 if step is None else step
    out = []
    for i, x in enumerate(iterable):
        if stop is not None and i >= stop:
            break
        if i >= start and (i - start) % step == 0:
            out.append(x)
    return iter(out)


def product(*iterables, repeat=1):
    pools = [list(iterable) for iterable in iterables] * repeat
    out = [()]
    for pool in pools:
        out = [head + (x,) for head in out for x in pool]
    return iter(out)


def permutations(iterable, r=None):
    pool = list(iterable)
    r = len(pool) if r is None else r
    out = [()]
    for _ in range(r):
        out = [head + (i,) for head in out for i in range(len(pool)) if i not in head]
    return iter([tuple(pool[i] for i in places) for places in out])


def combinations(iterable, r):
    pool = list(iterable)
    out = [()]
    for _ in range(r):
        out = [head + (i,) for head in out
               for i in range(head[-1] + 1 if head else 0, len(pool))]
    return iter([tuple(pool[i] for i in places) for places in out])


def combinations_with_replacement(iterable, r):
    pool = list(iterable)
    out = [()]
    for _ in range(r):
        out = [head + (i,) for head in out for i in range(head[-1] if head else 0, len(pool))]
    return iter([tuple(pool[i] for i in places) for places in out])


def starmap(function, iterable):
    return iter([function(*args) for args in iterable])


def takewhile(predicate, iterable):
    out = []
    for x in iterable:
        if not predicate(x):
            break
        out.append(x)
    return iter(out)


def dropwhile(predicate, iterable):
    out = []
    dropping = True
    for x in iterable:
        dropping = dropping and predicate(x)
        if not dropping:
            out.append(x)
    return iter(out)


def filterfalse(predicate, iterable):
    return iter([x for x in iterable if not (x if predicate is None else predicate(x))])


def compress(data, selectors):
    return iter([x for x, s in zip(data, selectors) if s])


def zip_longest(*iterables, fillvalue=None):
    lists = [list(iterable) for iterable in iterables]
    n = max([len(one) for one in lists]) if lists else 0
    return iter([tuple(one[i] if i < len(one) else fillvalue for one in lists)
                 for i in range(n)])


def pairwise(iterable):
    items = list(iterable)
    return iter(list(zip(items[:-1], items[1:])))


def batched(iterable, n):
    items = list(iterable)
    return iter([tuple(items[i:i + n]) for i in range(0, len(items), n)])


def groupby(iterable, key=None):
    groups = []
    for x in iterable:
        k = x if key is None else key(x)
        if groups and groups[-1][0] == k:
            groups[-1][1].append(x)
        else:
            groups.append((k, [x]))
    return iter([(k, iter(items)) for k, items in groups])


def tee(iterable, n=2):
    items = list(iterable)
    return tuple(iter(items) for _ in range(n))

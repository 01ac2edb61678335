"""itertools. Everything is lazy except for the combinatoric iterators, whose results are lists."""


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

    def __repr__(self):
        return f"count({self.value})" if self.step == 1 else f"count({self.value}, {self.step})"


def cycle(iterable):
    items = []
    for x in iterable:
        yield x
        items.append(x)
    while items:
        for x in items:
            yield x


def repeat(object, times=None):
    if times is not None:
        return iter([object] * times)
    return _endless(object)


def _endless(value):
    while True:
        yield value


class chain:
    def __init__(self, *iterables):
        self._iterator = _chained(iterables)

    @classmethod
    def from_iterable(cls, iterables):
        out = cls()
        out._iterator = _chained(iterables)
        return out

    def __iter__(self):
        return self._iterator

    def __next__(self):
        return next(self._iterator)


def _chained(iterables):
    for iterable in iterables:
        for x in iterable:
            yield x


def accumulate(iterable, func=None, *, initial=None):
    iterator = iter(iterable)
    total = initial
    if initial is None:
        try:
            total = next(iterator)
        except StopIteration:
            return
    yield total
    for x in iterator:
        total = total + x if func is None else func(total, x)
        yield total


def islice(iterable, *args):
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (
        args[0], args[1], 1 if len(args) < 3 else args[2])
    start = 0 if start is None else start
    step = 1 if step is None else step
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return _sliced(iter(iterable), start, stop, step)


def _sliced(iterator, start, stop, step):
    i = 0
    following = start
    while stop is None or i < stop:
        try:
            x = next(iterator)
        except StopIteration:
            return
        if i == following:
            following += step
            yield x
        i += 1


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
    return (function(*args) for args in iterable)


def takewhile(predicate, iterable):
    for x in iterable:
        if not predicate(x):
            break
        yield x


def dropwhile(predicate, iterable):
    dropping = True
    for x in iterable:
        dropping = dropping and predicate(x)
        if not dropping:
            yield x


def filterfalse(predicate, iterable):
    return (x for x in iterable if not (x if predicate is None else predicate(x)))


def compress(data, selectors):
    return (x for x, s in zip(data, selectors) if s)


def zip_longest(*iterables, fillvalue=None):
    iterators = [iter(iterable) for iterable in iterables]
    live = [True] * len(iterators)
    while any(live):
        items = []
        for i, iterator in enumerate(iterators):
            item = fillvalue
            if live[i]:
                try:
                    item = next(iterator)
                except StopIteration:
                    live[i] = False
            items.append(item)
        if any(live):
            yield tuple(items)


def pairwise(iterable):
    previous = None
    first = True
    for x in iterable:
        if not first:
            yield previous, x
        previous = x
        first = False


def batched(iterable, n, *, strict=False):
    if n < 1:
        raise ValueError("n must be at least one")
    iterator = iter(iterable)
    while True:
        batch = tuple(islice(iterator, n))
        if len(batch) == 0:
            return
        if strict and len(batch) != n:
            raise ValueError("batched(): incomplete batch")
        yield batch


class _Group:
    """The items with one key; they come from the iterator that the groups share."""

    def __init__(self, owner):
        self.owner = owner
        self.key = owner.key

    def __iter__(self):
        return self

    def __next__(self):
        owner = self.owner
        if owner.group is not self or owner.over or not owner.key == self.key:
            raise StopIteration
        value = owner.value
        owner.advance()
        return value


class groupby:
    def __init__(self, iterable, key=None):
        self.iterator = iter(iterable)
        self.function = key
        self.over = False
        self.group = None
        self.started = False

    def advance(self):
        try:
            self.value = next(self.iterator)
        except StopIteration:
            self.over = True
            return
        self.key = self.value if self.function is None else self.function(self.value)

    def __iter__(self):
        return self

    def __next__(self):
        if not self.started:
            self.started = True
            self.advance()
        elif self.group is not None:
            while not self.over and self.key == self.group.key:
                self.advance()
        if self.over:
            raise StopIteration
        self.group = _Group(self)
        return self.key, self.group


class _Tee:
    def __init__(self, iterator, items):
        self.iterator, self.items, self.i = iterator, items, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i == len(self.items):
            self.items.append(next(self.iterator))
        self.i += 1
        return self.items[self.i - 1]


def tee(iterable, n=2):
    iterator, items = iter(iterable), []
    return tuple(_Tee(iterator, items) for _ in range(n))

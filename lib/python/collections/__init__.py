"""collections."""
from calque import namedtuple
from . import abc

OrderedDict = dict


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = self.default_factory()
        return self[key]

    def __getitem__(self, key):
        if key in self:
            return super().__getitem__(key)
        return self.__missing__(key)

    def copy(self):
        return defaultdict(self.default_factory, self)

    def __repr__(self):
        return f"defaultdict({self.default_factory!r}, {dict(self)!r})"


class Counter(dict):
    def __init__(self, iterable=None, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __getitem__(self, key):
        return super().__getitem__(key) if key in self else 0

    def update(self, iterable=None, **kwargs):
        if isinstance(iterable, dict):
            for key, n in iterable.items():
                self[key] = self[key] + n
        elif iterable is not None:
            for key in iterable:
                self[key] = self[key] + 1
        for key, n in kwargs.items():
            self[key] = self[key] + n

    def subtract(self, iterable=None, **kwargs):
        for key, n in Counter(iterable, **kwargs).items():
            self[key] = self[key] - n

    def copy(self):
        return Counter(self)

    def _keep(self, pairs):
        out = Counter()
        for key, n in pairs:
            if n > 0:
                out[key] = n
        return out

    def __add__(self, other):
        keys = list(self) + [key for key in other if key not in self]
        return self._keep([(key, self[key] + other[key]) for key in keys])

    def __sub__(self, other):
        keys = list(self) + [key for key in other if key not in self]
        return self._keep([(key, self[key] - other[key]) for key in keys])

    def __and__(self, other):
        return self._keep([(key, min(n, other[key])) for key, n in self.items()])

    def __or__(self, other):
        keys = list(self) + [key for key in other if key not in self]
        return self._keep([(key, max(self[key], other[key])) for key in keys])

    def __repr__(self):
        inner = ", ".join(f"{key!r}: {n!r}" for key, n in self.most_common())
        return f"Counter({{{inner}}})" if inner else "Counter()"

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def elements(self):
        return [key for key, n in self.items() for _ in range(n)]

    def total(self):
        return sum(self.values())


class deque:
    def __init__(self, iterable=(), maxlen=None):
        self.maxlen = maxlen
        self.items = []
        self.extend(iterable)

    def append(self, x):
        self.items.append(x)
        if self.maxlen is not None and len(self.items) > self.maxlen:
            self.items.pop(0)

    def appendleft(self, x):
        self.items.insert(0, x)
        if self.maxlen is not None and len(self.items) > self.maxlen:
            self.items.pop()

    def extend(self, iterable):
        for x in iterable:
            self.append(x)

    def extendleft(self, iterable):
        for x in iterable:
            self.appendleft(x)

    def pop(self):
        return self.items.pop()

    def popleft(self):
        return self.items.pop(0)

    def clear(self):
        self.items.clear()

    def copy(self):
        return deque(self.items, self.maxlen)

    def rotate(self, n=1):
        if len(self.items) > 0:
            n = n % len(self.items)
            self.items = self.items[-n:] + self.items[:-n] if n else self.items

    def count(self, x):
        return self.items.count(x)

    def index(self, x):
        return self.items.index(x)

    def insert(self, i, x):
        self.items.insert(i, x)

    def remove(self, x):
        self.items.remove(x)

    def reverse(self):
        self.items.reverse()

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, x):
        self.items[i] = x

    def __delitem__(self, i):
        del self.items[i]

    def __contains__(self, x):
        return x in self.items

    def __eq__(self, other):
        return isinstance(other, deque) and self.items == other.items

    def __repr__(self):
        if self.maxlen is None:
            return f"deque({self.items!r})"
        return f"deque({self.items!r}, maxlen={self.maxlen})"


class ChainMap(abc.MutableMapping):
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def new_child(self, m=None):
        return ChainMap({} if m is None else m, *self.maps)

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])

    def __iter__(self):
        found = {}
        for one in reversed(self.maps):
            for key in one:
                found[key] = None
        return iter(found)

    def __len__(self):
        return len(list(iter(self)))

    def __delitem__(self, key):
        del self.maps[0][key]

    def __getitem__(self, key):
        for one in self.maps:
            if key in one:
                return one[key]
        raise KeyError(key)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __contains__(self, key):
        return any(key in one for one in self.maps)

    def get(self, key, default=None):
        return self[key] if key in self else default


class UserDict(dict):
    @property
    def data(self):
        return self


class UserList(list):
    @property
    def data(self):
        return self

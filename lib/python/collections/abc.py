"""collections.abc: classes that stand for builtin types in isinstance."""


class Iterable:
    __natives__ = ["list", "tuple", "dict", "set", "frozenset", "str", "range", "iterator",
                   "generator", "bytes", "Size"]

    def __class_getitem__(cls, item):
        return cls


class Iterator(Iterable):
    __natives__ = ["iterator", "generator"]


class Generator(Iterator):
    __natives__ = ["generator"]


class Container:
    __natives__ = ["list", "tuple", "dict", "set", "frozenset", "str", "range", "bytes", "Size"]

    def __class_getitem__(cls, item):
        return cls


class Sized(Container):
    __natives__ = ["list", "tuple", "dict", "set", "frozenset", "str", "range", "bytes", "Size"]


class Collection(Iterable):
    __natives__ = ["list", "tuple", "dict", "set", "frozenset", "str", "range", "bytes", "Size"]


class Sequence(Collection):
    __natives__ = ["list", "tuple", "str", "range", "bytes", "Size"]


class MutableSequence(Sequence):
    __natives__ = ["list"]


class Mapping(Collection):
    __natives__ = ["dict"]

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return [key for key in self]

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]

    def __eq__(self, other):
        return isinstance(other, Mapping) and dict(self.items()) == dict(other.items())


_MISSING = object()


class MutableMapping(Mapping):
    __natives__ = ["dict"]

    def pop(self, key, default=_MISSING):
        try:
            value = self[key]
        except KeyError:
            if default is _MISSING:
                raise
            return default
        del self[key]
        return value

    def popitem(self):
        for key in self:
            return key, self.pop(key)
        raise KeyError

    def clear(self):
        for key in list(self):
            del self[key]

    def update(self, other=(), **keywords):
        if hasattr(other, "keys"):
            for key in other.keys():
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key, value in keywords.items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]


class Set(Collection):
    __natives__ = ["set", "frozenset"]


class MutableSet(Set):
    __natives__ = ["set"]


class Hashable:
    __natives__ = ["int", "float", "bool", "str", "tuple", "NoneType", "frozenset"]


class Callable:
    __natives__ = ["function", "builtin_function_or_method", "type"]

    def __class_getitem__(cls, item):
        return cls

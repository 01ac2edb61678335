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


class MutableMapping(Mapping):
    __natives__ = ["dict"]


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

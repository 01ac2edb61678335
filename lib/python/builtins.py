"""Builtins of Python that are written in Python: exceptions, sets, and functions that call others.

Builtins in C are in src/script/builtins. A name is looked for there first, except that this file
defines classes.
"""

Ellipsis = ...
__debug__ = True


class BaseException:
    __cause__ = None
    __context__ = None
    __traceback__ = None

    def __init__(self, *args):
        self.args = args

    def __str__(self):
        if len(self.args) == 0:
            return ""
        return str(self.args[0]) if len(self.args) == 1 else str(self.args)

    def __repr__(self):
        return type(self).__name__ + "(" + ", ".join([repr(a) for a in self.args]) + ")"

    def with_traceback(self, traceback):
        return self


class Exception(BaseException):
    pass


class SystemExit(BaseException):
    pass


class KeyboardInterrupt(BaseException):
    pass


class GeneratorExit(BaseException):
    pass


class StopIteration(Exception):
    @property
    def value(self):
        return self.args[0] if self.args else None


class StopAsyncIteration(Exception):
    pass


class ArithmeticError(Exception):
    pass


class OverflowError(ArithmeticError):
    pass


class ZeroDivisionError(ArithmeticError):
    pass


class FloatingPointError(ArithmeticError):
    pass


class AssertionError(Exception):
    pass


class AttributeError(Exception):
    pass


class ImportError(Exception):
    pass


class ModuleNotFoundError(ImportError):
    pass


class LookupError(Exception):
    pass


class IndexError(LookupError):
    pass


class KeyError(LookupError):
    def __str__(self):
        return repr(self.args[0]) if len(self.args) == 1 else BaseException.__str__(self)


class NameError(Exception):
    pass


class UnboundLocalError(NameError):
    pass


class OSError(Exception):
    pass


IOError = OSError
EnvironmentError = OSError


class FileNotFoundError(OSError):
    pass


class FileExistsError(OSError):
    pass


class PermissionError(OSError):
    pass


class TimeoutError(OSError):
    pass


class RuntimeError(Exception):
    pass


class NotImplementedError(RuntimeError):
    pass


class RecursionError(RuntimeError):
    pass


class SyntaxError(Exception):
    pass


class TypeError(Exception):
    pass


class ValueError(Exception):
    pass


class UnicodeError(ValueError):
    pass


class MemoryError(Exception):
    pass


class Warning(Exception):
    pass


class UserWarning(Warning):
    pass


class DeprecationWarning(Warning):
    pass


class PendingDeprecationWarning(Warning):
    pass


class RuntimeWarning(Warning):
    pass


class FutureWarning(Warning):
    pass


class ImportWarning(Warning):
    pass


class _Set:
    """The keys of a dict, in the order in which they came."""

    def __init__(self, iterable=()):
        self._items = dict.fromkeys(iterable)

    def __iter__(self):
        return iter(list(self._items))

    def __len__(self):
        return len(self._items)

    def __contains__(self, item):
        return item in self._items

    def __eq__(self, other):
        if isinstance(other, list):  # the keys of a dict are a list
            other = _Set(other)
        if not isinstance(other, _Set):
            return False
        return len(self) == len(other) and all([item in other for item in self])

    def __le__(self, other):
        return self.issubset(other)

    def __lt__(self, other):
        return len(self) < len(other) and self.issubset(other)

    def __ge__(self, other):
        return other.issubset(self)

    def __gt__(self, other):
        return len(self) > len(other) and other.issubset(self)

    def __repr__(self):
        if len(self) == 0:
            return type(self).__name__ + "()"
        return "{" + ", ".join([repr(item) for item in self]) + "}"

    def __or__(self, other):
        return self.union(other)

    def __and__(self, other):
        return self.intersection(other)

    def __sub__(self, other):
        return self.difference(other)

    def __xor__(self, other):
        return self.symmetric_difference(other)

    # The keys of a dict are a list: {…}.keys() - {…}.

    def __ror__(self, other):
        return set(other).union(self)

    def __rand__(self, other):
        return set(other).intersection(self)

    def __rsub__(self, other):
        return set(other).difference(self)

    def __rxor__(self, other):
        return set(other).symmetric_difference(self)

    def copy(self):
        return type(self)(self)

    def union(self, *others):
        items = list(self)
        for other in others:
            items = items + list(other)
        return type(self)(items)

    def intersection(self, *others):
        items = list(self)
        for other in others:
            other = _Set(other)
            items = [item for item in items if item in other]
        return type(self)(items)

    def difference(self, *others):
        items = list(self)
        for other in others:
            other = _Set(other)
            items = [item for item in items if item not in other]
        return type(self)(items)

    def symmetric_difference(self, other):
        other = _Set(other)
        return type(self)([item for item in self if item not in other]
                          + [item for item in other if item not in self])

    def issubset(self, other):
        other = _Set(other)
        return all([item in other for item in self])

    def issuperset(self, other):
        return all([item in self for item in other])

    def isdisjoint(self, other):
        return not any([item in self for item in other])


class frozenset(_Set):
    def __hash__(self):
        return hash(tuple(self))


class set(_Set):
    def add(self, item):
        self._items[item] = None

    def discard(self, item):
        if item in self._items:
            del self._items[item]

    def remove(self, item):
        if item not in self._items:
            raise KeyError(item)
        del self._items[item]

    def pop(self):
        for item in self._items:
            del self._items[item]
            return item
        raise KeyError("pop from an empty set")

    def clear(self):
        self._items = {}

    def update(self, *others):
        for other in others:
            for item in other:
                self._items[item] = None

    def intersection_update(self, *others):
        self._items = dict.fromkeys(self.intersection(*others))

    def difference_update(self, *others):
        self._items = dict.fromkeys(self.difference(*others))

    def __ior__(self, other):
        self.update(other)
        return self

    def __iand__(self, other):
        self.intersection_update(other)
        return self

    def __isub__(self, other):
        self.difference_update(other)
        return self


def map(function, *iterables):
    if len(iterables) == 1:
        return (function(item) for item in iterables[0])
    return (function(*items) for items in zip(*iterables))


def filter(function, iterable):
    if function is None:
        return (item for item in iterable if item)
    return (item for item in iterable if function(item))


def _native_until(function, sentinel):
    while True:
        value = function()
        if value == sentinel:
            return
        yield value


def _index(number):
    return number.__index__() if hasattr(number, "__index__") else number


def hex(number):
    return f"{_index(number):#x}"


def oct(number):
    return f"{_index(number):#o}"


def bin(number):
    return f"{_index(number):#b}"


def ascii(object):
    out = ""
    for c in repr(object):
        n = ord(c)
        short = f"\\x{n:02x}" if n < 256 else f"\\u{n:04x}"
        out += c if n < 128 else short if n < 65536 else f"\\U{n:08x}"
    return out


def _native_lazy_zip(*iterables):
    iterators = [iter(iterable) for iterable in iterables]
    while True:
        items = []
        for iterator in iterators:
            try:
                items.append(next(iterator))
            except StopIteration:
                return
        yield tuple(items)


def _native_lazy_enumerate(iterable, start=0):
    for item in iterable:
        yield start, item
        start += 1


def exit(code=None):
    raise SystemExit(code)


def open(*args, **kwargs):
    raise PermissionError("files cannot be opened: programs are evaluated without access to them")


def eval(*args):
    raise NotImplementedError("eval is not supported")


def exec(*args):
    raise NotImplementedError("exec is not supported")


def input(*args):
    raise NotImplementedError("input is not supported")


def _native_namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    from calque import new_named_class
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    made = new_named_class(typename, list(field_names), list(defaults or []))
    made._make = lambda iterable: made(*iterable)
    return made


class _native_EnumMeta(type):
    """Makes members of the attributes of a class; a class is iterated, indexed and called."""

    def __init__(cls, name, bases, attributes):
        cls._member_map_ = {}
        last = 0
        plain = (type(lambda: 0), property, staticmethod, classmethod)
        for key, value in attributes.items():
            if key.startswith("_") or isinstance(value, plain) or isinstance(value, type):
                continue
            if type(value).__name__ == "auto":
                value = last + 1
            if isinstance(value, int):
                last = value
            member = None
            for other in cls._member_map_.values():
                if other.value == value:
                    member = other
            if member is None:
                member = object.__new__(cls, value)
                object.__setattr__(member, "name", key)
                object.__setattr__(member, "value", value)
                object.__setattr__(member, "_name_", key)
                object.__setattr__(member, "_value_", value)
                if isinstance(value, tuple) and "__init__" in attributes:
                    member.__init__(*value)
            cls._member_map_[key] = member
            setattr(cls, key, member)

    @property
    def __members__(cls):
        return cls._member_map_

    def _members(cls):
        return [member for name, member in cls._member_map_.items() if member.name == name]

    def __iter__(cls):
        return iter(cls._members())

    def __reversed__(cls):
        return reversed(cls._members())

    def __len__(cls):
        return len(cls._members())

    def __contains__(cls, item):
        return any([member is item or member.value == item for member in cls._member_map_.values()])

    def __getitem__(cls, name):
        if name not in cls._member_map_:
            raise KeyError(name)
        return cls._member_map_[name]

    def __call__(cls, value, names=None, **options):
        if names is not None:
            if isinstance(names, str):
                names = names.replace(",", " ").split()
            if not isinstance(names, dict):
                names = dict((n, i + 1) if isinstance(n, str) else n for i, n in enumerate(names))
            return type(cls)(value, (cls,), names)
        for member in cls._member_map_.values():
            if member is value or member.value == value:
                return member
        raise ValueError(f"{value!r} is not a valid {cls.__name__}")

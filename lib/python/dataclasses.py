"""dataclasses."""
from calque import class_annotations

MISSING = object()


class Field:
    def __init__(self, default, default_factory, init, repr, compare, metadata):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.metadata = {} if metadata is None else metadata


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None,
          compare=True, metadata=None, kw_only=False):
    return Field(default, default_factory, init, repr, compare, metadata)


def _fields_of(cls):
    """Those of the bases first; a class may change the default of one."""
    found = {}
    for base in reversed(cls.__mro__):
        names = class_annotations(base)
        for name in names:
            value = base.__dict__[name] if name in base.__dict__ else MISSING
            one = value if isinstance(value, Field) else Field(value, MISSING, True, True, True,
                                                               None)
            one.name = name
            found[name] = one
    return found


def _bind(cls, fields, args, kwargs):
    values = {}
    names = [f.name for f in fields.values() if f.init]
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}.__init__() takes {len(names) + 1} positional arguments "
                        f"but {len(args) + 1} were given")
    for name, value in zip(names, args):
        values[name] = value
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument "
                            f"'{name}'")
        values[name] = value
    return values


def dataclass(cls=None, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False,
              frozen=False, match_args=True, kw_only=False, slots=False, weakref_slot=False):
    if cls is None:
        return lambda c: _decorate(c, init, repr, eq)
    return _decorate(cls, init, repr, eq)


def _decorate(cls, init, repr, eq):
    fields = _fields_of(cls)
    cls.__dataclass_fields__ = fields
    cls.__match_args__ = tuple(one.name for one in fields.values() if one.init)

    def __init__(self, *args, **kwargs):
        values = _bind(cls, fields, args, kwargs)
        for one in fields.values():
            if one.name in values:
                value = values[one.name]
            elif one.default_factory is not MISSING:
                value = one.default_factory()
            elif one.default is not MISSING:
                value = one.default
            elif one.init:
                raise TypeError(f"{cls.__name__}.__init__() missing 1 required positional "
                                f"argument: '{one.name}'")
            else:
                continue
            object.__setattr__(self, one.name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    def __repr__(self):
        inner = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields.values()
                          if one.repr)
        return f"{cls.__name__}({inner})"

    def __eq__(self, other):
        return type(other) is type(self) and all(
            getattr(self, name) == getattr(other, name) for name in fields)

    if init and "__init__" not in cls.__dict__:
        cls.__init__ = __init__
    if repr and "__repr__" not in cls.__dict__:
        cls.__repr__ = __repr__
    if eq and "__eq__" not in cls.__dict__:
        cls.__eq__ = __eq__
    for one in fields.values():
        if one.default is not MISSING:
            setattr(cls, one.name, one.default)
    return cls


def fields(class_or_instance):
    return tuple(class_or_instance.__dataclass_fields__.values())


def is_dataclass(obj):
    return hasattr(obj, "__dataclass_fields__")


def asdict(obj, *, dict_factory=dict):
    if is_dataclass(obj):
        return dict_factory([(f.name, asdict(getattr(obj, f.name))) for f in fields(obj)])
    if isinstance(obj, (list, tuple)):
        return type(obj)([asdict(x) for x in obj])
    if isinstance(obj, dict):
        return dict((k, asdict(v)) for k, v in obj.items())
    return obj


def astuple(obj):
    return tuple(getattr(obj, f.name) for f in fields(obj))


def replace(obj, **changes):
    for f in fields(obj):
        if f.init and f.name not in changes:
            changes[f.name] = getattr(obj, f.name)
    return type(obj)(**changes)

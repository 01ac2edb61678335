"""dataclasses."""
from calque import class_annotations

MISSING = object()


class Field:
    def __init__(self, default, default_factory, init, repr, compare, metadata, kw_only=False):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.metadata = {} if metadata is None else metadata
        self.kw_only = kw_only
        self.is_init_var = False


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None,
          compare=True, metadata=None, kw_only=False):
    return Field(default, default_factory, init, repr, compare, metadata, kw_only)


class InitVar:
    def __class_getitem__(cls, item):
        return cls


class KW_ONLY:
    pass


def _fields_of(cls, kw_only):
    """Those of the bases first; a class may change the default of one."""
    found = {}
    for base in reversed(cls.__mro__):
        names = class_annotations(base)
        keywords = kw_only and base is cls
        for name, annotation in names.items():
            text = str(annotation).split("[")[0].split(".")[-1].strip("'\"")
            if text == "ClassVar":
                continue
            if text == "KW_ONLY":
                keywords = True
                continue
            value = base.__dict__[name] if name in base.__dict__ else MISSING
            one = value if isinstance(value, Field) else Field(value, MISSING, True, True, True,
                                                               None)
            if "__dataclass_fields__" in base.__dict__ and base is not cls:
                one = base.__dataclass_fields__[name]
            one.name = name
            one.kw_only = one.kw_only or keywords
            one.is_init_var = text == "InitVar"
            found[name] = one
    return found


def _bind(cls, fields, args, kwargs):
    values = {}
    names = [f.name for f in fields.values() if f.init and not f.kw_only]
    every = [f.name for f in fields.values() if f.init]
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}.__init__() takes {len(names) + 1} positional arguments "
                        f"but {len(args) + 1} were given")
    for name, value in zip(names, args):
        values[name] = value
    for name, value in kwargs.items():
        if name not in every:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument "
                            f"'{name}'")
        values[name] = value
    return values


def dataclass(cls=None, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False,
              frozen=False, match_args=True, kw_only=False, slots=False, weakref_slot=False):
    if cls is None:
        return lambda c: _decorate(c, init, repr, eq, order, frozen, kw_only)
    return _decorate(cls, init, repr, eq, order, frozen, kw_only)


class FrozenInstanceError(AttributeError):
    pass


def _decorate(cls, init, repr, eq, order, frozen, kw_only):
    fields = _fields_of(cls, kw_only)
    cls.__dataclass_fields__ = fields
    compared = [name for name, one in fields.items() if one.compare and not one.is_init_var]
    parts = [one for one in fields.values() if not one.is_init_var]

    def key(self):
        return tuple([getattr(self, name) for name in compared])
    cls.__match_args__ = tuple(one.name for one in fields.values() if one.init)

    def __init__(self, *args, **kwargs):
        values = _bind(cls, fields, args, kwargs)
        init_vars = []
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
            if one.is_init_var:
                init_vars.append(value)
            else:
                object.__setattr__(self, one.name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__(*init_vars)

    def __repr__(self):
        inner = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in parts if one.repr)
        return f"{cls.__name__}({inner})"

    def __eq__(self, other):
        return type(other) is type(self) and key(self) == key(other)

    def __setattr__(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field '{name}'")

    if init and "__init__" not in cls.__dict__:
        cls.__init__ = __init__
    if repr and "__repr__" not in cls.__dict__:
        cls.__repr__ = __repr__
    if eq and "__eq__" not in cls.__dict__:
        cls.__eq__ = __eq__
    if order:
        cls.__lt__ = lambda self, other: key(self) < key(other)
        cls.__le__ = lambda self, other: key(self) <= key(other)
        cls.__gt__ = lambda self, other: key(self) > key(other)
        cls.__ge__ = lambda self, other: key(self) >= key(other)
    if frozen:
        cls.__setattr__ = __setattr__
    if frozen and eq and "__hash__" not in cls.__dict__:
        cls.__hash__ = lambda self: hash(key(self))
    for one in fields.values():
        if one.default is not MISSING:
            setattr(cls, one.name, one.default)
    return cls


def fields(class_or_instance):
    return tuple([one for one in class_or_instance.__dataclass_fields__.values()
                  if not one.is_init_var])


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


def astuple(obj, *, tuple_factory=tuple):
    if is_dataclass(obj):
        return tuple_factory([astuple(getattr(obj, f.name)) for f in fields(obj)])
    if isinstance(obj, (list, tuple)):
        return type(obj)([astuple(x) for x in obj])
    if isinstance(obj, dict):
        return dict((k, astuple(v)) for k, v in obj.items())
    return obj


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    body = dict(namespace or {})
    annotations = {}
    for one in fields:
        name = one if isinstance(one, str) else one[0]
        annotations[name] = "object"
        if not isinstance(one, str) and len(one) == 3:
            body[name] = one[2]
    body["__annotations__"] = annotations
    return dataclass(type(cls_name, bases, body), **options)


def replace(obj, **changes):
    for f in fields(obj):
        if f.init and f.name not in changes:
            changes[f.name] = getattr(obj, f.name)
    return type(obj)(**changes)

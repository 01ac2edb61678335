"""typing: names for annotations, which are not evaluated at run time."""
from collections.abc import (Callable, Collection, Container, Generator, Iterable, Iterator,
                             Mapping, MutableMapping, MutableSequence, Sequence)


class _Form:
    """Optional[int], Callable[..., T]: any item of a form is the form."""

    def __init__(self, name="Any"):
        self.name = name

    def __getitem__(self, item):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __or__(self, other):
        return self

    def __ror__(self, other):
        return self

    def __repr__(self):
        return "typing." + self.name


class Generic:
    def __class_getitem__(cls, item):
        return cls


class Protocol:
    def __class_getitem__(cls, item):
        return cls


Any = _Form("Any")
Optional = _Form("Optional")
Union = _Form("Union")
Literal = _Form("Literal")
Final = _Form("Final")
ClassVar = _Form("ClassVar")
Type = _Form("Type")
NoReturn = _Form("NoReturn")
Never = _Form("Never")
Annotated = _Form("Annotated")
Concatenate = _Form("Concatenate")
Self = _Form("Self")
TypeAlias = _Form("TypeAlias")
TypeGuard = _Form("TypeGuard")
Required = _Form("Required")
NotRequired = _Form("NotRequired")
Unpack = _Form("Unpack")
LiteralString = _Form("LiteralString")
AnyStr = _Form("AnyStr")
Text = str
Hashable = _Form("Hashable")
Sized = _Form("Sized")
IO = _Form("IO")
TextIO = _Form("TextIO")
BinaryIO = _Form("BinaryIO")
Pattern = _Form("Pattern")
Match = _Form("Match")
SupportsFloat = _Form("SupportsFloat")
SupportsInt = _Form("SupportsInt")
SupportsIndex = _Form("SupportsIndex")
Awaitable = _Form("Awaitable")
Coroutine = _Form("Coroutine")
AsyncIterator = _Form("AsyncIterator")
ContextManager = _Form("ContextManager")

TYPE_CHECKING = False


List = list
Tuple = tuple
Dict = dict
Set = set
FrozenSet = frozenset
Deque = list
DefaultDict = dict
OrderedDict = dict
Counter = dict
Reversible = _Form("Reversible")
KeysView = _Form("KeysView")
ItemsView = _Form("ItemsView")
ValuesView = _Form("ValuesView")
ByteString = _Form("ByteString")


def TypeVar(name, *constraints, bound=None, covariant=False, contravariant=False, default=None):
    return _Form(name)


def ParamSpec(name, **kwargs):
    return _Form(name)


def TypeVarTuple(name, **kwargs):
    return _Form(name)


def NewType(name, tp):
    return lambda x: x


def cast(typ, val):
    return val


def overload(func):
    return func


def final(f):
    return f


def override(f):
    return f


def no_type_check(arg):
    return arg


def runtime_checkable(cls):
    return cls


def get_origin(tp):
    return None


def get_args(tp):
    return ()


def get_type_hints(obj, globalns=None, localns=None):
    return {}


def assert_never(arg):
    raise AssertionError(f"Expected code to be unreachable, but got: {arg!r}")


class TypedDict(dict):
    pass


def NamedTuple(typename, fields=None, **kwargs):
    from collections import namedtuple
    names = [name for name, _ in fields] if fields else list(kwargs)
    return namedtuple(typename, names)

"""enum: classes whose members are made by the evaluator (`calque.enum_members`)."""
from calque import EnumMeta


class auto:
    """The next value: one more than the last."""


class Enum(metaclass=EnumMeta):
    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __hash__(self):
        return id(self)


class IntEnum(Enum):
    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Enum) else other)

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Enum) else other)

    def __le__(self, other):
        return self.value <= (other.value if isinstance(other, Enum) else other)

    def __gt__(self, other):
        return self.value > (other.value if isinstance(other, Enum) else other)

    def __ge__(self, other):
        return self.value >= (other.value if isinstance(other, Enum) else other)

    def __add__(self, other):
        return self.value + other

    def __mul__(self, other):
        return self.value * other

    def __hash__(self):
        return self.value


class StrEnum(Enum):
    def __str__(self):
        return self.value

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Enum) else other)


class Flag(IntEnum):
    def __or__(self, other):
        return self.value | int(other)

    def __and__(self, other):
        return self.value & int(other)


class IntFlag(Flag):
    pass


def unique(enumeration):
    return enumeration

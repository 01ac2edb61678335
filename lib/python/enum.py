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

    def __str__(self):
        return str(self.value)

    def __bool__(self):
        return self.value != 0

    def __add__(self, other):
        return self.value + int(other)

    def __radd__(self, other):
        return other + self.value

    def __sub__(self, other):
        return self.value - int(other)

    def __rsub__(self, other):
        return other - self.value

    def __mul__(self, other):
        return self.value * other

    def __rmul__(self, other):
        return other * self.value

    def __floordiv__(self, other):
        return self.value // int(other)

    def __truediv__(self, other):
        return self.value / int(other)

    def __mod__(self, other):
        return self.value % int(other)

    def __neg__(self):
        return -self.value

    def __hash__(self):
        return self.value


class StrEnum(Enum):
    def __str__(self):
        return self.value

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Enum) else other)


class Flag(IntEnum):
    @classmethod
    def _of(cls, value):
        for member in cls:
            if member.value == value:
                return member
        made = object.__new__(cls, value)
        names = [m.name for m in cls if m.value and m.value & value == m.value]
        for key, v in (("value", value), ("_value_", value), ("name", "|".join(names) or None)):
            object.__setattr__(made, key, v)
        return made

    def __or__(self, other):
        return type(self)._of(self.value | int(other))

    def __and__(self, other):
        return type(self)._of(self.value & int(other))

    def __xor__(self, other):
        return type(self)._of(self.value ^ int(other))

    def __invert__(self):
        value = 0
        for member in type(self):
            value = value | member.value
        return type(self)._of(value & ~self.value)

    def __ror__(self, other):
        return self | other

    def __rand__(self, other):
        return self & other

    def __contains__(self, other):
        return int(other) & self.value == int(other)

    def __bool__(self):
        return self.value != 0


class IntFlag(Flag):
    pass


def unique(enumeration):
    return enumeration

"""match statements."""
from dataclasses import dataclass
from enum import Enum


class Color(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: int
    y: int


class Box:
    __match_args__ = ("w",)

    def __init__(self, w, h):
        self.w = w
        self.h = h


def kind(v):
    match v:
        case 0:
            return "zero"
        case -1 | 1:
            return "one"
        case True:
            return "true"
        case None:
            return "none"
        case "a" | "b":
            return "letter"
        case Color.RED:
            return "red"
        case Point(x=0, y=0):
            return "origin"
        case Point(x, y) if x == y:
            return f"diagonal {x}"
        case Point(x=px):
            return f"point {px}"
        case Box(w, h=3):
            return f"box {w}"
        case []:
            return "empty"
        case [x]:
            return f"single {x}"
        case [1, *rest]:
            return f"from one {rest}"
        case (a, [b, c]):
            return f"nested {a} {b} {c}"
        case [first, *_, last]:
            return f"ends {first} {last}"
        case {"type": "conv", "k": k, **others}:
            return f"conv {k} {others}"
        case {"type": str() as name}:
            return f"type {name}"
        case float() | int() as number:
            return f"number {number}"
        case str(text):
            return f"text {text}"
        case _:
            return "other"


for v in [0, 1, -1, None, "a", "zz", Color.RED, Color.BLUE, Point(0, 0), Point(2, 2), Point(3, 4), Box(1, 3),
          Box(1, 2), [], [5], [1, 2, 3], [7, [8, 9]], [7, 8, 9], {"type": "conv", "k": 3, "s": 1}, {"type": "fc"},
          {}, 2.5, 17, (4,), {"type": 3}]:
    print(repr(v) if not isinstance(v, Box) else "Box", kind(v))
match 5:
    case x if x > 3:
        print("big", x)
match [1, 2], 3:
    case [a, b], c:
        print(a, b, c)

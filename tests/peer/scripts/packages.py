"""A module of a package that imports everything of its modules, which import names of the package."""
from shapes.square import Square
import shapes

print(Square(3).name(), Square(2).inner().name())
print(sorted(shapes.KINDS), shapes.KINDS["circle"](1).name(), shapes.KINDS["square"] is Square)

import inspect
import sys

module = sys.modules[Square.__module__]
print(module is shapes.square, "Square" in module.__dict__, module.__dict__["Square"] is Square, "print" in shapes.__dict__)
print(inspect.getsource(module).splitlines()[0], "class Square" in inspect.getsource(module))

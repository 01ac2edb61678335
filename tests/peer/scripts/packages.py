"""A module of a package that imports everything of its modules, which import names of the package."""
from shapes.square import Square
import shapes

print(Square(3).name(), Square(2).inner().name())
print(sorted(shapes.KINDS), shapes.KINDS["circle"](1).name(), shapes.KINDS["square"] is Square)

from .base import *
from .circle import *
from .square import *

KINDS = {"circle": Circle, "square": Square}

"""beartype.typing: the names of typing."""
from typing import *

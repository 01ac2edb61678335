"""typing_extensions: the names of typing."""
from typing import *

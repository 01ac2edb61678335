"""distutils: versions."""
from . import version

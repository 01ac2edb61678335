"""packaging: versions."""
from . import version

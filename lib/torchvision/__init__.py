"""torchvision, if --path has no source of it: only its operators."""
from . import ops

__version__ = "0.21.0"

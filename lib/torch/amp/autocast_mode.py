"""torch.amp.autocast_mode."""
from . import autocast

"""torch.cuda.amp."""
from ..amp import GradScaler, autocast, custom_bwd, custom_fwd

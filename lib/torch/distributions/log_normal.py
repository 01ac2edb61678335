"""torch.distributions.log_normal."""
from torch.distributions.composed import LogNormal

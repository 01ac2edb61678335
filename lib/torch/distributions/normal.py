"""torch.distributions.normal."""
from torch.distributions.continuous import Normal

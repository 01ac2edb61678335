"""torch.distributions.exponential."""
from torch.distributions.continuous import Exponential

"""torch.distributions.uniform."""
from torch.distributions.continuous import Uniform

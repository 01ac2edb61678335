"""torch.distributions.laplace."""
from torch.distributions.continuous import Laplace

"""torch.distributions.dirichlet."""
from torch.distributions.continuous import Dirichlet

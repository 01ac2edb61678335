"""torch.distributions.gamma."""
from torch.distributions.continuous import Gamma

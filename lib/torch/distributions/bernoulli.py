"""torch.distributions.bernoulli."""
from torch.distributions.discrete import Bernoulli

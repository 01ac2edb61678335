"""torch.distributions.categorical."""
from torch.distributions.discrete import Categorical

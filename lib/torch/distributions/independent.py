"""torch.distributions.independent."""
from torch.distributions.composed import Independent

"""torch.distributions.multivariate_normal."""
from torch.distributions.continuous import MultivariateNormal

"""torch.distributions.transformed_distribution."""
from torch.distributions.composed import TransformedDistribution

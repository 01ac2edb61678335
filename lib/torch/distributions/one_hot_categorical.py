"""torch.distributions.one_hot_categorical."""
from torch.distributions.discrete import OneHotCategorical, OneHotCategoricalStraightThrough

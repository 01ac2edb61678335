"""torch.distributions.beta."""
from torch.distributions.continuous import Beta

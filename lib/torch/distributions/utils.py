"""torch.distributions.utils."""
from torch.distributions.distribution import broadcast_all
from torch.distributions.distribution import logits_of as probs_to_logits
from torch.distributions.distribution import probs_of as logits_to_probs

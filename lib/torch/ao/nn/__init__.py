"""torch.ao.nn."""

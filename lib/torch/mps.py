"""torch.mps: no such device is available."""


def is_available():
    return False

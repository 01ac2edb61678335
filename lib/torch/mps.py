"""torch.mps: there is no device of that kind."""


def is_available():
    return False

"""torch.xpu: there is no device of that kind."""


def is_available():
    return False


def device_count():
    return 0

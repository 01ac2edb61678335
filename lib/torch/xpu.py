"""torch.xpu: no such device is available."""


def is_available():
    return False


def device_count():
    return 0

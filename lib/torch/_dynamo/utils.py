"""torch._dynamo.utils."""


def is_compile_supported(device_type):
    return False

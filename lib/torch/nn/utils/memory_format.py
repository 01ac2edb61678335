"""Memory formats do not change values, and calque has one: the module is returned."""


def convert_conv2d_weight_memory_format(module, memory_format):
    return module


def convert_conv3d_weight_memory_format(module, memory_format):
    return module

"""torch.distributed: one process."""


def is_available():
    return False


def is_initialized():
    return False


def get_rank(group=None):
    raise RuntimeError("torch.distributed is not available: calque runs one process")


def get_world_size(group=None):
    raise RuntimeError("torch.distributed is not available: calque runs one process")


def init_process_group(*args, **kwargs):
    raise RuntimeError("torch.distributed is not available: calque runs one process")


def barrier(*args, **kwargs):
    raise RuntimeError("torch.distributed is not available: calque runs one process")


def all_reduce(*args, **kwargs):
    raise RuntimeError("torch.distributed is not available: calque runs one process")


def all_gather(*args, **kwargs):
    raise RuntimeError("torch.distributed is not available: calque runs one process")

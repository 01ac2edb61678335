"""torch.cuda: no such device is available; the CPU is used instead."""
from . import amp
from .. import (_TensorType, bfloat16, bool, float16, float32, float64, int8, int16, int32, int64,
                uint8)


def is_available():
    return False


def device_count():
    return 0


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
    return False


def current_device():
    raise AssertionError("Torch not compiled with CUDA enabled")


def get_device_name(device=None):
    raise AssertionError("Torch not compiled with CUDA enabled")


def get_device_capability(device=None):
    raise AssertionError("Torch not compiled with CUDA enabled")


def empty_cache():
    return None


def synchronize(device=None):
    return None


def set_device(device):
    return None


def manual_seed(seed):
    return None


def manual_seed_all(seed):
    return None


def memory_allocated(device=None):
    return 0


def max_memory_allocated(device=None):
    return 0


FloatTensor = _TensorType(float32, "cuda")
DoubleTensor = _TensorType(float64, "cuda")
HalfTensor = _TensorType(float16, "cuda")
BFloat16Tensor = _TensorType(bfloat16, "cuda")
LongTensor = _TensorType(int64, "cuda")
IntTensor = _TensorType(int32, "cuda")
CharTensor = _TensorType(int8, "cuda")
ShortTensor = _TensorType(int16, "cuda")
ByteTensor = _TensorType(uint8, "cuda")
BoolTensor = _TensorType(bool, "cuda")

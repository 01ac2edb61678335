"""torch.types: names for annotations."""
from calque import Tensor, device as Device

Number = (int, float, bool)
_int = int
_float = float
_bool = bool
_size = tuple
_dtype = None
_device = None

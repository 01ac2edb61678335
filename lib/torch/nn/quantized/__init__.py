"""torch.nn.quantized: the old name of torch.ao.nn.quantized."""
from torch.ao.nn.quantized import FloatFunctional, FXFloatFunctional

"""torch.quantization: the old name of torch.ao.quantization."""
from torch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper

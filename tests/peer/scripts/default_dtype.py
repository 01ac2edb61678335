"""The default dtype: an imported module sets it for the whole program."""
import torch

from shapes.precision import half

print(half.dtype, torch.get_default_dtype(), torch.nn.Linear(2, 2).weight.dtype)
x = torch.arange(4)
print((x / 3).dtype, (x * 0.5).dtype, x.float().dtype, torch.where(x > 1, 1.0, 0.0).dtype, torch.linspace(0, 1, 3).dtype)
torch.set_default_dtype(torch.float32)
print((x / 3).dtype, (x * 0.5).dtype, torch.full((2,), 1.5).dtype, x.float().mean().dtype, half.dtype)

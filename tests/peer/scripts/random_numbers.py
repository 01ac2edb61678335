"""PyTorch's generator: integers, permutations, uniform and normal numbers of a seed."""
import torch

torch.manual_seed(3)
print(torch.randint(0, 10, (20,)).tolist())
print(torch.randint(-5, 1000000, (7,)).tolist())
print(torch.randint(5, (3, 3)).tolist(), torch.randint(high=7, size=(2,)).tolist())
print(torch.randint(low=2, high=7, size=(2, 2)).tolist())
print(torch.randperm(10).tolist())
print(torch.randperm(40).tolist())
print(torch.randint(0, 2 ** 40, (5,)).tolist())
print(torch.randn(3).tolist(), torch.rand(2).tolist())
print(torch.randint(0, 255, (5,), dtype=torch.uint8).tolist())
print(torch.randint_like(torch.zeros(4), 9).tolist(), torch.randint_like(torch.zeros(2), 3, 9).tolist())
print(torch.randn(17).tolist())
torch.set_default_dtype(torch.float64)
print(torch.zeros(2).dtype, torch.tensor([1.5]).dtype, torch.get_default_dtype(), torch.rand(1).dtype,
      torch.arange(0, 1, 0.5).dtype, torch.tensor([1]).dtype)
print(torch.nn.Linear(2, 2).weight.tolist())
torch.set_default_dtype(torch.float32)
print(torch.zeros(2).dtype, torch.tensor(1.5).dtype, (torch.tensor(1) / 3).dtype)
kinds = []
kinds.append(torch.float16)
print(kinds, {"k": torch.int64}, "%s" % torch.bool, f"{torch.float32}")

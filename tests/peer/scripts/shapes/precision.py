import torch

torch.set_default_dtype(torch.float64)
half = torch.tensor(0.5)

import torch


def forward(x, y):
    return torch.linalg.solve(x, y[:, None]).squeeze(-1)

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    u, s, v = torch.linalg.svd(x)
    if bool(u.sum() > 100):
        return x
    return x + s

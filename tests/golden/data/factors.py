import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    u, s, v = torch.linalg.ldl_factor_ex(x)
    if bool(u.sum() > 100):
        return x
    return x + s

def forward(x: Tensor) -> Tuple[Tensor, Tensor]:
    return torch.relu(x), torch.rand_like(x)


def empty(x: Tensor) -> Tuple[Tensor, Tensor]:
    return torch.relu(x), x[2:]

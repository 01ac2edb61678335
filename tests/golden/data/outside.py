def forward(x: Tensor) -> Tensor:
    return x[7]

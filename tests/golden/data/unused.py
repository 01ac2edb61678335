def forward(x: Tensor, y: Tensor) -> Dict[str, Tensor]:
    return {"doubled": x + x}

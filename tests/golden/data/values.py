def forward(xs: List[Tensor], pair: Tuple[Tensor, int], name: str, flag: bool, scale: float, other: Optional[Tensor]):
    y = xs[0] + xs[1] + pair[0] * pair[1]
    if flag:
        y = -y
    if name == "twice":
        y = y * 2
    if other is not None:
        y = y + other
    return y * scale

def forward(d: Dict[str, Tensor], n: Dict[int, List[int]]) -> Tensor:
    return d["a"] + d["b c"] * n[7][1]

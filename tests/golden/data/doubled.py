def forward(x: Tensor) -> List[List[Tensor]]:
    a = [x, x]
    for i in range(18):
        a = [a, a]
    return a

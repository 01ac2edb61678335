def forward(x, n, k: int):
    if n > 5:
        return x
    for i in range(k):
        if x.sum() > i:
            return x * i is None
    z = x[None, :, [0, 2]]

def forward(x):
    y = torch.ops.mylib.scale(x, 2.0)
    return torch.ops.mylib.shift(y, 1.0)

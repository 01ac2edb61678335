def forward(x):
    y = x + 1
    return y * 2

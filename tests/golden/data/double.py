def forward(x):
    return x + x

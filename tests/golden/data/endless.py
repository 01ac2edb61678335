# A program that never ends, and one that takes more and more.
def forward(x):
    while bool((x + 1 > x).all()):
        x = x * 1
    return x


def grow(x):
    while True:
        x = torch.cat([x, x])
    return x

"""torch.Size."""
import torch
x = torch.zeros(2, 3)
print(x.shape, x.size(), tuple(x.shape), list(x.shape), x.shape[0], x.shape[1:])
print(f"{x.shape} {x.size()!r}")
print(type(x.shape), isinstance(x.shape, torch.Size), isinstance(x.shape, tuple))
s = x.shape + (4,)
print(s, x.shape == (2, 3), x.shape.numel(), len(x.shape))
a, b = x.shape
print(torch.Size([1, 2]), str(x.shape), "%s" % (x.shape,))
print((*x.shape, 5), x.shape[:-1], x.shape.index(3), 3 in x.shape)
print({"s": x.shape}, [x.shape])

print(round(32), type(round(32)), round(12, 1), round(True), round(2.5), round(7.123, 1), round(-7))

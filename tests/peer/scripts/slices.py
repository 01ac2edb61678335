"""Slices, also with negative steps."""
a = list(range(10))
t = tuple(a)
s = "hello world"
print(a[::-1], t[::-1], s[::-1])
print(a[8:2:-2], t[-1:-5:-1], s[5::-1], s[::2], s[-3:], s[:-3], s[1:8:3], s[20:], s[3:1])
print(a[:100], a[-100:3], a[5:2], a[5:2:-1], a[::-3])
a[2:5] = ["x"]
print(a)
a[1:3] = []
print(a)
b = list(range(6))
b[::2] = [9, 9, 9]
print(b)
print(b)
c = list(range(8))
print(c)
c[len(c):] = [7, 8]
print(c, c[slice(1, None, 2)])
print(list(range(10)[2:8:3]), range(10)[::-1][2], list(range(10)[::-2]))
print("abc"[-1], [1, 2, 3][-2], (1, 2)[True])
m = [[1, 2], [3, 4]]
print([row[::-1] for row in m][::-1], list(zip(*m[::-1])))

import torch

items = [1, 2, 3, 4, 5]
middle = slice(1, 3)
items[middle] = [7, 8, 9]
print(items, items[middle], items[slice(None, None, 2)])
items[slice(0, 6, 2)] = "abc"
print(items, Ellipsis is ..., (1, *(2, 3), Ellipsis)[1])
x = torch.arange(6).reshape(2, 3)
print(x[(..., *((None,) * 2))].shape, x[(*((None,) * 1), Ellipsis)].shape, x[..., *(0,)].tolist(), x[(*[0], Ellipsis)].tolist())

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

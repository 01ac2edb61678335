import copy
import numpy as np
import torch
import torch.nn.functional as F
from distutils.version import LooseVersion

# ---- order of tuples and lists ----

print((1, 13) >= (1, 8), (1, 2) < (1, 2, 0), (2,) <= (1, 9), [3, 1] > [3, 0], ("b", 1) < ("a", 2))
print([1, (2, 3)] < [1, (2, 4)], (1, 2) > (1, 2), (1, 2) <= (1, 2))
print(LooseVersion("1.13.0") >= LooseVersion("1.8"), LooseVersion("1.10") > "1.9.1", LooseVersion("1.2.3").version)


# ---- unary operators of instances ----

class Interval:
    def __init__(self, low, high):
        self.low = low
        self.high = high

    def __neg__(self):
        return Interval(-self.high, -self.low)

    def __pos__(self):
        return self

    def __invert__(self):
        return Interval(self.high, self.low)


for interval in (-Interval(1, 2), +Interval(3, 4), ~Interval(5, 6)):
    print(interval.low, interval.high)

# ---- numpy ----

a = np.array([[1.0, 4.0], [9.0, 25.0]])
print((-a).tolist(), np.diff(a).tolist(), np.diff(np.arange(5) ** 2, n=2).tolist())
print(np.swapaxes(a, 0, 1).tolist(), a.swapaxes(0, 1).tolist(), np.moveaxis(a, 0, 1).tolist())
print(np.linalg.matrix_power(a, 0).tolist(), np.linalg.matrix_power(a, 3).tolist())
print(np.ceil(np.log(100)).astype("int").item(), np.sqrt(7.5).astype(int), np.floor(2.5).astype(np.float32))
print(np.vstack((np.arange(2), np.ones(2))).tolist(), np.count_nonzero(np.array([0, 3, 0, 1])))
print(np.argwhere(np.array([0, 3, 0, 1])).tolist())
np.fill_diagonal(a, 7.0)
print(a.tolist())
print(round(np.log1p(0.5), 6), round(np.arctan(1.0), 6))

# ---- types of tensors ----

x = torch.tensor([[1.5, -2.0, 0.0]])
print(x.type(torch.LongTensor).tolist(), x.type("torch.IntTensor").dtype == torch.int32)
print(torch.ones(2, 2).type(torch.BoolTensor).tolist(), x.type(torch.float64).dtype == torch.float64)
print(torch.LongTensor(range(4)).tolist(), torch.LongTensor(2, 3).shape == (2, 3))
print(torch.promote_types(torch.int32, torch.float16) == torch.float16)
print(torch.promote_types(torch.uint8, torch.int8) == torch.int16)
print(x.nelement(), x.norm(dim=1).tolist(), x.norm(p=1, dim=1, keepdim=True).tolist(), np.add([1, 2], [3.5, 4]).tolist())

# ---- copies of functions, optimizers ----

table = {"gelu": F.gelu, "relu": torch.relu, "own": LooseVersion}
print([key for key, value in copy.deepcopy(table).items() if value is table[key]])
layer = torch.nn.Linear(2, 3)
optimizer = torch.optim.Adam([{"params": layer.parameters(), "weight_decay": 0.1}], lr=0.01, betas=(0.9, 0.99))
optimizer.zero_grad()
print(len(optimizer.param_groups), optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["weight_decay"])

widths = np.array([48, 48, 104, 208, 208, 208])
values, counts = np.unique(widths, return_counts=True)
print(values.tolist(), counts.tolist(), np.unique(widths).tolist())
values, first, inverse = np.unique(widths, return_index=True, return_inverse=True)
print(values.tolist(), first.tolist(), inverse.tolist())

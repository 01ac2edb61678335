"""The small models of conformance.py. Each tests one feature of TorchScript. A case has a model,
two lists of arguments (the first is the example of the export) and its dynamic axes."""
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CASES = {}
BATCH = {"in_0": {"0": "batch"}}


def case(*shapes, axes=None, kinds=("script",), others=None):
    """Makes a case of a model class: random tensors of these shapes, twice; others are the shapes
    of the second set, where axes are dynamic."""
    def add(cls):
        def make():
            sets = [[torch.randn(*shape) for shape in some] for some in (shapes, others or shapes)]
            return cls(), sets, axes
        return keep(cls.__name__, make, kinds)
    return add


def arguments(*sets, axes=None, kinds=("script",)):
    """The same for arguments that are more than tensors of floats."""
    def add(cls):
        return keep(cls.__name__, lambda: (cls(), [one() for one in sets], axes), kinds)
    return add


def keep(name, make, kinds):
    make.kinds = kinds
    CASES[name] = make
    return make


BOTH = ("trace", "script")


# ---- layers and containers --------------------------------------------------------------


@case([2, 4], axes=BATCH, others=[[5, 4]], kinds=BOTH)
class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(1))

    def forward(self, x):
        return self.layers(x)


@case([2, 3, 8, 8], axes=BATCH, others=[[3, 3, 8, 8]], kinds=BOTH)
class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.fc = nn.Linear(6 * 16, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.fc(torch.flatten(x, 1))


@case([3, 4], kinds=BOTH)
class ModulesInList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) + i
        return x


@case([3, 4], kinds=BOTH)
class ModulesInDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"one": nn.Linear(4, 4), "two": nn.Tanh()})

    def forward(self, x):
        for name, layer in self.layers.items():
            x = layer(x)
            if name == "one":
                x = x * 2
        return x


@case([3, 4], kinds=BOTH)
class TiedWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(torch.sigmoid(self.first(x)))


@case([2, 5, 4], axes={"in_0": {"0": "batch", "1": "time"}}, others=[[3, 7, 4]], kinds=BOTH)
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)

    def forward(self, x):
        y, (h, c) = self.rnn(x)
        return y, h, c


@case([5, 2, 4], [2, 2, 6], kinds=BOTH)
class RecurrentWithState(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 6, 2)

    def forward(self, x, h):
        y, h = self.rnn(x, h)
        return y, h


@case([5, 2, 8], kinds=BOTH)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, x):
        y, weights = self.attention(x, x, x)
        return y, weights


# ---- control flow -----------------------------------------------------------------------


@arguments(lambda: [torch.ones(3)], lambda: [-torch.ones(3)])
class BranchOnData(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        return y


@arguments(lambda: [torch.ones(3)], lambda: [-torch.ones(3)])
class BranchesInBranches(nn.Module):
    def forward(self, x):
        y = x
        if x.sum() > 0:
            if x.max() > 2:
                y = x * 3
            else:
                y = x * 2
        elif x.min() < -5:
            y = x - 1
        return y + 1


@arguments(lambda: [torch.ones(3)], lambda: [-torch.ones(3)])
class EarlyReturn(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


@arguments(lambda: [torch.ones(3)], lambda: [-torch.ones(3)])
class BranchesThatMutate(nn.Module):
    def forward(self, x):
        y = x.clone()
        if x.sum() > 0:
            y[0] = 7
        else:
            y.add_(1)
        return y


@arguments(lambda: [torch.ones(3)], lambda: [-torch.ones(3)])
class BranchesThatMutateTheirOwn(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x + 1
            y[1:].mul_(5)
        else:
            y = x * 2
            y[0] = 4
        return y


@arguments(lambda: [torch.ones(3)], lambda: [-torch.ones(3)])
class Choice(nn.Module):
    def forward(self, x):
        y = x * 2 if bool(x.sum() > 0) else x * 3
        return y


@case([3, 4], kinds=BOTH)
class Loops(nn.Module):
    def forward(self, x):
        y = x
        for i in range(3):
            if i == 1:
                continue
            y = y + x[i]
        n = 0
        while n < 2:
            y = y * 2
            n += 1
        return y


@case([3, 4])
class LoopOverRows(nn.Module):
    def forward(self, x):
        parts: List[Tensor] = []
        for row in x:
            parts.append(row.cumsum(0))
        return torch.stack(parts)


@case([3, 4])
class BreakAndElse(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        for i in range(10):
            if i > 2:
                break
            y = y + x * i
        return y


@case([3, 4])
class AssertAndRaise(nn.Module):
    def forward(self, x):
        assert x.dim() == 2, "two dimensions"
        if x.size(1) != 4:
            raise RuntimeError("four columns")
        return x.neg()


# ---- data structures ---------------------------------------------------------------------


@case([3, 4])
class Lists(nn.Module):
    def forward(self, x):
        items = [x, x + 1]
        items.append(x * 2)
        items.insert(0, x - 1)
        last = items.pop()
        items.extend([last, last])
        items.reverse()
        return torch.cat(items[1:], 0), len(items)


@case([3, 4])
class Comprehensions(nn.Module):
    def forward(self, x):
        parts = [x[:, i] * i for i in range(4)]
        return torch.stack([p + 1 for p in parts], 1)


@case([3, 4])
class Dicts(nn.Module):
    def forward(self, x):
        d: Dict[str, Tensor] = {"a": x}
        d["b"] = x + 1
        if "c" not in d:
            d["c"] = d["a"] * d["b"]
        total = torch.zeros_like(x)
        for key, value in d.items():
            total = total + value * len(key)
        return total, d


class Pair(NamedTuple):
    left: Tensor
    right: Tensor


@case([3, 4], kinds=BOTH)
class NamedTuples(nn.Module):
    def forward(self, x):
        pair = Pair(x + 1, x * 2)
        return pair.left - pair.right, pair


@case([3, 4], kinds=BOTH)
class Tuples(nn.Module):
    def forward(self, x):
        a, (b, c) = x, (x + 1, x * 2)
        t = (a, b, c)
        return t[0] + t[-1], t[1:]


class Colour(Enum):
    RED = 1
    BLUE = 2


@case([3, 4])
class Enums(nn.Module):
    def __init__(self):
        super().__init__()
        self.colour = Colour.BLUE

    def forward(self, x):
        if self.colour == Colour.BLUE:
            return x * self.colour.value
        return x


@case([3, 4])
class Texts(nn.Module):
    def forward(self, x):
        name = "{}-{}".format("a", x.dim())
        if name.upper() == "A-2" and name.split("-")[1] == "2":
            x = x + len(name)
        return x


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.n = start

    def step(self, by: int) -> int:
        self.n += by
        return self.n


@case([3, 4])
class Objects(nn.Module):
    def forward(self, x):
        counter = Counter(2)
        counter.step(3)
        return x * counter.n


# ---- arguments ---------------------------------------------------------------------------


@arguments(lambda: [torch.ones(3), None], lambda: [torch.zeros(3), None])
class OptionalArgument(nn.Module):
    def forward(self, x, bias: Optional[Tensor] = None):
        if bias is not None:
            x = x + bias
        else:
            x = x * 2
        return x


@arguments(lambda: [torch.ones(3), torch.ones(3)], lambda: [torch.zeros(3), torch.rand(3)])
class OptionalRefined(nn.Module):
    def forward(self, x, bias: Optional[Tensor] = None):
        if bias is None:
            bias = torch.zeros_like(x)
        return x - bias


@arguments(lambda: [[torch.rand(2, 3), torch.rand(1, 3)]], lambda: [[torch.rand(2, 3)] * 1 +
                                                                    [torch.rand(1, 3)]])
class ListArgument(nn.Module):
    def forward(self, items: List[Tensor]):
        return torch.cat(items, 0)


@arguments(lambda: [(torch.rand(3), torch.rand(3))], lambda: [(torch.rand(3), torch.rand(3))],
           kinds=BOTH)
class TupleArgument(nn.Module):
    def forward(self, pair: Tuple[Tensor, Tensor]):
        return pair[0] @ pair[1]


@arguments(lambda: [{"a": torch.rand(3), "b": torch.rand(3)}],
           lambda: [{"a": torch.rand(3), "b": torch.rand(3)}])
class DictArgument(nn.Module):
    def forward(self, d: Dict[str, Tensor]):
        return d["a"] - d["b"]


@arguments(lambda: [torch.rand(3, 4), True], lambda: [torch.rand(3, 4), True])
class FlagArgument(nn.Module):
    def forward(self, x, double: bool):
        return x * 2 if double else x


@arguments(lambda: [torch.rand(3, 4), 2], lambda: [torch.rand(3, 4), 5])
class NumberArgument(nn.Module):
    def forward(self, x, n: int):
        return x * n


# ---- mutation ----------------------------------------------------------------------------


@case([3, 4], kinds=BOTH)
class WriteToRows(nn.Module):
    def forward(self, x):
        y = torch.zeros(3, 4)
        y[1] = x[0]
        y[:, -1] = 5
        y[0:2, 1:3] += x[1:, :2]
        return y


@case([3, 4], kinds=BOTH)
class WriteThroughViews(nn.Module):
    def forward(self, x):
        y = x * 1
        v = y.view(2, 6)[1]
        v.mul_(2)
        y.t()[0].zero_()
        return y


@case([3, 4], kinds=BOTH)
class WriteByMask(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[y > 0] = 1.5
        return y.masked_fill(x < -1, 0.0)


@arguments(lambda: [torch.rand(4, 3), torch.tensor([0, 2])],
           lambda: [torch.rand(4, 3), torch.tensor([3, 1])], kinds=BOTH)
class WriteByIndex(nn.Module):
    def forward(self, x, i):
        y = x.clone()
        y[i] = x[i] * 10
        return y, x[i, :2]


@case([3, 4])
class BufferThatChanges(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        return x + self.seen + 1


# ---- calls -------------------------------------------------------------------------------


def scaled(x: Tensor, by: float = 2.0, shift: int = 1) -> Tensor:
    return x * by + shift


@case([3, 4], kinds=BOTH)
class Functions(nn.Module):
    def forward(self, x):
        return scaled(x) + scaled(x, shift=3) + scaled(x, 0.5, 2)


@case([3, 4])
class Methods(nn.Module):
    def part(self, x, n: int):
        return x[:n].sum(0)

    def forward(self, x):
        return self.part(x, 2) - self.part(x, 3)


@case([3, 4], kinds=BOTH)
class Overloads(nn.Module):
    def forward(self, x):
        a = x.max()
        values, indices = x.max(1)
        return a, values, indices, torch.max(x, x * 2), x.sum(), x.sum(0), x.sum([0, 1]), \
            x.mean(1, keepdim=True), x.pow(2), torch.pow(2.0, x), x.std(), x.norm()


@case([3, 4], kinds=BOTH)
class Numbers(nn.Module):
    def forward(self, x):
        n = x.size(0)
        return x * (n // 2) + n % 2 - n ** 2 + int(n / 2) + float(n), x.new_full([n, 2], 3.5)


# ---- sizes that are not fixed ---------------------------------------------------------------


TWO = {"in_0": {"0": "rows", "1": "columns"}}


@case([3, 4], axes=TWO, others=[[5, 2]], kinds=BOTH)
class DynamicView(nn.Module):
    def forward(self, x):
        n, m = x.shape
        return x.view(n * m), x.reshape(m, n), x.unsqueeze(1).expand(n, 3, m)


@case([3, 4], axes=TWO, others=[[5, 2]], kinds=BOTH)
class DynamicCreation(nn.Module):
    def forward(self, x):
        return torch.zeros(x.shape[1], x.shape[0]), torch.arange(x.size(0)), torch.ones_like(x)


@case([3, 4], axes=TWO, others=[[5, 6]], kinds=BOTH)
class DynamicSlices(nn.Module):
    def forward(self, x):
        return x[1:], x[:, :-1], x[::2], x[-1], torch.cat([x, x[:1]], 0), x.flip(0)


@case([2, 3, 8, 8], axes={"in_0": {"2": "height", "3": "width"}}, others=[[2, 3, 12, 10]],
      kinds=BOTH)
class DynamicImage(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2)

    def forward(self, x):
        y = F.interpolate(self.conv(x), scale_factor=2.0, mode="nearest")
        return F.adaptive_avg_pool2d(y, 1).flatten(1), F.pad(y, [1, 2, 0, 1])


@case([3, 4], axes=TWO, others=[[5, 2]])
class DynamicBranch(nn.Module):
    def forward(self, x):
        if x.size(0) > 4:
            y = x + 1
        else:
            y = x - 1
        return y

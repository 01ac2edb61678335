"""Programs about dicts, texts, functions, numbers from data and dynamic sizes. See
language_models.py."""
import math
from typing import Dict, List

import torch
import torch.nn.functional as F

from language_models import ROWS, SIZES, count, matrix, numbers, program, x34

# ---- dicts, texts, functions ----------------------------------------------------------------


@program(count(3), count(5))
def dict_in_loop(x, n: int):
    found = {"sum": x, "last": x}
    for i in range(n):
        found["sum"] = found["sum"] + i
        found["last"] = x * i
    return found["sum"] + found["last"]


@program(count(3), count(5))
def dict_of_numbers_in_loop(x, n: int):
    counts: Dict[int, int] = {0: 0, 1: 10}
    for i in range(n):
        counts[0] += i
        counts[1] = counts[0] * 2
    return x + counts[0] * counts[1]


@program(x34)
def dict_methods(x):
    found = {"a": x, "b": x * 2}
    found.update({"c": x * 3})
    total = found.pop("b")
    for name, value in found.items():
        if name != "a":
            total = total + value
    for value in found.values():
        total = total * value
    missing = found.get("zzz", x)
    return total + len(found) + missing + len(list(found.keys()))


@program(x34)
def text_methods(x):
    name = "Layer_1"
    parts = name.lower().split("_")
    n = int(parts[1])
    if name.startswith("Layer") and "{}-{}".format(parts[0], n) == "layer-1":
        x = x * (n + 1)
    if f"{parts[0]}.{n}" == "layer.1":
        x = x + 1
    if name.replace("_", "").upper().endswith("R1"):
        x = x - 3
    return x * len(name.strip("1"))


@program(x34)
def nested_functions(x):
    return outer(x, 3)


def outer(x, n: int, bias: float = 0.5):
    for i in range(n):
        x = inner(x, scale=i + 1)
    return x + bias


def inner(x, scale: int = 2):
    return x * scale


@program(count(2), count(4))
def recursive_values(x, n: int):
    values = (x, (n, [x, x * 2]))
    a, (b, c) = values
    for i in range(n):
        c = [c[1], c[0] + i]
    return a * b + c[0] - c[1]


@program(x34)
def builtin_functions(x):
    values = [3, 1, 2]
    ordered = sorted(values)
    a = min(values) + max(values) + abs(-4) + round(2.6) + sum(values)
    b = ordered[0] * 100 + ordered[-1]
    for i, (p, q) in enumerate(zip(values, ordered)):
        b += i * p * q
    return x * a + b + int(3.9) + float(2) + divide(7, 2)


def divide(a: int, b: int):
    return a // b + a % b + a / b + (-a) // b + a ** b


@program(x34)
def slices_and_steps(x):
    values = [0, 1, 2, 3, 4, 5]
    values[1] = 10
    part = values[::-1][1:4]
    return x[:, ::2] + part[0] + values[-2], x[..., None, 1:], x[1, :, None]


@program(x34)
def unpacking(x):
    a, b, c = x.unbind(0)
    (p, q), r = (a, b), c
    first, second = [a, b]
    p = q = r
    return p + q * r + first - second


# ---- numbers from data ----------------------------------------------------------------------


@program(numbers(4, 7), numbers(-9, 2), numbers(9, -2))
def integer_arithmetic(x):
    a, b = int(x[0]), int(x[1])
    return (torch.tensor(a // b), torch.tensor(a % b), torch.tensor(a * b - b),
            torch.tensor(a // 4), torch.tensor(a % 4), torch.tensor(-a // 3))


@program(numbers(4, 7), numbers(-9, 2), numbers(9, -2))
def integer_comparisons(x):
    a, b = int(x[0]), int(x[1])
    return (torch.tensor(a < b), torch.tensor(a == b), torch.tensor(a != 9), torch.tensor(a >= -9),
            torch.tensor(min(a, b)), torch.tensor(max(a, b)), torch.tensor(abs(a)))


@program(numbers(4.5, 7.0), numbers(-9.0, 2.0))
def float_arithmetic(x):
    a, b = float(x[0]), float(x[1])
    return x * a / b + (a - b) * 2 + a ** 2, torch.tensor(a < b), torch.tensor(int(a))


@program(numbers(4.5, 7.0), numbers(-9.0, 2.0))
def item_arithmetic(x):
    n = x.max().item()
    return x * n + x.argmax().item()


@program(numbers(2, 3), numbers(3, 5))
def sizes_from_data(x):
    a, b = int(x[0]), int(x[1])
    return torch.ones(a, b) * 2, torch.arange(a * b).reshape(a, b), torch.zeros([a, 1, b])


@program(numbers(2, 1), numbers(3, 0))
def slices_from_data(x):
    a, b = int(x[0]), int(x[1])
    y = torch.arange(10)
    return y[a:], y[b:a], y[a], y[:-a]


@program(numbers(1.0, 0.0, 2.0), numbers(0.0, 0.0, 3.0))
def sizes_of_results(x):
    found = x.nonzero()
    picked = x[x > 0.5]
    return found * 2, picked.sum() * picked.size(0), torch.tensor(found.numel())


@program(numbers(1, 2, 3), numbers(4, 5, 6))
def tolist(x):
    values: List[int] = x.tolist()
    return torch.tensor(values[0] * values[1] + values[2])


@program(count(3), count(4))
def float_of_int(x, n: int):
    return x * float(n) / 2 + n / 4


@program(count(3), count(4))
def format_of_int(x, n: int):
    text = "n is {}".format(n)
    return x * n + len("n is")


@program(count(3), count(4))
def number_in_list(x, n: int):
    if n in [1, 3, 5]:
        x = x * 2
    if n not in (4, 6):
        x = x + 1
    return x


@program(matrix(3), matrix(4), axes=ROWS)
def equal_shapes(x):
    if list(x.shape) == [3, 4]:
        return x * 2
    if list(x.size()) != [5, 4]:
        x = x + 1
    return x


# ---- modules of functions on dynamic sizes ----------------------------------------------------


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def reshape_by_sizes(x):
    n, m = x.shape
    y = x.view(1, n * m).expand(2, n * m)
    return y.reshape(2, m, n).permute(0, 2, 1)


@program(lambda: [torch.randn(4, 6)], lambda: [torch.randn(8, 2)], axes=SIZES)
def halves(x):
    n, m = x.size(0), x.size(1)
    return x[: n // 2], x[n // 2:, : m // 2], x.view(n // 2, 2 * m)


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def masks_by_sizes(x):
    n, m = x.shape[0], x.shape[1]
    mask = torch.arange(m)[None, :] < torch.arange(n)[:, None]
    return x.masked_fill(mask, 0.0), torch.where(mask, x, -x), mask.sum()


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def pad_to_even(x):
    extra = x.size(1) % 4
    if extra != 0:
        x = F.pad(x, [0, 4 - extra])
    return x.reshape(x.size(0), -1, 4)


@program(lambda: [torch.randn(3, 4)], lambda: [torch.randn(5, 6)], axes=SIZES)
def numbers_from_sizes(x):
    n = x.numel() // x.size(0)
    scale = float(n) ** -0.5
    return x * scale + max(x.size(0), x.size(1)) - min(x.shape)


@program(lambda: [torch.ones(3), [torch.tensor(2), torch.tensor(5)], {"k": torch.tensor(0.5)}],
         lambda: [torch.ones(3), [torch.tensor(4), torch.tensor(1)], {"k": torch.tensor(1.5)}])
def numbers_given_as_tensors(x, sizes: List[int], scales: Dict[str, float]):
    return F.pad(x, [int(sizes[0]), int(sizes[1])]) * float(scales["k"])


# ---- numbers outside of tensors -----------------------------------------------------------------


@program(count(3.5), count(float("inf")), count(float("nan")), kinds=("script",))
def kinds_of_floats(x, a: float):
    found = 0
    if math.isnan(a):
        found = 1
    if math.isinf(a):
        found = 2
    return x + found


@program(count(3.5, 4.0), count(-9.25, 2.0), count(7.0, -5.0))
def floor_of_floats(x, a: float, b: float):
    return x * (a // b) + a % b + max(a, b) - min(a, b) + abs(a) + round(a), int(a)


@program(count(2), count(3), count(0))
def powers_are_floats(x, n: int):
    return x * (2 ** n) + 2 ** n / 3 + float(n) ** 2


@program(count(3), count(-9))
def shifts_by_known(x, n: int):
    return torch.tensor([n << 2, n >> 1, 5 << 2, -5 >> 1])


@program(count(6, 4), refused="cannot be exported", kinds=("script",))
def divisor_of_data(x, a: int, b: int):
    return x * math.gcd(a, b)


@program(count(3), count(0))
def sum_of_maybe_none(x, n: int):
    return x + sum([i * i for i in range(n)])


@program(x34)
def texts_of_numbers(x):
    text = "%d-%s-%f" % (3, "ab", 1.5)
    return x + len(text) + len("{} and {}".format(1, "two")) + len(f"a{2 + 3}b")


@program(count(0), count(2))
def any_of_numbers(x, n: int):
    return x + int(any([0, n])) + 2 * int(all([1, n])) + 4 * int(any([0.0, n / 2]))


@program(x34, kinds=("script",))
def parts_of_texts(x):
    t = "one two one"
    n = t.find("one", 1) * 100 + t.rfind("one") * 10 + t.find("one", 1, 5) + t.count("one", 1)
    n += t.index("two", 2, 7) + t.rindex("one", 0, 10) + len(t.replace("one", "1", 1))
    for at in ["on" in t, t.startswith("two", 4), t.endswith("two", 0, 7), t.startswith("one", -3)]:
        n = n * 2 + int(at)
    return x + n


@program(count(5), refused="a string of data-dependent numbers")
def text_of_data(x, n: int):
    if str(n) == "5":
        x = x + 1
    return x


@program(count(5), refused="a string of data-dependent numbers", kinds=("script",))
def hash_of_data(x, n: int):
    return x * hash(str(x * n))


@program(count(5), refused="the hash of float depends", kinds=("script",))
def hash_of_float(x, n: int):
    return x * hash(n / 2)


@program(count(5), count(-6), kinds=("script",))
def hash_of_number(x, n: int):
    return x * hash(n) + hash(7)


@program(count(5), count(6))
def text_of_data_unused(x, n: int):
    print("n is {}".format(n))
    return x


@program(x34, kinds=("source",))
def forked(x):
    both = torch.jit.fork(doubled, x)
    return torch.jit.wait(both) + x


def doubled(x):
    return x * 2


@program(x34)
def views_of_one_memory(x):
    y = x.clone()
    v = y.view(-1)
    v[0] = 100
    t = y.t()
    t[0, 1] = 200
    u = y[1]
    u.mul_(2)
    y.add_(1)
    return y, v, t, u


# ---- where a number must be known -----------------------------------------------------------------


@program(count(1), count(2), count(5))
def key_in_dict(x, n: int):
    d = {1: 10, 2: 20}
    if n in d:
        x = x + 1
    return x


@program(count(1), refused="a dict with a data-dependent key")
def default_of_key(x, n: int):
    d = {1: 10, 2: 20}
    return x + d.get(n, 0)


@program(count(1), refused="a dict with a data-dependent key")
def key_of_data(x, n: int):
    d = {n: 10, 2: 20}
    return x + len(d)


@program(count(1), count(2))
def bounds_of_data(x, n: int):
    numbers_ = [1, 2, 3, 4]
    return torch.tensor(numbers_[n:]), torch.tensor(numbers_[:n]), len(numbers_[n:3])


@program(count(1), refused="is data-dependent")
def letter_of_data(x, n: int):
    if "abc"[n] == "b":
        x = x + 1
    return x

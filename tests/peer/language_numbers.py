"""More programs of language.py: data-dependent numbers as arguments of operators, tensors passed
for numbers, out=, and branches whose sizes do not match the example."""
from typing import List

import torch
import torch.nn.functional as F
from torch import Tensor

from language_models import ROWS, program

try:
    import torchvision  # registers its operators
except ImportError:
    torchvision = None


def with_numbers(*numbers):
    return lambda: [torch.randn(2, 3, 3), *(torch.tensor(n) for n in numbers)]


def with_ints(*numbers):
    return lambda: [torch.randn(3, 5), *numbers]


# ---- data-dependent numbers ------------------------------------------------------------------


@program(with_numbers(2.0, 3), with_numbers(1.0, 1), with_numbers(0.5, 0), kinds=("script", "trace"))
def scaled_products(x, alpha, beta):
    a = torch.addmm(x[0], x[0], x[1], alpha=alpha, beta=beta)
    return a, torch.addmv(x[0, 0], x[0], x[1, 1], alpha=alpha, beta=beta)


# If beta is 0, PyTorch 1.13 reads uninitialized memory, which is sometimes NaN.
@program(with_numbers(2.0, 3), with_numbers(1.0, 1), kinds=("script", "trace"))
def scaled_batches(x, alpha, beta):
    return torch.baddbmm(x, x, x, alpha=alpha, beta=beta)


@program(with_ints(0), with_ints(1), with_ints(-2), with_ints(7))
def triangles(x, k: int):
    return torch.tril(x, k), torch.triu(x, k)


@program(with_ints(0), with_ints(1), with_ints(-2), opset=9)
def triangles_before_trilu(x, k: int):
    return torch.tril(x, k), torch.triu(x, k)


@program(lambda: [torch.randn(2, 1, 4), 1])
def squeeze_along(x, dim: int):
    return torch.squeeze(x, dim)  # says that dim is baked in


@program(lambda: [torch.tensor(7), torch.tensor(2)], lambda: [torch.tensor(3), torch.tensor(5)],
         kinds=("script", "trace"), opset=9)
def ranges_before_range(end, step):
    return torch.arange(end), torch.arange(1, end), torch.arange(1, 20, step)


@program(lambda: [torch.tensor(7.5), torch.tensor(0.7)], lambda: [torch.tensor(3.0), torch.tensor(1.5)],
         kinds=("script", "trace"), opset=10)
def ranges_of_floats_before_range(end, step):
    return torch.arange(end), torch.arange(-1.5, end, step)


@program(lambda: [torch.randn(3, 2), torch.tensor([1, 0, 2])],
         lambda: [torch.randn(3, 2), torch.tensor([0, 3, 1])], kinds=("script", "trace"), opset=9)
def repeats_before_range(x, n):
    return torch.repeat_interleave(x, n, dim=0)


@program(lambda: [torch.randn(5, 2)], lambda: [torch.randn(8, 2)], axes=ROWS, opset=9)
def halves_of_what_may_be_negative(x):
    n = x.size(0) - 6
    return torch.arange(n // 2 + 9), torch.arange(n % 4 + 2)


# ---- tensors where numbers are expected ----------------------------------------------------


@program(lambda: [torch.randn(2, 3), [torch.tensor(1), torch.tensor(2)]],
         lambda: [torch.randn(2, 3), [torch.tensor(0), torch.tensor(4)]], kinds=("script",))
def padded_by_tensors(x, pad: List[int]):
    return torch.nn.functional.pad(x, pad)


@program(lambda: [torch.randn(4, 3)], kinds=("script",))
def kind_of_device(x):
    return x + 1 if x.device.type == "cpu" else x


# ---- out= --------------------------------------------------------------------------------


@program(lambda: [torch.tensor(4)], lambda: [torch.tensor(9)])
def range_into_another(end):
    out = torch.tensor([1], dtype=torch.int64)
    again = torch.arange(end, out=out)
    return out + 1, again


@program(lambda: [torch.ones(3), 2], refused="a tensor cannot become another one in a branch")
def range_into_another_in_a_branch(x, n: int):
    out = torch.zeros(n)
    if bool(x.sum() > 0):
        torch.arange(n + 1, out=out)
    return out


# ---- branches that the example does not take --------------------------------------------


@program(lambda: [torch.zeros(0, 0)], lambda: [torch.randn(1, 4)], lambda: [torch.randn(3, 1)],
         axes={"in_0": {"0": "rows", "1": "columns"}})
def state_that_may_be_empty(state):
    result = torch.ones(3, 4)
    if state.size(0) != 0:
        result = result + state
        result[:] = result * 2 + state
    return result


# ---- sizes and fractions -----------------------------------------------------------------


@program(lambda: [torch.randn(3, 2)], lambda: [torch.randn(6, 2)], axes=ROWS, kinds=("script", "trace"))
def ranges_of_sizes_and_fractions(x):
    n = x.size(0)
    return torch.arange(0.5, n), torch.arange(n, 8.5, 1.5), torch.arange(0, n, 0.25)


@program(lambda: [torch.tensor([[1, 2, 3], [4, 5, 6]])], lambda: [torch.tensor([[7, 8, 9], [0, 1, 2]])],
         kinds=("script",))
def list_of_lists(x):
    rows: List[List[int]] = x.tolist()
    return torch.tensor(rows[0]) + rows[1][2]


@program(lambda: [torch.randn(3, 2)], lambda: [torch.randn(5, 2)], axes=ROWS, kinds=("script",))
def loop_for_nothing(x):
    seen: List[Tensor] = []
    for i in range(x.size(0)):
        if len(seen) > 2:
            seen.append(x[i])
    return x + len(seen)


# ---- conditions on tensors ----------------------------------------------------------------


@program(lambda: [torch.ones(2), torch.ones(2)], lambda: [torch.ones(2), torch.zeros(2)],
         lambda: [torch.ones(2), torch.full((2,), 1.3)])
def branch_on_equal(x, y):
    n = 0
    if torch.equal(x, y):
        n += 1
    if torch.allclose(x, y, atol=0.5):
        n += 2
    if torch.equal(x, x[:1]):
        n += 4
    if torch.is_nonzero(y.sum()):
        n += 8
    return x + n


@program(lambda: [torch.rand(3) + 0.5, torch.tensor(2)], lambda: [torch.rand(3) + 0.5, torch.tensor(5)])
def powers_and_multiples(x, n):
    y = torch.addcmul(x, x, x, value=float(n))
    return x ** int(n), torch.pow(2.0, x * int(n)), y, torch.addcdiv(x, y, x, value=int(n))


# ---- values of one side ------------------------------------------------------------------


def rows_or_twice(x) -> List[Tensor]:
    if x.size(0) < 5:
        if x.size(0) == 3:
            x = x + 1
        else:
            rows: List[Tensor] = []
            for i in range(x.size(0)):
                rows.append(x[i : i + 1])
            return rows
    return [x, x]


@program(lambda: [torch.randn(3, 2)], lambda: [torch.randn(4, 2)], lambda: [torch.randn(6, 2)], axes=ROWS,
         kinds=("script",))
def list_left_early(x):
    return torch.cat(rows_or_twice(x))


@program(lambda: [torch.randn(3, 2), torch.tensor([True, False, True])],
         lambda: [torch.randn(3, 2), torch.tensor([False, True, True])])
def view_of_one_side(x, wanted):
    for i in range(3):
        if bool(wanted[i]):
            row = x[i]
            x = x + row
    return x


@program(lambda: [torch.zeros(0, 4)], lambda: [torch.randn(3, 4)], axes=ROWS)
def boxes_that_may_be_none(boxes):
    if boxes.numel() == 0:
        return boxes, boxes.sum()
    else:
        best = boxes.max() + boxes[0, 1] + boxes[-1].sum() + torch.max(boxes, 0)[0].sum()
        return boxes + best, best * 2


@program(lambda: [torch.zeros(0, 4)], lambda: [torch.randn(3, 4)], axes=ROWS)
def rows_that_may_be_none(x):
    total = torch.zeros(4)
    for row in x:
        total = total + row * x.max()
    return total


@program(lambda: [torch.randn(2, 3, 4)], axes={"in_0": {"0": "a", "1": "b", "2": "c"}})
def shape_cut_by_a_size(x):
    return x.new_zeros(x.shape[1:x.size(2)])  # says that the number of dimensions is baked in


@program(lambda: [torch.randn(2, 3, 6, 6)])
def pools_behind_wide_padding(x):
    wide = [2, 2, 3, 0]
    return (F.avg_pool2d(F.pad(x, wide), 2, 1), F.adaptive_avg_pool2d(F.pad(x, wide), [9, 1]),
            F.max_pool2d(F.pad(x, wide), 2, 1), F.adaptive_avg_pool2d(F.pad(x, wide), 1))


def scalar():
    return [torch.tensor(1.25)]


@program(scalar, kinds=("script", "source", "trace"))
def along_no_dimension(x):
    row, zero = x.reshape(1), torch.zeros([1], dtype=torch.int64)
    return (x.flip([0]), x.flip([-1]), x.movedim(0, 0), x.cumsum(0), x.sort(0)[0], x.topk(1, 0)[0], x.softmax(0),
            x.squeeze(0), x.argmax(0), x.max(0)[0], x.logsumexp(0), x.unfold(0, 1, 1), x.index_select(0, zero),
            x.index_fill(0, zero, 2.0), torch.roll(x, 1), x.median(0)[0], x.count_nonzero(0))


@program(scalar, opset=18)
def added_to_no_dimension(x):
    return x.index_add(0, torch.zeros([1], dtype=torch.int64), x.reshape(1))


@program(*[lambda n=n: [torch.randn(2, 3, n, n + 2)] for n in (6, 7, 8, 9)],
         axes={"in_0": {"2": "height", "3": "width"}}, kinds=("script", "trace"))
def windows_that_begin_behind(x):
    """In ceil mode a window that begins in the padding behind the image is left out."""
    return (F.avg_pool2d(x, 2, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
            F.avg_pool2d(x, 2, 2, 1, ceil_mode=True, count_include_pad=False), F.max_pool2d(x, 2, 2, 1, ceil_mode=True),
            F.max_pool2d(x, 3, 3, 1, dilation=2, ceil_mode=True))


@program(*[lambda n=n: [torch.randn(n, 4, 3, 3)] for n in (2, 0, 3)], axes=ROWS)
def groups_of_no_images(x):
    return F.group_norm(x, 2), F.group_norm(x.flatten(2), 4)


@program(lambda: [torch.randn(2, 3, 4, 4, dtype=torch.float64)], lambda: [-torch.ones(2, 3, 4, 4, dtype=torch.float64)])
def layers_of_doubles(x):
    slopes = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
    return F.leaky_relu(x, 0.2), F.prelu(x, slopes), F.adaptive_max_pool2d(x, 1)


# ---- numbers that may be negative, scales that follow sizes ---------------------------------


def a_box(*box):
    return lambda: [torch.randn(box[3] - box[1], box[2] - box[0]), torch.tensor(box), torch.zeros(9, 12)]


@program(a_box(1, 2, 5, 6), a_box(-1, -2, 8, 9), a_box(3, -1, 15, 4),
         axes={"in_0": [0, 1], "in_2": [0, 1]})
def paste_in_image(mask, box, image):
    low, left = max(int(box[1]), 0), max(int(box[0]), 0)
    high, right = min(int(box[3]), image.shape[0]), min(int(box[2]), image.shape[1])
    out = image.clone()
    out[low:high, left:right] = mask[low - int(box[1]):high - int(box[1]), left - int(box[0]):right - int(box[0])]
    return out, max(int(box[0]), -1), min(int(box[1]), 0)


def an_image(height, width):
    boxes = torch.tensor([[0, 1.0, 2, 9, 8], [0, 3, 1, 6, 7.5]])
    return lambda: [torch.randn(1, 2, height // 2, width // 2), boxes, torch.zeros(height, width)]


if torchvision:
    @program(an_image(16, 12), an_image(10, 20), axes={"in_0": [2, 3], "in_2": [0, 1]}, kinds=("script",))
    def regions_of_any_scale(features, boxes, image):
        scale = float(features.shape[2]) / float(image.shape[0])
        a = torch.ops.torchvision.roi_align(features, boxes, scale, 3, 2, 2, False)
        b = torch.ops.torchvision.roi_align(features, boxes, scale, 2, 2, 2, True)
        return a, b, torch.ops.torchvision.roi_pool(features, boxes, scale, 3, 2)[0]

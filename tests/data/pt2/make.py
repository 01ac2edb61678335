#!/usr/bin/env python3
"""Makes the files of this folder: programs of torch.export, and what they give for their own sample.

    python3 make.py OUTDIR [NAME…]    # with PyTorch 2.6, and once more with 2.14

NAME.26.pt2 and NAME.214.pt2 are programs by those versions; NAME.214.0.npy is the first output. A
program whose name ends in _core went through run_decompositions(). Models are as small as the
question they are here for. What a version cannot export is left out, with a word.
"""
import dataclasses
import os
import sys
import typing

import numpy
import torch
from torch import nn
from torch.export import Dim, export

OUT = sys.argv[1]
VERSION = "".join(torch.__version__.split("+")[0].split(".")[:2])
torch.manual_seed(1)


class Dynamic(nn.Module):
    """A batch of any size, a weight that two layers share, sizes in arithmetic."""
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.b.weight = self.a.weight

    def forward(self, x):
        y = self.b(torch.relu(self.a(x)))
        return y.reshape(x.shape[0] * 2, 2) / x.shape[0]


class Strided(nn.Module):
    """Buffers that are views: expanded (stride 0), transposed, sliced, of one storage."""
    def __init__(self):
        super().__init__()
        base = torch.arange(24.0).reshape(4, 6)
        self.register_buffer("wide", torch.tensor([0.5]).expand(4, 6))
        self.register_buffer("turned", base.t())
        self.register_buffer("part", base[1:3, 2:5])
        self.register_buffer("whole", base)
        self.register_buffer("own", torch.ones(4, 6), persistent=False)

    def forward(self, x):
        return x * self.wide + self.whole + self.own, self.turned @ x, self.part.sum(0)


class Dtypes(nn.Module):
    """Weights of many dtypes, and an empty one."""
    NAMES = ("float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")

    def __init__(self):
        super().__init__()
        for name in self.NAMES:
            self.register_buffer(name + "_", torch.tensor([1, 0, 1, 1]).to(getattr(torch, name)))
        self.register_buffer("empty", torch.zeros(0, 3))

    def forward(self, x):
        for name in self.NAMES:
            x = x + getattr(self, name + "_").to(torch.float32)
        return x, self.empty.sum() + self.float64_


class Numbers(nn.Module):
    """Every kind of constant argument: infinities, None, texts, lists, dtypes, devices."""
    def forward(self, x):
        y = torch.clamp(x, min=-float("inf"), max=1.5).masked_fill(x > 0.5, float("inf"))
        y = y + torch.full([2, 1], 2, dtype=torch.int32, device="cpu")
        y[:, torch.tensor([0, 2])] = -1.0
        y = torch.div(y, 2, rounding_mode="floor")
        return y, torch.nan_to_num(y, nan=0.0, posinf=9.0), 3 - x, *x.split([1, 2], 1)


class Mutation(nn.Module):
    """A buffer and a view of it, changed in place and read before and after."""
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(3))

    def forward(self, x):
        row = self.n[1:]
        before = row.clone()
        self.n.add_(1)
        row.mul_(3)
        return x + self.n, before, row


class InputMutation(nn.Module):
    def forward(self, x):
        y = x[0]
        x.mul_(2)
        return y + 1


class Nested(nn.Module):
    """Arguments and results that nest, keywords in another order, numbers and None."""
    def forward(self, a, pair, c=None, *, k, scale: int = 2, flag: bool = True):
        first, named = pair
        y = a + first * scale if flag else a
        return {"sum": y + named["z"], "rest": [k, (y if c is None else c,)], "none": None, "n": 7}


class IntInput(nn.Module):
    def forward(self, x, n: int):
        return x[:n] * n, n


class Derived(nn.Module):
    def forward(self, x, y):
        return x[:, 1:] + y[:, ::2], y.shape[1]


class DataDependent(nn.Module):
    """Sizes that only the data tells."""
    def forward(self, x):
        n = x.sum().to(torch.int64).item()
        torch._check(n >= 0)
        torch._check(n < 100)
        return torch.nonzero(x > 0), x[x > 0], torch.zeros(n, 2) + 1


class Cond(nn.Module):
    """Branches on data, in each other, with a size and a weight among the operands."""
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        def yes(x):
            return torch.cond(x.max() > 10, lambda x: x * 100, lambda x: self.l(x), (x,))

        def no(x):
            return x - 1
        return torch.cond(x.sum() > 0, yes, no, (x,))


class CondOnSize(nn.Module):
    def forward(self, x):
        return torch.cond(x.shape[0] > 3, lambda x: x.sum(0), lambda x: x[0] * 2, (x,))


class While(nn.Module):
    def forward(self, x, n):
        from torch._higher_order_ops.while_loop import while_loop
        return while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * 2 + x), (n.clone(), x.clone()))


class Map(nn.Module):
    def forward(self, xs, y):
        from torch._higher_order_ops.map import map as map_
        return map_(lambda x, y: x.sin() + y, xs, y)


class Scan(nn.Module):
    def forward(self, xs, start):
        from torch._higher_order_ops.scan import scan
        return scan(lambda c, x: (c * 0.5 + x, c + 2 * x), start, xs, dim=0)


class ScanReverse(nn.Module):
    def forward(self, xs, start):
        from torch._higher_order_ops.scan import scan
        return scan(lambda c, x: (c * 0.5 + x, c + 2 * x), start, xs, dim=1, reverse=True)


class AssociativeScan(nn.Module):
    def forward(self, x, y):
        from torch._higher_order_ops.associative_scan import associative_scan
        return associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x, y), 0,
                                combine_mode="generic")


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.l(x)
        with torch.no_grad():
            z = torch.relu(x) @ x.t()
        return y, z


class Vmap(nn.Module):
    def forward(self, x, y):
        return torch.vmap(lambda a, b: a * b.sin() + 1, in_dims=(0, 1))(x, y)


class VmapLayers(nn.Module):
    """Axes, shapes, joins and products inside of a vmap."""
    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(4, 5), nn.LayerNorm(4)

    def forward(self, x, y):
        def each(a, b):  # 3x4 and 4
            c = torch.cat([a, b.unsqueeze(0), torch.ones(1, 4)], 0).reshape(2, 10).transpose(0, 1)
            m = a @ b
            return (m.dot(a.amax(1)), torch.softmax(a, 0).sum(dim=1), c.permute(1, 0)[1, 2:6], self.layer(a),
                    self.norm(a).mean(dim=-1), (a @ a.t()).cumsum(0), b.expand(2, 4) + a[1], torch.stack([b, b * 2], -1),
                    (a @ torch.arange(4.0)).max(0)[0])
        return torch.vmap(each, in_dims=(0, 1))(x, y)


class SubGraph(nn.Module):
    def forward(self, x):
        block = torch.compiler.nested_compile_region(lambda x: torch.tanh(x) * 2)
        return block(block(x))


@torch.library.custom_op("calquetest::scale", mutates_args=())
def scale(x: torch.Tensor, by: float) -> typing.Tuple[torch.Tensor, torch.Tensor]:
    return x * by, x.sum()


@scale.register_fake
def _(x, by):
    return torch.empty_like(x), x.new_empty([])


@torch.library.custom_op("calquetest::bump_", mutates_args=["x"])
def bump_(x: torch.Tensor, by: float) -> None:
    x.add_(by)


class Custom(nn.Module):
    def forward(self, x):
        a, b = torch.ops.calquetest.scale(x, 2.5)
        return a + b


class CustomInPlace(nn.Module):
    def forward(self, x):
        y = x.clone()
        torch.ops.calquetest.bump_(y, 3.0)
        return y * 2


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


torch.export.register_dataclass(Pair, serialized_type_name="Pair")


class AnyLength(nn.Module):
    """Transforms, slopes and distances of as many points as there are."""
    def forward(self, x):
        half = torch.fft.rfft(x, norm="ortho")
        return (torch.view_as_real(torch.fft.fft2(x)), torch.fft.irfft(torch.fft.ifft(half)),
                torch.fft.ihfft(x).abs(), torch.fft.hfft(half, norm="forward"),
                torch.gradient(x.sum() * torch.ones(5).cumsum(0) ** 2, edge_order=2)[0],
                torch.nn.functional.pdist(x))


class PaddedLength(nn.Module):
    """A long convolution by transforms of twice as many points as there are."""
    def forward(self, x):
        n = x.shape[-1]
        kernel = torch.exp(-0.1 * torch.arange(n))
        y = torch.fft.irfft(torch.fft.rfft(x, n=2 * n) * torch.fft.rfft(kernel, n=2 * n), n=2 * n)
        fixed = torch.fft.rfft(torch.ones(3), n=n + 2).abs()
        return y[..., :n], fixed, torch.fft.irfft(torch.fft.rfft(x), n=n + 3)


class Points(nn.Module):
    """Factors and solutions of as many equations as there are points."""
    def forward(self, x):
        d = x[:, None] - x[None]
        k = torch.exp(-d.square().sum(-1)) + 0.5 * torch.eye(x.shape[0])
        low = torch.linalg.cholesky(k)
        both = torch.stack([k, k + torch.eye(x.shape[0])])
        return (low, torch.cholesky_solve(x, low), torch.cholesky_inverse(low), torch.linalg.inv(both),
                torch.linalg.solve(k, x[:, 0]), torch.linalg.solve(both, x), torch.linalg.solve(k, x.T, left=False),
                torch.linalg.solve_triangular(low.T, x, upper=True),
                torch.linalg.solve_triangular(low, x, upper=False, unitriangular=True))


class ComplexParts(nn.Module):
    """Complex tensors that are created, filled by parts, copied into and multiplied by numbers."""
    def forward(self, x):
        z = torch.zeros(x.shape[0], 5, dtype=torch.complex64)
        z[:, :3] = torch.view_as_complex(torch.stack([x, 2 * x], -1))
        z.imag[:, 1] = 7
        w = torch.empty_like(z)
        w.copy_(z.real)
        e = torch.exp(1j * x) / (2 + 1j) + 0.5j - x
        return (torch.view_as_real(z), torch.view_as_real(w), torch.view_as_real(e),
                torch.view_as_real(torch.full_like(z, 2 - 1j)), torch.zeros_like(z, dtype=torch.float32))


class SignsInPlace(nn.Module):
    """`a |= b` and its siblings; weights of one dimension; truths of all."""
    def forward(self, x):
        a = x > 0
        a |= x < -1
        a &= x < 2
        a ^= x > 1
        i = (x * 8).to(torch.int64).abs()
        i <<= 2
        i >>= 1
        i |= 1
        return a, i, nn.functional.linear(x, torch.arange(3.0)), torch.ops.aten._is_all_true(a)


class VmapAny(nn.Module):
    """Products with weights of the batch, and operators that are called for each of its elements."""
    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(2, 5, 3)), nn.Parameter(torch.randn(2, 5))

    def forward(self, x, i):
        return (torch.vmap(nn.functional.linear)(x, self.w, self.b), torch.vmap(lambda p: p.T @ p)(x),
                torch.vmap(lambda p, w: torch.addmm(p @ p.T, p, w[:4].T, alpha=2))(x, self.w),
                torch.vmap(lambda p: torch.einsum("ij,kj->ki", p, p))(x), torch.vmap(lambda p, k: p[k])(x, i),
                torch.vmap(lambda p: p.mT.amax())(x), torch.vmap(lambda w: nn.functional.linear(x[0], w))(self.w))


class VmapNested(nn.Module):
    """A vmap inside of a vmap: values of both, of one and of none of them, and other axes."""
    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(2, 5, 3)), nn.Parameter(torch.randn(2, 5))

    def forward(self, x, y):  # 2x4x3 and 4x3x6
        v, linear = torch.vmap, nn.functional.linear
        return (v(v(lambda p, w, b: linear(p, w, b), (0, None, None)))(x, self.w, self.b),
                v(v(lambda p, q: p @ q, (1, 1)), (0, None))(x, y),
                v(v(lambda p, q: torch.stack([p * 2, q.sum(0) + p], -1), (None, 0)), (0, None))(x[:, 0], y.mT),
                v(lambda w: v(lambda p: torch.tanh(w @ p).sum(-1))(x[0]))(self.w),
                v(v(v(lambda p: torch.softmax(p * p, -1) + p.max())))(x[None].expand(2, 2, 4, 3)[..., None]),
                v(v(lambda p: torch.cat([p, p.sort()[0], torch.ones(1)]).reshape(7, 1).T.cumsum(1)))(x),
                v(lambda p: v(lambda q: torch.ones(2) * 3)(p))(x))


class Wrapper(torch.Tensor):
    """A tensor subclass that wraps others, as quantized weights of torchao do."""
    INNER = ()

    def __new__(cls, *inner):
        first = inner[0]
        return torch.Tensor._make_wrapper_subclass(cls, first.shape, dtype=torch.float32, requires_grad=False)

    def __init__(self, *inner):
        for name, tensor in zip(self.INNER, inner):
            setattr(self, name, tensor)

    def __tensor_flatten__(self):
        return list(self.INNER), None

    @classmethod
    def __tensor_unflatten__(cls, inner, meta, size, stride):
        return cls(*[inner[name] for name in cls.INNER])

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is nn.functional.linear:
            return nn.functional.linear(args[0], args[1].plain(), *args[2:])
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        if func in (torch.ops.aten.detach.default, torch.ops.aten.alias.default, torch.ops.aten.clone.default):
            return cls(*[func(getattr(args[0], name)) for name in cls.INNER])
        raise NotImplementedError(func)


class Rows(Wrapper):
    """int8, with a scale for each row."""
    INNER = ("qdata", "scale")

    def plain(self):
        return self.qdata.to(torch.float32) * self.scale[:, None]


class Nest(Wrapper):
    """A subclass inside of another."""
    INNER = ("impl",)

    def plain(self):
        return self.impl.plain()


class Subclass(nn.Module):
    def __init__(self):
        super().__init__()
        q = [torch.randint(-100, 100, (n, 3), dtype=torch.int8) for n in (4, 2)]
        self.a, self.b = nn.Linear(3, 4), nn.Linear(3, 2)
        self.a.weight = nn.Parameter(Rows(q[0], torch.rand(4)), requires_grad=False)
        self.b.weight = nn.Parameter(Nest(Rows(q[1], torch.rand(2))), requires_grad=False)

    def forward(self, x):
        return self.a(x), self.b(x)


class Multiple(nn.Module):
    """A size that is a multiple of four, split and joined."""
    def forward(self, x):
        n, m = x.shape
        y = x.view(n // 4, 4, m).transpose(0, 1)
        return y, torch.roll(y, (1, 1), (0, 1)).reshape(n, m) + n // 4


class ShapesInPlace(nn.Module):
    """Tensors that show their memory in another shape, while others show it in the old one."""
    def forward(self, x):
        y = x * 2
        z = y.view(-1)
        y.unsqueeze_(0).add_(1)
        y.transpose_(1, 2).squeeze_(0)
        z.mul_(3)
        w = (x - 1).t_().swapaxes_(0, 1)
        w[0].add_(5)
        part = x + 1
        part.as_strided_((2, 2), (1, 2), 1).add_(1)
        return y, z, w, part


class DataClass(nn.Module):
    def forward(self, pair):
        return Pair(pair.first + pair.second, pair.second)


def x(*sizes):
    return torch.arange(float(numpy.prod(sizes))).reshape(*sizes) / 7 - 1


CASES = {  # name: model, args, kwargs, dynamic_shapes
    "dynamic": (Dynamic(), (x(3, 4),), {}, {"x": {0: Dim("batch")}}),
    "strided": (Strided(), (x(4, 6),), {}, None),
    "dtypes": (Dtypes(), (x(4),), {}, None),
    "numbers": (Numbers(), (x(2, 3),), {}, None),
    "mutation": (Mutation(), (x(3),), {}, None),
    "input_mutation": (InputMutation(), (x(2, 3),), {}, None),
    "nested": (Nested(), (x(2), (x(2) + 1, {"z": x(2) * 2})), {"k": x(3), "scale": 3}, None),
    "int_input": (IntInput(), (x(5), 3), {}, {"x": {0: Dim.AUTO}, "n": Dim.DYNAMIC}),
    "derived": (Derived(), (x(2, 5), x(2, 8)), {},
                {"x": {1: Dim("n") + 1}, "y": {1: 2 * Dim("n")}}),
    "data_dependent": (DataDependent(), (x(9) + 1,), {}, None),
    "cond": (Cond(), (x(2, 3),), {}, None),
    "cond_on_size": (CondOnSize(), (x(5, 2),), {}, {"x": {0: Dim("n", min=2, max=9)}}),
    "while_loop": (While(), (x(3), torch.tensor(1)), {}, None),
    "map": (Map(), (x(4, 3), x(3)), {}, {"xs": {0: Dim("n")}, "y": None}),
    "scan": (Scan(), (x(4, 3), x(3)), {}, {"xs": {0: Dim("n")}, "start": None}),
    "scan_reverse": (ScanReverse(), (x(3, 4), x(3)), {}, None),
    "associative_scan": (AssociativeScan(), (x(5, 2), x(5, 2) + 1), {}, None),
    "autocast": (Autocast(), (x(8, 8),), {}, None),
    "vmap": (Vmap(), (x(4, 3), x(3, 4)), {}, None),
    "vmap_layers": (VmapLayers(), (x(2, 3, 4), x(4, 2)), {}, None),
    "subgraph": (SubGraph(), (x(3),), {}, None),
    "custom": (Custom(), (x(3),), {}, None),
    "custom_in_place": (CustomInPlace(), (x(3),), {}, None),
    "any_length": (AnyLength(), (torch.sin(x(4, 7) + 1),), {}, {"x": {0: Dim.AUTO, 1: Dim.AUTO}}),
    "padded_length": (PaddedLength(), (torch.sin(x(4, 7) + 1),), {}, {"x": {0: Dim.AUTO, 1: Dim.AUTO}}),
    "points": (Points(), (torch.sin(x(4, 2) + 1),), {}, {"x": {0: Dim.AUTO}}),
    "complex_parts": (ComplexParts(), (torch.sin(x(4, 3) + 1),), {}, {"x": {0: Dim.AUTO}}),
    "signs_in_place": (SignsInPlace(), (2 * torch.sin(x(4, 3) + 1),), {}, {"x": {0: Dim.AUTO}}),
    "vmap_any": (VmapAny(), (torch.sin(x(2, 4, 3)), torch.tensor([[0, 2], [1, 1]])), {}, None),
    "vmap_nested": (VmapNested(), (torch.sin(x(2, 4, 3)), torch.cos(x(4, 3, 6))), {}, None),
    "subclass": (Subclass(), (x(5, 3),), {}, {"x": {0: Dim.AUTO}}),
    "multiple": (Multiple(), (x(8, 3),), {}, {"x": {0: 4 * Dim("n", max=9), 1: Dim.AUTO}}),
    "shapes_in_place": (ShapesInPlace(), (x(3, 4),), {}, None),
    "dataclass": (DataClass(), (Pair(x(2), x(2)),), {}, None),
}
CORE = ("dynamic", "mutation", "input_mutation", "cond", "while_loop", "map", "scan",
        "associative_scan", "custom_in_place", "data_dependent", "autocast")


def write(name, program, args, kwargs):
    path = os.path.join(OUT, f"{name}.{VERSION}")
    torch.export.save(program, path + ".pt2")
    leaves, _ = torch.utils._pytree.tree_flatten(program.module()(*args, **kwargs))
    for i, leaf in enumerate(leaf for leaf in leaves if leaf is not None):
        value = leaf if isinstance(leaf, torch.Tensor) else torch.tensor(leaf)
        if value.dtype == torch.bfloat16:
            value = value.float()
        numpy.save(f"{path}.{i}.npy", value.detach().numpy())


def make(name, core):
    model, args, kwargs, dynamic = CASES[name]
    copies = torch.utils._pytree.tree_map(
        lambda v: v.clone() if isinstance(v, torch.Tensor) else v, (args, kwargs))
    try:
        program = export(model.eval(), args, kwargs, dynamic_shapes=dynamic, strict=False)
        if core:
            program = program.run_decompositions()
        write(name + ("_core" if core else ""), program, *copies)
    except Exception as error:  # a version that cannot do it
        print(f"{VERSION}: {name}{'_core' if core else ''}: {str(error).strip().splitlines()[0][:150]}")


def several():
    """Two programs in one archive, as PyTorch 2.8 and newer can."""
    from torch.export.pt2_archive._package import package_pt2
    programs = {"encoder": export(Dynamic(), (x(2, 4),)), "decoder": export(Strided(), (x(4, 6),))}
    package_pt2(os.path.join(OUT, f"several.{VERSION}.pt2"), exported_programs=programs)


for case in sys.argv[2:] or CASES:
    make(case, False)
    if case in CORE:
        make(case, True)
if VERSION != "26" and not sys.argv[2:]:
    several()

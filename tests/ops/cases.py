"""How the lists of cases in this folder are written: one line per call of an operator.

    case("aten::add.Tensor", f32(2, 3), f32(3), alpha=2)     # arguments as PyTorch takes them
    case("aten::relu_", f32(4, 3).t())                       # in place; any strides will do
    case("aten::exp", f16(5), tol=(2e-3, 0))                 # rtol, atol instead of the usual
    case("aten::rand", [2, 3], values=False)                 # random: only dtype and sizes
    fails("aten::add.Tensor", f32(2), f32(3))                # PyTorch refuses it, so do we

Arguments are tensors, numbers, strings, None, torch.dtype, torch.device, and lists of them.
Tensors made by f32(…) and its relatives have distinct elements in no order, and the same ones
in every case, so that a case does not change when others are added. make.py runs the cases.
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "peer"))
import peer_cpu  # noqa: E402, F401
import torch  # noqa: E402

CASES = []
_made = 0  # tensors so far in this case


def case(op, *args, tol=None, values=True, alias=True, fake=True, note=None, ort=True,
         **kwargs):
    """A call. values: results are compared, not only their dtype and sizes; alias: a result
    must share the memory of an argument if it does in PyTorch; fake: the dtype and sizes can
    be told without data; ort: False where ONNX Runtime is known to compute something else than
    ONNX or PyTorch say, with the reason beside it. note goes into the name of the case."""
    global _made
    _made = 0
    CASES.append(dict(op=op, args=args, kwargs=kwargs, tol=tol, values=values, alias=alias,
                      fake=fake, note=note, ort=ort, fails=False))


def fails(op, *args, **kwargs):
    case(op, *args, **kwargs)
    CASES[-1]["fails"] = True


def _generator():
    global _made
    _made += 1
    return torch.Generator().manual_seed(_made)


def _real(dtype, default=(-2, 2)):
    def make(*sizes, low=None, high=None):
        low, high = (default[0] if low is None else low), (default[1] if high is None else high)
        n = 1
        for size in sizes:
            n *= size
        steps = torch.randperm(4001, generator=_generator())[:n].double()
        return ((low + (high - low) * steps / 4000) * 1000).round().div(1000).reshape(sizes).to(dtype)
    return make


def _integer(dtype, default=(-9, 9)):
    def make(*sizes, low=default[0], high=default[1]):
        return torch.randint(low, high + 1, sizes, generator=_generator()).to(dtype)
    return make


f16, bf16, f32, f64 = map(_real, (torch.float16, torch.bfloat16, torch.float32, torch.float64))
i8, i16, i32, i64 = map(_integer, (torch.int8, torch.int16, torch.int32, torch.int64))
u8 = _integer(torch.uint8, (0, 9))
boolean = _integer(torch.bool, (0, 1))


def c64(*sizes):
    return torch.complex(f32(*sizes), f32(*sizes))


def t(values, dtype=torch.float32):
    """A tensor of these values."""
    return torch.tensor(values, dtype=dtype)


def quantized(tensor, scale=0.1, zero_point=100, dtype=torch.quint8):
    """A quantized tensor; scale and zero_point may be lists, for the slices of the first axis."""
    if isinstance(scale, list):
        return torch.quantize_per_channel(tensor, torch.tensor(scale), torch.tensor(zero_point), 0,
                                          dtype)
    return torch.quantize_per_tensor(tensor, scale, zero_point, dtype)


class packed:
    """An argument that is made by calling another operator: packed weights."""

    def __init__(self, op, *args):
        self.op, self.args = op, args

    def make(self):
        namespace, name = self.op.split("::")
        return getattr(getattr(torch.ops, namespace), name)(*self.args)


nan, inf = float("nan"), float("inf")

# Every size and stride that often goes wrong, for operators on one tensor.
def shapes(of=f32):
    return [of(2, 3), of(), of(0, 3), of(3, 4).t(), of(4, 6)[1:, ::2]]

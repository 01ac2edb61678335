"""Inputs and attributes for every operator of ONNX; onnx_operators.py says what is done with them.

    sample("Slice", V(4, 5), N([1]), N([3]), since=10)

Arrays are numbers without a type: the type comes from the operator's type variables. Numbers are
quarters between -3 and 3.75, which every type of floats holds; integers cut the fraction off, and
unsigned ones the sign. None is an input that is left out, a list a sequence. The first sample of
an operator that fits a version is the one that is run with all types.
"""
import inspect

import numpy as np

SAMPLES = {}
LAST = 99

# What needs graphs, or types that are not tensors; tests/peer/onnx_testdata.py has them.
ELSEWHERE = {"If", "Loop", "Scan", "SequenceMap", "Optional", "OptionalGetElement",
             "OptionalHasElement", "Gradient", "ImageDecoder"}
# Newer than this ONNX Runtime: onnx_next.py and unit/runtime/kernels/newest test them.
ELSEWHERE |= {"BitCast", "CausalConvWithState", "CumProd", "LinearAttention", "SwiGLU"}


class Sample:
    def __init__(self, inputs, attributes, since=0, until=LAST, n_outputs=1, types=None,
                 prefers=None, without=(), tied=None, gives_sequence=False, reference=None):
        self.inputs, self.attributes = inputs, attributes
        self.since, self.until, self.n_outputs = since, until, n_outputs
        self.types, self.prefers = types or {}, prefers or {}
        self.without, self.tied = set(without), tied or {}
        self.gives_sequence, self.reference = gives_sequence, reference
        self.line = f"(line {inspect.currentframe().f_back.f_back.f_lineno})"

    def attributes_for(self, types):
        return {name: value(types) if callable(value) else value
                for name, value in self.attributes.items()}


SETTINGS = set(inspect.signature(Sample.__init__).parameters) - {"self", "inputs", "attributes"}


def sample(op, *inputs, **kwargs):
    settings = {name: kwargs.pop(name) for name in list(kwargs) if name in SETTINGS}
    SAMPLES.setdefault(op, []).append(Sample(list(inputs), kwargs, **settings))


def V(*shape, seed=0):
    """Any numbers."""
    n = int(np.prod(shape, dtype=int))
    quarters = (np.arange(n) * 7 + seed * 5 + 3) % 28 - 12
    return (quarters / 4).reshape(shape)


def P(*shape, seed=0):
    """Numbers of which none is zero or less, or becomes so as an integer."""
    return 1 + np.abs(V(*shape, seed=seed)) / 2


def U(*shape, seed=0):
    """Between -1 and 1."""
    return V(*shape, seed=seed) / 4


def N(values):
    return np.array(values, np.int64)


def B(*values):
    return np.array(values, bool)


def texts(*values):
    return np.array(values, object)


def number(name):
    import onnx_operators
    return onnx_operators.NUMBERS[name]


def tensor(values, name):
    """An attribute: the values as a TensorProto of that type."""
    import onnx_operators
    return onnx_operators.to_proto(onnx_operators.as_type(values, name), name, "")


EMPTY = np.zeros((2, 0, 3))
NO_TEXT = {"string"}
COMPLEX = {"complex64", "complex128"}

# ---- one number at a time -------------------------------------------------------------

for op in ["Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Exp", "Erf", "Tanh", "Sin", "Cos",
           "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Relu", "Sigmoid", "Softplus", "Softsign",
           "HardSwish", "Mish", "Gelu", "Elu", "Selu", "Celu", "LeakyRelu", "HardSigmoid",
           "ThresholdedRelu", "Shrink", "IsNaN", "Identity"]:
    sample(op, V(3, 4))
    sample(op, EMPTY)
sample("IsInf", V(3, 4))
sample("IsInf", np.array([np.inf, -np.inf, np.nan, 1]), detect_negative=0)
sample("IsNaN", np.array([np.inf, -np.inf, np.nan, 1]))
for op in ["Sqrt", "Log", "Reciprocal", "Acosh"]:
    sample(op, P(3, 4))
for op in ["Asin", "Acos", "Atanh"]:
    sample(op, U(3, 4))
sample("Celu", V(3, 4), alpha=2.0)
sample("Elu", V(3, 4), alpha=0.5)
sample("Selu", V(3, 4), alpha=2.0, gamma=3.0)
sample("LeakyRelu", V(3, 4), alpha=0.5)
sample("HardSigmoid", V(3, 4), alpha=0.25, beta=0.75)
sample("ThresholdedRelu", V(3, 4), alpha=0.5)
sample("Shrink", V(3, 4), lambd=1.5, bias=0.5)
sample("Gelu", V(3, 4), approximate="tanh")
sample("Swish", V(3, 4))
sample("Swish", V(3, 4), alpha=0.5)
sample("Not", B(True, False))
sample("BitwiseNot", V(3, 4))
sample("Clip", V(3, 4), min=-1.0, max=2.0, until=10)
sample("Clip", V(3, 4), np.array(-1.), np.array(2.), since=11)
sample("Clip", V(3, 4), None, np.array(2.), since=11)
sample("Clip", V(3, 4), np.array(1.), None, since=11)
sample("PRelu", V(2, 3, 4), V(3, 1))
sample("Cast", P(3, 4), to=lambda t: number(t["T2"]), without=NO_TEXT, reference=lambda x: x)
sample("CastLike", P(3, 4), V(1), without=NO_TEXT, reference=lambda x, like: x)
sample("Cast", np.array([0.5, -2.25, 1e30]), to=8, types={("outputs", 0): "string"}, since=9)
sample("Cast", texts("1.5", "-2", "inf"), to=1, types={("inputs", 0): "string"}, since=9)
SPECIAL = np.array([0.48, np.nan, np.inf, -np.inf, 1e6, -1e6, -1e-7, 460, 464, 465, -0.0, 240, 248])
for kind in ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]:
    sample("Cast", SPECIAL, to=lambda t, kind=kind: number(kind), since=19, reference=lambda x: x,
           types={("outputs", 0): kind})

# ---- two numbers at a time, with broadcasting -----------------------------------------

for op in ["Add", "Sub", "Mul", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual",
           "BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
    sample(op, P(2, 3, 4), V(3, 1))
    sample(op, V(2, 0, 3), V(3))
sample("Div", P(2, 3, 4), P(3, 1, seed=1))
sample("Pow", P(2, 3, 4), P(4, seed=1))
sample("Pow", V(2, 3), np.array(2.))
sample("Mod", P(2, 3, 4), P(4, seed=1), prefers={"T": "int64"}, fmod=0)
sample("Mod", V(2, 3, 4), P(4, seed=1), fmod=1)
sample("Mod", np.array([-5, -3, 5, 3]), np.array([3, -2, -3, 2]), prefers={"T": "int32"})
sample("BitShift", P(3, 4), P(4), direction="LEFT")
sample("BitShift", 8 * P(3, 4), P(4), direction="RIGHT")
for op in ["And", "Or", "Xor"]:
    sample(op, B(True, False, True, False), B(True, True, False, False))
for op in ["Max", "Min", "Sum", "Mean"]:
    sample(op, V(2, 3), V(3), V(2, 1), since=8)
    sample(op, V(2, 3), V(2, 3, seed=1), until=7)
    sample(op, V(2, 3))
sample("Where", B(True, False, True), V(2, 3), V(3, seed=1))
sample("Equal", texts("a", "b"), texts("a", "c"), since=19, prefers={"T": "string"})

# ---- making and moving ----------------------------------------------------------------

sample("Shape", V(2, 3, 4))
sample("Shape", V(2, 3, 4), start=-2, end=9, since=15)
sample("Size", V(2, 3))
sample("Range", np.array(1.), np.array(8.), np.array(2.))
sample("Range", np.array(8.), np.array(1.), np.array(-2.))
sample("Constant", value_floats=[1.0, 2.0], since=12, prefers={"T": "float"})
sample("Constant", value=lambda t: tensor(V(2, 3), t["T"]), reference=lambda: V(2, 3))
sample("ConstantOfShape", N([2, 3]), prefers={"T2": "float"})
sample("EyeLike", V(3, 4), dtype=lambda t: number(t["T2"]), k=1, reference=lambda x: np.eye(3, 4, 1))
sample("EyeLike", V(3, 4), k=-1)
sample("Reshape", V(2, 3, 4), N([4, -1]))
sample("Reshape", V(2, 3, 4), N([0, 0, 2, 2]))
sample("Reshape", np.zeros((0, 3)), N([3, 0]), allowzero=1, since=14)
sample("Flatten", V(2, 3, 4))
sample("Flatten", V(2, 3, 4), axis=0)
sample("Flatten", V(2, 3, 4), axis=-1, since=11)
sample("Squeeze", V(1, 3, 1), axes=[0], until=12)
sample("Squeeze", V(1, 3, 1), N([0, -1]), since=13)
sample("Squeeze", V(1, 3, 1), since=13)
sample("Unsqueeze", V(3, 4), axes=[0, 2], until=12)
sample("Unsqueeze", V(3, 4), N([-1, 0]), since=13)
sample("Transpose", V(2, 3, 4))
sample("Transpose", V(2, 3, 4), perm=[1, 2, 0])
sample("Expand", V(3, 1), N([2, 1, 4]))
sample("Tile", V(2, 3), N([2, 1]))
sample("Tile", V(2, 3), N([0, 2]))
sample("Concat", V(2, 3), V(2, 1), axis=1)
sample("Concat", V(2, 3), EMPTY[0].reshape(0, 3), axis=-2, since=11)
sample("Split", V(4, 6), axis=1, split=[2, 4], n_outputs=2, until=12)
sample("Split", V(4, 6), N([2, 4]), axis=1, n_outputs=2, since=13)
sample("Split", V(4, 6), n_outputs=2, until=17)
sample("Split", V(4, 7), axis=1, num_outputs=3, n_outputs=3, since=18)
sample("Split", V(2, 300), N([1, 3] * 75), axis=1, n_outputs=150, since=13)
sample("Split", V(300, 2), n_outputs=150, until=17)
sample("Slice", V(4, 5), starts=[1, 0], ends=[3, -1], until=9)
sample("Slice", V(4, 5), N([1, -1]), N([3, -5]), N([0, 1]), N([1, -2]), since=10)
sample("Slice", V(4, 5), N([-1]), N([-100]), N([-2]), N([-3]), since=10)
sample("Slice", V(4, 5), N([3]), N([1]), since=10)
sample("Slice", V(4, 5), N([-9]), N([-100]), N([1]), N([-1]), since=10)  # starts at element 0
sample("Slice", V(4, 5), N([-9]), N([-5]), N([1]), N([-2]), since=10)
sample("Slice", V(0, 5), N([-1]), N([-100]), N([0]), N([-1]), since=10)
sample("Pad", V(2, 3), pads=[1, 0, 0, 2], value=1.5, until=10)
sample("Pad", V(2, 3), N([1, 0, 0, 2]), np.array(2.), since=11)
for mode in ["reflect", "edge"]:
    sample("Pad", V(3, 4), pads=[1, 0, 0, 2], mode=mode, until=10)
    sample("Pad", V(3, 4), N([1, 0, 2, 2]), mode=mode, since=11)
sample("Pad", V(3, 4), N([1, 2]), None, N([-1]), mode="edge", since=18)
sample("Pad", V(3, 4), N([-1, 2]), np.array(1.), N([0]), since=18)
sample("Pad", V(3, 4), N([1, 5, 2, 3]), mode="wrap", since=19,
       reference=lambda x, pads: x.take(range(-1, 5), 0, mode="wrap").take(range(-5, 7), 1,
                                                                            mode="wrap"))
sample("DepthToSpace", V(1, 8, 2, 3), blocksize=2)
sample("DepthToSpace", V(1, 8, 2, 3), blocksize=2, mode="CRD", since=11)
sample("SpaceToDepth", V(1, 2, 4, 6), blocksize=2)
# ONNX Runtime 1.30 gathers only the first string of a row.
sample("Gather", V(4, 5), N([0, 3]), reference=lambda x, indices: x.take(indices, 0))
sample("Gather", V(4, 5), N([[0, 3], [2, -1]]), axis=1, since=11)
sample("GatherElements", V(3, 3), N([[1, 2, 0], [2, 0, 0]]))
sample("GatherElements", V(3, 3), N([[1, -2, 0], [2, 0, 0]]), axis=1)
sample("GatherND", V(2, 3, 4), N([[0, 1], [1, 2]]))
sample("GatherND", V(2, 3, 4), N([[1], [0]]), batch_dims=1, since=12)
sample("Scatter", V(3, 3), N([[1, 0, 2], [0, 2, 1]]), V(2, 3, seed=1))
sample("ScatterElements", V(3, 3), N([[1, 0, 2], [0, 2, 1]]), V(2, 3, seed=1))
sample("ScatterElements", V(1, 5), N([[1, -3]]), V(1, 2, seed=1), axis=1)
sample("ScatterND", V(4, 3), N([[1], [3]]), V(2, 3, seed=1))
sample("TensorScatter", V(2, 3, 4, 2), V(2, 3, 2, 2, seed=1), N([1, 2]))
sample("TensorScatter", V(2, 4, 3), V(2, 4, 3, seed=1), axis=1)
sample("TensorScatter", V(2, 4, 3), V(2, 3, 3, seed=1), N([3, 5]), mode="circular")
for reduction in ["add", "mul"]:
    sample("ScatterElements", V(1, 5), N([[1, 1]]), V(1, 2, seed=1), axis=1, reduction=reduction,
           since=16, without=NO_TEXT | {"bool"})
    sample("ScatterND", V(4, 3), N([[1], [1]]), V(2, 3, seed=1), reduction=reduction, since=16)
for reduction in ["max", "min"]:
    sample("ScatterElements", V(1, 5), N([[1, 1]]), V(1, 2, seed=1), axis=1, reduction=reduction,
           since=18)
    sample("ScatterND", V(4, 3), N([[1], [1]]), V(2, 3, seed=1), reduction=reduction, since=18)
sample("OneHot", N([1, 0, 2]), np.array(3), np.array([2., 1.]),
       reference=lambda indices, depth, values: np.where(np.eye(3, dtype=bool)[[1, 0, 2]], values[1],
                                                         values[0]))
sample("OneHot", N([[1, 0], [2, 3]]), np.array(4), np.array([1., 3.]), axis=0)
sample("NonZero", V(3, 4), without=NO_TEXT)
sample("Compress", V(3, 4), B(True, False, True), axis=0)
sample("Compress", V(3, 4), B(False, True, True))
sample("Trilu", V(3, 4), without=NO_TEXT)
sample("Trilu", V(2, 3, 4), np.array(-1), upper=0)
sample("Unique", V(6), n_outputs=4, without=COMPLEX)
sample("Unique", np.array([[2., 1], [3, 0], [2, 1]]), n_outputs=4, axis=0)
sample("Unique", np.array([3., 1, 3, 2]), n_outputs=4, sorted=0)
sample("TopK", V(3, 4), k=2, n_outputs=2, until=9)
sample("TopK", V(3, 4), N([2]), n_outputs=2, since=10)
sample("TopK", V(3, 4), N([2]), n_outputs=2, since=11, largest=0, axis=0)
sample("ReverseSequence", V(4, 3), N([1, 4, 2]))
sample("ReverseSequence", V(3, 4), N([1, 4, 2]), batch_axis=0, time_axis=1)
sample("CenterCropPad", V(5, 4), N([3, 7]), without=NO_TEXT,
       reference=lambda x, shape: np.pad(x[1:4], [(0, 0), (1, 2)]))
sample("CenterCropPad", V(5, 4, 3), N([2, 6]), axes=[-1, 0])
sample("Col2Im", V(1, 9, 4), N([4, 4]), N([3, 3]), without=NO_TEXT)
sample("Col2Im", V(1, 8, 5), N([6, 6]), N([2, 2]), dilations=[1, 5], strides=[1, 5])
sample("Col2Im", V(2, 8, 16), N([7, 7]), N([2, 2]), pads=[1, 1, 0, 0], strides=[2, 2])

# ---- sums and matrices ----------------------------------------------------------------

for op in ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]:
    name, by_input = f"Reduce{op}", 13 if op == "Sum" else 18
    sample(name, P(2, 3, 4), axes=[1], until=by_input - 1)
    sample(name, P(2, 3, 4), N([1]), since=by_input)
    sample(name, P(2, 3, 4))
    sample(name, P(2, 3, 4), keepdims=0)
    sample(name, P(2, 3, 4), N([-1, 0]), keepdims=0, since=by_input)
    sample(name, P(2, 3), N([]), noop_with_empty_axes=1, since=by_input)
    if op not in ("Max", "Min", "Mean"):
        sample(name, np.zeros((2, 0, 4)), N([1]), since=max(by_input, 18))
for op in ["ReduceMax", "ReduceMin"]:
    sample(op, B(True, False, True, True).reshape(2, 2), N([1]), since=20, prefers={"T": "bool"})
for op in ["ArgMax", "ArgMin"]:
    sample(op, V(3, 4))
    sample(op, V(3, 4), axis=1, keepdims=0)
    sample(op, np.array([[2., 2, 1, 1]]), axis=-1, select_last_index=1, since=12)
sample("CumSum", V(2, 5), np.array(1))
sample("CumSum", V(2, 5), np.array(-1), exclusive=1, reverse=1)
sample("MatMul", V(2, 3, 4), V(4, 5))
sample("MatMul", V(3), V(3))
sample("MatMul", np.zeros((2, 0)), np.zeros((0, 3)))
sample("Gemm", V(3, 4), V(4, 5), V(5), alpha=3.0, beta=2.0)
sample("Gemm", V(3, 4), V(4, 5), V(5), alpha=0.5, beta=0.25)
sample("Gemm", V(4, 3), V(5, 4), V(3, 1), transA=1, transB=1)
sample("Gemm", V(3, 4), V(4, 5), since=11)
sample("Einsum", V(2, 3), V(3, 4), equation="ij,jk->ik")
sample("Einsum", V(2, 3, 3), equation="...ii->...i")
sample("Det", V(2, 3, 3))
sample("Softmax", V(2, 3, 4))
sample("Softmax", V(2, 3, 4), axis=1)
sample("LogSoftmax", V(2, 3, 4))
sample("LogSoftmax", V(2, 3, 4), axis=0)
sample("Hardmax", V(2, 3, 4))
sample("Hardmax", np.array([[1., 3, 3, 2]]), axis=1)

# ---- windows --------------------------------------------------------------------------

sample("Conv", V(1, 4, 6, 5), V(4, 2, 3, 3, seed=1), V(4), group=2, pads=[1, 0, 1, 2],
       strides=[2, 1])
sample("Conv", V(1, 2, 9), V(3, 2, 4, seed=1), strides=[2], auto_pad="SAME_UPPER")
sample("Conv", V(1, 2, 9), V(3, 2, 4, seed=1), strides=[2], auto_pad="SAME_LOWER")
sample("Conv", V(1, 2, 9), V(3, 2, 3, seed=1), dilations=[2], auto_pad="VALID")
sample("Conv", V(1, 2, 4, 4, 4), V(2, 2, 2, 2, 2, seed=1))
sample("ConvTranspose", V(1, 4, 3, 4), V(4, 2, 3, 3, seed=1), V(4), group=2, strides=[2, 1],
       output_padding=[1, 0], pads=[1, 0, 0, 1])
sample("ConvTranspose", V(1, 2, 3, 3), V(2, 2, 3, 3, seed=1), strides=[3, 2], output_shape=[10, 8])
sample("ConvTranspose", V(1, 2, 5), V(2, 2, 3, seed=1), dilations=[2], auto_pad="SAME_LOWER",
       strides=[2])
sample("DeformConv", V(1, 2, 4, 4), V(2, 2, 2, 2, seed=1), U(1, 8, 3, 3), V(2), U(1, 4, 3, 3, seed=2),
       kernel_shape=[2, 2])
sample("DeformConv", V(1, 4, 5, 5), V(2, 2, 3, 3, seed=1), U(1, 36, 3, 3), kernel_shape=[3, 3],
       group=2, offset_group=2, strides=[2, 2], pads=[1, 1, 1, 1])
POOL = V(1, 2, 7, 8)
sample("MaxPool", POOL, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
sample("MaxPool", POOL, kernel_shape=[3, 3], strides=[2, 2], n_outputs=2, since=8)
sample("MaxPool", POOL, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, dilations=[2, 1], since=10)
sample("MaxPool", POOL, kernel_shape=[2, 2], auto_pad="SAME_LOWER", n_outputs=2, storage_order=1,
       since=8)
sample("AveragePool", POOL, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
sample("AveragePool", POOL, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
       count_include_pad=1)
sample("AveragePool", POOL, kernel_shape=[3, 3], strides=[3, 3], ceil_mode=1, since=10)
sample("AveragePool", POOL, kernel_shape=[3, 3], strides=[3, 3], ceil_mode=1, pads=[1, 1, 1, 1],
       count_include_pad=1, since=19)
sample("AveragePool", POOL, kernel_shape=[2, 2], dilations=[2, 3], since=19)
sample("LpPool", POOL, kernel_shape=[3, 2], strides=[2, 2], p=3)
sample("LpPool", POOL, kernel_shape=[2, 2], dilations=[2, 1], pads=[1, 1, 1, 1], since=18)
sample("LpPool", POOL, kernel_shape=[3, 3], strides=[3, 3], ceil_mode=1, since=18)
for op in ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]:
    sample(op, POOL)
sample("MaxUnpool", V(1, 1, 2, 2), N([[[[5, 7], [13, 15]]]]), kernel_shape=[2, 2], strides=[2, 2])
sample("LRN", V(1, 5, 2, 2), size=3, alpha=0.5, beta=0.5, bias=2.0)

# ---- normalization and losses ---------------------------------------------------------

sample("BatchNormalization", V(2, 3, 4), V(3), V(3, seed=1), V(3, seed=2), P(3))
sample("BatchNormalization", V(2, 3, 4), V(3), V(3, seed=1), V(3, seed=2), P(3), n_outputs=3,
       training_mode=1, momentum=0.75, since=14)
sample("InstanceNormalization", V(2, 3, 4, 5), V(3), V(3, seed=1))
sample("LayerNormalization", V(2, 3, 4), V(4), V(4, seed=1))
sample("LayerNormalization", V(2, 3, 4), V(3, 4), axis=1, n_outputs=3)
sample("RMSNormalization", V(2, 3, 4), V(4))
sample("RMSNormalization", V(2, 3, 4), V(3, 4), axis=1, epsilon=0.5)
sample("GroupNormalization", V(2, 4, 3), V(2), V(2, seed=1), num_groups=2, until=20)
sample("GroupNormalization", V(2, 4, 3), V(4), V(4, seed=1), num_groups=2, since=21)
sample("LpNormalization", V(2, 3, 4))
sample("LpNormalization", V(2, 3, 4), p=1, axis=1)
sample("LpNormalization", np.array([[0., 0., 0.], [3., 0., 0.]]))  # zeros stay zeros
sample("LpNormalization", np.array([[0., 0., 0.], [3., 0., 0.]]), p=1, axis=0)
sample("MeanVarianceNormalization", V(2, 3, 2, 2))
sample("MeanVarianceNormalization", V(2, 3, 2, 2), axes=[3])
sample("Dropout", V(3, 4))
sample("Dropout", V(3, 4), np.array(0.5), since=12)
for op in ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"]:
    sample(op, V(3, 5), N([1, 0, 4]))
    sample(op, V(3, 5), N([1, 0, 4]), P(5), reduction="sum")
    sample(op, V(2, 5, 3), N([[1, 0, 4], [2, 3, 1]]), ignore_index=1, reduction="none")
sample("SoftmaxCrossEntropyLoss", V(3, 5), N([1, 0, 4]), n_outputs=2)

# ---- recurrent ------------------------------------------------------------------------

for op, gates in [("RNN", 1), ("GRU", 3), ("LSTM", 4)]:
    sample(op, U(4, 2, 3), U(1, gates * 2, 3), U(1, gates * 2, 2, seed=1), hidden_size=2, n_outputs=2)
    sample(op, U(4, 2, 3), U(2, gates * 2, 3), U(2, gates * 2, 2, seed=1), U(2, gates * 4), N([4, 2]),
           U(2, 2, 2), hidden_size=2, direction="bidirectional", n_outputs=2)
    sample(op, U(4, 2, 3), U(1, gates * 2, 3), U(1, gates * 2, 2, seed=1), hidden_size=2, n_outputs=2,
           direction="reverse", clip=0.25)
sample("GRU", U(4, 2, 3), U(1, 6, 3), U(1, 6, 2, seed=1), U(1, 12), hidden_size=2, n_outputs=2,
       linear_before_reset=1)
sample("LSTM", U(4, 2, 3), U(1, 8, 3), U(1, 8, 2, seed=1), None, None, None, None, U(1, 6),
       hidden_size=2, n_outputs=3)

# ---- quantized ------------------------------------------------------------------------

def quantized(x, scale, zero, types):
    kind = types.get("T3", types["T2"])
    small = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
    return x / scale if kind.startswith("float") else np.clip(
        np.rint(x / scale) + zero, *small.get(kind, (
            0 if kind[0] == "u" else -128, 255 if kind[0] == "u" else 127)))


def quantized_product(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, types):
    exact = (a.astype(float) - a_zero) @ (b.astype(float) - b_zero)
    y = exact * a_scale.astype(float) * b_scale / y_scale
    if types["T3"].startswith("float"):
        return y + y_zero
    signed = types["T3"] == "int8"
    return np.clip(np.rint(y) + y_zero, -128 if signed else 0, 127 if signed else 255)


sample("QuantizeLinear", 4 * V(2, 3), np.array(0.5), np.array(2), prefers={"T2": "uint8"},
       without={"int32"}, until=18)
sample("QuantizeLinear", 4 * V(2, 3), np.array(2.), np.array(0), since=19, until=22,
       reference=quantized)
sample("QuantizeLinear", 4 * V(2, 3), np.array(2.), np.array(0), since=23, reference=quantized)
sample("QuantizeLinear", V(2, 3), np.array([0.5, 1, 2]), np.array([1, 2, 0]), since=13, axis=1)
sample("QuantizeLinear", V(2, 6), np.array([[0.5, 1], [2, 4]]), np.array([[1, 2], [0, 3]]), since=21,
       axis=1, block_size=3)
sample("DequantizeLinear", V(2, 3), np.array(0.5), np.array(2), until=18)
sample("DequantizeLinear", V(2, 3), np.array(0.5), since=19, until=22,
       reference=lambda x, scale: x * scale)
sample("DequantizeLinear", V(2, 3), np.array(0.5), since=23, output_dtype=lambda t: number(t["T3"]),
       reference=lambda x, scale: x * scale)
sample("DequantizeLinear", V(2, 3), np.array([0.5, 1, 2]), np.array([1, 2, 0]), since=13, axis=1,
       prefers={"T": "int8", "T1": "int8"})
sample("DequantizeLinear", V(2, 6), np.array([[0.5, 1], [2, 4]]), np.array([[1, 2], [0, 3]]), since=21,
       axis=1, block_size=3, prefers={"T1": "int8"})
sample("DequantizeLinear", V(5), np.array([0.5, 2]), np.array([1, 2]), since=21, axis=-1, block_size=3,
       prefers={"T1": "int8"})  # the last block has two elements
sample("DynamicQuantizeLinear", V(2, 3), n_outputs=3)
sample("MatMulInteger", V(2, 3), V(3, 4), np.array(1), np.array(2))
sample("QLinearMatMul", V(2, 3), np.array(0.5), np.array(1), V(3, 4), np.array(0.25), np.array(2),
       np.array(0.5), np.array(3), reference=quantized_product)
sample("ConvInteger", V(1, 1, 4, 4), V(1, 1, 2, 2), np.array(1), pads=[1, 1, 0, 0],
       tied={"T1": ["T2"]})
sample("QLinearConv", V(1, 1, 4, 4), np.array(0.5), np.array(1), V(2, 1, 2, 2), np.array([0.5, 1]),
       np.array([1, 2]), np.array(0.5), np.array(3), N([1, 2]), tied={"T1": ["T2", "T3"],
                                                                       "T3": ["T1", "T2"]})

# ---- images ---------------------------------------------------------------------------

IMAGE = V(1, 2, 4, 5)
sample("Upsample", IMAGE, scales=[1.0, 1.0, 2.0, 3.0], until=8)
sample("Upsample", IMAGE, np.array([1., 1, 2, 3]), since=9, until=9)
sample("Resize", IMAGE, np.array([1., 1, 2, 1.5]), until=10)
sample("Resize", IMAGE, np.array([1., 1, 0.6, 1.5]), until=10)  # rounds up where it shrinks
sample("Resize", IMAGE, np.array([]), np.array([1., 1, 2, 1.5]), since=11, until=12,
       prefers={"T2": "float"})
sample("Resize", IMAGE, None, np.array([1., 1, 2, 1.5]), since=13, prefers={"T2": "float"})
for mode in ["linear", "cubic"]:
    for how in ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]:
        sample("Resize", IMAGE, None, None, N([1, 2, 7, 3]), mode=mode, since=13,
               coordinate_transformation_mode=how)
    sample("Resize", IMAGE, None, np.array([0.5, 0.6]), mode=mode, axes=[2, 3], since=18, antialias=1)
    sample("Resize", IMAGE, None, np.array([1, 1, 0.6, 0.8]), mode=mode, since=19,
           coordinate_transformation_mode="half_pixel_symmetric")
for how in ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]:
    sample("Resize", IMAGE, None, None, N([1, 2, 7, 3]), nearest_mode=how, since=13)
    # Products of sizes and factors that are whole in float32 only.
    sample("Resize", V(1, 1, 8, 10), None, np.array([1, 1, 1.7, 0.7]), nearest_mode=how, since=13)
for policy in ["not_larger", "not_smaller"]:
    sample("Resize", IMAGE, None, None, N([7, 8]), axes=[2, 3], since=18,
           keep_aspect_ratio_policy=policy)
    sample("Resize", IMAGE, None, None, N([1, 3]), axes=[2, 3], since=18, mode="linear",
           keep_aspect_ratio_policy=policy)
sample("Resize", IMAGE, np.array([0.1, 0.2, 0.8, 1.4]), None, N([3, 4]), axes=[2, 3], mode="linear",
       coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0, since=18)
sample("Resize", IMAGE, None, None, N([1, 2, 7, 3]), mode="cubic", exclude_outside=1,
       cubic_coeff_a=-0.5, since=13)
GRID = np.stack(np.meshgrid(np.linspace(-1.2, 1.1, 3), np.linspace(-1, 1.3, 4)), -1)[None]
sample("GridSample", IMAGE, GRID, since=20, without=COMPLEX | NO_TEXT | {"bool"})
sample("GridSample", IMAGE, GRID, until=19, prefers={"T1": "float", "T2": "float"})
for mode in ["nearest", "cubic", "linear"]:
    for padding in ["zeros", "border", "reflection"]:
        sample("GridSample", IMAGE, GRID, mode=mode, padding_mode=padding, since=20)
        sample("GridSample", IMAGE, GRID, mode=mode, padding_mode=padding, since=20, align_corners=1)
        old = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
        sample("GridSample", IMAGE, GRID, mode=old, padding_mode=padding, until=19, align_corners=1)
GRID3 = V(1, 2, 3, 2, 3) / 3
for mode in ["nearest", "linear"]:
    for padding in ["zeros", "border", "reflection"]:
        sample("GridSample", V(1, 2, 3, 4, 2), GRID3, mode=mode, padding_mode=padding, since=20)
THETA = np.array([[[1, 0.5, 0.25], [0.25, 1, -0.5]]])
sample("AffineGrid", THETA, N([1, 2, 3, 4]))
sample("AffineGrid", THETA, N([1, 2, 3, 4]), align_corners=1)
sample("AffineGrid", V(1, 3, 4), N([1, 2, 2, 3, 4]))
sample("AffineGrid", V(1, 3, 4), N([1, 2, 2, 3, 4]), align_corners=1)
ROIS = np.array([[0., 0, 3, 3], [1, 0, 2.5, 3.5]])
sample("RoiAlign", V(2, 1, 5, 5), ROIS, N([0, 1]), output_height=2, output_width=3,
       sampling_ratio=2)
sample("RoiAlign", V(2, 1, 5, 5), ROIS, N([0, 1]), mode="max", output_height=2, output_width=2,
       sampling_ratio=2, spatial_scale=0.5)
for mode in ["avg", "max"]:  # regions without samples: empty, and turned around
    sample("RoiAlign", V(2, 1, 5, 5), np.array([[2., 2, 2, 2], [3, 3, 1, 1]]), N([0, 1]), mode=mode,
           output_height=2, output_width=2)
sample("MaxRoiPool", V(1, 1, 5, 5), np.array([[0., 0, 0, 3, 3], [0, 1, 1, 4, 4]]), pooled_shape=[2, 2])
BOXES = np.array([[[0., 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]])
sample("NonMaxSuppression", BOXES, np.array([[[0.75, 0.5, 0.25]]]), np.array([2]), np.array([0.5]),
       np.array([0.]))
sample("NonMaxSuppression", BOXES, np.array([[[0.75, 0.5, 0.25]]]), np.array([3]), center_point_box=1)

# ---- attention ------------------------------------------------------------------------

sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2))
sample("Attention", U(2, 3, 8), U(2, 5, 4, seed=1), U(2, 5, 4, seed=2), q_num_heads=4, kv_num_heads=2)
sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 6, seed=2), is_causal=1,
       scale=0.25)
sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2), V(3, 5),
       softcap=2.0)
sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2), None,
       U(2, 2, 2, 4, seed=3), U(2, 2, 2, 4, seed=4), n_outputs=3)
sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2),
       B(*[True, False, True, True, True] * 3).reshape(3, 5), prefers={"U": "bool"})
sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2), None, None, None,
       N([3, 5]), since=24)
sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2), V(3, 5), None, None,
       N([3, 2]), since=24)
sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2),
       B(*[True] * 5, *[False] * 5, *[True] * 5).reshape(3, 5), prefers={"U": "bool"})
for mode in range(4):
    sample("Attention", U(2, 2, 3, 4), U(2, 2, 5, 4, seed=1), U(2, 2, 5, 4, seed=2), V(3, 5),
           None, None, n_outputs=4, qk_matmul_output_mode=mode, softcap=3.0)
sample("RotaryEmbedding", U(2, 3, 4, 8), U(10, 4), U(10, 4, seed=1), N([[0, 1, 2, 3], [5, 6, 7, 8]]))
sample("RotaryEmbedding", U(2, 4, 24), U(10, 4), U(10, 4, seed=1), N([[0, 1, 2, 3], [5, 6, 7, 8]]),
       num_heads=3, interleaved=1)
sample("RotaryEmbedding", U(2, 3, 4, 8), U(2, 4, 2), U(2, 4, 2, seed=1), rotary_embedding_dim=4)

# ---- signals --------------------------------------------------------------------------

for op in ["HannWindow", "HammingWindow", "BlackmanWindow"]:
    sample(op, np.array(1), prefers={"T2": "float"})
    sample(op, np.array(1), periodic=0, prefers={"T2": "float"})
    sample(op, np.array(8), prefers={"T2": "float"})
    sample(op, np.array(9), periodic=0, output_datatype=lambda t: number(t["T2"]), prefers={"T1": "int64"})
sample("DFT", V(1, 6, 1), axis=1, until=19)
sample("DFT", V(1, 6, 1), None, np.array(1), since=20)
sample("DFT", V(1, 6, 4, 2), np.array(8), np.array(1), since=20, inverse=1)
sample("DFT", V(1, 6, 4, 1), None, np.array(-2), since=20, onesided=1)
sample("STFT", V(1, 16, 1), np.array(4), np.array([1., 0.5, 0.25, 1, 1, 1, 0.5, 0.25]))
sample("STFT", V(1, 16, 1), np.array(4), None, np.array(8), onesided=0)
sample("STFT", V(2, 16), np.array(4), np.array([1., 0.5, 0.25, 1, 1, 1, 0.5, 0.25]))  # as PyTorch writes it
sample("STFT", V(2, 16), np.array(3), None, np.array(7))
sample("MelWeightMatrix", np.array(4), np.array(16), np.array(8192), np.array(0.), np.array(4096.),
       prefers={"T3": "float"}, without={"bfloat16"})

# ---- random, such that it does not matter ---------------------------------------------

def constant_like(*args):
    return np.full((2, 3), 1.5)


sample("RandomNormal", shape=[2, 3], mean=1.5, scale=0.0, dtype=lambda t: number(t["T"]),
       reference=constant_like)
sample("RandomNormalLike", V(2, 3), mean=1.5, scale=0.0, dtype=lambda t: number(t["T2"]),
       reference=constant_like)
sample("RandomUniform", shape=[2, 3], low=1.5, high=1.5, dtype=lambda t: number(t["T"]),
       reference=constant_like)
sample("RandomUniformLike", V(2, 3), low=1.5, high=1.5, dtype=lambda t: number(t["T2"]),
       reference=constant_like)
sample("Multinomial", np.array([[-80., 0, -80]]), sample_size=4, dtype=lambda t: number(t["T2"]),
       reference=lambda x: np.array([[1, 1, 1, 1]]))
sample("Bernoulli", np.array([0., 1, 1, 0]), dtype=lambda t: number(t["T2"]),
       reference=lambda x: x)

# ---- strings --------------------------------------------------------------------------

sample("StringConcat", texts("a", "b", ""), texts("x"))
sample("StringSplit", texts("a b  c", "", "d"), n_outputs=2)
sample("StringSplit", texts("a-b-c", "d--e", "f"), delimiter="-", maxsplit=1, n_outputs=2)
sample("RegexFullMatch", texts("www.google.com", "www.facebook.com", "account@gmail.com"),
       pattern=r"www\.[\w.-]+\.\bcom\b")
sample("RegexFullMatch", texts("abc", "abcd", "", "a\nc"), pattern="a.c")
# ONNX Runtime requires the default locale, which is not installed everywhere.
sample("StringNormalizer", texts("Monday", "tuesday", "x"), case_change_action="LOWER",
       is_case_sensitive=1, stopwords=["x"], reference=lambda x: texts("monday", "tuesday"))
sample("TfIdfVectorizer", N([1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8]), mode="TF", min_gram_length=2,
       max_gram_length=2, max_skip_count=0, ngram_counts=[0, 4], ngram_indexes=list(range(7)),
       pool_int64s=[2, 3, 5, 4, 5, 6, 7, 8, 6, 7], prefers={"T": "int64"})

# ---- sequences ------------------------------------------------------------------------

ITEMS = [V(2, 3), V(1, 3, seed=1)]
SEQUENCE = {"S": ["T"], "T": ["S"]}
sample("ConcatFromSequence", ITEMS, axis=0, tied=SEQUENCE)
sample("ConcatFromSequence", [V(2, 3), V(2, 3, seed=1)], axis=1, new_axis=1)
sample("SequenceAt", ITEMS, np.array(-1), tied=SEQUENCE)
sample("SequenceConstruct", V(2), V(3), gives_sequence=True, tied=SEQUENCE)
sample("SequenceEmpty", gives_sequence=True, dtype=lambda t: number(t["S"]))
sample("SequenceErase", ITEMS, np.array(0), gives_sequence=True)
sample("SequenceErase", ITEMS, gives_sequence=True)
sample("SequenceInsert", ITEMS, V(2, 2), np.array(1), gives_sequence=True, tied=SEQUENCE)
sample("SequenceLength", ITEMS)
sample("SplitToSequence", V(5, 3), N([2, 3]), gives_sequence=True, tied=SEQUENCE)
sample("SplitToSequence", V(3, 2), gives_sequence=True, keepdims=0, axis=0)

# ---- training -------------------------------------------------------------------------

STEP = (np.array(0.5), np.array(3))


def adagrad(r, t, x, g, h):
    r, g = r / (1 + t * 0.25), 0.5 * x + g
    return x - r * g / (np.sqrt(h + g * g) + 1e-6), h + g * g


def adam(r, t, x, g, v, h):
    v, h = 0.9 * v + 0.1 * g, 0.999 * h + 0.001 * g * g
    r = r * np.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    return x - r * v / (np.sqrt(h) + 1e-6), v, h


def momentum(r, t, x, g, v):
    g = 0.5 * x + g
    v = 0.5 * v + 0.25 * g
    return x - r * (g + 0.5 * v), v


sample("Adagrad", *STEP, V(3), V(3, seed=1), P(3), n_outputs=2, decay_factor=0.25,
       norm_coefficient=0.5, reference=adagrad)
sample("Adam", *STEP, V(3), V(3, seed=1), V(3, seed=2), P(3), n_outputs=3, reference=adam)
sample("Momentum", *STEP, V(3), V(3, seed=1), V(3, seed=2), n_outputs=2, alpha=0.5, beta=0.25,
       mode="nesterov", norm_coefficient=0.5, reference=momentum)

# ---- ai.onnx.ml -----------------------------------------------------------------------

sample("ArrayFeatureExtractor", V(3, 4), N([0, 2]))
sample("ArrayFeatureExtractor", V(4), N([3, 1, 1]))
sample("Binarizer", V(3, 4), threshold=0.5)
for norm in ["MAX", "L1", "L2"]:
    sample("Normalizer", P(3, 4), norm=norm)
sample("LabelEncoder", texts("b", "a", "x", "b"), keys_strings=["a", "b"], values_int64s=[1, 2],
       default_int64=7, prefers={"T1": "string", "T2": "int64"})
sample("LabelEncoder", np.array([[1., 2], [3, np.nan]]), keys_floats=[3.0, np.nan],
       values_strings=["three", "none"], prefers={"T1": "float", "T2": "string"})
sample("LabelEncoder", N([5, 6, 7]), keys_tensor=tensor([5, 7], "int64"),
       values_tensor=tensor([0.5, 0.25], "double"), default_tensor=tensor([9.], "double"),
       prefers={"T1": "int64", "T2": "double"})
TREES = dict(
    n_targets=2, tree_roots=[0, 3], nodes_featureids=[0, 1, 2, 1], nodes_truenodeids=[1, 0, 2, 4],
    nodes_falsenodeids=[2, 1, 3, 5], nodes_trueleafs=[0, 1, 1, 1], nodes_falseleafs=[0, 1, 1, 1],
    leaf_targetids=[0, 1, 0, 1, 0, 1])
# Of post_transform ONNX Runtime has other numbers than the schema.
for mode, aggregate in [(0, 1), (1, 0), (2, 2), (3, 3), (4, 1), (5, 1)]:
    sample("TreeEnsemble", V(5, 3), **TREES, prefers={"T": "float"}, aggregate_function=aggregate,
           nodes_modes=tensor([mode] * 4, "uint8"),
           nodes_splits=tensor([0.5, -0.25, 1, 0], "float"),
           leaf_weights=tensor([1, 2, 3, 4, 5, 6.5], "float"))

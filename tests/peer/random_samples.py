"""Random inputs and attributes for the operators of ONNX; random_nodes.py runs them.

    @of("Flatten")
    def flatten(d):
        x = d.values(d.shape())
        return [x], {"axis": d.axis(x)}

A function draws one node: its inputs, its attributes and, if there are several, the number of its outputs. `d` is
a Draw: the version of the operator, the types that were chosen for its type variables, and random choices.
Numbers are quarters, as in onnx_samples.py. What ONNX Runtime refuses is drawn again, so a function need not know
every rule of its operator.
"""
import random

import numpy as np

from onnx_samples import N, texts, tensor, number

OPERATORS = {}
CONSTANT = {}  # operator: inputs that ONNX Runtime or the operator itself requires as constants


def of(*names, constant=()):
    def keep(function):
        for name in names:
            OPERATORS[name] = function
            CONSTANT[name] = constant
        return function
    return keep


class Draw(random.Random):
    """Random choices for one node."""

    def start(self, name, version, types):
        self.name, self.version, self.types = name, version, types
        return self

    def pick(self, *choices):
        return self.choice(choices)

    def chance(self, p=0.5):
        return self.random() < p

    def size(self):
        return self.pick(1, 2, 2, 3, 3, 4, 5, 7, 9, 17)

    def shape(self, low=0, high=5, empty=0.08):
        shape = [self.pick(1, 2, 3, 4, 5) for _ in range(self.randint(low, high))]
        if shape and self.chance(0.15):
            shape[self.randrange(len(shape))] = self.pick(8, 16, 33)
        if shape and self.chance(empty):
            shape[self.randrange(len(shape))] = 0
        return shape

    def values(self, shape, low=-3.0, high=3.75, special=0.0):
        special = special if any(self.is_float(name) for name in ("T", "T1", "V")) else 0
        n = int(np.prod(shape, dtype=int))
        x = np.array([self.randint(int(low * 4), int(high * 4)) / 4 for _ in range(min(n, 20000))])
        x = np.resize(x, shape) if n else np.zeros(shape)
        if n and special and self.chance(special):
            for _ in range(3):
                x.reshape(-1)[self.randrange(n)] = self.pick(np.inf, -np.inf, np.nan, -0.0, 1e30, 1e-30)
        return x

    def integers(self, shape, low, high):
        """Of low to high - 1."""
        n = int(np.prod(shape, dtype=int))
        return np.array([self.randrange(low, max(high, low + 1)) for _ in range(n)], np.int64).reshape(shape)

    def bools(self, shape):
        return self.integers(shape, 0, 2).astype(bool)

    def dim(self, rank, negative=True):
        rank = max(rank, 1)
        return self.randrange(-rank if negative and self.chance() else 0, rank)

    def axis(self, x, since=11):
        return self.dim(np.ndim(x), self.version >= since)

    def dims(self, rank, since=11, low=0):
        chosen = self.sample(range(rank), self.randint(min(low, rank), rank))
        return [a - rank if self.version >= since and self.chance(0.3) else a for a in chosen]

    def broadcast(self, shape):
        """A shape that broadcasts with it."""
        out = [self.pick(n, n, 1) for n in shape][self.pick(0, 0, 0, self.randint(0, len(shape))):]
        return out

    def some(self, **attributes):
        """A random part of the attributes."""
        return {k: v for k, v in attributes.items() if self.chance()}

    def either(self, name, value, since, attributes, inputs):
        """An attribute before version `since`, and an input from then on."""
        if self.version < since:
            attributes[name] = [int(v) for v in value] if np.ndim(value) else value
        else:
            inputs.append(np.asarray(value))

    def is_float(self, name):
        return self.types.get(name, "").startswith(("float", "double", "bfloat"))


# ---- one number at a time -------------------------------------------------------------


@of("Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Exp", "Erf", "Tanh", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh",
    "Relu", "Sigmoid", "Softplus", "Softsign", "HardSwish", "Mish", "IsNaN", "Identity", "Sqrt", "Log", "Reciprocal",
    "Acosh", "Asin", "Acos", "Atanh", "Not", "BitwiseNot", "Size", "NonZero")
def unary(d):
    wide = d.chance(0.2) and d.name not in ("Sin", "Cos", "Tan")
    return [d.values(d.shape(), *((-100, 100) if wide else ()), special=0.2)], {}


@of("Celu", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Shrink", "Gelu", "IsInf", "Swish")
def with_attributes(d):
    names = {"Celu": [], "Elu": ["alpha"], "Selu": ["alpha", "gamma"], "LeakyRelu": ["alpha"],
             "HardSigmoid": ["alpha", "beta"], "ThresholdedRelu": ["alpha"], "Shrink": ["lambd", "bias"], "Swish": ["alpha"]}
    attributes = d.some(**{name: d.pick(0.25, 1.0, 2.0, 0.0, -0.5) for name in names.get(d.name, [])})
    if d.name == "Gelu":
        attributes = d.some(approximate=d.pick("tanh", "none"))
    if d.name == "IsInf":
        attributes = d.some(detect_negative=0, detect_positive=d.pick(0, 1))
    return [d.values(d.shape(), special={"IsInf": 0.4, "ThresholdedRelu": 0}.get(d.name, 0.1))], attributes


@of("Clip")
def clip(d):
    x, low, high = d.values(d.shape()), d.pick(None, -1.0, 0.0, 1.5), d.pick(None, 2.0, 1.0, -2.0)
    if d.version < 11:
        return [x], {k: v for k, v in (("min", low), ("max", high)) if v is not None}
    return [x, *(None if v is None else np.array(v) for v in (low, high))], {}


@of("PRelu")
def prelu(d):
    shape = d.shape(1)
    return [d.values(shape), d.values([d.pick(n, 1) for n in shape][d.randint(0, len(shape)):])], {}


@of("Cast")
def cast(d):
    kind = d.types["T2"]
    if "string" in d.types.values():
        raise ValueError("ONNX Runtime writes and reads texts in another way")
    wide = d.types["T1"].startswith(("int", "float", "double")) and kind.startswith(("int", "float", "double"))
    return [d.values(d.shape(), *((-300, 300) if wide and d.chance(0.3) else ()))], {"to": number(kind)}


@of("CastLike")
def cast_like(d):
    if "string" in d.types.values():
        raise ValueError("ONNX Runtime writes and reads texts in another way")
    return [d.values(d.shape()), d.values(d.shape())], {}


# ---- two numbers at a time -------------------------------------------------------------


@of("Add", "Sub", "Mul", "Div", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "BitwiseAnd", "BitwiseOr",
    "BitwiseXor", "And", "Or", "Xor", "Pow", "Mod", "BitShift", "Max", "Min", "Sum", "Mean", "Where")
def binary(d):
    shape = d.shape()
    shapes = [shape, d.broadcast(shape)]
    if d.chance():
        shapes.reverse()
    attributes, low = {}, -3.0
    special = 0.15
    if d.name == "Div" and not d.is_float("T") or d.name == "Mod":
        x, y = d.values(shapes[0], -20, 20), d.values(shapes[1], 1, 5)
        if d.chance() and not d.types["T"].startswith("u"):
            y = y * np.where(d.bools(shapes[1]), 1, -1)
        if d.name == "Mod":
            attributes["fmod"] = 1 if d.is_float("T") else d.pick(0, 1)
            if not attributes["fmod"] and d.chance():
                attributes = {}
        return [x, y], attributes
    if d.name == "Pow":
        return [d.values(shapes[0], *((-3, 3) if d.chance(0.3) else (0.25, 3))),
                d.values(shapes[1], *((0, 3) if not d.is_float("T") else (-2, 3)))], {}
    if d.name == "BitShift":
        return [d.integers(shapes[0], 0, 200), d.integers(shapes[1], 0, 8)], {"direction": d.pick("LEFT", "RIGHT")}
    inputs = [d.values(s, low, special=special) for s in shapes]
    if d.name == "Where":
        return [d.bools(d.broadcast(shape)), *inputs], {}
    if d.name in ("Max", "Min", "Sum", "Mean"):
        inputs = inputs[:d.pick(1, 2, 2)] + [d.values(d.broadcast(shape)) for _ in range(d.pick(0, 0, 1, 2))]
    return inputs, {}


# ---- making and moving -----------------------------------------------------------------


@of("Shape")
def shape(d):
    return [d.values(d.shape())], d.some(start=d.randint(-6, 6), end=d.randint(-6, 6)) if d.version >= 15 else {}


@of("Range")
def range_of(d):
    start, step = d.pick(0, 1, -3, 2.5), d.pick(1, 2, -1, 3, -2, 0.75)
    if not d.is_float("T"):
        start, step = int(start), int(step) or 1
    return [np.array(start), np.array(start + step * d.pick(0, 1, 4, -2, 3.5)), np.array(step)], {}


@of("Constant")
def constant(d):
    return [], {"value": tensor(d.values(d.shape()), d.types["T"])}


@of("ConstantOfShape")
def constant_of_shape(d):
    x = N(d.shape())
    return [x], {"value": tensor([d.pick(0, 1.5, -2)], d.types["T2"])}


@of("EyeLike")
def eye_like(d):
    return [d.values(d.shape(2, 2))], {"dtype": number(d.types["T2"]), **d.some(k=d.randint(-4, 4))}


@of("Reshape")
def reshape(d):
    shape = d.shape()
    total = int(np.prod(shape, dtype=int))
    target, left = [], total
    for _ in range(d.randint(0, 4)):
        n = d.pick(*[k for k in range(1, max(left, 1) + 1) if left % k == 0][:12])
        target.append(n)
        left //= max(n, 1)
    target.append(left)
    if len(target) > 1 and d.chance(0.2) and left == 1:
        target.pop()
    d.shuffle(target)
    attributes = d.some(allowzero=d.pick(0, 1)) if d.version >= 14 else {}
    for i, n in enumerate(target):
        if i < len(shape) and shape[i] == n and d.chance(0.4) and not attributes.get("allowzero"):
            target[i] = 0
    if target and d.chance() and (total or not attributes.get("allowzero")):
        target[d.randrange(len(target))] = -1
    return [d.values(shape), N(target)], attributes


@of("Flatten")
def flatten(d):
    x = d.values(d.shape())
    attributes = d.some(axis=d.pick(x.ndim, d.axis(x)))
    return [x], attributes


@of("Squeeze")
def squeeze(d):
    shape = [d.pick(1, 1, n) for n in d.shape()]
    axes = [i - (len(shape) if d.version >= 11 and d.chance(0.3) else 0) for i, n in enumerate(shape) if n == 1 and d.chance(0.7)]
    inputs, attributes = [d.values(shape)], {}
    if axes:  # ONNX Runtime takes no axes for all, onnx for none
        d.either("axes", N(axes), 13, attributes, inputs)
    return inputs, attributes


@of("Unsqueeze")
def unsqueeze(d):
    x = d.values(d.shape(0, 3))
    n = d.randint(0 if d.version >= 13 else 1, 3)
    axes = d.sample(range(x.ndim + n), n)
    axes = [a - (x.ndim + n) if d.version >= 11 and d.chance(0.3) else a for a in axes]
    inputs, attributes = [x], {}
    d.either("axes", N(axes), 13, attributes, inputs)
    return inputs, attributes


@of("Transpose")
def transpose(d):
    x = d.values(d.shape(0, 6))
    return [x], d.some(perm=d.sample(range(x.ndim), x.ndim)) if x.ndim else {}


@of("Expand")
def expand(d):
    shape = d.shape()
    target = [d.pick(n, n, 1) if d.chance(0.8) else n for n in shape]
    given = [1 if d.chance(0.4) else n for n in shape][d.pick(0, 0, d.randint(0, len(shape))):]
    return [d.values(given), N([d.size()] * d.pick(0, 0, 1) + target)], {}


@of("Tile")
def tile(d):
    x = d.values(d.shape(0, 4))
    return [x, N([d.pick(0, 1, 1, 2, 3) if d.chance(0.9) else 5 for _ in range(x.ndim)])], {}


@of("Concat")
def concat(d):
    shape = d.shape(1)
    axis = d.dim(len(shape), d.version >= 11)
    parts = []
    for _ in range(d.randint(1, 4)):
        part = list(shape)
        part[axis] = d.pick(0, 1, 2, 3)
        parts.append(d.values(part))
    return parts, {"axis": axis}


@of("Split")
def split(d):
    shape = d.shape(1)
    axis, n = d.dim(len(shape), d.version >= 11), d.randint(1, 4)
    parts = [d.pick(0, 1, 2, 3) for _ in range(n)]
    equal = d.chance(0.4)
    shape[axis] = n * d.randint(0 if d.version > 13 else 1, 3) if equal else sum(parts)
    attributes, inputs = {"axis": axis}, []
    if equal and d.version >= 18:
        shape[axis] = max(1, shape[axis] - d.pick(0, 0, 1))
        attributes["num_outputs"] = n
    elif not equal:
        d.either("split", N(parts), 13, attributes, inputs)
    return [d.values(shape), *inputs], attributes, n


@of("Slice")
def slices(d):
    shape = d.shape(1)
    axes = d.dims(len(shape), 10)
    starts, ends, steps = [], [], []
    for axis in axes:
        n = shape[axis]
        for listed in (starts, ends):
            listed.append(d.pick(d.randint(-n - 3, n + 3), d.randint(-n - 3, n + 3), 0, n, -1, -2**31, -2**63))
        steps.append(d.pick(1, 1, 2, 3, -1, -1, -2, -4, 2**40))
        if steps[-1] > 0 or d.version < 10:  # backwards ONNX Runtime takes the greatest end for the least
            ends[-1] = d.pick(ends[-1], 2**31 - 1, 2**63 - 1)
    if d.version < 10:
        attributes = {"starts": starts, "ends": ends}
        if len(axes) == len(shape) and axes == sorted(axes) and d.chance():
            return [d.values(shape)], attributes
        return [d.values(shape)], {**attributes, "axes": axes}
    inputs = [d.values(shape), N(starts), N(ends)]
    if axes == list(range(len(axes))) and d.chance():
        return inputs + [None, N(steps)] * d.pick(0, 1), {}
    return inputs + [N(axes)] + [N(steps)] * d.pick(0, 1, 1), {}


@of("Pad")
def pad(d):
    shape = d.shape(1, 4)
    mode = d.pick("constant", "reflect", "edge", *(["wrap"] if d.version >= 19 else []))
    axes = d.dims(len(shape), low=1) if d.version >= 18 and d.chance() else None
    chosen = [a % len(shape) for a in axes] if axes else range(len(shape))
    pads = [[d.randint(-1, 3), d.randint(-1, 3)] if d.chance(0.3) else [d.randint(0, 2), d.randint(0, 2)] for _ in chosen]
    if mode in ("reflect", "wrap"):
        pads = [[min(p, max(shape[a] - 1, 0)) for p in pair] for a, pair in zip(chosen, pads)]
    flat = [p[0] for p in pads] + [p[1] for p in pads]
    if d.version < 11:
        return [d.values(shape)], {"pads": flat, "mode": mode, **d.some(value=1.5)}
    inputs = [d.values(shape), N(flat), d.pick(None, np.array(d.pick(1.5, -2.0)))]
    if axes:
        inputs.append(N(axes))
    return inputs, {"mode": mode}


@of("DepthToSpace", "SpaceToDepth")
def depth_to_space(d):
    b, n, c, h, w = d.pick(1, 2, 3), d.pick(1, 2), d.size(), d.pick(1, 2, 3), d.pick(1, 2, 5)
    if d.name == "SpaceToDepth":
        return [d.values([n, c, h * b, w * b])], {"blocksize": b}
    return [d.values([n, c * b * b, h, w])], {"blocksize": b, **(d.some(mode=d.pick("DCR", "CRD")) if d.version >= 11 else {})}


@of("Gather")
def gather(d):
    x = d.values(d.shape(1, 4, empty=0.03))
    axis = d.dim(x.ndim)
    n = x.shape[axis]
    indices = d.integers(d.shape(0, 3) if n else [0], -n if d.version >= 11 else 0, n)
    return [x, indices], d.pick({"axis": axis}, {"axis": axis}, {}) if axis in (0, -x.ndim) else {"axis": axis}


@of("GatherElements")
def gather_elements(d):
    x = d.values(d.shape(1, 4, empty=0.03))
    axis = d.dim(x.ndim)
    shape = [d.randint(min(1, n), n) for n in x.shape]
    shape[axis] = d.pick(0, 1, 2, 6) if x.shape[axis] else 0
    return [x, d.integers(shape, -x.shape[axis], x.shape[axis])], {"axis": axis}


@of("GatherND")
def gather_nd(d):
    x = d.values(d.shape(1, 5, empty=0))
    batch = d.randint(0, min(2, x.ndim - 1)) if d.version >= 12 and d.chance() else 0
    last = d.randint(1, x.ndim - batch)
    lead = list(x.shape[:batch]) + d.shape(0 if batch else 1, 2, empty=0.05)
    columns = [d.integers(lead, -n, n) for n in x.shape[batch:batch + last]]
    return [x, np.stack(columns, -1)], {"batch_dims": batch} if batch else {}


@of("Scatter", "ScatterElements")
def scatter_elements(d):
    x = d.values(d.shape(1, 4, empty=0.03))
    axis = d.dim(x.ndim, d.version >= 11)
    shape = [d.randint(min(n, 1), n) for n in x.shape]
    n, attributes = x.shape[axis], {"axis": axis}
    reduction = "none" if d.types["T"] == "string" else d.pick("none", "add", "mul", *(["max", "min"] if d.version >= 18 else []))
    if d.version >= 16 and reduction != "none":
        attributes["reduction"] = reduction
        indices = d.integers(shape, -n, n)
    else:
        order = d.sample(range(n), n)
        indices = np.zeros(shape, np.int64)
        if indices.size:
            indices += N(order[:shape[axis]]).reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])
            indices -= n * d.bools(shape) if d.version >= 11 else 0
    return [x, indices, d.values(shape)], attributes


@of("ScatterND")
def scatter_nd(d):
    x = d.values(d.shape(1, 4, empty=0))
    last = d.randint(1, x.ndim)
    lead = d.shape(1, 2, empty=0.05)
    reduction = "none" if d.types["T"] == "string" else d.pick("none", "add", "mul", *(["max", "min"] if d.version >= 18 else []))
    if d.version < 16 or reduction == "none":
        rows = d.sample(range(int(np.prod(x.shape[:last]))), min(3, int(np.prod(x.shape[:last]))))
        indices = np.stack(np.unravel_index(rows, x.shape[:last]), -1).astype(np.int64)
        if d.version >= 11 and d.chance(0.3):
            indices = indices - N(x.shape[:last])
        return [x, indices, d.values([len(rows), *x.shape[last:]])], {}
    indices = np.stack([d.integers(lead, -n, n) for n in x.shape[:last]], -1)
    return [x, indices, d.values([*lead, *x.shape[last:]])], {"reduction": reduction}


@of("TensorScatter")
def tensor_scatter(d):
    shape = [d.size() for _ in range(d.pick(3, 4))]
    axis = d.pick(-2, len(shape) - 2, 1)
    update = list(shape)
    update[axis] = d.randint(1, shape[axis])
    mode = d.pick("linear", "circular")
    high = shape[axis] if mode == "circular" else shape[axis] - update[axis] + 1
    where = d.pick(None, d.integers([shape[0]], 0, high))
    return [d.values(shape), d.values(update), where], {"axis": axis, "mode": mode}


@of("OneHot")
def one_hot(d):
    depth = d.randint(1, 6)
    x = d.integers(d.shape(0, 3), -depth - 1, depth + 2)
    return [x, np.array(d.pick(depth, [depth])), d.values([2])], d.some(axis=d.randint(-x.ndim - 1, x.ndim))


@of("Compress")
def compress(d):
    x = d.values(d.shape(1, 4))
    axis = d.pick(None, d.axis(x))
    n = x.size if axis is None else x.shape[axis]
    return [x, d.bools([d.randint(0, n)])], {} if axis is None else {"axis": axis}


@of("Trilu")
def trilu(d):
    x = d.values(d.shape(2))
    return [x, d.pick(None, np.array(d.randint(-6, 6)))], d.some(upper=d.pick(0, 1))


@of("Unique")
def unique(d):
    x = d.values(d.shape(0, 3, empty=0.03), -1, 1)
    attributes = d.some(sorted=d.pick(0, 1))
    if d.chance() and x.ndim:
        attributes["axis"] = d.axis(x)
    return [x], attributes, d.randint(1, 4)


@of("TopK")
def topk(d):
    shape = d.shape(1, 4, empty=0.03)
    n = int(np.prod(shape))
    x = np.array(d.sample(range(-n, 2 * n + 1), n)).reshape(shape) / 4.0 if d.is_float("T") and n < 60 else d.values(shape)
    axis = d.dim(x.ndim, d.version >= 11)
    k = d.randint(0 if d.version >= 10 else 1, max(1, shape[axis]))
    inputs, attributes = [x], {"axis": axis}
    if d.version < 10:
        attributes["k"] = k
    else:
        inputs.append(N([k]))
    if d.version >= 11:
        attributes.update(d.some(largest=d.pick(0, 1)))
    return inputs, attributes, 2


@of("ReverseSequence")
def reverse_sequence(d):
    shape = [d.size() for _ in range(d.randint(2, 4))]
    batch = d.pick(0, 1)
    return [d.values(shape), d.integers([shape[batch]], 1, shape[1 - batch] + 1)], {
        "batch_axis": batch, "time_axis": 1 - batch} if batch == 0 or d.chance(0.8) else {}


@of("CenterCropPad")
def center_crop_pad(d):
    x = d.values(d.shape(1, 4))
    axes = d.pick(None, d.dims(x.ndim, low=1))
    return [x, N([d.randint(1, 8) for _ in (axes or x.shape)])], {} if axes is None else {"axes": axes}


@of("Col2Im")
def col2im(d):
    rank = d.pick(1, 2, 2, 3)
    image, kernel = [d.randint(4, 7) for _ in range(rank)], [d.randint(1, 3) for _ in range(rank)]
    strides, dilations = [d.pick(1, 2) for _ in range(rank)], [d.pick(1, 1, 2) for _ in range(rank)]
    if rank == 3:  # ONNX Runtime 1.30 confuses the dimensions
        strides = dilations = [1] * rank
    pads = [d.pick(0, 1) for _ in range(2 * rank)]
    count = [(image[i] + pads[i] + pads[i + rank] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    x = d.values([d.pick(1, 2), d.pick(1, 3) * int(np.prod(kernel)), int(np.prod(count))])
    return [x, N(image), N(kernel)], {"strides": strides, "dilations": dilations, "pads": pads}


# ---- sums and matrices -----------------------------------------------------------------


@of(*("Reduce" + kind for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")))
def reduction(d):
    # Of empty tensors ONNX Runtime has other sizes before opset 18, and if all axes are listed out of order.
    shape = d.shape(0, 5, empty=0.08 if d.version >= 18 and d.name not in ("ReduceMax", "ReduceMin", "ReduceMean") else 0)
    if d.name == "ReduceLogSumExp" and not d.is_float("T"):
        raise ValueError("log(exp(3)) is 2 in ONNX Runtime")
    axes = d.dims(len(shape), 11)
    axes = axes if 0 not in shape else sorted(a % len(shape) for a in axes)
    low = 0.25 if d.name == "ReduceLogSum" else -3
    inputs, attributes = [d.values(shape, low, special=0.1)], d.some(keepdims=d.pick(0, 1))
    by_input = 13 if d.name == "ReduceSum" else 18
    if axes or d.chance(0.7) and d.version >= by_input:
        d.either("axes", N(axes), by_input, attributes, inputs)
    if d.version >= by_input:
        attributes.update(d.some(noop_with_empty_axes=d.pick(0, 1)))
    return inputs, attributes


@of("ArgMax", "ArgMin")
def arg(d):
    x = d.values(d.shape(1, 4, empty=0.03))
    return [x], d.some(axis=d.axis(x), keepdims=d.pick(0, 1), **({"select_last_index": 1} if d.version >= 12 else {}))


@of("CumSum", "CumProd")
def cumulative(d):
    x = d.values(d.shape(1, 4))
    return [x, np.array(d.pick(d.axis(x)))], d.some(exclusive=1, reverse=1)


def product_shapes(d):
    m, k, n = d.size(), d.pick(1, 2, 4, 7, 16, 0 if d.name == "MatMul" and d.chance(0.1) else 3), d.size()
    lead = d.shape(0, 3, empty=0.03)
    a, b = [*d.broadcast(lead), m, k], [*d.broadcast(lead), k, n]
    if d.chance(0.15):
        a = [k]
    if d.chance(0.15):
        b = [k]
    return a, b


@of("MatMul")
def matmul(d):
    a, b = product_shapes(d)
    return [d.values(a), d.values(b)], {}


@of("MatMulInteger")
def matmul_integer(d):
    a, b = product_shapes(d)
    a_zero = d.pick(None, np.array(2), d.values([a[-2]], 0, 3) if len(a) == 2 and d.chance(0.2) else None)
    b_zero = d.pick(None, np.array(3), d.values([b[-1]], 0, 3) if len(b) == 2 else None)
    return [d.values(a, -100, 100), d.values(b, -31, 31), a_zero, b_zero], {}


@of("Gemm")
def gemm(d):
    m, k, n = d.size(), d.pick(1, 2, 4, 7, 16, 33), d.size()
    attributes = d.some(transA=d.pick(0, 1), transB=d.pick(0, 1), alpha=d.pick(0.5, 1.0, 2.0, 0.0), beta=d.pick(0.25, 2.0, 0.0))
    if not d.is_float("T"):
        attributes = {key: value for key, value in attributes.items() if key.startswith("trans")}
    a, b = ([k, m] if attributes.get("transA") else [m, k]), ([n, k] if attributes.get("transB") else [k, n])
    c = d.pick(None if d.version >= 11 else [n], [n], [m, 1], [1, n], [m, n], [], [1])
    return [d.values(a), d.values(b)] + ([] if c is None else [d.values(c)]), attributes


@of("Einsum")
def einsum(d):
    sizes = {c: d.pick(1, 2, 3, 4) for c in "abcdefg"}
    terms = []
    for _ in range(d.pick(1, 2, 2, 2, 3)):
        letters = d.sample("abcdefg"[:d.pick(3, 4, 5, 7)], d.randint(0, 3))
        if letters and d.chance(0.1):
            letters.insert(d.randint(0, len(letters)), letters[0])
        terms.append("".join(letters))
    used = sorted({c for t in terms for c in t})
    dots = d.chance(0.25)
    lead = d.shape(1, 2, empty=0)
    shapes = []
    for i, t in enumerate(terms):
        at = d.randint(0, len(t))
        front = d.broadcast(lead) if dots else []
        shapes.append([sizes[c] for c in t[:at]] + front + [sizes[c] for c in t[at:]])
        terms[i] = t[:at] + ("..." if dots else "") + t[at:]
    out = "".join(d.sample(used, d.randint(0, len(used))))
    space = d.pick("", "", " ")
    equation = ("," + space).join(terms)
    if d.chance(0.85) or dots:
        equation += space + "->" + space + ("..." if dots else "") + out
    return [d.values(s) for s in shapes], {"equation": equation}


@of("Det")
def det(d):
    n = d.randint(1, 5)
    return [d.values([*d.shape(0, 2), n, n])], {}


@of("Softmax", "LogSoftmax", "Hardmax")
def softmax(d):
    shape = d.shape(1, 4)
    n = int(np.prod(shape))
    x = np.array(d.sample(range(-n, 2 * n), n)).reshape(shape) / 4.0 if d.name == "Hardmax" and n < 50 else d.values(shape)
    return [x], d.some(axis=d.axis(x))


# ---- windows ---------------------------------------------------------------------------


def spatial(d, low=1, auto=True):
    """Sizes of a feature map and of a window on it, and their attributes."""
    rank = d.pick(*[r for r in (1, 2, 2, 2, 3) if r >= low])
    size = [d.randint(3, 9 if rank < 3 else 5) for _ in range(rank)]
    kernel = [d.randint(1, 4) for _ in range(rank)]
    if d.chance():
        kernel = [kernel[0]] * rank
    attributes = d.some(strides=[d.randint(1, 3) for _ in range(rank)], dilations=[d.pick(1, 1, 2) for _ in range(rank)])
    how = d.pick("pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID")
    if how == "pads":
        attributes["pads"] = [d.randint(0, max(k - 1, 0)) for k in kernel * 2]
    elif how == "VALID" or how != "none" and auto and all(k >= s for k, s in zip(kernel, attributes.get("strides", kernel))):
        # Where a stride is larger than the window ONNX Runtime cuts off the border, which is not padding.
        attributes["auto_pad"] = how
        if how != "VALID":
            attributes.pop("dilations", None)
    return size, kernel, attributes


@of("Conv", "ConvInteger")
def conv(d):
    size, kernel, attributes = spatial(d)
    groups = d.pick(1, 1, 1, 2, 3, 4)
    each, out = d.pick(1, 1, 2, 3, 8), groups * d.pick(1, 1, 2, 5, 8)
    attributes.update({"group": groups} if groups > 1 or d.chance(0.2) else {})
    attributes.update(d.some(kernel_shape=kernel))
    batch = 0 if d.chance(0.03) else d.pick(1, 1, 2)
    if d.name == "ConvInteger":
        return [d.values([batch, groups * each, *size], -100, 100), d.values([out, each, *kernel], -31, 31),
                d.pick(None, np.array(2)), d.pick(None, np.array(3))], attributes
    return [d.values([batch, groups * each, *size]), d.values([out, each, *kernel])] + [
        d.values([out])] * d.pick(0, 1), attributes


@of("QLinearConv")
def qlinear_conv(d):
    d.name = "ConvInteger"
    (x, w, _, _), attributes = conv(d)
    d.name = "QLinearConv"
    m = w.shape[0]
    each = d.chance()
    w_scale = d.pick(*[np.array(0.25)] * 2) if not each else d.values([m], 0.25, 1)
    w_zero = np.array(0 if d.types["T2"] == "int8" else 3) if not each else np.full([m], 0 if d.types["T2"] == "int8" else 3)
    return [x, np.array(0.5), np.array(2), w, w_scale, w_zero, np.array(d.pick(8.0, 2.0)), np.array(1)] + [
        d.integers([m], -50, 50)] * d.pick(0, 1), attributes


@of("QLinearMatMul")
def qlinear_matmul(d):
    a, b = product_shapes(d)
    return [d.values(a, -100, 100), np.array(0.5), np.array(2), d.values(b, -31, 31), np.array(0.25), np.array(1),
            np.array(d.pick(4.0, 16.0)), np.array(3)], {}


@of("ConvTranspose")
def conv_transpose(d):
    size, kernel, attributes = spatial(d)
    groups = d.pick(1, 1, 2, 3)
    each, out = d.pick(1, 2, 5), d.pick(1, 2, 3)
    if groups > 1:
        attributes["group"] = groups
    strides = attributes.get("strides", [1] * len(kernel))
    attributes.update(d.some(output_padding=[d.randint(0, max(s - 1, 0)) for s in strides]))
    if d.chance(0.15):
        attributes["output_shape"] = [s * n + d.randint(0, 1) for s, n in zip(strides, size)]
        attributes.pop("pads", None)
    return [d.values([d.pick(1, 2), groups * each, *size]), d.values([groups * each, out, *kernel])] + [
        d.values([groups * out])] * d.pick(0, 1), attributes


@of("DeformConv")
def deform_conv(d):
    size, kernel, attributes = spatial(d, 2, False)
    size, kernel = size[:2], kernel[:2]
    attributes = {k: (v[:2] if k != "pads" else [1, 1, 1, 1]) for k, v in attributes.items()}
    groups, offsets = d.pick(1, 2), d.pick(1, 2)
    c, out, n = groups * offsets * d.pick(1, 2), groups * d.pick(1, 3), d.pick(1, 2)
    s, dil, p = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1]), attributes.get("pads", [0] * 4)
    to = [(size[i] + p[i] + p[i + 2] - dil[i] * (kernel[i] - 1) - 1) // s[i] + 1 for i in range(2)]
    if min(to) < 1:
        raise ValueError("window")
    k = kernel[0] * kernel[1]
    inputs = [d.values([n, c, *size]), d.values([out, c // groups, *kernel]), d.values([n, offsets * 2 * k, *to], -1, 1)]
    inputs += [d.pick(None, d.values([out])), d.pick(None, d.values([n, offsets * k, *to], 0, 1))]
    return inputs, {**attributes, "group": groups, "offset_group": offsets}


@of("AveragePool", "MaxPool", "LpPool")
def pool(d):
    size, kernel, attributes = spatial(d)
    v = d.version
    if d.name == "MaxPool" and v < 10 or d.name == "AveragePool" and v < 19 or d.name == "LpPool" and v < 18:
        attributes.pop("dilations", None)
    if d.name == "AveragePool":
        attributes.update(d.some(count_include_pad=d.pick(0, 1)))
    if d.name == "LpPool":
        attributes.update(d.some(p=d.pick(1, 2, 3)))
    kernel = [min(k, n) for k, n in zip(kernel, size)]
    if v >= (18 if d.name == "LpPool" else 10):
        attributes.update(d.some(ceil_mode=d.pick(0, 1)))
    n_outputs = 1
    if d.name == "MaxPool" and v >= 8:
        n_outputs = d.pick(1, 1, 2)
        if n_outputs == 2:
            attributes.update(d.some(storage_order=d.pick(0, 1)))
    x = d.values([d.pick(1, 2), d.pick(1, 3, 8), *size])
    if d.name == "MaxPool" and x.size < 600:
        x = np.array(d.sample(range(-x.size, x.size), x.size)).reshape(x.shape) / 8.0
    return [x], {**attributes, "kernel_shape": kernel}, n_outputs


@of("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(d):
    return [d.values([d.pick(1, 2), *[d.size() for _ in range(d.pick(2, 3, 4))]])], d.some(p=d.pick(1, 2, 3)) if "Lp" in d.name else {}


@of("MaxUnpool")
def max_unpool(d):
    n, c, h, w = d.pick(1, 2), d.pick(1, 2), d.pick(2, 3), d.pick(2, 3)
    count = n * c * 4 * h * w
    indices = N(d.sample(range(count), n * c * h * w)).reshape(n, c, h, w)
    return [d.values([n, c, h, w]), indices], {"kernel_shape": [2, 2], "strides": [2, 2]}


@of("BatchNormalization")
def batch_norm(d):
    c = d.pick(1, 2, 3, 8)
    x = d.values([d.pick(1, 2), c, *[d.pick(1, 3, 4) for _ in range(d.pick(0, 1, 2, 3))]])
    return [x, d.values([c]), d.values([c]), d.values([c]), d.values([c], 0.25, 3)], d.some(epsilon=1e-2, momentum=0.5)


@of("InstanceNormalization")
def instance_norm(d):
    c = d.pick(1, 2, 3, 8)
    return [d.values([d.pick(1, 2), c, *[d.pick(2, 3, 4) for _ in range(d.pick(1, 2, 3))]]), d.values([c]), d.values([c])], d.some(epsilon=1e-2)


@of("GroupNormalization")
def group_norm(d):
    groups = d.pick(1, 2, 3)
    c = groups * d.pick(1, 2, 3)
    n = groups if d.version < 21 else c
    return [d.values([d.pick(1, 2), c, *[d.pick(2, 3, 4) for _ in range(d.pick(1, 2, 3))]]), d.values([n]), d.values([n])], {
        "num_groups": groups, **d.some(epsilon=1e-2)}


@of("LayerNormalization", "RMSNormalization")
def layer_norm(d):
    x = d.values(d.shape(1, 4, empty=0.02))
    axis = d.dim(x.ndim)
    shape = list(x.shape[axis:] if axis >= 0 else x.shape[x.ndim + axis:])
    if d.chance(0.2):
        shape = [d.pick(1, n) for n in shape]
    inputs = [x, d.values(shape)]
    if d.name == "LayerNormalization" and d.chance():
        inputs.append(d.values(shape))
    return inputs, {"axis": axis, **d.some(epsilon=1e-2)}, d.pick(1, 1, 3) if d.name == "LayerNormalization" else 1


@of("LRN")
def lrn(d):
    return [d.values([d.pick(1, 2), d.size(), d.pick(1, 3), d.pick(1, 4)])], {
        "size": d.pick(1, 3, 5), **d.some(alpha=d.pick(0.5, 1e-4), beta=d.pick(0.5, 1.0), bias=2.0)}


@of("LpNormalization")
def lp_normalization(d):
    x = d.values(d.shape(1, 4))
    return [x], d.some(axis=d.dim(x.ndim), p=d.pick(1, 2))


@of("MeanVarianceNormalization")
def mean_variance(d):
    x = np.arange(36).reshape(2, 3, 2, 3) + d.values([2, 3, 2, 3])
    return [x], d.some(axes=d.dims(4, low=1))


@of("Dropout")
def dropout(d):
    x = d.values(d.shape())
    if d.version < 12:
        return [x], d.some(ratio=0.25)
    return [x] + d.pick([], [np.array(0.25)], [np.array(0.25), np.array(False)], [None, np.array(False)]), {}, d.pick(1, 2)


@of("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def nll(d):
    c = d.pick(1, 2, 5)
    rest = [d.pick(1, 2, 3) for _ in range(d.pick(0, 0, 1, 2))]
    n = d.pick(1, 2, 3)
    target = d.integers([n, *rest], 0, c)
    attributes = d.some(reduction=d.pick("mean", "sum", "none"), ignore_index=d.pick(0, 1, -1, -100))
    if attributes.get("ignore_index", 0) < 0 and d.chance():
        target = np.where(d.integers(target.shape, 0, 3) == 0, attributes["ignore_index"], target)
    inputs = [d.values([n, c, *rest]), target] + [d.values([c], 0.25, 2)] * d.pick(0, 1)
    return inputs, attributes, d.pick(1, 2) if d.name.startswith("Soft") else 1


# ---- recurrent -------------------------------------------------------------------------


@of("RNN", "GRU", "LSTM")
def recurrent(d):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[d.name]
    direction = d.pick("forward", "reverse", "bidirectional")
    n, length, batch, size, hidden = 1 + (direction == "bidirectional"), d.pick(1, 2, 5), d.pick(1, 2, 3), d.pick(1, 3, 4), d.pick(1, 2, 5, 8)
    layout = d.pick(0, 0, 1) if d.version >= 14 else 0

    def rows(*shape):
        return d.values(shape, -1, 1)

    first = (batch, n) if layout else (n, batch)
    inputs = [rows(batch, length, size) if layout else rows(length, batch, size), rows(n, gates * hidden, size), rows(n, gates * hidden, hidden),
              d.pick(None, rows(n, 2 * gates * hidden)), d.pick(None, None, d.integers([batch], 1, length + 1)),
              d.pick(None, rows(*first, hidden))]
    if d.name == "LSTM":
        inputs += [d.pick(None, rows(*first, hidden)), d.pick(None, None, rows(n, 3 * hidden))]
    attributes = {"hidden_size": hidden, "direction": direction, **d.some(clip=0.5)}
    if layout:
        attributes["layout"] = 1
    if d.name == "GRU":
        attributes.update(d.some(linear_before_reset=1))
    if d.chance(0.3):
        names = ["Relu", "Tanh", "Sigmoid", "HardSigmoid", "Elu", "Softsign", "Softplus", "LeakyRelu"]
        chosen = [d.pick(*names) for _ in range(n * {"RNN": 1, "GRU": 2, "LSTM": 3}[d.name])]
        attributes["activations"] = chosen
        if d.chance(0.3):
            attributes["activation_alpha"] = [0.5] * len(chosen)
            attributes["activation_beta"] = [0.25] * len(chosen)
    return inputs, attributes, d.randint(1, 3 if d.name == "LSTM" else 2)


# ---- quantization ----------------------------------------------------------------------


@of("QuantizeLinear", "DequantizeLinear")
def quantize(d):
    shape = d.shape(1, 4)
    axis = d.dim(len(shape))
    kind = d.pick("tensor", "tensor", "axis" if d.version >= 13 else "tensor", "block" if d.version >= 21 else "tensor")
    attributes = {}
    if kind == "tensor":
        scales = d.pick([], [], [1] if d.version >= 13 else [])
    elif kind == "axis":
        scales, attributes = [shape[axis]], {"axis": axis}
    else:
        block = d.randint(1, 4)
        scales = list(shape)
        scales[axis] = -(-shape[axis] // block)
        attributes = {"axis": axis, "block_size": block}
    down = d.name == "DequantizeLinear"
    x = d.values(shape, *((-100, 100) if down else (-40, 40)))
    zero = d.values(scales, 0, 3)
    if d.types.get("T" if down and d.version < 19 else "T1" if down else "T2") in ("int32",) or not down and d.chance(0.1):
        zero = zero * 0
    inputs = [x, d.values(scales, 0.25, 2)] + ([zero] if not down or d.chance(0.7) else [])
    return inputs, attributes


@of("DynamicQuantizeLinear")
def dynamic_quantize(d):
    low = d.pick(-3, 0.5, -40)
    return [d.values(d.shape(empty=0), low, d.pick(-0.25, 3) if low < 0 else 3)], {}, 3


# ---- images ----------------------------------------------------------------------------


@of("Upsample")
def upsample(d):
    x = d.values([1, d.pick(1, 2), d.randint(2, 5), d.randint(2, 5)])
    scales = [1.0, 1.0, d.pick(1.0, 2.0, 1.5, 3.0), d.pick(1.0, 2.0, 2.5)]
    attributes = d.some(mode=d.pick("nearest", "linear"))
    return ([x], {**attributes, "scales": scales}) if d.version < 9 else ([x, np.array(scales)], attributes)


@of("Resize")
def resize(d):
    mode = d.pick("nearest", "linear", "cubic") if d.version >= 11 else d.pick("nearest", "linear")
    rank = 4 if mode == "cubic" else d.pick(3, 4, 4, 4, 5, 2)
    moving = list(range(rank))[-d.pick(1, 2, 2, 3):] if mode != "cubic" else [2, 3]
    if mode != "nearest":
        moving = moving[-2:] if rank != 5 else moving
    shape = [d.randint(1, 6) if i in moving else d.pick(1, 2) for i in range(rank)]
    factors = [d.pick(0.5, 0.6, 1.5, 2.0, 2.3, 3.0, 1.0) if i in moving else 1.0 for i in range(rank)]
    sizes = [d.randint(1, 9) if i in moving else shape[i] for i in range(rank)]
    x = d.values(shape)
    if d.version < 11:
        return [x, np.array(factors)], {"mode": mode}
    attributes = {"mode": mode}
    how = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "tf_crop_and_resize"]
    how += ["half_pixel_symmetric"] if d.version >= 19 else ["tf_half_pixel_for_nn"] if d.version < 13 else []
    attributes.update(d.some(coordinate_transformation_mode=d.pick(*how)))
    if mode == "nearest":
        attributes.update(d.some(nearest_mode=d.pick("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")))
    if mode == "cubic":
        attributes.update(d.some(cubic_coeff_a=d.pick(-0.5, -0.75), exclude_outside=d.pick(0, 1)))
    if d.version >= 18 and mode != "nearest" and d.chance(0.3):
        attributes["antialias"] = 1
        attributes.pop("coordinate_transformation_mode", None)
    roi = None if d.version >= 13 else np.array([])
    if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        low = [d.pick(0.0, 0.1, 0.25) if i in moving else 0.0 for i in range(rank)]
        high = [d.pick(1.0, 0.8, 1.2) if i in moving else 1.0 for i in range(rank)]
        roi = np.array(low + high)
        attributes.update(d.some(extrapolation_value=2.5))
    if d.version >= 18 and d.chance(0.5):
        attributes["axes"] = [i - rank * d.pick(0, 0, 1) for i in moving]
        factors, sizes = [factors[i] for i in moving], [sizes[i] for i in moving]
        if roi is not None and roi.size:
            roi = np.array([roi[i] for i in moving] + [roi[rank + i] for i in moving])
        if d.chance(0.3):
            attributes["keep_aspect_ratio_policy"] = d.pick("stretch", "not_larger", "not_smaller")
            attributes["axes"] = moving  # of negative ones ONNX Runtime keeps no aspect
    if d.chance():
        attributes.pop("keep_aspect_ratio_policy", None)
        return [x, roi, np.array(factors)], attributes
    return [x, roi, np.array([]) if d.version < 13 else None, N(sizes)], attributes


@of("GridSample")
def grid_sample(d):
    rank = 2 if d.version < 20 else d.pick(2, 2, 3)
    n = d.pick(1, 2)
    x = d.values([n, d.pick(1, 2, 3), *[d.randint(1, 5) for _ in range(rank)]])
    grid = d.values([n, *[d.randint(1, 4) for _ in range(rank)], rank], -6, 6) / 4
    modes = ["bilinear", "nearest", "bicubic"] if d.version < 20 else ["linear", "nearest"] + ["cubic"] * (rank == 2)
    return [x, grid], d.some(mode=d.pick(*modes), padding_mode=d.pick("zeros", "border", "reflection"), align_corners=d.pick(0, 1))


@of("AffineGrid")
def affine_grid(d):
    rank = d.pick(2, 3)
    n = d.pick(1, 2)
    return [d.values([n, rank, rank + 1]), N([n, d.pick(1, 3), *[d.randint(2, 5) for _ in range(rank)]])], d.some(align_corners=d.pick(0, 1))


def boxes_of(d, n, scale=1.0):
    low = d.values([n, 2], 0, 3) * scale
    return np.concatenate([low, low + d.values([n, 2], 0.25, 3) * scale], 1)


@of("RoiAlign")
def roi_align(d):
    n, k = d.pick(1, 2), d.pick(0, 1, 3)
    x = d.values([n, d.pick(1, 3), d.randint(3, 7), d.randint(3, 7)])
    attributes = d.some(output_height=d.randint(1, 3), output_width=d.randint(1, 3), sampling_ratio=d.randint(0, 3),
                        spatial_scale=d.pick(0.5, 1.0, 2.0), mode=d.pick("avg", "max"))
    if d.version >= 16:
        attributes.update(d.some(coordinate_transformation_mode=d.pick("half_pixel", "output_half_pixel")))
    return [x, boxes_of(d, k), d.integers([k], 0, n)], attributes


@of("MaxRoiPool")
def max_roi_pool(d):
    n, k = d.pick(1, 2), d.pick(1, 3)
    rois = np.concatenate([d.integers([k, 1], 0, n), np.floor(boxes_of(d, k))], 1)
    return [d.values([n, d.pick(1, 3), 6, 7]), rois], {"pooled_shape": [d.randint(1, 3), d.randint(1, 3)], **d.some(spatial_scale=d.pick(0.5, 1.0))}


@of("NonMaxSuppression")
def nms(d):
    b, k, c = d.pick(1, 2), d.pick(1, 3, 6), d.pick(1, 2)
    boxes = np.stack([boxes_of(d, k) for _ in range(b)])
    scores = np.array(d.sample(range(1, 200), b * c * k)).reshape(b, c, k) / 256
    inputs = [boxes, scores] + [np.array(d.pick(0, 1, 2, 10)), np.array(d.pick(0.0, 0.25, 0.5)), np.array(d.pick(0.0, 0.3))][:d.randint(0, 3)]
    return inputs, d.some(center_point_box=d.pick(0, 1))


# ---- attention -------------------------------------------------------------------------


@of("Attention")
def attention(d):
    n, q_heads, kv_heads = d.pick(1, 2), d.pick(1, 2, 4), d.pick(1, 2)
    q_heads = q_heads * kv_heads if q_heads % kv_heads else q_heads
    length, keys, size, value_size, past = d.pick(1, 3, 5), d.pick(1, 4, 5), d.pick(2, 4, 8), d.pick(2, 4, 8), d.pick(0, 0, 2)

    def rows(heads, count, width, flat):
        return d.values([n, count, heads * width] if flat else [n, heads, count, width], -1, 1)

    flat = d.chance()
    inputs = [rows(q_heads, length, size, flat), rows(kv_heads, keys, size, flat), rows(kv_heads, keys, value_size, flat)]
    attributes = d.some(is_causal=d.pick(0, 1), scale=d.pick(0.25, 1.0), softcap=d.pick(0.0, 2.0), qk_matmul_output_mode=d.pick(0, 3))
    if flat:
        attributes.update(q_num_heads=q_heads, kv_num_heads=kv_heads)
    total = keys + past
    mask = d.pick(None, None, [length, total], [n, 1, length, total], [1, q_heads, length, total], [n, q_heads, length, total])
    if mask:
        mask = d.bools(mask) if d.types["U"] == "bool" else d.values(mask)
        if d.types["U"] == "bool":
            mask[..., 0] = True
    inputs.append(mask)
    if past:
        inputs += [rows(kv_heads, past, size, False), rows(kv_heads, past, value_size, False)]
    elif d.version >= 24 and d.chance(0.4):
        inputs += [None, None, d.integers([n], 1, keys + 1)]
    return inputs, attributes, d.pick(3, 4) if past else d.pick(1, 1, 3, 4)


@of("RotaryEmbedding")
def rotary(d):
    n, heads, length, size = d.pick(1, 2), d.pick(1, 2, 3), d.pick(1, 4), d.pick(4, 8)
    part = d.pick(size, size, size // 2)
    flat, ids = d.chance(), d.chance()
    attributes = d.some(interleaved=d.pick(0, 1))
    if part != size:
        attributes["rotary_embedding_dim"] = part
    if flat or part != size:
        attributes["num_heads"] = heads
    tables = [10, part // 2] if ids else [n, length, part // 2]
    return [d.values([n, length, heads * size] if flat else [n, heads, length, size]), d.values(tables, -1, 1), d.values(tables, -1, 1)] + (
        [d.integers([n, length], 0, 10)] if ids else []), attributes


# ---- signals ---------------------------------------------------------------------------


@of("HannWindow", "HammingWindow", "BlackmanWindow")
def window(d):
    kind = d.types["T2"] if d.is_float("T2") else "float"
    return [np.array(d.randint(1, 12))], {"output_datatype": number(kind), **d.some(periodic=d.pick(0, 1))}


@of("DFT")
def dft(d):
    inverse, onesided = d.pick(0, 0, 1), d.pick(0, 0, 1)
    shape = [d.pick(1, 2), *[d.randint(1, 9) for _ in range(d.pick(1, 2, 3))], 2 if inverse else d.pick(1, 2)]
    if onesided and not inverse:
        shape[-1] = 1
    axis = d.randint(1, len(shape) - 2)
    if inverse and onesided:
        raise ValueError("ONNX Runtime has no inverse onesided transform")
    length = d.pick(None, None, np.array(d.randint(1, 12)))
    attributes = d.some(inverse=inverse, onesided=onesided)
    if "inverse" not in attributes and not onesided and shape[-1] == 1 and d.chance():
        attributes["onesided"] = 1
    if d.version < 20:
        return [d.values(shape), length], {**attributes, "axis": axis}
    return [d.values(shape), length, np.array(d.pick(axis, axis - len(shape)))], attributes


@of("STFT")
def stft(d):
    frame, step = d.pick(2, 4, 5, 8), d.randint(1, 5)
    x = d.values([d.pick(1, 2), d.randint(8, 20), d.pick(1, 1, 2)])
    attributes = {"onesided": 0 if x.shape[-1] == 2 else d.pick(0, 1)}
    # ONNX Runtime 1.30 reads past the window of a complex signal.
    how = "length" if x.shape[-1] == 2 else d.pick("window", "length", "both")
    return [x, np.array(step), None if how == "length" else d.values([frame], 0.25, 1),
            None if how == "window" else np.array(frame)], attributes


@of("MelWeightMatrix")
def mel(d):
    return [np.array(d.randint(1, 8)), np.array(d.pick(8, 16, 32)), np.array(8192), np.array(d.pick(0.0, 100.0)), np.array(d.pick(4000.0, 2000.0))], {}


# ---- sequences and strings -------------------------------------------------------------


def items(d):
    shape = d.shape(1, 3)
    return [d.values([d.pick(1, 2, 3), *shape[1:]]) for _ in range(d.randint(1, 4))]


@of("ConcatFromSequence")
def concat_from_sequence(d):
    parts = items(d)
    if d.chance():
        shape = parts[0].shape
        return [[d.values(shape) for _ in parts]], {"axis": d.randint(-len(shape) - 1, len(shape)), "new_axis": 1}
    return [parts], {"axis": d.pick(0, -parts[0].ndim)}


@of("SequenceAt", "SequenceErase")
def sequence_at(d):
    parts = items(d)
    where = np.array(d.randrange(-len(parts), len(parts)))
    return [parts, where] if d.name == "SequenceAt" or d.chance() else [parts], {}


@of("SequenceInsert")
def sequence_insert(d):
    parts = items(d)
    return [parts, d.values(d.shape())] + d.pick([], [np.array(d.randrange(-len(parts), len(parts) + 1))]), {}


@of("SequenceConstruct")
def sequence_construct(d):
    return items(d), {}


@of("SequenceLength")
def sequence_length(d):
    return [items(d)], {}


@of("SplitToSequence")
def split_to_sequence(d):
    x = d.values(d.shape(1, 3, empty=0.02))
    axis = d.dim(x.ndim)
    n = x.shape[axis]
    how = d.pick("none", "size", "sizes")
    if how == "none":
        return [x], {"axis": axis, **d.some(keepdims=d.pick(0, 1))}
    if how == "size":
        return [x, np.array(d.randint(1, n + 1))], {"axis": axis}
    first = d.randint(0, n)
    return [x, N([first, n - first])], {"axis": axis}


WORDS = ["", "a", "A b", "x-y-z", " lead", "ümlaut", "the", "End.", "a  b"]


@of("StringConcat")
def string_concat(d):
    shape = d.shape(0, 3)
    return [np.array([d.pick(*WORDS) for _ in range(int(np.prod(s, dtype=int)))], object).reshape(s) for s in (shape, d.broadcast(shape))], {}


@of("StringSplit")
def string_split(d):
    shape = d.shape(0, 2)
    x = np.array([d.pick(*WORDS) for _ in range(int(np.prod(shape, dtype=int)))], object).reshape(shape)
    return [x], d.some(delimiter=d.pick("-", "", " ", "b"), maxsplit=d.pick(0, 1, 2)), 2


@of("RegexFullMatch")
def regex(d):
    shape = d.shape(0, 2)
    x = np.array([d.pick(*WORDS) for _ in range(int(np.prod(shape, dtype=int)))], object).reshape(shape)
    return [x], {"pattern": d.pick("a.*", r"[a-z]*", r"\w+", r"(a|A) b", r"\S*-\S*", "", r".{2,4}", r"[^ ]+")}


@of("TfIdfVectorizer")
def tfidf(d):
    low = d.randint(1, 2)
    high = d.randint(low, 2)
    pool, text = [1, 2, 3, 4] + [1, 2, 2, 3, 4, 1], d.types["T"] == "string"
    attributes = dict(mode=d.pick("TF", "IDF", "TFIDF"), min_gram_length=low, max_gram_length=high, max_skip_count=d.randint(0, 3),
                      ngram_counts=[0, 4], ngram_indexes=d.sample(range(7), 7),
                      **({"pool_strings": [str(n) for n in pool]} if text else {"pool_int64s": pool}))
    if d.chance():
        attributes["weights"] = [d.pick(0.5, 1.0, 2.0) for _ in range(7)]
    return [d.integers(d.pick([d.randint(0, 12)], [2, d.randint(1, 8)]), 0, 6)], attributes

#!/usr/bin/python3
"""Random networks of convolutions, shuffled channels, matrix products and quantized layers, to test
layouts and fusions of sessions. Results must equal ONNX Runtime's, must be bitwise equal on one
thread and on three, and intermediate values can be fetched.

    fused.py [SEED …]
"""
import ctypes
import sys

import numpy as np

import capi
import peers
from peers import Report, expect_close, run_ort

N_MODELS = 60  # of each kind
# Winograd transforms and folded normalisations sum other terms in another order.
CLOSE = {"rtol": 1e-3, "atol": 2e-4}


class Net:
    """A model that grows by one layer at a time; self.at has (name, channels, size)."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.n = [], [], 0
        self.channels = int(self.random.choice([1, 3, 4, 8, 13, 16]))
        self.size = int(self.random.choice([7, 12, 17]))
        self.shape = [int(self.random.integers(1, 3)), self.channels, self.size, self.size]
        self.at = [("x", self.channels, self.size)]

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def weight(self, *shape, scale=1.0, low=None):
        import onnx.numpy_helper
        if low is None:
            data = self.random.standard_normal(shape) * scale
        else:
            data = self.random.uniform(low, 1.5, shape)
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(data.astype(np.float32), name))
        return name

    def numbers(self, *values):
        import onnx.numpy_helper
        self.weights.append(onnx.numpy_helper.from_array(np.array(values, np.int64), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, op, inputs, channels, size, **attributes):
        import onnx.helper
        self.n += 1
        out = f"v{self.n}"
        self.nodes.append(onnx.helper.make_node(op, inputs, [out], **attributes))
        self.at.append((out, channels, size))

    def conv(self, x, channels, size):
        kernel = self.pick(1, 2, 3, 3, 4, 5)
        stride, dilation = self.pick(1, 1, 2), self.pick(1, 1, 2) if kernel > 1 else 1
        groups, out = 1, int(self.pick(4, 8, 16, 21, 24, 40, 64))
        if channels > 1 and self.pick(0, 0, 1):
            groups = out = channels
        elif channels % 16 == 0 and self.pick(0, 1):
            groups, out = 2, 32
        elif self.pick(0, 1):
            out = channels
        pads = [int(p) for p in self.random.integers(0, kernel, 4)]
        if self.pick(0, 1):
            pads, stride = [dilation * (kernel - 1) // 2] * 4, 1
        sizes = [(size + pads[i] + pads[i + 2] - dilation * (kernel - 1) - 1) // stride + 1
                 for i in (0, 1)]
        if sizes[0] != sizes[1] or sizes[0] < 2:
            return
        each = channels // groups
        inputs = [x, self.weight(out, each, kernel, kernel, scale=(each * kernel ** 2) ** -0.5)]
        inputs += [self.weight(out)] if self.pick(0, 1) else []
        self.add("Conv", inputs, out, sizes[0], pads=pads, strides=[stride] * 2, group=groups,
                 dilations=[dilation] * 2)

    def transposed(self, x, channels, size):
        kernel, stride = self.pick((2, 2), (3, 2), (4, 2), (5, 3), (3, 1))
        out, pad, more = int(self.pick(3, 8, 20, 64)), self.pick(0, 1), self.pick(0, stride - 1)
        to = (size - 1) * stride + kernel - 2 * pad + more
        if size > 12 or to < 2:
            return
        inputs = [x, self.weight(channels, out, kernel, kernel, scale=channels ** -0.5 / kernel)]
        inputs += [self.weight(out)] if self.pick(0, 1) else []
        self.add("ConvTranspose", inputs, out, to, pads=[pad] * 4, strides=[stride] * 2,
                 output_padding=[more] * 2)

    def norm(self, x, channels, size):
        names = [self.weight(channels, low=0.5) for _ in range(4)]
        self.add("BatchNormalization", [x, *names], channels, size)

    def unary(self, x, channels, size):
        op = self.pick("Relu", "Relu", "Sigmoid", "LeakyRelu", "HardSwish", "Tanh", "Identity",
                       "Dropout", "Softmax")
        self.add(op, [x], channels, size, **({"axis": 1} if op == "Softmax" else {}))

    def gated(self, x, channels, size):
        if self.pick(0, 1):
            self.add("Sigmoid", [x], channels, size)
        else:
            self.add("HardSigmoid", [x], channels, size, alpha=self.pick(1 / 6, 0.2), beta=0.5)
        self.add("Mul", [x, self.at[-1][0]], channels, size)

    def clip(self, x, channels, size):
        import onnx.numpy_helper
        names = []
        for value in (-0.5, 1.0):
            names.append(f"w{len(self.weights)}")
            self.weights.append(onnx.numpy_helper.from_array(np.float32(value), names[-1]))
        self.add("Clip", [x, *names[:self.pick(1, 2)]], channels, size)

    def binary(self, x, channels, size):
        others = [name for name, c, s in self.at if c == channels and s in (size, 1)]
        other = self.pick(*others, "scalar", "channel")
        other = {"scalar": self.weight(1), "channel": self.weight(channels, 1, 1)}.get(other, other)
        pair = [x, other] if self.pick(0, 1) else [other, x]
        self.add(self.pick("Add", "Add", "Add", "Mul", "Sub"), pair, channels, size)

    def pool(self, x, channels, size):
        if size < 4:
            return
        kernel, pad = self.pick(2, 3), self.pick(0, 1)
        ceil = 0 if pad else self.pick(0, 1)
        places = (size + 2 * pad - kernel + (1 if ceil else 0)) // 2 + 1
        options = {"count_include_pad": self.pick(0, 1)}
        op = self.pick("MaxPool", "AveragePool")
        self.add(op, [x], channels, places, kernel_shape=[kernel] * 2, strides=[2, 2],
                 pads=[pad] * 4, ceil_mode=ceil, **(options if op == "AveragePool" else {}))

    def mean(self, x, channels, size):
        how = self.pick("GlobalAveragePool", "kept", "flat", "gated")
        if how == "GlobalAveragePool":
            self.add(how, [x], channels, 1)
        elif how == "kept":
            self.add("ReduceMean", [x], channels, 1, axes=[2, -1], keepdims=1)
        else:  # rows of channels for a while, which are not an image
            self.add("ReduceMean", [x], channels, 1, axes=[2, 3], keepdims=0)
            if how == "gated":
                row = self.at.pop()[0]
                self.add(self.pick("Relu", "Sigmoid", "HardSwish"), [row], channels, 1)
                self.add("Mul", [row, self.at.pop()[0]], channels, 1)
            self.add("Unsqueeze", [self.at.pop()[0], self.numbers(2, 3)], channels, 1)

    def concat(self, x, channels, size):
        others = [(name, c) for name, c, s in self.at if s == size and c + channels < 64]
        if others:
            other, c = self.pick(*others)
            self.add("Concat", [other, x], channels + c, size, axis=1)

    def grow(self, n):
        for _ in range(n):
            layer = self.pick(self.conv, self.conv, self.conv, self.norm, self.unary, self.unary,
                              self.gated, self.clip, self.transposed, self.binary, self.binary, self.pool, self.mean,
                              self.concat)
            # mostly the newest value, so that chains can be fused
            layer(*(self.at[-1] if self.pick(0, 1, 2) else self.pick(*self.at)))

    def model(self):
        import onnx
        import onnx.helper as make
        kind = onnx.TensorProto.FLOAT
        used = {name for node in self.nodes for name in node.input}
        ends = [name for name, _, _ in self.at if name not in used and name != "x"]
        graph = make.make_graph(
            self.nodes, "net", [make.make_tensor_value_info("x", kind, self.shape)],
            [make.make_tensor_value_info(name, kind, None) for name in ends], self.weights)
        return make.make_model(graph, opset_imports=[make.make_opsetid("", 14)], ir_version=8)


class Picks(Net):
    """Channels that are concatenated, sliced and shuffled between convolutions."""

    def slice(self, x, channels, size):
        step = self.pick(1, 1, 2, -1, -3)
        ends = sorted(int(i) for i in self.random.integers(-1, channels + 2, 2))
        start, end = ends if step > 0 else ends[::-1]
        if end == -1:
            end = -channels - 1
        n = len(range(channels)[slice(start, end, step)])
        if n:
            names = [self.numbers(v) for v in (start, end, self.pick(1, -3), step)]
            self.add("Slice", [x, *names], n, size)

    def half(self, x, channels, size):
        """As chunk is exported."""
        if channels < 2:
            return
        self.add("Shape", [x], 0, 0)
        self.add("Gather", [self.at.pop()[0], self.numbers(1)], 0, 0)
        count = self.at.pop()[0]
        self.add("Div", [count, self.numbers(2)], 0, 0)
        middle, one = self.at.pop()[0], self.numbers(1)
        ends, n = self.pick(([self.numbers(0), middle], channels // 2),
                            ([middle, count], channels - channels // 2))
        self.add("Slice", [x, *ends, one], n, size)

    def split(self, x, channels, size):
        import onnx.helper
        if channels < 3:
            return
        first = int(self.random.integers(1, channels - 1))
        lengths = [first, 1, channels - first - 1]
        names = [f"v{self.n + i + 1}" for i in range(3 if lengths[2] else 2)]
        self.n += 3
        self.nodes.append(onnx.helper.make_node("Split", [x, self.numbers(*lengths[:len(names)])], names, axis=1))
        self.at += [(name, c, size) for name, c in zip(names, lengths)]

    def gather(self, x, channels, size):
        places = [int(i) for i in self.random.integers(-channels, channels, self.pick(1, 5, 17, 33))]
        self.add("Gather", [x, self.numbers(*places)], len(places), size, axis=1)

    def shuffle(self, x, channels, size):
        groups = self.pick(*[g for g in range(1, channels + 1) if channels % g == 0])
        batch, height = self.pick(0, -1, self.shape[0]), self.pick(size, size, -1)
        parts = [batch, groups, channels // groups, height if batch != -1 else size, size]
        self.add("Reshape", [x, self.numbers(*parts)], 0, 0)
        self.add("Transpose", [self.at.pop()[0]], 0, 0, perm=[0, 2, 1, 3, 4])
        self.add("Reshape", [self.at.pop()[0], self.numbers(self.pick(0, -1), channels, size, size)], channels, size)

    def grow(self, n):
        for _ in range(n):
            layer = self.pick(self.conv, self.conv, self.conv, self.unary, self.concat, self.concat, self.slice,
                              self.half, self.split, self.gather, self.shuffle, self.shuffle, self.binary)
            layer(*(self.at[-1] if self.pick(0, 1, 2) else self.pick(*self.at)))


class Rows(Net):
    """A network of products by matrices on rows: features are the channels, the size is 0."""

    def __init__(self, seed):
        super().__init__(seed)
        self.channels = int(self.pick(2, 5, 16, 33))
        self.size = 0
        lead = [int(n) for n in self.random.integers(1, 9, self.pick(1, 1, 2))]
        self.shape = [*lead, self.channels]
        self.at = [("x", self.channels, 0)]

    def number(self, value):
        import onnx.numpy_helper
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.float32(value), name))
        return name

    def put(self, op, *inputs, channels=None, **attributes):
        self.add(op, list(inputs), channels or self.at[-1][1], 0, **attributes)
        return self.at[-1][0]

    def either(self, *pair):
        return pair if self.pick(0, 1) else pair[::-1]

    def product(self, x, channels, _):
        out = int(self.pick(2, 7, 16, 40, channels))
        if len(self.shape) == 2 and self.pick(0, 1):
            turned = self.pick(0, 1)
            w = self.weight(*((out, channels) if turned else (channels, out)), scale=channels ** -0.5)
            bias = self.pick([], [self.weight(out)], [self.weight(1, out)], [self.number(0.3)])
            self.put("Gemm", x, w, *bias, channels=out, transB=turned, alpha=self.pick(1.0, 1.0, 0.5),
                     beta=self.pick(1.0, 0.5))
        else:
            y = self.put("MatMul", x, self.weight(channels, out, scale=channels ** -0.5), channels=out)
            if self.pick(0, 1, 2):
                self.put("Add", *self.either(y, self.weight(out)), channels=out)

    def dynamic(self, x, channels, _):
        """A product in 8 bits, as PyTorch's dynamic quantization is decomposed."""
        import onnx.numpy_helper
        out, top = int(self.pick(3, 16, 40)), self.pick(127, 255)
        zero, one = self.number(0), self.number(0.1)
        low = self.put("Min", self.put("ReduceMin", x, keepdims=0), zero)
        high = self.put("Max", self.put("ReduceMax", x, keepdims=0), zero)
        scale = self.put("Div", self.put("Sub", high, low), self.number(top))
        scale = self.put("Where", self.put("Greater", scale, zero), scale, one)
        limits = [zero, self.number(top)]
        point = self.put("Clip", self.put("Round", self.put("Div", self.put("Neg", low), scale)), *limits)
        q = self.put("Round", self.put("Mul", x, self.put("Reciprocal", scale)), channels=channels)
        q = self.put("Clip", self.put("Add", *self.either(q, point)), *limits)
        x = self.put("Mul", *self.either(self.put("Sub", q, point), scale))
        w = onnx.numpy_helper.from_array(
            self.random.integers(-128, 128, (out, channels)).astype(np.int8), f"w{len(self.weights)}")
        self.weights.append(w)
        w = self.put("DequantizeLinear", w.name, self.number(0.01), channels=channels)
        y = self.put("MatMul", x, self.put("Transpose", w, perm=[1, 0]), channels=out)
        self.at = [(name, c, 0) for name, c, _ in self.at if name in ("x", y)]
        self.put("Add", *self.either(y, self.weight(out)), channels=out)

    def gelu(self, x, channels, _):
        """x (1 + t) / 2 in any order, t by the error function or by tanh."""
        if self.pick(0, 1):
            inner = self.pick(("Div", x, self.number(2 ** 0.5)), ("Mul", *self.either(x, self.number(0.5 ** 0.5))))
            t = self.put("Erf", self.put(*inner, channels=channels))
        else:
            cube = self.pick(("Pow", x, self.number(3)),
                             ("Mul", *self.either(x, self.put("Mul", x, x, channels=channels))))
            cube = self.put("Mul", *self.either(self.put(*cube, channels=channels), self.number(0.044715)))
            sum = self.put("Add", *self.either(x, cube))
            t = self.put("Tanh", self.put("Mul", *self.either(sum, self.number((2 / np.pi) ** 0.5))))
        factors = [x, self.put("Add", *self.either(t, self.number(self.pick(1, 1, 1, 2)))), self.number(0.5)]
        a, b, c = [factors[i] for i in self.random.permutation(3)]
        self.put("Mul", *self.either(self.put("Mul", a, b, channels=channels), c), channels=channels)

    def layer_norm(self, x, channels, _):
        axis = self.pick(-1, -1, -1, 0)
        mean = self.put("ReduceMean", x, channels=channels if axis == 0 else 1, axes=[axis], keepdims=1)
        apart = self.put("Sub", x, mean, channels=channels)
        square = self.put("Pow", apart, self.number(self.pick(2, 2, 2, 4)))
        var = self.put("ReduceMean", square, channels=1, axes=[-1], keepdims=1)
        root = self.put("Sqrt", self.put("Add", *self.either(var, self.number(1e-5))))
        y = self.put("Div", apart, root, channels=channels)
        y = self.put("Mul", *self.either(y, self.weight(channels)))
        self.put("Add", *self.either(y, self.weight(channels)))

    def unary(self, x, channels, _):
        self.put(self.pick("Relu", "Sigmoid", "Tanh", "HardSwish", "Identity", "Softmax"), x,
                 channels=channels)

    def binary(self, x, channels, _):
        others = [name for name, c, _ in self.at if c == channels]
        self.put(self.pick("Add", "Mul", "Sub"), *self.either(x, self.pick(*others)),
                 channels=channels)

    def grow(self, n):
        for _ in range(n):
            layer = self.pick(self.product, self.product, self.product, self.gelu, self.layer_norm,
                              self.layer_norm, self.unary, self.binary, self.dynamic)
            layer(*(self.at[-1] if self.pick(0, 1, 2) else self.pick(*self.at)))


class Grids(Net):
    """A network with QuantizeLinear and DequantizeLinear around its layers. Scales are powers of
    two, so that floats and integers are equally exact, but for means."""
    step = 2.0 ** -5

    def __init__(self, seed):
        super().__init__(seed)
        self.inexact = False
        self.at = []
        self.grid("x", self.channels, self.size)

    def tensor(self, data):
        import onnx.numpy_helper
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(data), name))
        return name

    def put(self, op, inputs, **attributes):
        import onnx.helper
        self.n += 1
        self.nodes.append(onnx.helper.make_node(op, inputs, [f"v{self.n}"], **attributes))
        return f"v{self.n}"

    def grid(self, x, channels, size):
        """Quantizes x again, possibly after clipping."""
        if self.pick(0, 1):
            limits = [self.tensor(np.float32(value)) for value in (0, 2.75)]
            x = self.put("Clip", [x, *limits]) if self.pick(0, 1) else self.put("Relu", [x])
        kind, zero = self.pick((np.uint8, 128), (np.uint8, 7), (np.int8, 0), (np.int8, -20))
        scale = self.step * self.pick(0.5, 1, 1, 2)
        numbers = [self.tensor(np.float32(scale)), self.tensor(kind(zero))]
        q = self.put("QuantizeLinear", [x, *numbers])
        for _ in range(self.pick(1, 1, 1, 2, 3)):
            self.at.append((self.put("DequantizeLinear", [q, *numbers]), channels, size))

    def dequantized(self, *shape, axis=0):
        w = self.random.integers(-128, 128, shape).astype(np.int8)
        w //= (1, 2, 6)[len(self.weights) % 3]  # products of small ones may be added in 16 bits
        if self.pick(0, 1):
            scale = np.float32(2.0 ** -9)
            return self.put("DequantizeLinear", [self.tensor(w), self.tensor(scale)])
        scales = 2.0 ** self.random.integers(-11, -8, shape[axis])
        zeros = self.tensor(np.zeros(shape[axis], np.int8))
        return self.put("DequantizeLinear",
                        [self.tensor(w), self.tensor(scales.astype(np.float32)), zeros], axis=axis)

    def weight(self, *shape, scale=1.0, low=None):
        if len(shape) == 4:
            return self.dequantized(*shape)
        return self.tensor((self.random.integers(-64, 64, shape) / 64).astype(np.float32))

    def add(self, op, inputs, channels, size, **attributes):
        self.grid(self.put(op, inputs, **attributes), channels, size)

    def binary(self, x, channels, size):
        others = [name for name, c, s in self.at if c == channels and s in (size, 1)]
        self.add("Add", [x, self.pick(*others)], channels, size)

    def pool(self, x, channels, size):
        if size > 3:
            y = self.put("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
            self.at.append((y, channels, (size - 1) // 2 + 1))

    def plain(self, x, channels, size):
        y = self.put(self.pick("Neg", "Abs", "Identity"), [x])
        self.inexact = True  # a convolution of it is one of floats, also where it is on a grid again
        if self.pick(0, 1):
            self.at.append((y, channels, size))
        else:
            self.grid(y, channels, size)

    def head(self, x, channels, size):
        """A mean and a product by a matrix."""
        self.inexact = True
        turned, out = self.pick(0, 1), int(self.pick(3, 16, 40))
        if self.pick(0, 1):
            self.add("GlobalAveragePool", [x], channels, 1)
            flat = self.put("Flatten", [self.at[-1][0]])
        else:
            flat = self.put("ReduceMean", [x], axes=[2, 3], keepdims=0)
        shape = (out, channels)
        if self.pick(0, 1):
            w = self.dequantized(*(shape if turned else shape[::-1]), axis=1 - turned)
            y = self.put("Gemm", [flat, w, self.weight(out)], transB=turned)
        else:
            w = self.put("Transpose", [self.dequantized(*shape)], perm=[1, 0])
            y = self.put("Add", [self.put("MatMul", [flat, w]), self.weight(out)])
        numbers = [self.tensor(np.float32(self.step)), self.tensor(np.uint8(100))]
        self.ends = self.put("DequantizeLinear", [self.put("QuantizeLinear", [y, *numbers]), *numbers])

    def grow(self, n):
        for _ in range(n):
            layer = self.pick(self.conv, self.conv, self.conv, self.binary, self.pool, self.plain)
            layer(*(self.at[-1] if self.pick(0, 1, 2) else self.pick(*self.at)))
        if self.pick(0, 1):
            self.head(*self.at[-1])
            self.at.append((self.ends, 0, 0))


class Forms(Grids):
    """A network of operators that contain their quantization parameters, as ONNX Runtime's own quantizer writes it.
    Weights have 7 bits, because ONNX Runtime adds products of 8 bits with saturation on some processors."""

    def __init__(self, seed):
        super().__init__(seed)
        self.at, self.bytes = [], []
        self.quantize("x", self.channels, self.size)

    def params(self, kind=None):
        kind, zero = kind or self.pick(np.uint8, np.int8), self.pick(128, 120, 3)
        return kind, [self.tensor(np.float32(self.pick(0.02, 0.05, 0.1))),
                      self.tensor(kind(zero - 128 if kind is np.int8 else zero))]

    def keep(self, q, channels, size, params):
        """Bytes for later layers; some are outputs too."""
        self.bytes.append((q, channels, size, params))
        if self.pick(0, 0, 1):
            self.end(*self.bytes[-1])

    def end(self, q, channels, size, params):
        self.at.append((self.put("DequantizeLinear", [q, *params[1]]), channels, size))

    def quantize(self, x, channels, size):
        params = self.params()
        self.keep(self.put("QuantizeLinear", [x, *params[1]]), channels, size, params)

    def small(self, *shape):
        return self.tensor(self.random.integers(-64, 64, shape).astype(np.int8))

    def qparams(self, outputs, axis=True):
        """Scale and zero point of a weight: one, or one of each output."""
        if axis and self.pick(0, 1):
            return [self.tensor(self.random.uniform(0.002, 0.02, outputs).astype(np.float32)),
                    self.tensor(np.zeros(outputs, np.int8))]
        return [self.tensor(np.float32(0.01)), self.tensor(np.int8(0))]

    def conv(self, q, channels, size, params):
        kernel, out, groups = self.pick(1, 2, 3), int(self.pick(3, 8, 21, 40)), 1
        if self.pick(0, 0, 1):
            groups = out = channels
        pad, stride = self.pick(0, 1), self.pick(1, 1, 2)
        to = (size + 2 * pad - kernel) // stride + 1
        if to < 1 or pad >= kernel:
            return
        ends = self.params(params[0])
        inputs = [q, *params[1], self.small(out, channels // groups, kernel, kernel), *self.qparams(out), *ends[1]]
        if self.pick(0, 1):
            inputs.append(self.tensor(self.random.integers(-5000, 5000, out).astype(np.int32)))
        y = self.put("QLinearConv", inputs, pads=[pad] * 4, strides=[stride] * 2, group=groups)
        self.keep(y, out, to, ends)

    def matmul(self, q, channels, size, params):
        ends = self.params(params[0])
        y = self.put("QLinearMatMul", [q, *params[1], self.small(size, size), *self.qparams(size, False), *ends[1]])
        self.keep(y, channels, size, ends)

    def pool(self, q, channels, size, params):
        if size > 3:
            y = self.put("MaxPool", [q], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
            self.keep(y, channels, (size - 1) // 2 + 1, params)

    def turn(self, q, channels, size, params):
        self.keep(self.put("Transpose", [q], perm=[0, 1, 3, 2]), channels, size, params)

    def again(self, q, channels, size, params):
        x = self.put("DequantizeLinear", [q, *params[1]])
        self.quantize(self.put("Relu", [x]) if self.pick(0, 1) else x, channels, size)

    def dynamic(self, q, channels, size, params):
        """Products that share the bytes of a dynamically quantized value."""
        import onnx.helper
        names = [f"v{self.n}{part}" for part in ("q", "scale", "zero")]
        x = self.put("DequantizeLinear", [q, *params[1]])
        self.nodes.append(onnx.helper.make_node("DynamicQuantizeLinear", [x], names))
        for _ in range(self.pick(1, 2)):
            zero = [self.tensor(np.int8(0))] if self.pick(0, 1) else []
            y = self.put("MatMulInteger", [names[0], self.small(size, size), names[2], *zero])
            scale = names[1]
            if self.pick(0, 1):
                scale = self.put("Mul", [scale, self.qparams(size)[0]])
            y = self.put("Mul", [self.put("Cast", [y], to=onnx.TensorProto.FLOAT), scale])
            if self.pick(0, 1):
                y = self.put("Add", [y, self.tensor(self.random.standard_normal(size).astype(np.float32))])
            self.at.append((y, channels, size))

    def grow(self, n):
        for _ in range(n):
            layer = self.pick(self.conv, self.conv, self.conv, self.matmul, self.pool, self.turn, self.again, self.dynamic)
            layer(*(self.bytes[-1] if self.pick(0, 1, 2) else self.bytes[self.random.integers(len(self.bytes))]))
        self.end(*self.bytes[-1])


def run_calque(data, inputs, n_outputs, fetch=(), threads=1):
    """Results of a session with further values fetched; inputs in the order of the model."""
    lib, session = capi.lib(), ctypes.c_void_p()
    options = capi.session_options_type()()
    lib.cq_session_options_init(ctypes.byref(options))
    names = capi.texts(list(fetch))
    options.fetch, options.n_fetch = ctypes.addressof(names), len(fetch)
    capi.check(lib.cq_session_prepare_bytes(ctypes.byref(session), data, len(data),
                                            ctypes.byref(options)))
    try:
        lib.cq_set_threads(threads)
        n, tensors = n_outputs + len(fetch), [capi.Tensor(x) for x in inputs]
        out = capi.handles([None] * n)
        capi.check(lib.cq_session_run_tensors(session, capi.handles([t.handle for t in tensors]),
                                              len(tensors), out, n))
        return [capi.array_of(t.handle) for t in [capi.Tensor(handle) for handle in out]]
    finally:
        lib.cq_session_free(session)


def check(net):
    net.grow(14)
    if not net.nodes:
        return
    model = net.model()
    x = net.random.standard_normal(net.shape).astype(np.float32)
    data, ends = model.SerializeToString(), [value.name for value in model.graph.output]
    got = run_calque(data, [x], len(ends))
    again = run_calque(data, [x], len(ends), threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(got, again)), "the result depends on the number of threads"
    close, optimize = CLOSE, "basic"
    if isinstance(net, Forms):
        close, optimize = {"rtol": 1e-5, "atol": 1e-4}, "none"
    elif isinstance(net, Grids):  # half-way cases may be rounded differently in fused kernels
        close = {"rtol": 0, "atol": 4 * net.step if net.inexact else 1e-6}
        optimize = "none"
    expect_close(got, run_ort(data, {"x": x}, optimize), name="outputs", **close)
    inner = [name for name, _, _ in net.at[1:]]
    wanted = model.graph.output
    wanted.extend(type(wanted[0])(name=name, type=wanted[0].type) for name in inner
                  if name not in ends)
    everything = dict(zip([value.name for value in wanted],
                          run_ort(model.SerializeToString(), {"x": x}, optimize)))
    for name in net.random.choice(inner, min(3, len(inner)), replace=False):
        fetched = run_calque(data, [x], len(ends), fetch=[str(name)])
        expect_close(fetched[-1], everything[str(name)], name=f"fetched {name}", **close)


def main():
    report = Report(__file__)
    seeds = [int(arg) for arg in sys.argv[1:]] or range(N_MODELS)
    if report.needs("onnx", "ort"):
        for seed in seeds:
            for kind in (Net, Picks, Rows, Grids, Forms):
                with report.case(f"{kind.__name__} {seed}"):
                    check(kind(seed))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

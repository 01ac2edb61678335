#!/usr/bin/python3
"""Random graphs of element-wise operators on shapes that broadcast. Fused into one pass over
memory, results must equal ONNX Runtime's, and must be bitwise equal to the unfused operators
(fetching every value prevents fusion), on one thread and on three, also for NaN and infinities.

    chains.py [SEED …]
"""
import sys

import numpy as np

import fused
from peers import Report, expect_close, run_ort

N_MODELS = 150
CLOSE = {"rtol": 2e-5, "atol": 2e-5}
UNARY = ["Relu", "Sigmoid", "Tanh", "Erf", "Neg", "Abs", "Floor", "Ceil", "Sign", "Softsign", "HardSwish", "Sin",
         ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("Elu", {"alpha": 0.7}), ("LeakyRelu", {"alpha": 0.2}),
         ("Selu", {}), ("Celu", {"alpha": 1.5}), ("Softplus", {}), ("ThresholdedRelu", {"alpha": 0.4}),
         ("Gelu", {}), ("Gelu", {"approximate": "tanh"}), ("Mish", {})]
BINARY = ["Add", "Sub", "Mul", "Min", "Max", "Sum", "PRelu"]


class Chains:
    """A graph whose values are self.at: names and shapes; the input x is one of them."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []
        rank = int(self.random.integers(0, 5))
        self.shape = [int(n) for n in self.random.choice([1, 1, 2, 3, 5, 8, 31], rank)]
        while np.prod(self.shape) > 3000:
            self.shape[int(np.argmax(self.shape))] = 2
        if self.pick(0, 0, 0, 1):  # several parts of a thread
            self.shape = [*self.shape[:1], int(self.pick(2000, 5000)), int(self.pick(1, 3, 8))]
        if self.shape and self.pick(*[0] * 19, 1):
            self.shape[self.random.integers(len(self.shape))] = 0
        self.at = [("x", self.shape)]

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def constant(self, data):
        import onnx.numpy_helper
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(data), name))
        return name

    def part_of(self, shape):
        """A shape that broadcasts to another: some sizes are 1, some in front are left out."""
        shape = [1 if self.pick(0, 1) else n for n in shape]
        return shape[self.random.integers(len(shape) + 1):] if self.pick(0, 1) else shape

    def operand(self, shape):
        fit = [name for name, other in self.at if other == shape]
        if fit and self.pick(0, 1, 1):
            return self.pick(*fit)
        shape = self.part_of(shape) if self.pick(0, 1, 1) else shape
        return self.constant(self.random.uniform(0.3, 2, shape).astype(np.float32))

    def put(self, op, inputs, shape, **attributes):
        import onnx.helper
        out = f"v{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(op, inputs, [out], **attributes))
        self.at.append((out, shape))
        return out

    def unary(self, x, shape):
        op = self.pick(*UNARY)
        self.put(*((op, [x], shape) if isinstance(op, str) else (op[0], [x], shape)),
                 **({} if isinstance(op, str) else op[1]))

    def positive(self, x, shape):
        """Operators that expect positive numbers."""
        x = self.put("Add", [self.put("Abs", [x], shape), self.constant(np.float32(0.5))], shape)
        op = self.pick("Sqrt", "Log", "Reciprocal", "Div", "Pow", "Pow")
        other = {"Div": [self.constant(self.random.uniform(0.3, 2, self.part_of(shape)).astype(np.float32))],
                 "Pow": [self.constant(np.float32(self.pick(2, 3, 0.5, -1.5)))]}.get(op, [])
        self.put(op, [x, *other], shape)

    def binary(self, x, shape):
        op, other = self.pick(*BINARY), self.operand(shape)
        pair = [x, other] if op == "PRelu" or self.pick(0, 1) else [other, x]
        if op in ("Sum", "Max", "Min") and self.pick(0, 1):
            pair.append(self.operand(shape))
        self.put(op, pair, shape)

    def clip(self, x, shape):
        limits = [self.constant(np.float32(value)) for value in (-0.5, 1.25)]
        self.put("Clip", [x, *self.pick(limits, limits[:1], ["", limits[1]])], shape)

    def where(self, x, shape):
        condition = self.constant(self.random.integers(0, 2, self.part_of(shape)).astype(bool))
        pair = [x, self.operand(shape)]
        self.put("Where", [condition, *(pair if self.pick(0, 1) else pair[::-1])], shape)

    def widen(self, x, shape):
        """Reduces the value, then broadcasts it to its full shape again."""
        if not shape or 0 in shape:
            return
        small = [1 if self.pick(0, 1) else n for n in shape]
        axes = self.constant(np.array([i for i, n in enumerate(small) if n == 1], np.int64))
        if 1 not in small:
            return
        y = self.put("ReduceMax", [x, axes], small, keepdims=1)
        y = self.put("Sigmoid", [y], small)
        self.put("Mul", [x, y] if self.pick(0, 1) else [y, x], shape)

    def grow(self, n):
        for _ in range(n):
            layer = self.pick(self.unary, self.unary, self.binary, self.binary, self.positive, self.clip, self.where,
                              self.widen)
            layer(*(self.at[-1] if self.pick(0, 1, 2, 3) else self.pick(*self.at)))

    def model(self):
        import onnx
        import onnx.helper as make
        kind = onnx.TensorProto.FLOAT
        used = {name for node in self.nodes for name in node.input}
        ends = [name for name, _ in self.at if name not in used and name != "x"]
        graph = make.make_graph(
            self.nodes, "chains", [make.make_tensor_value_info("x", kind, self.shape)],
            [make.make_tensor_value_info(name, kind, None) for name in ends], self.weights)
        return make.make_model(graph, opset_imports=[make.make_opsetid("", 20)], ir_version=9), ends


def same_bits(one, other):
    return one.shape == other.shape and one.dtype == other.dtype and (
        np.array_equal(one, other, equal_nan=True) and
        np.array_equal(np.signbit(one[~np.isnan(one)]), np.signbit(other[~np.isnan(other)])))


def check(net):
    net.grow(12)
    if not net.nodes:
        return
    model, ends = net.model()
    data = model.SerializeToString()
    x = np.asarray(net.random.standard_normal(net.shape), np.float32)
    expect_close(fused.run_calque(data, [x], len(ends)), run_ort(data, {"x": x}, "none"), name="outputs", **CLOSE)
    wild = np.asarray(x * np.float32(30))
    wild[net.random.random(wild.shape) < 0.2] = np.nan
    wild[net.random.random(wild.shape) < 0.2] = np.inf
    wild[net.random.random(wild.shape) < 0.2] = -np.inf
    wild[net.random.random(wild.shape) < 0.2] = -0.0
    inner = [name for name, _ in net.at[1:] if name not in ends]
    for feed in (x, wild):
        apart = fused.run_calque(data, [feed], len(ends), fetch=inner)[:len(ends)]
        for threads in (1, 3):
            for one, other in zip(fused.run_calque(data, [feed], len(ends), threads=threads), apart):
                assert same_bits(one, other), f"the fused result differs from the unfused one on {threads} threads"


def main():
    report = Report(__file__)
    seeds = [int(arg) for arg in sys.argv[1:]] or range(N_MODELS)
    if report.needs("onnx", "ort"):
        for seed in seeds:
            with report.case(f"chains {seed}"):
                check(Chains(seed))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

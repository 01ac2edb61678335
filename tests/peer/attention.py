#!/usr/bin/python3
"""Attention decomposed into MatMul and Softmax: results must equal ONNX Runtime's for the shapes of
BERT, ViT, GPT-2 and Swin and for unusual ones, and for masks that broadcast, hide or contain NaN.
Results must be bitwise equal for any number of threads and if intermediate values are fetched. The
same for the Attention operator of opset 23, also with its scores as an output.

    attention.py [CASE …]
"""
import dataclasses
import itertools
import sys

import numpy as np

from fused import run_calque
from peers import Report, expect_close, run_ort

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


@dataclasses.dataclass
class Case:
    """The shapes [lead, length, width] of q, k and v, and the steps from scores to
    probabilities."""
    lead: tuple = (1, 2)
    queries: int = 5
    keys: int = 7
    width: int = 8
    v_width: int = 0
    scale: str = "div"         # div, mul, q, both, none
    mask: tuple = ()           # shape of the addend
    where: tuple = ()          # shape of what hides
    hidden: float = -np.inf
    shown: bool = True         # true means visible
    where_last: bool = False
    split: bool = True         # q, k and v come as [batch, length, heads * width]
    axis: int = -1
    kind: type = np.float32
    odd: str = ""              # nan, inf: in q; blind: rows without a visible key


class Graph:
    def __init__(self, case):
        import onnx.helper
        self.make, self.case, self.nodes, self.weights, self.n = onnx.helper, case, [], [], 0
        self.random = np.random.default_rng(len(str(case)))
        self.inputs = {}

    def put(self, op, *inputs, **attributes):
        self.n += 1
        self.nodes.append(self.make.make_node(op, inputs, [f"v{self.n}"], **attributes))
        return f"v{self.n}"

    def tensor(self, data):
        import onnx.numpy_helper
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(data), name))
        return name

    def number(self, x):
        return self.tensor(self.case.kind(x))

    def heads(self, name, length, width):
        """One of q, k and v as [.., length, width]."""
        case, normal = self.case, self.random.standard_normal
        if not case.split or len(case.lead) > 2:
            self.inputs[name] = normal((*case.lead, length, width)).astype(case.kind)
            return name
        if len(case.lead) == 1:  # [length, heads, width]
            self.inputs[name] = normal((length, case.lead[0] * width)).astype(case.kind)
            shape = self.tensor(np.int64([length, case.lead[0], width]))
            return self.put("Transpose", self.put("Reshape", name, shape), perm=[1, 0, 2])
        batch, heads = case.lead
        self.inputs[name] = normal((batch, length, heads * width)).astype(case.kind)
        shape = self.tensor(np.int64([batch, length, heads, width]))
        return self.put("Transpose", self.put("Reshape", name, shape), perm=[0, 2, 1, 3])

    def scored(self, q, k):
        case, root = self.case, self.case.width ** 0.5
        if case.scale == "q":
            q = self.put("Mul", q, self.number(1 / root))
        if case.scale == "both":
            q, k = self.put("Mul", self.number(root ** -0.5), q), self.put("Div", k, self.number(root ** 0.5))
        s = self.put("MatMul", q, k)
        if case.scale == "div":
            s = self.put("Div", s, self.number(root))
        if case.scale == "mul":
            s = self.put("Mul", self.number(1 / root), s)
        return s

    def masked(self, s):
        case, last = self.case, self.case.where_last
        for step in ("mask", "where") if last else ("where", "mask"):
            shape = getattr(case, step)
            if not shape:
                continue
            if step == "mask":
                self.inputs["m"] = self.random.standard_normal(shape).astype(case.kind)
                if case.odd == "blind":
                    self.inputs["m"][..., 0, :] = -np.inf
                s = self.put("Add", s, "m")
            else:
                self.inputs["t"] = self.random.random(shape) < (0.7 if case.shown else 0.3)
                hidden = self.number(case.hidden)
                s = self.put("Where", "t", *((s, hidden) if case.shown else (hidden, s)))
        return s

    def model(self):
        import onnx
        case = self.case
        q = self.heads("q", case.queries, case.width)
        k = self.heads("k", case.keys, case.width)
        v = self.heads("v", case.keys, case.v_width or case.width)
        rank = len(case.lead) + 2
        perm = [*range(rank - 2), rank - 1, rank - 2]
        s = self.masked(self.scored(q, self.put("Transpose", k, perm=perm)))
        y = self.put("MatMul", self.put("Softmax", s, axis=case.axis), v)
        inner = [f"v{i + 1}" for i in range(self.n)]
        if case.split and len(case.lead) < 3:
            y = self.put("Transpose", y, perm=[1, 0, 2] if len(case.lead) == 1 else [0, 2, 1, 3])
            y = self.put("Relu", y)
        if case.odd in ("nan", "inf"):
            self.inputs["q"].flat[3] = float(case.odd)
        info = lambda name, data: self.make.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(data.dtype) if hasattr(onnx.helper, "np_dtype_to_tensor_dtype")
            else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[data.dtype], data.shape)
        out = self.make.make_tensor_value_info(y, info("x", np.zeros(1, case.kind)).type.tensor_type.elem_type, None)
        graph = self.make.make_graph(self.nodes, "net", [info(n, d) for n, d in self.inputs.items()], [out], self.weights)
        return self.make.make_model(graph, opset_imports=[self.make.make_opsetid("", 14)], ir_version=8), inner


def cases():
    found = {
        "bert base": Case((1, 12), 128, 128, 64, mask=(1, 1, 1, 128)),
        "vit b 16": Case((1, 12), 197, 197, 64, scale="q"),
        "gpt2 decode": Case((1, 12), 1, 129, 64, split=False),
        "gpt2": Case((2, 3), 33, 33, 64, where=(1, 1, 33, 33), hidden=-1e4, mask=(2, 1, 1, 33)),
        "swin": Case((16, 3), 49, 49, 32, scale="q", mask=(16, 3, 49, 49), split=False),
        "swin bias": Case((16, 3), 49, 49, 32, scale="q", mask=(1, 3, 49, 49), split=False),
        "long": Case((1, 2), 70, 1100, 16, mask=(1100,)),
        "of three axes": Case((4,), 9, 9, 16, where=(9, 9), shown=False, axis=2),
        "of five axes": Case((2, 2, 3), 5, 6, 8),
        "of two axes": Case((), 5, 6, 8, split=False),
        "of doubles": Case(kind=np.float64, mask=(5, 7)),
        "mask of more axes": Case((2,), 5, 7, 8, mask=(3, 2, 5, 7), split=False),
        "mask that spreads": Case((1, 2), 1, 7, 8, mask=(1, 2, 5, 7), split=False),
        "mask of one number": Case(mask=(1,)),
        "sum, then hidden": Case(mask=(1, 2, 5, 7), where=(5, 7), where_last=True, hidden=-7.0),
        "another axis": Case((2, 3), 5, 7, 8, axis=2),
        "nan": Case(odd="nan"), "infinity": Case(odd="inf"),
        "blind": Case(mask=(1, 2, 5, 7), odd="blind"),
        "blind and long": Case((1, 2), 5, 300, 8, mask=(1, 2, 5, 300), odd="blind"),
    }
    for queries, keys, width in itertools.product((1, 3, 6, 31), (1, 16, 35), (1, 17, 64, 80)):
        found[f"{queries} x {keys} x {width}"] = Case(queries=queries, keys=keys, width=width, v_width=width // 2 + 1,
                                                      scale=("div", "mul", "q", "both", "none")[(queries + keys) % 5])
    return found


def check(case):
    graph = Graph(case)
    model, inner = graph.model()
    data = model.SerializeToString()
    expected = run_ort(data, graph.inputs, "none")
    feeds = [graph.inputs[value.name] for value in model.graph.input]
    got = run_calque(data, feeds, 1)
    expect_close(got, expected, **CLOSE)
    again = run_calque(data, feeds, 1, threads=3)
    assert got[0].tobytes() == again[0].tobytes(), "the result depends on the number of threads"
    for name in inner[-4:]:
        fetched = run_calque(data, feeds, 1, fetch=[name])
        expect_close(fetched[:1], expected, **CLOSE)


def operator_cases():
    """Inputs and attributes of the operator."""
    random = np.random.default_rng(5)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    truths = lambda *shape: random.random(shape) < 0.7
    heads = {"q_num_heads": 3, "kv_num_heads": 3}
    q, k, v = normal(2, 3, 5, 16), normal(2, 3, 7, 16), normal(2, 3, 7, 20)
    past = [normal(2, 3, 4, 16), normal(2, 3, 4, 20)]
    yield "plain", [q, k, v], {}
    yield "rows", [normal(2, 5, 48), normal(2, 7, 48), normal(2, 7, 30)], heads
    yield "causal", [q, k, v], {"is_causal": 1, "scale": 0.7}
    yield "many", [normal(1, 2, 300, 64), normal(1, 2, 300, 64), normal(1, 2, 300, 64)], {"is_causal": 1}
    yield "capped", [q, k, v], {"softcap": 0.5}
    yield "grouped", [normal(2, 6, 5, 16), normal(2, 2, 7, 16), normal(2, 2, 7, 8)], {"is_causal": 1}
    yield "decoding", [q[:, :, :1], k[:, :, :1], v[:, :, :1], None, *past], {}
    yield "past", [q, k, v, None, *past], {"is_causal": 1}
    yield "past rows", [normal(2, 5, 48), normal(2, 7, 48), normal(2, 7, 60), None, *past], heads
    filled = np.int64([6, 5])  # opset 24: the number of valid keys of each sample
    yield "filled", [q, k, v, None, None, None, filled], {}
    yield "filled, causal", [q, k, v, None, None, None, filled], {"is_causal": 1}
    yield "short mask", [q, k, v, normal(5, 4)], {}
    for shape in ((5, 7), (1, 7), (2, 1, 5, 7), (1, 3, 1, 7), (2, 3, 5, 7)):
        yield f"mask {shape}", [q, k, v, normal(*shape)], {}
        yield f"truths {shape}", [q, k, v, truths(*shape)], {"softcap": 2.0}


def check_operator(inputs, attributes):
    import onnx.helper as make
    from onnx import TensorProto
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(bool): TensorProto.BOOL,
             np.dtype(np.int64): TensorProto.INT64}
    opset = 24 if len(inputs) > 6 else 23
    names = [f"i{n}" if data is not None else "" for n, data in enumerate(inputs)]
    feeds = {name: data for name, data in zip(names, inputs) if name}

    def model(outputs):
        node = make.make_node("Attention", names, outputs, **attributes)
        graph = make.make_graph(
            [node], "g", [make.make_tensor_value_info(n, kinds[d.dtype], d.shape) for n, d in feeds.items()],
            [make.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs if n])
        return make.make_model(graph, opset_imports=[make.make_opsetid("", opset)], ir_version=10).SerializeToString()

    shown = ["y", "pk", "pv"] if len(inputs) == 6 else ["y"]
    got = run_calque(model(shown), list(feeds.values()), len(shown))
    again = run_calque(model(shown), list(feeds.values()), len(shown), threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(got, again)), "the result depends on the number of threads"
    whole = run_calque(model(["y", "pk", "pv", "scores"]), list(feeds.values()), 4)
    expect_close(got, whole[:len(got)], **CLOSE, name="with scores")
    mask = inputs[3] if len(inputs) > 3 else None
    # ONNX Runtime does not broadcast masks along queries, and rejects masks shorter than the keys.
    if mask is None or mask.shape[-2:] == (inputs[0].shape[2], inputs[1].shape[2]):
        expect_close(got, run_ort(model(shown), feeds, "none"), **CLOSE)


def main():
    report = Report(__file__)
    if report.needs("onnx", "ort"):
        for name, case in cases().items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            with report.case(name):
                check(case)
        for name, inputs, attributes in operator_cases():
            with report.case(f"operator: {name}"):
                check_operator(inputs, attributes)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

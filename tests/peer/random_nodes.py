#!/usr/bin/python3
"""Single nodes of ONNX's operators with random attributes, types, ranks, versions and constants, against ONNX Runtime:
calque's results, the shapes that it infers where sizes are dynamic, and no complaint of its checker. random_samples.py
has the operators.

    random_nodes.py [--count N] [--only Conv,Pad] [--keep DIR] [SEED …]
"""
import argparse
import collections
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import ort
import peers
from onnx_samples import Sample  # before onnx_operators, which imports it too
from onnx_operators import NUMBERS, Case, as_type, element_names, is_small, to_proto
from random_samples import OPERATORS, Draw

TOOL = peers.BUILD / "tests/onnx_infer_tool"
N_NODES, N_MARKED = 1500, 4
NEWEST = 25
MAX_TRIES = 12
TOLERANCES = {"float16": (2e-2, 2e-2), "uint8": (0, 1), "int8": (0, 1)}
QUANTIZED = {"QLinearConv", "QLinearMatMul", "QuantizeLinear", "DynamicQuantizeLinear"}


class Node(Case):
    """A random node: some inputs are initializers, and some sizes are dynamic."""

    def prepare(self, draw):
        can = [i for i, x in enumerate(self.sample.inputs) if x is not None and not isinstance(x, list)]
        p = draw.pick(0, 0.3, 0.8, 1)
        self.constants = {i for i in can if i and draw.chance(p)}
        p = draw.pick(0, 0, 0.3, 0.8)
        self.dynamic = {f"d{i}_{k}": np.shape(self.sample.inputs[i])[k] for i in can if i not in self.constants
                        for k in range(np.ndim(self.sample.inputs[i])) if draw.chance(p)}

    def model(self, types=None, version=None):
        import onnx
        model = super().model(types, version)
        values, kept = self.inputs(types), []
        for info in model.graph.input:
            i = int(info.name[1:])
            kind = self.type_of("inputs", i, types)
            if i in self.constants:
                model.graph.initializer.append(to_proto(values[i], kind, info.name))
                continue
            if not isinstance(values[i], list):
                sizes = [f"d{i}_{k}" if f"d{i}_{k}" in self.dynamic else n for k, n in enumerate(values[i].shape)]
                info.CopyFrom(onnx.helper.make_tensor_value_info(info.name, NUMBERS[kind], sizes))
            kept.append(info)
        del model.graph.input[:]
        model.graph.input.extend(kept)
        return model

    def declare(self, outputs):
        """Gives the outputs their sizes, or names where a size of an input is dynamic."""
        for i, (info, out) in enumerate(zip(self.proto.graph.output, outputs)):
            if not isinstance(out, list):
                for k, n in enumerate(out.shape):
                    info.type.tensor_type.shape.dim.add(**({"dim_param": f"o{i}_{k}"} if self.dynamic else {"dim_value": n}))
                info.type.tensor_type.shape.SetInParent()

    def feeds(self):
        return {f"x{i}": x for i, x in enumerate(self.inputs()) if x is not None and i not in self.constants}

    def write(self, folder, outputs):
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        self.declare(outputs)
        (folder / "model.onnx").write_bytes(self.proto.SerializeToString())
        kinds = [self.type_of("inputs", int(name[1:])) for name in self.feeds()]
        for name, value, kind in [
                *((f"input_{i}", x, kind) for i, (x, kind) in enumerate(zip(self.feeds().values(), kinds))),
                *((f"output_{i}", x, self.output_type(i)) for i, x in enumerate(outputs))]:
            if isinstance(value, list):
                import onnx
                proto = onnx.SequenceProto(elem_type=1)
                proto.tensor_values.extend(to_proto(as_type(v, kind), kind, "") for v in value)
            else:
                proto = to_proto(as_type(value, kind), kind, name)
            (data / f"{name}.pb").write_bytes(proto.SerializeToString())

    def tolerance(self):
        if self.schema.name in QUANTIZED:
            return (0, 1)
        return next((TOLERANCES[k] for k in self.types.values() if k == "float16"), (1e-4, 2e-5))


def type_choices(draw, schema):
    """A type for each type variable; often the usual one."""
    types = {}
    for name, allowed in schema.constraints.items():
        names = [n for n in element_names(allowed) if not is_small(n) and n not in ("bfloat16", "complex64", "complex128")]
        plain = [n for n in names if n != "string"] or names
        types[name] = plain[0] if draw.chance(0.5) else draw.choice(names or element_names(allowed))
    return types


class Apart:
    """ONNX Runtime in a process of its own, because it crashes at some nodes; a new one is then
    started."""

    def __init__(self):
        self.child = None

    def serve(self, pipe):
        while True:
            model, feeds = pipe.recv()
            try:
                pipe.send(ort.Session(model).run(feeds))
            except ort.OrtError as error:
                pipe.send(error)

    def run(self, model, feeds):
        if not self.child:
            self.pipe, other = multiprocessing.Pipe()
            self.child = multiprocessing.Process(target=self.serve, args=(other,), daemon=True)
            self.child.start()
            other.close()
        self.pipe.send((model, feeds))
        try:
            answer = self.pipe.recv()
        except EOFError:
            self.child.join()
            self.child, answer = None, ort.OrtError("ONNX Runtime crashed")
        if isinstance(answer, Exception):
            raise answer
        return answer


GIVES_SEQUENCE = {"SequenceConstruct", "SequenceErase", "SequenceInsert", "SplitToSequence"}


def random_node(seed, rows, name, apart):
    """A node and ONNX Runtime's outputs for it; None if it refused all that were drawn."""
    draw, why = Draw(seed), "nothing was drawn"
    for _ in range(MAX_TRIES):
        index = draw.randrange(len(rows))
        row = rows[index]
        last = min(NEWEST, rows[index + 1].since - 1 if index + 1 < len(rows) else NEWEST)
        version = draw.randint(max(7, row.since), max(7, row.since, last))
        types = type_choices(draw, row)
        try:
            draw.start(name, version, types)
            inputs, attributes, *n_outputs = OPERATORS[name](draw)
        except (ValueError, IndexError, ZeroDivisionError) as error:
            why = f"drawing: {error}"
            continue
        while inputs and inputs[-1] is None:
            inputs.pop()
        tied = {"T": ["S"], "S": ["T"]} if "Sequence" in name else {}
        for a in tied:
            if {"S", "T"} <= set(types):
                types["S"] = types["T"]
        sample = Sample(inputs, attributes, n_outputs=(n_outputs or [1])[0], gives_sequence=name in GIVES_SEQUENCE)
        node = Node(row, sample, types, version)
        node.label = f"{name}-{version} seed {seed}"
        node.prepare(draw)
        try:
            node.proto = node.model()
            return node, apart.run(node.proto.SerializeToString(), node.feeds())
        except ort.OrtError as error:
            why = str(error)[:300]
    return None, why


def schemas_of():
    from onnx_schemas import ours
    found = collections.OrderedDict()
    for s in ours():
        if s.domain == "" and s.since <= NEWEST:
            found.setdefault(s.name, []).append(s)
    for name, rows in found.items():
        while len(rows) > 1 and rows[1].since <= 7:
            rows.pop(0)
        found[name] = [r for r in rows if not r.deprecated]
    return found


class Inference:
    def __init__(self):
        self.process = subprocess.Popen([str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, node, path):
        import onnx
        for info in node.proto.graph.output:
            if info.type.HasField("tensor_type"):
                info.type.tensor_type.ClearField("shape")
        (path / "bare.onnx").write_bytes(node.proto.SerializeToString())
        self.process.stdin.write(f"infer {path}/bare.onnx {path}/inferred.onnx\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer == "ok", f"infer: {answer}"
        return onnx.load(f"{path}/inferred.onnx").graph.output


def sizes_of(info):
    """Inferred sizes of an output; None without a rank."""
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return [d.dim_param or (d.dim_value if d.HasField("dim_value") else None) for d in tensor.shape.dim]


def compare_shapes(node, infos, outputs):
    """What differs between inferred and real sizes; dynamic ones are evaluated."""
    for i, (info, out) in enumerate(zip(infos, outputs)):
        if isinstance(out, list):
            continue
        sizes = sizes_of(info)
        if sizes is None:
            continue
        assert len(sizes) == out.ndim, f"output {i}: rank {len(sizes)} inferred {sizes}, but {out.shape}"
        for size, real in zip(sizes, out.shape):
            if isinstance(size, str):
                try:
                    size = eval(size, {"floor": np.floor, "ceil": np.ceil, "max": max, "min": min}, dict(node.dynamic))
                except NameError:
                    continue
            assert size is None or size == real, f"output {i}: inferred {sizes}, but {out.shape}; {node.dynamic}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=N_NODES)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("seeds", nargs="*", type=int)
    options = parser.parse_args()
    report = peers.Report(__file__)
    if not report.needs("onnx", "ort"):
        return report.finish()
    schemas = schemas_of()
    only = set(filter(None, options.only.split(",")))
    names = [n for n in OPERATORS if n in schemas and schemas[n] and (not only or n in only)]
    infer, apart = Inference(), Apart()
    with tempfile.TemporaryDirectory() as scratch:
        base, groups, refused = pathlib.Path(options.keep or scratch), {}, collections.Counter()
        for seed in options.seeds or range(options.count):
            name = names[seed % len(names)]
            if options.verbose:
                print("seed", seed, name, flush=True)
            node, outputs = random_node(seed, schemas[name], name, apart)
            if node is None:
                refused[name] += 1
                if options.verbose:
                    print("refused", name, outputs)
                continue
            folder = base / str(seed)
            node.write(folder, outputs)
            with report.case(f"{node.label}: inferred sizes"):
                compare_shapes(node, infer(node, folder), outputs)
            groups.setdefault(node.tolerance(), []).append((node, folder))
        for (rtol, atol), members in groups.items():
            folders = {str(folder): node for node, folder in members}
            out = peers.calque("verify", "--rtol", rtol, "--atol", atol, *folders, timeout=600)[1]
            said = dict(zip(folders, out.splitlines()))
            for folder, node in folders.items():
                line = said.get(folder, "nothing was said")
                report.check(node.label, line.startswith("ok "), line.replace(folder, ""))
            code, out, err = peers.calque("check", "--full", *(f"{f}/model.onnx" for f in folders), timeout=600)
            for line in (out + err).splitlines():
                path = line.split("/model.onnx")[0]
                if path in folders:
                    report.failed(folders[path].label, f"check: {line.split('/model.onnx')[1]}")
        if options.verbose or options.keep:
            print("refused by ONNX Runtime:", dict(refused))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

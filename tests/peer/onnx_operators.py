#!/usr/bin/python3
"""Every operator of ONNX in calque's runtime, at every version since 7 and with every type of
elements that its schema allows, against ONNX Runtime.

onnx_samples.py has inputs and attributes. A sample is run at each version it is for; the first of
an operator's samples is also run with each type of each type variable. If ONNX Runtime lacks a
kernel for a type, it runs another type; all types can represent the numbers. An operator without a
sample fails, except in ai.onnx.ml, where only some can be run. With names of operators as arguments
only those are run.
"""
import inspect
import itertools
import pathlib
import sys
import tempfile

import numpy as np

import minifloats
import onnx_samples
import ort
import peers

OLDEST = 7
DEFAULTS = ["float", "int64", "int32", "uint8", "bool", "string"]  # the first that is allowed
STAND_INS = ["int64", "int32", "uint8", "float", "double"]  # where ONNX Runtime lacks the type
NUMBERS = {name: number for number, name in enumerate(
    "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 "
    "complex64 complex128 bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 "
    "int4 float4e2m1 float8e8m0 uint2 int2".split())}
NUMPY = {"float": np.float32, "double": np.float64, "bool": np.bool_, "string": object}
# The tolerance of a test is that of its least exact type.
TOLERANCES = {"bfloat16": (2e-2, 2e-2), "float16": (5e-3, 5e-3), "float8": (0.2, 0.1)}
USUAL_TOLERANCE = (1e-4, 1e-5)


# ---- numbers as types -----------------------------------------------------------------


def is_small(name):
    return name.startswith(("float8", "float4")) or name in minifloats.INTEGERS


def as_type(values, name):
    """Values as numpy has the type; small types and bfloat16 as float32 that they hold."""
    values = np.asarray(values)
    if name == "string":
        texts = [v if isinstance(v, str) else str(v) for v in values.reshape(-1)]
        return np.array(texts, object).reshape(values.shape)
    if name.startswith("uint"):
        values = np.abs(values) if values.dtype.kind in "fi" else values
    if name in ("bfloat16",):
        return ort.from_bf16(ort.to_bf16(values.astype(np.float32)))
    if is_small(name):
        return minifloats.rounded(values.astype(np.float32), name)
    if values.dtype.kind == "f" and not name.startswith(("float", "double", "complex", "bool")):
        values = np.trunc(values)
    with np.errstate(invalid="ignore"):
        return values.astype(NUMPY.get(name, name))


def to_proto(values, name, label):
    import onnx
    proto = onnx.TensorProto(data_type=NUMBERS[name], dims=values.shape, name=label)
    if name == "string":
        proto.string_data.extend(text.encode() for text in values.reshape(-1))
    elif name == "bfloat16":
        proto.raw_data = ort.to_bf16(values).tobytes()
    elif is_small(name):
        proto.raw_data = minifloats.packed(values, name)
    else:
        proto.raw_data = np.ascontiguousarray(values).tobytes()
    return proto


# ---- a case: one node with types chosen -----------------------------------------------


class Case:
    def __init__(self, schema, sample, types, version, older=()):
        self.schema, self.sample, self.types, self.version = schema, sample, types, version
        self.refusal = "no type to try"
        self.older = older  # versions before this one that the sample is for, newest first
        self.label = f"{schema.name}-{version}({', '.join(sorted(types.values()))})"
        self.label += f" {sample.line}"

    def parameter(self, side, i):
        listed = getattr(self.schema, side)
        return listed[min(i, len(listed) - 1)]

    def type_of(self, side, i, types=None):
        given = self.sample.types.get((side, i))
        p = self.parameter(side, i)
        if given and not (types and p.constraint in types):
            return given
        if p.constraint:
            return (types or self.types)[p.constraint]
        return element_names(p.types)[0]

    def inputs(self, types=None):
        out = []
        for i, values in enumerate(self.sample.inputs):
            if values is None:
                out.append(None)
                continue
            kinds = [self.type_of("inputs", i), self.type_of("inputs", i, types)]
            items = [as_type(as_type(v, kinds[0]), kinds[1])
                     for v in (values if isinstance(values, list) else [values])]
            out.append(items if isinstance(values, list) else items[0])
        return out

    def model(self, types=None, version=None):
        import onnx
        from onnx import helper
        ins, outs, values = [], [], self.inputs(types)
        names = []
        for i, value in enumerate(values):
            names.append("" if value is None else f"x{i}")
            if value is None:
                continue
            kind = NUMBERS[self.type_of("inputs", i, types)]
            if isinstance(value, list):
                ins.append(helper.make_tensor_sequence_value_info(names[-1], kind, None))
            else:
                ins.append(helper.make_tensor_value_info(names[-1], kind, value.shape))
        for i in range(self.sample.n_outputs):
            info = onnx.ValueInfoProto(name=f"y{i}")
            kind = NUMBERS[self.output_type(i, types)]
            if self.sample.gives_sequence:
                info.type.sequence_type.elem_type.tensor_type.elem_type = kind
            else:
                info.type.tensor_type.elem_type = kind
            outs.append(info)
        attributes = self.sample.attributes_for(types or self.types)
        node = helper.make_node(self.schema.name, names, [f"y{i}" for i in range(len(outs))],
                                domain=self.schema.domain, **attributes)
        graph = helper.make_graph([node], "g", ins, outs)
        version = version or self.version
        imports = [helper.make_opsetid(self.schema.domain, version)]
        if self.schema.domain:
            imports.append(helper.make_opsetid("", 17))
        model = helper.make_model(graph, opset_imports=imports)
        model.ir_version = 11 if version >= 23 else 10 if version >= 21 else 8
        return model

    def output_type(self, i, types=None):
        given = self.sample.types.get(("outputs", i))
        if given:
            return given(types or self.types) if callable(given) else given
        p = self.parameter("outputs", i)
        if not p.constraint:
            return element_names(p.types)[0]
        return (types or self.types)[p.constraint]

    def tolerance(self):
        for name, tolerance in TOLERANCES.items():
            if any(kind.startswith(name) for kind in self.types.values()):
                return tolerance
        return USUAL_TOLERANCE


def element_names(types):
    """The element types of plain tensors and sequences, by DEFAULTS and then by name."""
    names = {t[t.rindex("tensor(") + 7:].rstrip(")") for t in types if "map" not in t}
    return [n for n in DEFAULTS if n in names] + sorted(names - set(DEFAULTS))


def choices(schema, sample, all_types):
    """Assignments of types to the type variables: the defaults, then one variable at a time."""
    first = {}
    for name, types in schema.constraints.items():
        names = element_names(types)
        first[name] = sample.prefers.get(name, names[0])
        if first[name] not in names:
            first[name] = names[0]
    yield first
    for name, types in schema.constraints.items():
        for kind in element_names(types) if all_types else []:
            if kind == first[name] or kind in sample.without or name in sample.prefers:
                continue
            yield {**first, **{other: kind for other in schema.constraints
                               if other == name or other in sample.tied.get(name, ())}}


# ---- what is expected ------------------------------------------------------------------


def run_ort(case, types, version):
    session = ort.Session(case.model(types, version).SerializeToString())
    feeds = {f"x{i}": value for i, value in enumerate(case.inputs(types)) if value is not None}
    return session.run(feeds)


def can_stand_in(kind, value):
    """Whether results in one type are those in the other: floats do not divide as integers, and
    what is unsigned has no negative numbers."""
    if value == "string":
        return kind == "float"
    if value != "bool" and "int" not in value:
        return kind in ("float", "double")
    return kind != "uint8" or value == "bool" or value.startswith("uint")


def expected(case):
    """Results of ONNX Runtime, or of the sample's reference; None without either."""
    if case.sample.reference:
        known = {"types": case.types} if "types" in inspect.signature(
            case.sample.reference).parameters else {}
        outputs = case.sample.reference(*case.inputs(), **known)
        return list(outputs) if isinstance(outputs, tuple) else [outputs]
    tries = []
    plain = not any(is_small(kind) or kind == "bfloat16" for kind in case.types.values())
    if plain:
        tries.append(case.types)
    for kind in STAND_INS:
        tries.append({name: kind if value != "float" and can_stand_in(kind, value)
                      and kind in element_names(case.schema.constraints[name]) else value
                      for name, value in case.types.items()})
    for types in tries:
        if any(is_small(kind) or kind == "bfloat16" for kind in types.values()):
            continue
        for version in [case.version, *case.older]:
            try:
                return run_ort(case, types, version)
            except ort.OrtError as error:
                case.refusal = str(error)
    return None


def write(case, folder, outputs):
    import onnx
    (folder / "test_data_set_0").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model().SerializeToString())
    given = [(f"input_{i}", value, case.type_of("inputs", k)) for i, (k, value) in enumerate(
        (k, value) for k, value in enumerate(case.inputs()) if value is not None)]
    wanted = [(f"output_{i}", value, case.output_type(i)) for i, value in enumerate(outputs)]
    for name, value, kind in given + wanted:
        path = folder / "test_data_set_0" / f"{name}.pb"
        if isinstance(value, list):
            sequence = onnx.SequenceProto(elem_type=1)
            sequence.tensor_values.extend(to_proto(as_type(v, kind), kind, "") for v in value)
            path.write_bytes(sequence.SerializeToString())
        else:
            path.write_bytes(to_proto(as_type(value, kind), kind, name).SerializeToString())


# ---- all of it -------------------------------------------------------------------------


def all_cases(schemas, report, only):
    for (domain, name), rows in schemas.items():
        if only and name not in only:
            continue
        samples = onnx_samples.SAMPLES.get(name, [])
        rows = [row for row in rows if row.since <= max(row.since, OLDEST)]
        newest_old = max((r.since for r in rows if r.since <= OLDEST), default=None)
        rows = [r for r in rows if r.since > OLDEST or r.since == newest_old]
        if name in onnx_samples.ELSEWHERE or all(row.deprecated for row in rows):
            continue
        if not samples:
            report.failed(name, "has no sample in onnx_samples.py")
        seen = set()
        for row in reversed(rows):
            version = row.since if domain else max(row.since, OLDEST)
            fitting = [s for s in samples if s.since <= version <= s.until]
            if not fitting and samples and not row.deprecated:
                report.failed(f"{name}-{version}", "has no sample for that version")
            for k, sample in enumerate([] if row.deprecated else fitting):
                for types in choices(row, sample, k == 0):
                    key = (sample.line, tuple(sorted(types.items())))
                    if key in seen and types != next(choices(row, sample, False)):
                        continue
                    seen.add(key)
                    yield Case(row, sample, types, version, [
                        max(r.since, OLDEST) for r in reversed(rows)
                        if r.since < row.since and sample.since <= max(r.since, OLDEST)])


def main():
    report = peers.Report(__file__)
    if not report.needs("onnx", "ort"):
        return report.finish()
    from onnx_schemas import ours
    schemas = {key: list(rows) for key, rows in itertools.groupby(
        (s for s in ours() if s.domain not in ("com.microsoft", "experimental") and  # microsoft.py has those
         (s.domain != "ai.onnx.ml" or s.name in onnx_samples.SAMPLES)),
        key=lambda s: (s.domain, s.name))}
    with tempfile.TemporaryDirectory() as scratch:
        groups = {}
        for number, case in enumerate(all_cases(schemas, report, sys.argv[1:])):
            try:
                outputs = expected(case)
                if outputs is None:
                    report.failed(case.label, f"ONNX Runtime refuses it: {case.refusal[:150]}")
                    continue
                folder = pathlib.Path(scratch) / str(number)
                write(case, folder, outputs)
            except Exception as error:
                report.failed(case.label, f"{type(error).__name__}: {error}")
                continue
            groups.setdefault(case.tolerance(), []).append((case, folder))
        for (rtol, atol), members in groups.items():
            for i in range(0, len(members), 1000):
                part = members[i:i + 1000]
                out = peers.calque("verify", "--rtol", rtol, "--atol", atol,
                                   *[folder for _, folder in part], timeout=300)[1]
                said = dict(zip([str(f) for _, f in part], out.splitlines()))
                for case, folder in part:
                    line = said.get(str(folder), "nothing was said")
                    report.check(case.label, line.startswith("ok "),
                                 line.replace(str(folder), ""))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Every case of every operator (tests/ops), exported as a model of that one operator at several
opsets, with fixed and with dynamic sizes; checked by onnx, run by ONNX Runtime, compared with
what PyTorch gave.

    ops_export.py [-v] [--bless] [FAMILY …] [OPERATOR …] [opset=N]

Operators that calque or ONNX Runtime refuses are listed in expected/ops_export.txt, which --bless rewrites: all
of it, or the lines of the named operators.
"""
import collections
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

import peers
from peers import BUILD, JOBS, ROOT, Report, expect_close

DATA = ROOT / "tests" / "ops" / "data"
OPSETS = [7, 8, 9, 11, 13, 17, 21, 24]  # the last two are judged by ONNX Runtime alone
DTYPES = {"bool": "bool", "uint8": "u1", "int8": "i1", "int16": "i2", "int32": "i4",
          "int64": "i8", "float16": "f2", "float32": "f4", "float64": "f8", "complex32": "c8", "complex64": "c8",
          "complex128": "c16"}

# The message when an operator is refused with a reason, or when a newer opset is required. Such a
# model must be on the list of expected refusals; an operator without a symbolic function is always a
# failure. Models that take or return complex tensors are refused too: opinfo.py tests complex
# tensors inside of models.
REFUSED = re.compile(r"times?\)(, first in [^:;]*)?(: |; opset \d+ can)|requires? opset"
                     r"|complex (numbers|tensor)")

# ONNX Runtime has many operators, Conv among them, in float32 alone. A model in float64 is right
# without them: casting it down would make its numbers wrong.
NO_KERNEL = re.compile("Could not find an implementation for|does not support double yet")
# Random numbers and regions it has up to opset 21 only.
NOT_SINCE_22 = re.compile(r"an implementation for (Random\w+|Multinomial|Bernoulli|RoiAlign)\(22\)")


# ---- cases ----------------------------------------------------------------------------


def number(x):
    return float(x) if isinstance(x, str) else x


def array(one):
    """A tensor of a case as a contiguous array."""
    import numpy as np
    import ort
    values = [number(x) for x in one["v"]]
    if one["t"] == "bfloat16":
        flat = ort.to_bf16(np.array(values, "f4"))
    elif one["t"].startswith("complex"):
        parts = np.array(values, "f8").reshape(-1, 2)
        flat = (parts[:, 0] + 1j * parts[:, 1]).astype(DTYPES[one["t"]])
    else:
        flat = np.array(values, DTYPES[one["t"]])
    if "st" not in one:
        return flat.reshape(one["s"])
    item = flat.itemsize
    view = np.lib.stride_tricks.as_strided(flat[one["o"]:], one["s"],
                                           [step * item for step in one["st"]])
    return np.ascontiguousarray(view).reshape(one["s"])


def tensors(values):
    """The tensors among values, in order, those of lists too."""
    for value in values:
        if isinstance(value, dict) and "t" in value:
            yield array(value)
        elif isinstance(value, list):
            yield from tensors(value)


def describe(value):
    if isinstance(value, dict) and "t" in value:
        return f"{value['t']}{value['s']}"
    if isinstance(value, list):
        return "[" + ", ".join(map(describe, value)) + "]"
    return json.dumps(value)


def name_of(one, opset, dynamic):
    args = ", ".join(map(describe, one["args"]))
    return f"{one['op']}({args}) opset {opset}{' dynamic' if dynamic else ''}"


# ---- one model ------------------------------------------------------------------------


def check(model, opset):
    """The error of onnx for the model, if this onnx supports its opset."""
    import onnx
    import onnx.checker
    if opset > onnx.defs.onnx_opset_version():
        return
    onnx.checker.check_model(onnx.load_model_from_string(model), full_check=True)


def compare(one, model):
    import numpy as np
    import onnx
    inputs = list(tensors(one["args"]))
    used = {i.name for i in onnx.load_model_from_string(model).graph.input}
    feeds = {f"x{i}": x for i, x in enumerate(inputs) if f"x{i}" in used}
    got, expected = peers.run_ort(model, feeds), list(tensors(one["results"]))
    assert len(got) == len(expected), f"{len(got)} outputs, expected {len(expected)}"
    usual = (1e-12, 1e-12) if str(expected[0].dtype) in ("float64", "complex128") else (None, None)
    tol = one.get("tol", usual)
    for i, (a, b) in enumerate(zip(got, expected)):
        if one.get("values", True):
            expect_close(a, b, *tol, name=f"output {i}")
        else:
            assert np.shape(a) == np.shape(b), f"shape {np.shape(a)}, expected {np.shape(b)}"


def versions_of(graph, opset):
    """The versions of the operators that a graph uses at an opset, in order."""
    import onnx
    for node in graph.node:
        yield onnx.defs.get_schema(node.op_type, opset, node.domain).since_version
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from versions_of(inner, opset)


def meaning_of(model, opset):
    """The parts that are equal in two models whose opsets differ, but not the versions of their
    operators."""
    import onnx
    if opset > onnx.defs.onnx_opset_version():
        return model
    parsed = onnx.load_model_from_string(model)
    if any(entry.domain not in ("", "ai.onnx") for entry in parsed.opset_import):
        return model
    versions = tuple(versions_of(parsed.graph, opset))
    del parsed.opset_import[:]
    parsed.ClearField("ir_version")
    return parsed.SerializeToString(), versions


def models_of(cases, opsets):
    """(case, opset, dynamic, bytes of the model, message) for all cases."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cases, file)
        file.flush()
        done = subprocess.run([BUILD / "tests" / "op_export", file.name, *map(str, opsets)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    out, at = done.stdout, 0
    while (end := out.find(b"\n", at)) >= 0:
        case, opset, dynamic, size, message = out[at:end].decode(errors="replace").split(" ", 4)
        at = end + 1 + int(size)
        yield int(case), int(opset), dynamic == "1", out[end + 1:at], message
    if done.returncode:
        yield None, 0, False, b"", f"op_export died ({done.returncode}): {done.stderr[-500:]}"


def is_among(op, operators):
    """Whether an operator, or all overloads of its name, is one of those."""
    return op in operators or op.split(".")[0] in operators


def run_family(family, operators, opsets):
    """(name, error or None, skipped) for every model; in a separate process."""
    cases = [one for one in json.loads((DATA / f"{family}.json").read_text())
             if not operators or is_among(one["op"], operators)]
    results, seen = [], {}
    for case, opset, dynamic, model, message in models_of(cases, opsets) if cases else ():
        if case is None:
            results.append((family, message, False))
            continue
        one = cases[case]
        if not any(True for _ in tensors(one["results"])):
            continue  # numbers about a tensor (its sizes, an element) leave nothing in a graph
        name = name_of(one, opset, dynamic)
        if not model:
            results.append((name, message, bool(REFUSED.search(message))))
            continue
        try:
            check(model, opset)
            key = (case, meaning_of(model, opset))
            if key not in seen and one.get("ort", True):
                compare(one, model)
            seen[key] = True
            results.append((name, None, False))
        except Exception as error:  # the model is at fault, whatever it is
            text = " ".join(str(error).strip().split("\n"))[:300]
            results.append((name, text, bool(
                NO_KERNEL.search(text) and "float64[" in name or NOT_SINCE_22.search(text))))
    return results


def shape_of(error):
    """An error without its numbers, so that the same one at many opsets is shown once."""
    return re.sub(r"[\d.]+(e[-+]\d+)?|nan|inf", "#", error)[:120]


def show(report, kinds, word):
    for i, ((op, _), found) in enumerate(sorted(kinds.items())):
        if i == peers.SHOWN_FAILURES:
            print(f"and {len(kinds) - i} more kinds", flush=True)
            break
        name, error = found[0]
        print(f"{word} {name}{f' and {len(found) - 1} more' if found[1:] else ''}: {error}", flush=True)


def main():
    report = Report(__file__)
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    operators = {word for word in words if "::" in word}
    opsets = [int(word[6:]) for word in words if word.startswith("opset=")] or OPSETS
    families = [word for word in words if word.isidentifier()] or \
        sorted(path.stem for path in DATA.glob("*.json"))
    if report.needs("onnx", "ort"):
        refused, broken = {}, {}
        with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
            jobs = [pool.submit(run_family, family, operators, opsets) for family in families]
            for name, error, skipped in itertools.chain(*(job.result() for job in jobs)):
                if error:
                    kinds = refused if skipped else broken
                    kinds.setdefault((name.split("(")[0], shape_of(error)), []).append((name, error))
                else:
                    report.passed(name)
        show(report, refused if "-v" in sys.argv else {}, "refused")
        show(report, broken, "FAIL")
        report.n_failed = sum(map(len, broken.values()))
        if opsets == OPSETS and (not words or len(operators) == len(words)):
            counts = collections.Counter()
            for (operator, _), found in refused.items():
                counts[operator] += len(found)
            report.expected_refusals(counts, lambda op: not operators or is_among(op, operators))
    return report.finish()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

#!/usr/bin/python3
"""The operator database of today's PyTorch: samples of every operator become programs of torch.export, and
calque's files must give PyTorch's results.

    operators.py make FOLDER [kinds=pt2,dyn,dec,types] [samples=N] [part=I/N] [only=REGEX]
                                  writes a case for each sample (tools/modern.sh sid python3 …)
    operators.py export FOLDER [opset=N] [only=REGEX]
                                  exports all of them with build/calque, two at a time
    operators.py check FOLDER [only=REGEX]
                                  runs the files in ONNX Runtime, and lists by operator what fails (in sid)
    operators.py own FOLDER [only=REGEX]
                                  the same with calque's runtime

A case is a folder: model.pt2, test_data_set_N with inputs and outputs, case.json with what the sample is. Its
inputs are the tensors among the arguments. Complex ones come and go as view_as_real, bfloat16 as float32. The kinds:
pt2, a sample as it is; dec, after run_decompositions; dyn, all sizes open and a second data set of other sizes;
types, other dtypes than float32, or than the first of the list that there is."""
import concurrent.futures
import contextlib
import io
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peer"))
import peer_cpu  # noqa: E402, F401

# What is random, or has no value yet. Or has results that are not unique: signs of eigenvectors.
UNTESTABLE = re.compile(r"bernoulli|dropout|empty|multinomial|normal$|normal_in_place|normal_number_mean|rand|rrelu|uniform"
                        r"|cauchy|exponential|geometric|log_normal|resize|new_empty|_batch_norm_with_update"
                        r"|scaled_dot_product_(flash|efficient)|_flash_attention|_efficient_attention")
TYPES = ["float32", "complex64", "int64", "bool", "float64", "float16", "bfloat16", "int32", "uint8"]
LIMIT = 20  # seconds for one export of PyTorch


def options(words):
    return {"kinds": "pt2,dyn,dec,types", "samples": "3", "part": "0/1", "only": "", "opset": "18",
            **dict(word.split("=", 1) for word in words)}


# ---- making cases -------------------------------------------------------------------------


def plain(tensor):
    """Values that a file can hold: no complex numbers, no bfloat16, no lazy conjugates."""
    import torch
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise ValueError("not a plain tensor")
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def flat(value):
    """The tensors of a result, in order."""
    import torch
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in flat(item)]
    return []


def module_of(fn, sample):
    """A module whose inputs are the tensors among the arguments; other arguments are fixed."""
    import torch
    tensors, dtypes = [], []

    def take(value):
        if isinstance(value, torch.Tensor):
            tensors.append(plain(value).clone())
            dtypes.append(value.dtype)
            at = len(tensors) - 1
            return lambda given: given[at]
        if isinstance(value, (list, tuple)):
            items = [take(item) for item in value]
            return lambda given: type(value)([item(given) for item in items])
        return lambda given: value

    taken = [take(arg) for arg in (sample.input, *sample.args)]
    named = {key: take(arg) for key, arg in sample.kwargs.items()}

    class Op(torch.nn.Module):
        def forward(self, *given):
            given = [torch.view_as_complex(x) if d.is_complex else x.to(d) if d == torch.bfloat16 else x
                     for x, d in zip(given, dtypes)]
            out = flat(fn(*[arg(given) for arg in taken], **{k: v(given) for k, v in named.items()}))
            out = [torch.view_as_real(x.resolve_conj()) if x.is_complex() else x.float() if x.dtype == torch.bfloat16
                   else x for x in out]
            return out[0] if len(out) == 1 else tuple(out)

    return Op().eval(), tensors


def samples_of(op, dtype, most):
    """The first samples of an operator, and the last one."""
    import numpy
    import torch
    torch.manual_seed(0)
    numpy.random.seed(0)
    random.seed(0)
    found = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    return list(enumerate(found))[:most] + ([(len(found) - 1, found[-1])] if len(found) > most else [])


def other_sizes(program, tensors):
    """Inputs of other sizes, where a symbol is a size of an input: its elements, some of them twice."""
    import torch
    given, others = {}, []
    shapes = [n.meta["val"].shape for n in program.graph.nodes if n.op == "placeholder"]
    for tensor, shape in zip(tensors, shapes):
        for dim, size in enumerate(shape):
            if not isinstance(size, int):
                if not size.node.expr.is_Symbol:
                    return None
                given.setdefault(str(size), tensor.shape[dim] + 1 + len(given) % 2)
                places = torch.arange(given[str(size)]) % tensor.shape[dim]
                tensor = tensor.index_select(dim, places)
        others.append(tensor.clone())
    return others if given else None


class Late(Exception):
    pass


def late(*_):
    raise Late(f"no answer in {LIMIT} s")


def make_case(folder, op, dtype, index, kind, sample):
    """Writes one case; why not, if PyTorch cannot export it."""
    import onnx.numpy_helper
    import torch
    module, tensors = module_of(op.op, sample)
    sizes = tuple({d: torch.export.Dim.AUTO for d, n in enumerate(t.shape) if n > 1} for t in tensors)
    program = torch.export.export(module, tuple(t.clone() for t in tensors),
                                  dynamic_shapes=(sizes,) if kind == "dyn" else None)
    if kind == "dec":
        program = program.run_decompositions()
    sets = [tensors]
    if kind == "dyn":
        sets.append(other_sizes(program, tensors))
        if sets[1] is None:
            return "no size stays open"
    results = []
    for inputs in sets:
        try:
            with torch.no_grad():
                results.append([plain(t) for t in flat(module(*[t.clone() for t in inputs]))])
                flat(program.module()(*[t.clone() for t in inputs]))
        except (Exception, Late):
            if inputs is sets[0]:
                raise
            break
    if len(results) < len(sets) and kind == "dyn":
        return "other sizes do not fit"
    folder.mkdir(parents=True)
    torch.export.save(program, folder / "model.pt2")
    for number, (inputs, outputs) in enumerate(zip(sets, results)):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for what, items in (("input", inputs), ("output", outputs)):
            for i, tensor in enumerate(items):
                proto = onnx.numpy_helper.from_array(tensor.contiguous().numpy().reshape(tuple(tensor.shape)))
                (data / f"{what}_{i}.pb").write_bytes(proto.SerializeToString())
    exact = torch.empty(0, dtype=dtype)
    low = dtype in (torch.float16, torch.bfloat16)
    json.dump({
        "id": folder.name, "group": "ops", "model": "model.pt2", "torch": torch.__version__, "opset": 18, "min_opset": 18,
        "operator": op.name, "input_names": None, "output_names": None, "dynamic_axes": None, "training": "EVAL",
        "do_constant_folding": True, "expressible": True, "check_dtype": True, "check_shape": True,
        "rtol": 0.05 if low else 1e-3, "atol": 0.05 if low else 1e-5,
        "n_in": len(tensors), "n_out": len(results[0]), "n_sets": len(results), "dtype": str(exact.dtype),
        "ops": sorted({f"torch.ops.{n.target}" for n in program.graph.nodes if n.op == "call_function"}),
        "sample": f"{sample.args} {sample.kwargs}"[:400],
    }, open(folder / "case.json", "w"), indent=1)
    return None


def make(root, o):
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, late)
    part, parts = map(int, o["part"].split("/"))
    kinds = o["kinds"].split(",")
    why = open(root / f"unmade.{part}.txt", "a")
    for op in sorted(op_db, key=lambda op: (op.name, op.variant_test_name))[part::parts]:
        name = re.sub(r"\W", "_", f"{op.name}_{op.variant_test_name}" if op.variant_test_name else op.name)
        if UNTESTABLE.search(op.name) or not re.search(o["only"], name):
            continue
        types = [t for t in TYPES if op.supports_dtype(getattr(torch, t), "cpu")]
        todo = [(types[0], int(o["samples"]), kind) for kind in ("pt2", "dyn", "dec") if kind in kinds and types]
        if "types" in kinds:
            todo += [(t, 1, "pt2") for t in types[1:]]
        for dtype, most, kind in todo:
            try:
                samples = samples_of(op, getattr(torch, dtype), most)
            except Exception as error:
                print(name, dtype, str(error).splitlines()[:1], file=why)
                continue
            for index, sample in samples:
                case = f"op_{name}_{index}.{kind}" if dtype == "float32" else f"op_{name}_{dtype}_{index}.{kind}"
                if (root / case).exists():
                    continue
                signal.alarm(LIMIT)
                try:
                    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                        reason = make_case(root / case, op, getattr(torch, dtype), index, kind, sample)
                except (Exception, Late) as error:
                    shutil.rmtree(root / case, ignore_errors=True)
                    reason = f"{type(error).__name__}: {error}"
                finally:
                    signal.alarm(0)
                if reason:
                    print(case, " ".join(reason.split())[:200], file=why, flush=True)


# ---- checking them --------------------------------------------------------------------------


def cases(root, o):
    return sorted(f.parent for f in root.glob("*/case.json") if re.search(o["only"], f.parent.name))


def export_one(case, opset):
    out = case / "calque.onnx"
    out.unlink(missing_ok=True)
    try:
        done = subprocess.run(["build/calque", "export", str(case / "model.pt2"), "--opset", opset, "-o", str(out)],
                              capture_output=True, text=True, timeout=20, errors="replace")
        said = "" if done.returncode == 0 else done.stderr if done.returncode > 0 else f"signal {-done.returncode}"
    except subprocess.TimeoutExpired:
        said = "no answer in 20 s"
    return " ".join(said.replace(str(case) + "/", "").split())


def own_one(case):
    said = json.loads((case / "case.json").read_text())
    done = subprocess.run(["build/calque", "verify", "--model", str(case / "calque.onnx"), "--rtol", str(said["rtol"]),
                           "--atol", str(said["atol"]), str(case)], capture_output=True, text=True, errors="replace")
    return " ".join((done.stderr or done.stdout).split()) if done.returncode else ""


def check_one(case):
    import numpy
    import onnx
    import onnxruntime
    said = json.loads((case / "case.json").read_text())
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(case / "calque.onnx"), quiet, providers=["CPUExecutionProvider"])
        for data in sorted(case.glob("test_data_set_*")):
            def read(what, n):
                return [onnx.numpy_helper.to_array(onnx.load_tensor(data / f"{what}_{i}.pb")) for i in range(n)]
            got = session.run(None, dict(zip([i.name for i in session.get_inputs()], read("input", said["n_in"]))))
            expected = read("output", said["n_out"])
            if len(got) != len(expected):
                return f"{len(got)} results, not {len(expected)}"
            for i, (one, other) in enumerate(zip(got, expected)):
                if (one.dtype, one.shape) != (other.dtype, other.shape):
                    return f"result {i} of {data.name} is {one.dtype}{one.shape}, not {other.dtype}{other.shape}"
                close = numpy.isclose(one.astype(other.dtype), other, said["rtol"], said["atol"], equal_nan=True)
                if not close.all():
                    return f"result {i} of {data.name}: {(~close).sum()} of {close.size} numbers differ"
    except Exception as error:
        return " ".join(str(error).split())
    return ""


def report(found, name):
    """Failures by operator, the most frequent first."""
    by = {}
    for case, why in found.items():
        operator = json.loads((case / "case.json").read_text())["operator"]
        by.setdefault(operator, []).append((case.name, why))
    bad = {op: [(c, w) for c, w in all_ if w] for op, all_ in by.items()}
    for op, failed in sorted(bad.items(), key=lambda item: -len(item[1])):
        for case, why in failed:
            print(f"{op}\t{case}\t{why[:300]}")
    right = sum(not why for why in found.values())
    print(f"{name}: {right} of {len(found)} cases right; {sum(map(bool, bad.values()))} of {len(bad)} operators have failures")


def main():
    what, root, o = sys.argv[1], Path(sys.argv[2]), options(sys.argv[3:])
    root.mkdir(parents=True, exist_ok=True)
    if what == "make":
        return make(root, o)
    todo = cases(root, o)
    if what != "export":
        todo = [case for case in todo if (case / "calque.onnx").exists()]
    does = {"export": lambda case: export_one(case, o["opset"]), "check": check_one, "own": own_one}[what]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        report(dict(zip(todo, pool.map(does, todo))), what)


if __name__ == "__main__":
    main()

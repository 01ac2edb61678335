"""Writes data/FAMILY.json from FAMILY.py: every case, run by the real PyTorch.

    /usr/bin/python3 tests/ops/make.py [FAMILY …]

That is PyTorch 1.13. Operators that only newer ones have are in families that end in _2, which
PyTorch 2.14 runs; each version makes its own families unless others are named.

The files are checked in; ops_test.c replays them without PyTorch. One case per line, so that
a change of one shows as one line. Numbers are written so that they come back as the same bits.
"""
import json
import pathlib
import runpy
import sys
import warnings

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import cases  # noqa: E402

MEMORY_FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2,
                  torch.channels_last_3d: 3}


# ---- values as JSON -------------------------------------------------------------------


def number(x, short=None):
    """A float: its shortest decimal form, or a name. short is numpy's type of the element."""
    if x != x:
        return "nan"
    if x in (float("inf"), -float("inf")):
        return "inf" if x > 0 else "-inf"
    return float(str(short(x))) if short else x


def elements(tensor):
    """The elements in row-major order as a flat list; complex ones as two numbers each."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    flat = tensor.detach().reshape(-1)
    if not flat.dtype.is_floating_point:
        return [int(x) for x in flat.tolist()]
    short = {torch.float16: numpy.float16, torch.float32: numpy.float32,
             torch.bfloat16: numpy.float32}.get(flat.dtype)
    return [number(x, short) for x in flat.double().tolist()]


QUANTIZED = {torch.qint8: 12, torch.quint8: 13, torch.qint32: 14}


def encode_grid(tensor):
    """dtype, scale and zero point; of each channel: both as tensors, and the axis."""
    dtype = QUANTIZED[tensor.dtype]
    if tensor.qscheme() == torch.per_tensor_affine:
        return [dtype, tensor.q_scale(), tensor.q_zero_point()]
    return [dtype, encode_tensor(tensor.q_per_channel_scales().float()),
            encode_tensor(tensor.q_per_channel_zero_points().int()), tensor.q_per_channel_axis()]


def encode_tensor(tensor):
    """A tensor. One that is not contiguous comes with its strides, offset and whole storage."""
    if tensor.is_quantized:
        return {**encode_tensor(tensor.dequantize().contiguous()), "q": encode_grid(tensor)}
    out = {"t": str(tensor.dtype)[6:].replace("float8_", "float8"), "s": list(tensor.shape)}
    if tensor.is_contiguous() and not tensor.is_conj():
        return {**out, "v": elements(tensor)}
    last = tensor.storage_offset() + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    whole = torch.as_strided(tensor, [last + 1], [1], 0)
    return {**out, "st": list(tensor.stride()), "o": tensor.storage_offset(), "v": elements(whole)}


def encode(value):
    if isinstance(value, torch.Tensor):
        return encode_tensor(value)
    if isinstance(value, cases.packed):
        return {"call": value.op, "args": [encode(arg) for arg in value.args]}
    if isinstance(value, torch.dtype) and value in QUANTIZED:
        return QUANTIZED[value]
    if isinstance(value, torch.dtype):
        return {"dtype": str(value)[6:]}
    if isinstance(value, (torch.device,)):
        return {"device": str(value)}
    if isinstance(value, torch.layout):
        return 0
    if isinstance(value, torch.memory_format):
        return MEMORY_FORMATS[value]
    if isinstance(value, complex):
        return {"c": [value.real, value.imag]}
    if isinstance(value, float):
        text = number(value)
        return {"f": text} if isinstance(text, str) else text
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    return value  # None, bool, int, str


# ---- running a case -------------------------------------------------------------------


def overload_of(full_name):
    """The operator with exactly this name, as torch.ops has it."""
    namespace, rest = full_name.split("::")
    name, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")


# torch.ops cannot hand over lists of any type; these are the same functions under their names.
BY_NAME = {"aten::tensor": torch.tensor, "aten::as_tensor.list": torch.as_tensor}


def arguments(schema, args, kwargs):
    """All arguments in the schema's order, up to the last one given."""
    left = dict(kwargs)
    out = list(args)
    for arg in schema.arguments[len(args):]:
        if not left:
            break
        if arg.name in left:
            out.append(left.pop(arg.name))
        else:
            out.append(arg.default_value if arg.has_default_value() else None)
    # torch.ops passes a bool as an integer if the schema accepts any number.
    out = [int(value) if isinstance(value, bool) and "number" in str(arg.type).lower() else value
           for value, arg in zip(out, schema.arguments)]
    if left:
        raise TypeError(f"{schema.name} has no argument {', '.join(left)}")
    return out


def same(a, b):
    return elements(a) == elements(b)


def shares(a, b):
    return a.numel() and a.storage().data_ptr() == b.storage().data_ptr()


def aliases(results, args):
    """For each result the argument whose memory it shares, or -1."""
    def of(result):
        for i, arg in enumerate(args):
            if isinstance(arg, torch.Tensor) and isinstance(result, torch.Tensor) \
                    and shares(result, arg):
                return i
        return -1
    return [of(result) for result in results]


def each_tensor(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(each_tensor(item, change) for item in value)
    return value


def call(op, args, named):
    """Calls op. PyTorch lacks many operators for half precision on a CPU; what they mean is the
    result in float32, rounded once, as its GPU kernels do it."""
    try:
        return op(*args, **named)
    except RuntimeError as error:
        half = {name: dtype for name, dtype in (("Half", torch.float16), ("BFloat16", torch.bfloat16))
                if f"not implemented for '{name}'" in str(error)}
        if not half or op._schema.is_mutable:
            raise
    half = list(half.values())[0]
    widened = [each_tensor(arg, lambda x: x.float() if x.dtype == half else x) for arg in args]
    return each_tensor(op(*widened, **named),
                       lambda x: x.to(half) if x.dtype == torch.float32 else x)


def run(one):
    op = overload_of(one["op"])
    names = [arg.name for arg in op._schema.arguments]
    args = arguments(op._schema, one["args"], one["kwargs"])
    out = {"op": one["op"], "args": [encode(arg) for arg in args]}
    before = [arg.clone() if isinstance(arg, torch.Tensor) else None for arg in args]
    named = dict(zip(names[len(one["args"]):], args[len(one["args"]):]))
    try:
        if one["op"] in BY_NAME:
            result = BY_NAME[one["op"]](*one["args"], **one["kwargs"])
        else:
            given = [arg.make() if isinstance(arg, cases.packed) else arg for arg in args]
            result = call(op, given[:len(one["args"])], named)
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        if not one["fails"]:
            raise
        return {**out, "fails": str(error).split("\n")[0][:100]}
    if one["fails"]:
        raise RuntimeError("PyTorch does not refuse it")
    results = list(result) if isinstance(result, tuple) else [result]
    out["results"] = [encode(item) if not isinstance(item, torch.Tensor)
                      else encode(item.contiguous()) for item in results]
    after = {str(i): encode(arg.contiguous()) for i, arg in enumerate(args)
             if before[i] is not None and not same(arg, before[i])}
    if after:
        out["after"] = after
    if one["alias"] and max(aliases(results, args), default=-1) >= 0:
        out["alias"] = aliases(results, args)
    for flag in ("values", "fake", "ort"):
        if not one[flag]:
            out[flag] = False
    if one["tol"]:
        out["tol"] = list(one["tol"])
    if one["note"]:
        out["note"] = one["note"]
    return out


def make(family):
    cases.CASES.clear()
    runpy.run_path(str(HERE / f"{family}.py"))
    lines = []
    for one in cases.CASES:
        torch.manual_seed(0)
        try:
            lines.append(json.dumps(run(one), separators=(",", ":"), allow_nan=False))
        except Exception as error:
            raise SystemExit(f"{family}: {one['op']}{one['args']}{one['kwargs']}: {error}")
    path = HERE / "data" / f"{family}.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{family}: {len(lines)} cases, {path.stat().st_size // 1024} KB")


def families():
    """The named ones, or all of this PyTorch."""
    version = ".".join(torch.__version__.split(".")[:2])
    known = sorted(path.stem for path in HERE.glob("*.py")
                   if path.stem not in ("make", "cases", "gradients"))
    mine = [name for name in known if version == ("2.14" if name.endswith("_2") else "1.13")]
    for name in sys.argv[1:]:
        if name not in mine:
            raise SystemExit(f"{name}: no family for PyTorch {version}")
    return sys.argv[1:] or mine


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for family in families():
        make(family)


if __name__ == "__main__":
    main()

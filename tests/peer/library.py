#!/usr/bin/python3
"""Runs every composed operator of lib/aten as Python in the real PyTorch, and compares it with
ATen's own operator.

    library.py [--bless]

The cases are those of tests/ops. `calque` and `aten` are modules that this script makes: the first
has the decorators and the functions that only calque provides, the second the files themselves.
Operators whose bodies call native functions cannot run in PyTorch. They are listed in
expected/library.txt, which --bless rewrites; an operator that is missing there fails.
"""
import ast
import importlib.util
import inspect
import math
import pathlib
import re
import runpy
import sys
import types

import peers
import torch

sys.path.insert(0, str(peers.ROOT / "tests/ops"))
sys.dont_write_bytecode = True
OPTIONS = sys.argv[1:]
sys.argv = sys.argv[:1]
import cases  # noqa: E402
import make  # noqa: E402

LIB = peers.ROOT / "lib"

# Operators whose bodies call natives that need calque's own tensors: constants that calque computes,
# quantization parameters, or several random numbers in PyTorch's order.
NATIVE = {"waves", "kaiser", "einsum_labels", "floats", "quantized", "regrid", "grid_dtype", "qparams",
          "narrow_range", "bias_on_grid"}


class NeedsNative(Exception):
    pass


def native(name):
    def refuse(*args):
        raise NeedsNative(name)
    return refuse


def wrap_dim(dim, rank):
    most = max(rank, 1)
    if not -most <= dim < most:
        raise IndexError(f"dim {dim} is out of range")
    return dim % most


def sizes_of(x):
    return list(x.shape) if isinstance(x, torch.Tensor) else list(x)


def broadcast_shapes(*items):
    items = items[0] if len(items) == 1 and not isinstance(items[0], torch.Tensor) else items
    return list(torch.broadcast_shapes(*[sizes_of(item) for item in items]))


def result_type(*items):
    items = items[0] if len(items) == 1 and isinstance(items[0], (list, tuple)) else items
    items = [item for item in items if item is not None]
    out = items[0].dtype if isinstance(items[0], torch.Tensor) else torch.result_type(torch.tensor(items[0]), 0)
    so_far = items[0]
    for item in items[1:]:
        out = torch.result_type(so_far, item)
        so_far = torch.zeros(so_far.shape if isinstance(so_far, torch.Tensor) else (), dtype=out)
    return out


def make_calque(table):
    """The module `calque` of lib/: decorators, and natives that can be computed with plain
    tensors."""
    def decorator(kind):
        def declare(text, **keys):
            def keep(function):
                table.setdefault(kind, {})[text.split("(")[0]] = (text, function)
                return function
            return keep
        return declare

    module = types.ModuleType("calque")
    for kind in ("operator", "unview", "complex_rule", "gradient", "gradient_of", "decomposition"):
        setattr(module, kind, decorator(kind))
    for declaration in ("traits", "derived", "torch_export"):
        setattr(module, declaration, lambda *arguments, **keys: None)
    for name in NATIVE:
        setattr(module, name, native(name))
    module.is_known = lambda number: not isinstance(number, torch.Tensor)
    module.size_hint = int
    module.wrap_dim = wrap_dim
    module.wrap_dims = lambda dims, rank: [wrap_dim(dim, rank) for dim in dims]
    module.dtype_name = lambda dtype: str(dtype)[6:]
    module.is_complex = lambda x: x.is_complex() if isinstance(x, torch.Tensor) else isinstance(x, complex)
    module.broadcast_shapes = broadcast_shapes
    module.result_type = result_type
    return module


def load_library():
    table = {}
    package = types.ModuleType("aten")
    package.__path__ = [str(LIB / "aten")]
    sys.modules["aten"], sys.modules["calque"] = package, make_calque(table)
    for path in sorted((LIB / "aten").glob("*.py")):
        importlib.import_module(f"aten.{path.stem}")
    return table


def results_of(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def compare(got, expected, tolerance):
    got, expected = results_of(got), results_of(expected)
    assert len(got) == len(expected), f"{len(got)} results instead of {len(expected)}"
    for a, b in zip(got, expected):
        if isinstance(b, (list, tuple)):
            compare(a, b, tolerance)
        elif isinstance(b, torch.Tensor):
            assert a.dtype == b.dtype, f"{a.dtype} instead of {b.dtype}"
            assert a.shape == b.shape, f"sizes {list(a.shape)} instead of {list(b.shape)}"
            if a.is_complex():
                a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
            rtol, atol = tolerance or peers.TOLERANCES.get(str(b.dtype)[6:], (0, 0))
            assert torch.allclose(a.double(), b.double(), rtol=rtol, atol=atol, equal_nan=True), \
                f"{a.flatten()[:4].tolist()} instead of {b.flatten()[:4].tolist()}"
        else:
            assert a == b or a != a and b != b or math.isclose(a, b, rel_tol=1e-6), f"{a} instead of {b}"


class Function:
    """A function that make.call can call again in float32 where PyTorch lacks half precision."""
    class _schema:
        is_mutable = False

    def __init__(self, function, names):
        self.function = function
        self.names = names

    def __call__(self, *args):
        """Calls by position, or by name if the function serves overloads with more arguments."""
        parameters = inspect.signature(self.function).parameters
        if len(parameters) <= len(args):
            return self.function(*args)
        return self.function(**{name: arg for name, arg in zip(self.names, args) if name in parameters})


def has_complex(value):
    if isinstance(value, (list, tuple)):
        return any(map(has_complex, value))
    return isinstance(value, torch.Tensor) and value.is_complex()


def default_of(schema, name):
    """The default of an argument that this PyTorch does not have yet; None without one."""
    found = re.search(rf"\b{name}=('[^']*'|[^,)]*)", schema)
    try:
        return ast.literal_eval(found[1]) if found else None
    except ValueError:
        return None  # a memory format, which is not a literal


def check(one, schema, function):
    op = make.overload_of(one["op"])
    if any("q" in str(getattr(arg, "dtype", "")) for arg in one["args"]) or \
            any(isinstance(arg, cases.packed) for arg in one["args"]):
        raise NeedsNative("quantized arguments")
    args = make.arguments(op._schema, one["args"], one["kwargs"])
    for arg in op._schema.arguments[len(args):]:
        args.append(arg.default_value if arg.has_default_value() else None)
    fresh = [arg.clone() if isinstance(arg, torch.Tensor)
             else [arg] if isinstance(arg, int) and "List[int]" in str(known.type) else arg
             for arg, known in zip(args, op._schema.arguments)]
    n_by_place = len(one["args"])
    names = [arg.name for arg in op._schema.arguments]
    expected = make.call(op, args[:n_by_place], dict(zip(names[n_by_place:], args[n_by_place:])))
    if not function.__defaults__:
        newer = function.__code__.co_varnames[len(fresh):function.__code__.co_argcount]
        fresh += [default_of(schema, name.rstrip("_")) for name in newer]
    compare(make.call(Function(function, names), fresh, {}), expected, one["tol"])


def main():
    report = peers.Report(__file__)
    if not report.needs("torch"):
        return report.finish()
    table = load_library()
    functions, of_complex = table["operator"], table["complex_rule"]
    native_operators = {}
    for family in make.families():
        cases.CASES.clear()
        runpy.run_path(str(make.HERE / f"{family}.py"))
        for i, one in enumerate(list(cases.CASES)):
            if one["op"] not in functions or one["fails"] or not one["values"] or one["op"] in make.BY_NAME:
                continue
            rule = of_complex if has_complex(one["args"]) and one["op"] in of_complex else functions
            with report.case(f"{family} {i}: {one['op']}"):
                try:
                    check(one, *rule[one["op"]])
                except NeedsNative:
                    native_operators[one["op"]] = 1
    sys.argv += OPTIONS
    report.expected_refusals(native_operators)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

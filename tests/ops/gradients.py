"""Writes gradients/FAMILY.json: the gradients that the real PyTorch gives for the cases of FAMILY.py,
the version that make.py runs them with.

    /usr/bin/python3 tests/ops/gradients.py [FAMILY …]

The files are checked in; gradients_test.c replays them. The gradient that comes in for element i
of result r is seed(r, i), which the test knows too.
"""
import json
import runpy
import sys
import warnings

import torch

import cases
import make

OUT = make.HERE / "gradients"
# Operators for which PyTorch 1.13 has no gradient, or a wrong one (uninitialized memory):
# calque's gradient is only compared with finite differences.
ALONE = ("aten::remainder.Scalar_Tensor", "aten::aminmax", "aten::norm.ScalarOpt_dtype",
         "aten::as_strided_scatter")
# Operators whose gradient in float32 has only three correct digits.
PRECISELY = ("aten::group_norm",)
SMOOTH = (torch.float32, torch.float64)
# Families without gradients here: integers, and complex numbers, which the test has no seeds for.
WITHOUT = ("quantized_decomposed_2", "complex_2", "fft_2")


def seed(index, like):
    """Numbers that come back as the same bits, and do not add up to nothing."""
    i = torch.arange(like.numel(), dtype=torch.int64)
    return (((i * 7 + index * 3) % 11 - 5).double() / 4).reshape(like.shape).to(like.dtype)


def tensors(value):
    """All tensors of a value, lists one by one."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors(item)]
    return []


def with_leaves(args, schema):
    """args with leaves in place of tensors of floats, and those leaves (None for the others)."""
    leaves = []

    def leaf(tensor, name):
        is_leaf = tensor.dtype in SMOOTH and not name.startswith("running")
        leaves.append(tensor.detach().requires_grad_() if is_leaf else None)
        used = leaves[-1] if is_leaf else tensor.clone()
        return used.clone() if schema.is_mutable else used
    return [make.each_tensor(arg, lambda tensor, name=known.name: leaf(tensor, name))
            for arg, known in zip(args, schema.arguments)], leaves


def repeats(op, args):
    """Whether it may write to a place twice: the last one wins, yet PyTorch gives the gradient to
    all of them, which no difference of results confirms."""
    return any(word in op for word in ("put", "scatter", "copy", "fill")) and any(
        t.dtype == torch.int64 and len(t.unique()) < t.numel() for t in tensors(args))


def gradients(one):
    """The case with its gradients; None when it has none."""
    op = make.overload_of(one["op"])
    args = make.arguments(op._schema, one["args"], one["kwargs"])
    if one["fails"] or not one["values"] or one["op"] in make.BY_NAME:
        return None
    # Over no dimensions the variance is that of all, but its gradient divides by zero.
    if one["op"].startswith(("aten::var", "aten::std")) and [] in args[1:]:
        return None
    if one["op"] == "aten::quantile" and args[0].isnan().any():
        return None  # PyTorch passes the gradient of a NaN result to an element that is not NaN
    if one["op"].startswith("aten::normal."):
        return None  # the drawn numbers are constants, the mean of the distribution is not
    if one["op"] == "aten::upsample_nearest2d" and args[2:] == [1.9, 1.9]:
        return None  # PyTorch's two ways do not agree on which pixel such a factor takes
    if one["op"] == "aten::mse_loss" and args[0].shape != args[1].shape:
        return None  # PyTorch divides by the number of elements of the target, however many there are
    encoded = [make.encode(arg) for arg in args]
    if one["op"] in PRECISELY:
        args = [make.each_tensor(arg, lambda t: t.double() if t.dtype in SMOOTH else t)
                for arg in args]
    if one["op"] in ALONE:
        return {"op": one["op"], "args": encoded, "grads": None} if tensors(args) else None
    if any(t.dtype in (torch.float16, torch.bfloat16) or t.is_complex() for t in tensors(args)):
        return None
    used, leaves = with_leaves(args, op._schema)
    names = [arg.name for arg in op._schema.arguments]
    named = dict(zip(names[len(one["args"]):], used[len(one["args"]):]))
    try:
        result = op(*used[:len(one["args"])], **named)
    except RuntimeError:
        return None  # the case itself runs: it is the gradient that PyTorch has not
    results = [(i, t) for i, t in enumerate(tensors(result)) if t.requires_grad]
    wanted = [leaf for leaf in leaves if leaf is not None]
    if not results or not wanted:
        return None
    try:
        found = torch.autograd.grad([t for _, t in results], wanted,
                                    [seed(i, t) for i, t in results], allow_unused=True)
    except RuntimeError:
        return None  # as above, or it fails at an undefined gradient (torch.dist with p=0)
    found = iter(found)
    grads = [next(found) if leaf is not None else None for leaf in leaves]
    return {"op": one["op"], "args": encoded,
            "grads": [None if grad is None else make.elements(grad) for grad in grads],
            **({"tol": list(one["tol"])} if one["tol"] else {}),
            **({"repeats": True} if repeats(one["op"], args) else {})}


def write(family):
    cases.CASES.clear()
    runpy.run_path(str(make.HERE / f"{family}.py"))
    lines = []
    for one in cases.CASES:
        torch.manual_seed(0)
        try:
            found = gradients(one)
        except Exception as error:
            raise SystemExit(f"{family}: {one['op']}{one['args']}{one['kwargs']}: {error}")
        if found:
            lines.append(json.dumps(found, separators=(",", ":"), allow_nan=False))
    path = OUT / f"{family}.json"
    if lines:
        path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
        print(f"{family}: {len(lines)} gradients, {path.stat().st_size // 1024} KB")


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    OUT.mkdir(exist_ok=True)
    for family in make.families():
        if family not in WITHOUT:
            write(family)


if __name__ == "__main__":
    main()

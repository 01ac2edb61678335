#!/usr/bin/python3
"""A thousand exports in one process leak nothing, and models, sessions, views and arrays may die in
any order: of files, and of models in PyTorch if that is there. Under AddressSanitizer where there is a
build with it."""
import functools
import gc
import importlib.util
import io
import os
import random
import sys
import warnings

from package import BUILD, DATA, ENVIRONMENT, Report, Skip, run, sanitized

# How many exports; those with PyTorch take longer.
EXPORTS = {kind: int(os.environ.get("CALQUE_EXPORTS", number))
           for kind, number in {"files": 1000, "torch": 200}.items()}
WARM_UP = 100

# What an export may leave behind. PyTorch keeps the types of the modules of every trace, 30 to 60 KB for
# these models; its own torch.jit.trace leaves 200.
LEFT = {"files": 0, "torch": 60 << 10}


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def file_round(i):
    """An export, a check, a run and all views, which are dropped in random order."""
    import numpy as np
    import calque
    x = np.arange(6, dtype="float32").reshape(2, 3)
    source = (f"def forward(x: Tensor):\n    w = torch.tensor([[1.0, {i}.0, 3.0]])\n"
              f"    return torch.relu(x) * w, [x]\n").encode()
    model = calque.export(source, inputs=[x], dynamic_axes={"x": {0: "n"}})
    session = calque.Session(model)
    outputs = session.run(None, {"x": x})
    graph = model.graph
    held = [model, session, outputs, graph, graph.nodes, *graph.initializers.values(),
            calque.load(model.to_bytes()), calque.Tensor(x), calque.Tensor(outputs[0]).numpy(),
            model.check(), calque.inspect(model.to_bytes())]
    try:
        calque.export(b"def forward(x: Tensor):\n    return x @ x\n", inputs=[x])
    except calque.Error as error:
        held.append(error)
    if i % 10 == 0:
        held.append(calque.export(DATA / "pt2/cond.214.pt2"))
    expected = outputs[0].copy()
    del model, session, graph
    random.Random(i).shuffle(held)
    last = outputs[0]
    del outputs
    while held:
        held.pop()
    assert (last == expected).all(), "an array lost its memory"


def torch_models():
    """Models of all kinds: what is traced, what is TorchScript, a function with its own symbolic and one
    without, an operator with a custom one, a loop, a gradient, one that cannot be exported."""
    import torch
    import calque.onnx
    import calque.ppe

    class Shown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def symbolic(g, x):
            return g.op("Mul", x, g.op("Constant", value_t=torch.tensor(2.0)))

    class Hidden(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + 1

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 4)

        def forward(self, x):
            with calque.ppe.annotate(key="value"):
                x = self.first(x)
            return self.second(Hidden.apply(Shown.apply(calque.ppe.as_output("named", x))))

    class Loop(torch.nn.Module):
        def forward(self, x):
            return calque.ppe.lax.fori_loop(0, 3, lambda i, h: h * 2, x), torch.nn.functional.hardswish(x)

    class Graded(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.nothing = torch.nn.Identity()

        def forward(self, x):
            x = (x * 2).requires_grad_(True)
            with calque.ppe.scoped_anchor(key="value"):
                x = self.nothing(x)
            return calque.ppe.grad(x.pow(2), (x,), create_graph=True)[0]

    class Complex(torch.nn.Module):
        def forward(self, x):
            return torch.complex(x, x)

    calque.onnx.register_custom_op_symbolic(
        "aten::hardswish", lambda g, x: g.op("HardSwish", x), 14)
    return [Net, lambda: torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())),
            Loop, Graded, Complex]


def torch_round(i, models):
    """An export of a model in PyTorch; all objects are dropped in random order."""
    import torch
    import calque
    import calque.onnx
    import calque.ppe
    model, x = models[i % len(models)](), torch.ones(2, 3)
    file, held = io.BytesIO(), [x]
    try:
        exported = calque.onnx.export(model, (x,))
        weights = list(exported.graph.initializers.values())
        held += [exported, exported.graph, *weights]
        calque.ppe.export(model, (x,), file, return_output=True)
        session = calque.Session(file.getvalue()) if i % len(models) == 1 else None
        held += [session, session.run(None, {session.get_inputs()[0].name: x}) if session else None]
    except calque.Error as error:
        held.append(error)
        exported, weights = None, []
    expected = [weight.copy() for weight in weights]
    last = weights[:1]
    del exported, weights, model
    random.Random(i).shuffle(held)
    while held:
        held.pop()
    assert all((one == other).all() for one, other in zip(last, expected)), "a weight lost its memory"


def rounds(kind):
    """Runs all rounds in the sanitized process; then nothing may be leaked."""
    from calque import _dlpack, _tensor
    if kind == "torch":
        warnings.simplefilter("ignore")
        one_round = functools.partial(torch_round, models=torch_models())
    else:
        one_round = file_round
    for i in range(EXPORTS[kind]):
        one_round(i)
        if i == min(WARM_UP, EXPORTS[kind] - 1):
            gc.collect()
            before = resident()
    gc.collect()
    assert not _tensor._owners and not _dlpack._lent, "memory of others is still kept"
    print(f"grown {BUILD.name} {resident() - before}")


def check_growth(kind):
    code, out, err = run([sys.executable, __file__, kind], env=ENVIRONMENT, timeout=1200)
    assert code == 0, err
    grown = int(out.split()[-1])
    assert grown < (4 << 20) + EXPORTS[kind] * LEFT[kind], \
        f"{grown} bytes more after {EXPORTS[kind]} exports than after {WARM_UP}"


def check_sanitized(kind):
    out = sanitized([__file__, kind])
    assert out.startswith("grown asan"), out


def need(kind):
    if kind == "torch" and not importlib.util.find_spec("torch"):
        raise Skip("PyTorch is not installed")


def main():
    if sys.argv[1:]:
        return rounds(sys.argv[1])
    report = Report(__file__)
    for kind in ("files", "torch"):
        with report.case(f"memory does not grow: {kind}"):
            need(kind)
            check_growth(kind)
        with report.case(f"AddressSanitizer finds no leak and no use after free: {kind}"):
            need(kind)
            check_sanitized(kind)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""A thousand exports in one process leak nothing, and models, sessions, views and arrays may die in
any order. Under AddressSanitizer where there is a build with it."""
import gc
import os
import random
import subprocess
import sys

from package import BUILD, DATA, ENVIRONMENT, ROOT, Report, Skip, run

EXPORTS = int(os.environ.get("CALQUE_EXPORTS", "1000"))
WARM_UP = 100


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def one_round(i):
    """An export, a check, a run and all views, which are dropped in an order of their own."""
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
    want = outputs[0].copy()
    del model, session, graph
    random.Random(i).shuffle(held)
    last = outputs[0]
    del outputs
    while held:
        held.pop()
    assert (last == want).all(), "an array lost its memory"


def rounds():
    """What the sanitized process runs: all rounds; then nothing may be left."""
    from calque import _dlpack, _tensor
    for i in range(EXPORTS):
        one_round(i)
        if i == min(WARM_UP, EXPORTS - 1):
            gc.collect()
            before = resident()
    gc.collect()
    assert not _tensor._owners and not _dlpack._lent, "memory of others is still kept"
    print(f"grown {BUILD.name} {resident() - before}")


def check_growth():
    code, out, err = run([sys.executable, __file__, "rounds"], env=ENVIRONMENT, timeout=1200)
    assert code == 0, err
    grown = int(out.split()[-1])
    assert grown < 4 << 20, f"{grown} bytes more after {EXPORTS} exports than after {WARM_UP}"


def check_sanitized():
    build = ROOT / "build/asan"
    library = build / "libcalque.so"
    if not library.exists() or BUILD.name == "quick":
        raise Skip("there is no build with AddressSanitizer")
    preload = subprocess.run(["gcc", "-print-file-name=libasan.so"], text=True, check=True,
                             stdout=subprocess.PIPE).stdout.strip()
    # Python itself leaves memory behind at its end: a leak of calque's is one with its frames. With
    # Python's own allocator the sanitizer would not see objects being freed.
    environment = dict(ENVIRONMENT, CALQUE_BUILD=str(build), LD_PRELOAD=preload,
                       PYTHONMALLOC="malloc", CALQUE_EXPORTS=os.environ.get("CALQUE_EXPORTS", "1000"),
                       ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=0",
                       LSAN_OPTIONS="exitcode=0")
    code, out, err = run([sys.executable, __file__, "rounds"], env=environment, timeout=2400)
    assert code == 0 and "ERROR: AddressSanitizer" not in err, err[:3000]
    leaks = [leak for leak in err.split("\n\n") if " leak of " in leak and "libcalque" in leak]
    assert not leaks, "\n\n".join(leaks[:3])
    assert out.startswith("grown asan"), out


def main():
    if sys.argv[1:] == ["rounds"]:
        return rounds()
    report = Report(__file__)
    with report.case("memory does not grow"):
        check_growth()
    with report.case("AddressSanitizer finds no leak and no use after free"):
        check_sanitized()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

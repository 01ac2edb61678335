#!/usr/bin/python3
"""Time and memory of calque.onnx.export beside torch.onnx.export and torch.jit.trace.

    CALQUE_LIBRARY=build/libcalque.so bench/python_export.py [MODEL …]

Each figure is the best of three processes (torch.onnx.export: of one), and seconds are those of the
clock and of the processor, which is the one to look at on a machine that others use. Memory is what the
export adds to the process's peak, as the kernel counts it, after the model was made; the file goes to
a folder in memory if there is one. A trace that is checked is what torch.jit.trace does by default.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/peer"))
import peer_cpu  # noqa: E402, F401
MODELS = ["alexnet", "vgg16", "resnet50", "densenet121", "chain"]
HOWS = {"trace": 3, "checked": 3, "calque": 3, "torch": 1}  # how often
CHAIN = 4000
MEGABYTE = 1 << 20


def make(name):
    import torch
    if name == "chain":
        class Chain(torch.nn.Module):
            def forward(self, x):
                for _ in range(CHAIN // 2):
                    x = torch.relu(x) + x
                return x
        return Chain().eval(), torch.zeros(1, 4)
    import torchvision
    return getattr(torchvision.models, name)().eval(), torch.zeros(1, 3, 224, 224)


def peak():
    """Of this process, in bytes."""
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def reset_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def measure(name, how, path):
    sys.path.insert(0, str(ROOT / "python"))
    import torch
    torch.set_num_threads(1)
    model, x = make(name)
    if how == "calque":
        import calque.onnx
        work = lambda: calque.onnx.export(model, x, path)
    elif how == "torch":
        work = lambda: torch.onnx.export(model, x, path)
    else:
        work = lambda: torch.jit.trace(model, x, check_trace=how == "checked")
    with torch.no_grad():
        torch.nn.Linear(2, 2)(torch.zeros(1, 2))
        model(x)
        reset_peak()
        before, start, used = peak(), time.perf_counter(), time.process_time()
        work()
        seconds, used = time.perf_counter() - start, time.process_time() - used
    return {"seconds": seconds, "processor": used, "megabytes": (peak() - before) / MEGABYTE}


def best_of(rounds, *args):
    found = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, "--measure", *map(str, args)],
                              check=True, stdout=subprocess.PIPE)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return {name: min(one[name] for one in found) for name in found[0]}


def write_time(path):
    """Of the bytes of a file into another."""
    data, start, used = path.read_bytes(), time.perf_counter(), time.process_time()
    path.with_suffix(".copy").write_bytes(data)
    return time.perf_counter() - start, time.process_time() - used


def main():
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:5])))
        return
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    print(f"{'model':12} {'how':7} {'seconds':>8} {'processor':>9} {'MB more':>8}")
    for name in sys.argv[1:] or MODELS:
        with tempfile.TemporaryDirectory(dir=base) as folder:
            path = pathlib.Path(folder) / "model.onnx"
            for how, rounds in HOWS.items():
                got = best_of(rounds, name, how, path)
                print(f"{name:12} {how:7} {got['seconds']:8.2f} {got['processor']:9.2f} "
                      f"{got['megabytes']:8.0f}")
                if how == "calque":
                    print("{:12} {:7} {:8.2f} {:9.2f}".format(name, "write", *write_time(path)))
                sys.stdout.flush()


if __name__ == "__main__":
    main()

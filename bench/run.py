#!/usr/bin/python3
"""calque against ONNX Runtime: latency of whole models, batch 1, in one process, by turns.

    bench/run.py [MODEL …] [--threads 1,2] [--rounds N] [--avx2] [--memory] [--json FILE]

Models of the zoo are exported by calque; those of torchvision by the real torch.onnx.export;
transformers and quantized models are made by models.py.
Every row has calque's time over ONNX Runtime's: below 1, calque is faster. --memory adds what preparing, and preparing
and three runs, take at most in MB, of calque and of ONNX Runtime: the growth of a process of its own (VmHWM).

On one thread the time is that of the processor, which other processes do not add to; on more
it is that of the clock. The two take turns, and sleep between, so that a pool that still spins
for work does not slow the other down: ONNX Runtime's does so for about 40 ms. OMP_PROC_BIND must not be set: ONNX Runtime's pool would
inherit the mask. CALQUE_ISA=avx512vnni, avx512, avx2 or sse2 picks the instruction set of calque;
the first line says which it is. --avx2 holds both sides to AVX2 (avx2_only.py).
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "peer"))
import capi  # noqa: E402
import ort  # noqa: E402
import peers  # noqa: E402

ZOO = ["alexnet", "vgg16", "resnet18", "resnet50", "densenet121", "inception_v3",
       "dcgan_generator", "dcgan_discriminator", "super_resolution", "word_rnn", "word_lstm",
       "word_gru", "word_transformer"]
TORCHVISION = ["mobilenet_v2", "squeezenet1_1", "shufflenet_v2_x1_0", "googlenet", "mnasnet1_0",
               "mobilenet_v3_small", "efficientnet_b0"]
MADE = ["bert_base", "gpt2_decode", "vit_b_16", "resnet18_int8", "mobilenet_v2_int8",
        "bert_base_int8"]  # models.py
FOLDER = ort.CACHE / "bench"
BUDGET = 1.2   # seconds for the runs of one side and one number of threads
PAUSE = 0.06   # until the other's thread pool sleeps, on more than one thread


# ---- models ---------------------------------------------------------------------------


def export_torchvision(name, path):
    import torch
    import torchvision
    torch.manual_seed(0)
    options = {"init_weights": True} if name == "googlenet" else {}
    net = getattr(torchvision.models, name)(**options).eval()
    with torch.no_grad():
        torch.onnx.export(net, torch.randn(1, 3, 224, 224), str(path), opset_version=13,
                          input_names=["input"])


def model_file(name):
    """The path of a model, exported if it does not exist yet."""
    path = FOLDER / f"{name}.onnx"
    if path.exists():
        return path
    FOLDER.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.onnx")
    if name in ZOO:
        code, _, error = peers.calque("export", name, "-o", part)
        if code:
            raise RuntimeError(error)
    elif name in TORCHVISION:
        export_torchvision(name, part)
    else:
        import models
        models.write(name, part)
    part.rename(path)
    return path


def feeds_of(path):
    """Inputs for a model: free dimensions are 1."""
    import onnx
    random, feeds = np.random.default_rng(0), {}
    graph = onnx.load(str(path), load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        if value.name in weights:
            continue
        kind = value.type.tensor_type
        shape = [dim.dim_value or 1 for dim in kind.shape.dim]
        dtype = ort.DTYPES[kind.elem_type]
        if dtype.kind == "f":
            feeds[value.name] = random.standard_normal(shape).astype(dtype)
        else:
            below = 2 if value.name in ("kinds", "mask") else 100
            feeds[value.name] = random.integers(0, below, shape).astype(dtype)
    return feeds


# ---- the two sides --------------------------------------------------------------------


class Calque:
    def __init__(self, path, feeds):
        self.session = ctypes.c_void_p()
        begin = time.perf_counter()
        capi.check(capi.lib().cq_session_prepare_file(ctypes.byref(self.session),
                                                      str(path).encode(), None))
        self.prepared = time.perf_counter() - begin
        names = [capi.lib().cq_session_input_name(self.session, i).decode()
                 for i in range(capi.lib().cq_session_n_inputs(self.session))]
        self.tensors = [capi.Tensor(feeds[name]) for name in names]
        self.inputs = capi.handles([t.handle for t in self.tensors])
        self.n_out = capi.lib().cq_session_n_outputs(self.session)
        self.out = capi.handles([None] * self.n_out)

    def run(self):
        capi.check(capi.lib().cq_session_run_tensors(self.session, self.inputs, len(self.tensors),
                                                     self.out, self.n_out))

    def done(self):
        for handle in self.out:
            capi.lib().cq_tensor_release(handle)

    def results(self):
        self.run()
        found = [capi.array_of(handle) for handle in self.out]
        self.done()
        return found

    def close(self):
        capi.lib().cq_session_free(self.session)


class Ort:
    def __init__(self, path, feeds, threads):
        begin = time.perf_counter()
        self.session = ort.Session(str(path), optimize="all", threads=threads)
        self.prepared = time.perf_counter() - begin
        self.owned = contextlib.ExitStack()
        values = [ort.to_value(feeds[name], self.owned) for name in self.session.inputs]
        names, wanted = self.session.inputs, self.session.outputs
        self.out = (ctypes.c_void_p * len(wanted))()
        self.arguments = (
            self.session.session, None,
            (ctypes.c_char_p * len(names))(*[name.encode() for name in names]),
            (ctypes.c_void_p * len(values))(*values), ctypes.c_size_t(len(values)),
            (ctypes.c_char_p * len(wanted))(*[name.encode() for name in wanted]),
            ctypes.c_size_t(len(wanted)), self.out)

    def run(self):
        ort.api().call("Run", *self.arguments)

    def done(self):
        for i, value in enumerate(self.out):
            ort.api().call("ReleaseValue", ctypes.c_void_p(value))
            self.out[i] = None

    def results(self):
        self.run()
        found = [ort.from_value(ctypes.c_void_p(value)) for value in self.out]
        self.done()
        return found

    def close(self):
        self.owned.close()


# ---- measuring ------------------------------------------------------------------------


def measure(sides, threads, rounds):
    """Times in ms of each side; a turn is a few runs, of which the first warms up."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    times = [[] for _ in sides]
    begin = time.perf_counter()
    for done in range(1000):
        for side, found in zip(sides, times):
            time.sleep(PAUSE if threads > 1 else 0)
            for turn in range(3):
                start = clock()
                side.run()
                spent = clock() - start
                side.done()
                if turn:
                    found.append(1e3 * spent)
        if done + 1 >= rounds and (time.perf_counter() - begin > 2 * BUDGET or done > 100):
            break
    return times


def difference(got, expected):
    """The largest difference, in parts of the largest value."""
    worst = 0.0
    for one, other in zip(got, expected):
        if other.size and other.dtype.kind == "f":
            worst = max(worst, float(np.abs(one - other).max() / max(np.abs(other).max(), 1e-30)))
    return worst


def bench(name, counts, rounds):
    path = model_file(name)
    feeds = feeds_of(path)
    rows = []
    for threads in counts:
        capi.lib().cq_set_threads(threads)
        one, other = Calque(path, feeds), Ort(path, feeds, threads)
        apart = difference(one.results(), other.results())
        mine, theirs = measure([one, other], threads, rounds)
        rows.append({"model": name, "threads": threads, "calque_min": min(mine),
                     "ort_min": min(theirs), "calque_median": statistics.median(mine),
                     "ort_median": statistics.median(theirs),
                     "ratio_min": min(mine) / min(theirs),
                     "ratio_median": statistics.median(mine) / statistics.median(theirs),
                     "difference": apart, "prepare": one.prepared, "ort_prepare": other.prepared})
        one.close()
        other.close()
    return rows


# ---- memory ---------------------------------------------------------------------------


def kilobytes(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {field}")


def print_peaks(side, name, threads):
    """Prints the memory growth of a separate process."""
    path = model_file(name)
    feeds = feeds_of(path)
    capi.lib().cq_set_threads(threads)
    ort.api()
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is what there is now
    before = kilobytes("VmRSS")
    session = Calque(path, feeds) if side == "calque" else Ort(path, feeds, threads)
    prepared = kilobytes("VmHWM") - before
    for _ in range(3):
        session.run()
        session.done()
    print(prepared / 1024, (kilobytes("VmHWM") - before) / 1024)


def peaks(name, threads):
    """{"calque_prepare_mb": …, "calque_peak_mb": …, "ort_prepare_mb": …, …}"""
    found = {}
    for side in ("calque", "ort"):
        done = subprocess.run([sys.executable, __file__, "--peak-of", side, "--threads", str(threads), name,
                               *(["--avx2"] if ort.LIBRARY else [])], check=True, stdout=subprocess.PIPE, text=True)
        prepared, peak = (float(word) for word in done.stdout.split())
        found |= {f"{side}_prepare_mb": prepared, f"{side}_peak_mb": peak}
    return found


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "an unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=ZOO + TORCHVISION + MADE)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--avx2", action="store_true", help="let neither side use instructions newer than AVX2")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--memory", action="store_true", help="measure the peaks of memory too")
    parser.add_argument("--peak-of", choices=["calque", "ort"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.avx2:
        import avx2_only
        os.environ["CALQUE_ISA"] = "avx2"
        avx2_only.use()
    if args.peak_of:
        return print_peaks(args.peak_of, args.models[0], int(args.threads))
    if "OMP_PROC_BIND" in os.environ:
        parser.error("OMP_PROC_BIND is set; ONNX Runtime would run on one core")
    isa = capi.lib().cq_instruction_set().decode()
    print(f"calque with {isa} on {processor()}" + (", ONNX Runtime held to avx2" if args.avx2 else ""))
    print(f"{'model':22} {'thr':>3} {'calque ms':>18} {'onnxruntime ms':>18} {'ratio':>13} "
          f"{'apart':>8} {'prepare s':>11}" + (f" {'calque MB':>12} {'onnxruntime':>12}" if args.memory else ""))
    print(f"{'':22} {'':>3} {'min    median':>18} {'min    median':>18} {'min   median':>13}"
          + (f" {'':8} {'':>11} {'prepare  run':>12} {'prepare  run':>12}" if args.memory else ""))
    rows = []
    for name in args.models:
        for row in bench(name, [int(n) for n in args.threads.split(",")], args.rounds):
            rows.append(row)
            print(f"{name:22} {row['threads']:3} {row['calque_min']:9.3f}{row['calque_median']:9.3f}"
                  f" {row['ort_min']:9.3f}{row['ort_median']:9.3f} {row['ratio_min']:6.2f}"
                  f"{row['ratio_median']:7.2f} {row['difference']:8.1e} {row['prepare']:5.2f} "
                  f"{row['ort_prepare']:5.2f}", end="" if args.memory else "\n", flush=True)
            if args.memory:
                row |= peaks(name, row["threads"])
                print(f" {row['calque_prepare_mb']:7.0f} {row['calque_peak_mb']:4.0f}"
                      f" {row['ort_prepare_mb']:7.0f} {row['ort_peak_mb']:4.0f}", flush=True)
    if len(rows) > 1:
        for threads in sorted({row["threads"] for row in rows}):
            for kind in ("min", "median"):
                ratios = [row[f"ratio_{kind}"] for row in rows if row["threads"] == threads]
                print(f"ratios of {kind}s on {threads}: geometric mean {statistics.geometric_mean(ratios):.2f}, "
                      f"worst {max(ratios):.2f}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

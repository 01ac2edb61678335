#!/usr/bin/python3
"""What exporting a .pt2 costs: a large one against `cp`, small ones in milliseconds, chains of ever more nodes, and
beside it what PyTorch 2.14 takes for torch.export and torch.onnx. Needs the folder of tools/setup.sh modern.

    bench_pt2.py [CALQUE]
"""
import json
import os
import pathlib
import subprocess
import sys
import time
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent
CALQUE = sys.argv[1] if len(sys.argv) > 1 else "build/calque"
FOLDER = TOP / "build" / "bench_pt2"
ROUNDS, CHAINS = 7, (1000, 10000, 100000)

MAKE = """
import io, json, sys, time, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, "tests/peer")
import peer_cpu, torch, torchvision
took = {}
for name in ("vgg16", "resnet18", "mobilenet_v3_small"):
    model, x = getattr(torchvision.models, name)(weights=None).eval(), torch.rand(1, 3, 224, 224)
    start = time.process_time()
    program = torch.export.export(model, (x,))
    middle = time.process_time()
    torch.onnx.export(model, (x,), io.BytesIO(), dynamo=False, opset_version=18)
    took[name] = [middle - start, time.process_time() - middle]
    torch.export.save(program, sys.argv[1] + "/" + name + ".pt2")
class Chain(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
torch.export.save(torch.export.export(Chain(), (torch.rand(2, 3),)), sys.argv[1] + "/chain.pt2")
json.dump(took, open(sys.argv[1] + "/took.json", "w"))
"""


def make_chain(path, n):
    """The one node of chain.pt2, n times."""
    source = zipfile.ZipFile(FOLDER / "chain.pt2")
    with zipfile.ZipFile(path, "w") as out:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("models/model.json"):
                program = json.loads(data)
                graph = program["graph_module"]["graph"]
                node, meta = json.dumps(graph["nodes"][0]), graph["tensor_values"]["relu"]
                names = ["x"] + [f"v{i}" for i in range(n - 1)] + ["relu"]
                graph["nodes"] = [json.loads(node.replace('"name": "x"', f'"name": "{a}"').replace(
                    '"name": "relu"', f'"name": "{b}"')) for a, b in zip(names, names[1:])]
                graph["tensor_values"].update({name: meta for name in names[1:]})
                data = json.dumps(program).encode()
            out.writestr(name, data)


def run(command):
    """Seconds on the clock and of the processor."""
    pathlib.Path(command[-1]).unlink(missing_ok=True)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"{command} failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def best(*commands):
    """Of each command the best of several rounds, by turns."""
    rounds = [[run(command) for command in commands] for _ in range(ROUNDS)]
    return [[min(r[i][k] for r in rounds) for k in (0, 1)] for i in range(len(commands))]


def export(path):
    return [CALQUE, "export", "-q", str(path), "-o", str(FOLDER / "out.onnx")]


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "took.json").exists():
        subprocess.run(["tools/modern.sh", "sid", "python3", "-c", MAKE, str(FOLDER)], cwd=TOP, check=True)
    took = json.loads((FOLDER / "took.json").read_text())
    (cp, cp_cpu), (own, own_cpu) = best(["cp", str(FOLDER / "vgg16.pt2"), str(FOLDER / "out.onnx")],
                                        export(FOLDER / "vgg16.pt2"))
    print(f"vgg16: {own:.3f} s, {own / cp:.2f} times cp; processor {own_cpu:.3f} s, {own_cpu / cp_cpu:.2f} times")
    for name in took:
        (wall, cpu), = best(export(FOLDER / f"{name}.pt2"))
        print(f"{name}: {1000 * wall:.0f} ms, processor {1000 * cpu:.0f} ms; torch.export {took[name][0]:.1f} s, "
              f"torch.onnx {took[name][1]:.1f} s of the processor")
    for n in CHAINS:
        path = FOLDER / f"chain_{n}.pt2"
        make_chain(path, n)
        (wall, cpu), = best(export(path))
        print(f"{n} nodes: {1000 * wall:.0f} ms, processor {1000 * cpu:.0f} ms")
    (FOLDER / "out.onnx").unlink()


if __name__ == "__main__":
    main()

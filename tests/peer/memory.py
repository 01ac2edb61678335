#!/usr/bin/python3
"""Weights are never copied in memory: the export of a large model needs little more memory than its
weights, which the zoo creates. Commands that inspect a model do not read its weights, and a run
reuses the memory of intermediate tensors.

    memory.py [MODEL …]
"""
import json
import os
import subprocess
import sys
import tempfile

from peers import CALQUE, Report, slowness

# An export may take this much memory beyond the size of the file, which is nearly all weights. Weights
# with a folded batch norm and transposed weights of Linear layers are written piece by piece.
MODELS = ["vgg16", "vgg16_bn", "resnet152", "word_transformer"]
EXTRA = 18 << 20

# An export of model source with weights in a file, which stays mapped.
SOURCE_BYTES = 50 << 20
SAVE = """
import sys, torch, torchvision
torch.save(torchvision.models.vgg16().state_dict(), sys.argv[1])
print(sys.modules["torchvision.models.vgg"].__file__)
"""


# Commands that inspect a model of 500 MB, and their limits: bytes, and CPU seconds.
LOOKS = [["check"], ["check", "--full"], ["print"]]
LOOK_BYTES, LOOK_SECONDS = 50 << 20, 0.1

# Running VGG-16: its two largest images, which are neighbours, and little more; and its weights, of
# which convolutions have transformed ones of four times the size. While the largest matrix is packed,
# the huge pages of the packed one fill up from the first panel on, and the other goes panel by panel.
RUN_BYTES, RUN_LIMIT = 27_000_000, 1.75


def cost_of(command):
    """Runs a program: the most memory it ever had, in bytes, and the time it computed."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, f"it failed: {said}"
    return usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def look_at(report, path):
    for words in LOOKS:
        with report.case(" ".join(words)):
            peak, seconds = cost_of([CALQUE, *words, path])
            print(f"{' '.join(words):18} {peak / 2**20:7.1f} MB resident, {seconds * 1e3:.0f} ms")
            assert peak < LOOK_BYTES and seconds < LOOK_SECONDS * slowness(), "the limit is exceeded"


def run(report, path):
    with report.case("run"):
        command = [CALQUE, "bench", "--threads", "1", "--repeat", "2", path]
        peak, _ = cost_of(command)
        said = subprocess.run([*command, "--json"], capture_output=True, check=True)
        tensors = json.loads(said.stdout)["peak_bytes"]
        print(f"{'run':18} {peak / 2**20:7.1f} MB resident, {tensors / 2**20:.1f} MB of tensors")
        assert tensors < RUN_BYTES, "memory of dead tensors is not reused"
        assert peak < RUN_LIMIT * os.path.getsize(path), f"more than {RUN_LIMIT} times the weights"


def from_source(report):
    """Model source with a state dict: the initial weights, which the file's replace, take no
    memory."""
    with report.case("vgg16 from source"), tempfile.TemporaryDirectory() as folder:
        weights, path = os.path.join(folder, "vgg16.pth"), os.path.join(folder, "model.onnx")
        # In another process: the memory of this one would count as that of its children.
        source = subprocess.run([sys.executable, "-c", SAVE, weights], capture_output=True, check=True, text=True)
        peak, _ = cost_of([CALQUE, "export", source.stdout.strip(), "--entry", "vgg16()",
                           "--weights", weights, "--input", "batchx3x224x224", "-o", path])
        print(f"{'vgg16 from source':18} {peak / 2**20:7.1f} MB resident, "
              f"{os.path.getsize(path) / 2**20:7.1f} MB written")
        assert peak < SOURCE_BYTES, f"more than {SOURCE_BYTES >> 20} MB"


def main():
    report = Report(__file__)
    if not sys.argv[1:] and report.needs("torch", "torchvision"):
        from_source(report)
    for name in sys.argv[1:] or MODELS:
        with report.case(name), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            peak, _ = cost_of([CALQUE, "export", name, "-o", path])
            size = os.path.getsize(path)
            print(f"{name:18} {peak / 2**20:7.1f} MB resident, {size / 2**20:7.1f} MB written, "
                  f"{(peak - size) / 2**20:.1f} MB more")
            assert peak < size + EXTRA, f"more than {EXTRA >> 20} MB beyond the weights"
            if size > 500e6:
                look_at(report, path)
            if name == "vgg16":
                run(report, path)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

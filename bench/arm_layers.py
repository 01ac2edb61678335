#!/usr/bin/python3
"""Instructions per multiply-add of single layers on ARM: calque and ONNX Runtime in an emulator (as root).

    arm_layers.py build/aarch64/libcalque.so.0 [--cpu neoverse-n1] [LAYER ...]
    arm_layers.py build/aarch64-static/libcalque.so.0 --cc .cache/cross/aarch64-linux-musl/cc

Time cannot be measured in an emulator, and instructions can: it
logs every block of instructions that it runs (arm_layers.c). The third run of a prepared session is counted,
on one thread.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("CALQUE_CACHE", ROOT / ".cache"))
RANDOM = np.random.default_rng(0)


def weights(*shape):
    return (RANDOM.standard_normal(shape) / 8).astype(np.float32)


def matmul(m, k, n):
    return [1, m, k], [("MatMul", ["x", "w"], {})], {"w": weights(k, n)}, m * k * n


def matmul_int8(m, k, n):
    nodes = [("DynamicQuantizeLinear", ["x"], {}, ["q", "scale", "zero"]),
             ("MatMulInteger", ["q", "w", "zero"], {}, ["sum"]), ("Cast", ["sum"], {"to": TensorProto.FLOAT}, ["f"]),
             ("Mul", ["f", "scale"], {})]
    return [1, m, k], nodes, {"w": (weights(k, n) * 200).clip(-127, 127).astype(np.int8)}, m * k * n


def conv(inputs, outputs, size, kernel, group=1):
    shape = (outputs, inputs // group, kernel, kernel)
    node = ("Conv", ["x", "w", "b"], {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, "group": group})
    return [1, inputs, size, size], [node], {"w": weights(*shape), "b": weights(outputs)}, size * size * int(np.prod(shape))


def conv_int8(inputs, outputs, size, kernel, group=1):
    shape, node, given, n = conv(inputs, outputs, size, kernel, group)
    given = {"w": (given["w"] * 200).clip(-127, 127).astype(np.int8), "s": np.float32(0.01), "z": np.uint8(128),
             "ws": np.float32(0.02), "wz": np.int8(0), "ys": np.float32(0.1)}
    nodes = [("QuantizeLinear", ["x", "s", "z"], {}, ["q"]),
             ("QLinearConv", ["q", "s", "z", "w", "ws", "wz", "ys", "z"], node[0][2], ["r"]),
             ("DequantizeLinear", ["r", "ys", "z"], {})]
    return shape, nodes, given, n


LAYERS = {
    "product, 128 x 768 x 768": matmul(128, 768, 768),
    "product, 1 x 768 x 768": matmul(1, 768, 768),
    "1x1 convolution, 256 to 64, 14x14": conv(256, 64, 14, 1),
    "3x3 convolution, 64 to 64, 14x14": conv(64, 64, 14, 3),
    "depthwise 3x3, 96, 28x28": conv(96, 96, 28, 3, 96),
    "int8 product, 128 x 768 x 768": matmul_int8(128, 768, 768),
    "int8 1x1 convolution, 256 to 64, 14x14": conv_int8(256, 64, 14, 1),
    "int8 3x3 convolution, 64 to 64, 14x14": conv_int8(64, 64, 14, 3),
    "int8 depthwise 3x3, 96, 28x28": conv_int8(96, 96, 28, 3, 96),
}


def write(path, shape, nodes, given):
    made = [helper.make_node(op, inputs, outputs[0] if outputs else ["y"], **attributes)
            for op, inputs, attributes, *outputs in nodes]
    graph = helper.make_graph(made, "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in given.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)


def build(folder, compiler):
    """The program in the emulator, the address of its mark(), and the counter. The C library is that of libc6:arm64
    or musl:arm64, and cross compilers have the library of C++ that ONNX Runtime needs."""
    shutil.copy("/usr/aarch64-linux-gnu/lib/libstdc++.so.6", folder)
    source, flags = ROOT / "bench/arm_layers.c", ["-O2", "-w", f"-I{ROOT / 'include'}"]
    run, count = folder / f"run-{pathlib.Path(compiler).name}", folder / "count"
    subprocess.run([compiler, *flags, "-DRUN", "-no-pie", source, "-o", run, "-ldl"], check=True)
    subprocess.run(["gcc", *flags, source, "-o", count], check=True)
    names = subprocess.run(["aarch64-linux-gnu-nm", run], check=True, capture_output=True, text=True).stdout
    mark, = (line.split()[0] for line in names.splitlines() if line.endswith(" T mark"))
    return run, mark, count


# ONNX Runtime reads what the processor has from this file, and crashes if it describes another one.
CPUINFO = "".join(f"""processor\t: {i}
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1

""" for i in range(2))
ENTER = 'mount --bind "$1" /proc/cpuinfo; shift; exec "$@"'


def instructions(programs, cpu, library, model, shape, folder):
    run, mark, count = programs
    (folder / "cpuinfo").write_text(CPUINFO)
    log = folder / "log"
    log.unlink(missing_ok=True)
    os.mkfifo(log)
    with subprocess.Popen(f"exec {count} {mark} < {log}", shell=True, stdout=subprocess.PIPE, text=True) as counter:
        subprocess.run(["unshare", "--mount", "sh", "-c", ENTER, "enter", folder / "cpuinfo", "qemu-aarch64", "-cpu", cpu,
                        "-E", f"LD_LIBRARY_PATH={folder}", "-E", "CALQUE_THREADS=1", "-d", "in_asm,exec,nochain",
                        "-D", log, run, library, model, *map(str, shape)], check=True)
        return int(counter.stdout.read().split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("layer", nargs="*", help="a part of its name")
    parser.add_argument("--cc", default="aarch64-linux-gnu-gcc", help="compiler for LIBCALQUE's C library")
    parser.add_argument("--cpu", default="neoverse-n1", help="of the emulator: cortex-a72, neoverse-n1, max,sve=off,sme=off")
    options = parser.parse_intermixed_args()
    ort, = CACHE.glob("ort/node_modules/onnxruntime-node/bin/*/linux/arm64/libonnxruntime.so.1")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sides = [(options.library, build(folder, options.cc)), (ort, build(folder, "aarch64-linux-gnu-gcc"))]
        print(f"| layer ({options.cpu}) | calque | ONNX Runtime | ratio |\n|---|---|---|---|")
        for name, (shape, nodes, given, n) in LAYERS.items():
            if options.layer and not any(part in name for part in options.layer):
                continue
            write(folder / "layer.onnx", shape, nodes, given)
            ours, theirs = (instructions(programs, options.cpu, library, folder / "layer.onnx", shape, folder)
                            for library, programs in sides)
            print(f"| {name} | {ours / n:.3f} | {theirs / n:.3f} | {ours / theirs:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""calque convert --opset against onnx.version_converter on ONNX's own test models.

    bench/versions.py [--every N] [--targets 9,11,13,15,17]

For each pair of opsets: models, those that each converts, and those whose converted model is valid (the
checker of onnx), and gives the test data (calque verify). A model that the target cannot express counts as
not converted for both. Only targets that the installed onnx knows are compared.
"""
import argparse
import collections
import pathlib
import shutil
import sys
import tempfile

import onnx
from onnx import version_converter

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "peer"))
import peers  # noqa: E402


def opset_of(model):
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)


def by_calque(source, target, opset):
    return peers.calque("convert", source, "--opset", opset, "-o", target, "--no-verify")[0] == 0


def by_onnx(source, target, opset):
    try:
        onnx.save(version_converter.convert_version(onnx.load(str(source)), opset), str(target))
    except Exception:  # it raises whatever an adapter raises
        return False
    return True


def is_right(folder, target, opset):
    try:
        model = onnx.load(str(target))
        onnx.checker.check_model(model)
        if opset_of(model) != opset:
            return False
    except Exception:
        return False
    return peers.calque("verify", folder)[0] == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--targets", default="9,11,13,15,17")
    args = parser.parse_args()
    targets = [int(t) for t in args.targets.split(",") if int(t) <= onnx.defs.onnx_opset_version()]
    counts = collections.defaultdict(lambda: [0] * 5)
    for source in sorted((peers.ONNX_TEST_DATA / "node").glob("*/model.onnx"))[::args.every]:
        was = opset_of(onnx.load(str(source)))
        if not was or peers.calque("verify", source.parent)[0]:
            continue
        for opset in targets:
            if opset == was:
                continue
            row = counts[was, opset]
            row[0] += 1
            for k, convert in enumerate((by_calque, by_onnx)):
                with tempfile.TemporaryDirectory() as name:
                    folder = pathlib.Path(name)
                    for data in source.parent.glob("test_data_set_*"):
                        shutil.copytree(data, folder / data.name)
                    if convert(source, folder / "model.onnx", opset):
                        row[1 + 2 * k] += 1
                        row[2 + 2 * k] += is_right(folder, folder / "model.onnx", opset)
    print("from  to  models  calque: converted  right   onnx: converted  right")
    worse = 0
    for (was, opset), (n, a, b, c, d) in sorted(counts.items()):
        worse += b < d
        print(f"{was:4} {opset:3} {n:7} {a:18} {b:6} {c:17} {d:6}{'   less' if b < d else ''}")
    total = [sum(row[k] for row in counts.values()) for k in range(5)]
    print(f"{len(counts)} pairs, {total[0]} models: calque is right in {total[2]}, onnx in {total[4]}; "
          f"calque is right in fewer for {worse} pairs")


if __name__ == "__main__":
    main()

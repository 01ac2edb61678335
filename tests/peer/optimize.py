#!/usr/bin/python3
"""calque optimize on ONNX's own test models: the real checker accepts the result, the test data
still pass, and ONNX Runtime computes the results of the original."""
import pathlib
import shutil
import sys
import tempfile

from peers import ONNX_TEST_DATA, Report, Skip, calque, check_onnx, expect_close, load_pb, run_ort

FOLDERS = ("node", "simple", "pytorch-converted", "pytorch-operator")
TO_ORT = 17  # every so many, as it takes longest


def feeds_of(model, folder):
    import onnx
    graph = onnx.load(str(model)).graph
    given = {t.name for t in graph.initializer}
    names = [i.name for i in graph.input if i.name not in given]
    return {name: load_pb(folder / f"input_{k}.pb") for k, name in enumerate(names)}


def optimize(source, target, *options):
    code, _, err = calque("optimize", source, "-o", target, *options)
    assert code == 0, err.strip()[-400:]


def is_valid(path):
    try:
        check_onnx(path, full=False)
    except Exception:  # the checker has no specific class
        return False
    return True


def check_model(source, folder):
    """One model of the test data, optimized into folder."""
    target = folder / "model.onnx"
    optimize(source, target)
    if is_valid(source):
        check_onnx(target, full=False)
    for data in source.parent.glob("test_data_set_*"):
        shutil.copytree(data, folder / data.name)
    if calque("verify", source.parent)[0] == 0:
        code, out, err = calque("verify", folder)
        assert code == 0, (out + err)[-400:]


def check_in_ort(source, folder):
    data = source.parent / "test_data_set_0"
    try:
        feeds = feeds_of(source, data)
        want = run_ort(source, feeds)
    except Exception as error:
        raise Skip(f"ONNX Runtime does not run the original: {str(error)[:60]}") from error
    for got, expected in zip(run_ort(folder / "model.onnx", feeds), want):
        expect_close(got, expected)


def main():
    report = Report(__file__)
    if not report.needs("onnx", "onnx-testdata", "ort"):
        return report.finish()
    models = [m for f in FOLDERS for m in sorted((ONNX_TEST_DATA / f).glob("*/model.onnx"))]
    for i, source in enumerate(models):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            with report.case(source.parent.name):
                check_model(source, folder)
                if i % TO_ORT == 0:
                    check_in_ort(source, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

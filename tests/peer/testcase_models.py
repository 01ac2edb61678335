#!/usr/bin/python3
"""Test-cases of whole models, built-in ones and archives of torchvision, replayed by calque verify
and by onnx's own backend test runner on top of ONNX Runtime.

    testcase_models.py [--all] [NAME…]     --all: every built-in model, which takes minutes
"""
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

import peers

# Small ones of each kind. Images are smaller than the models' own where they allow it.
ZOO = ["resnet18", "dcgan_generator", "super_resolution", "word_lstm", "word_transformer"]
TORCHVISION = ["squeezenet1_1", "mobilenet_v3_small", "shufflenet_v2_x0_5"]
MORE_TORCHVISION = ["mobilenet_v2", "mnasnet0_5", "efficientnet_b0", "googlenet", "resnet18",
                    "regnet_x_400mf", "convnext_tiny"]
IMAGES = {"super_resolution": "1x1x24x24", "inception_v3": "1x3x75x75"}
OWN_SIZE = ("dcgan", "word")

# The tolerances of the runner for its own models, and of calque verify for all.
RTOL, ATOL = 1e-3, 1e-7


def backend():
    """ONNX Runtime as a backend of onnx."""
    import onnx
    from onnx.backend.base import Backend, BackendRep
    import ort

    class Rep(BackendRep):
        def __init__(self, model):
            given = {tensor.name for tensor in model.graph.initializer}
            self.names = [v.name for v in model.graph.input if v.name not in given]
            self.session = ort.Session(model.SerializeToString())

        def run(self, inputs, **kwargs):
            return tuple(self.session.run(dict(zip(self.names, inputs))))

    class OrtBackend(Backend):
        @classmethod
        def prepare(cls, model, device="CPU", **kwargs):
            onnx.checker.check_model(model)
            return Rep(model)

        @classmethod
        def supports_device(cls, device):
            return device == "CPU"

    return OrtBackend


def replay(case):
    """Runs one folder in onnx's test runner; raises what it says."""
    import numpy
    import onnx.backend.test.runner as runner
    from onnx.backend.test.case.test_case import TestCase
    with unittest.mock.patch.object(runner, "load_model_tests", lambda **kwargs: []):
        tests = runner.Runner(backend(), __name__)
    numpy.object = object  # onnx 1.12 asks for it, numpy 1.24 has it no more
    tests._add_model_test(TestCase(name=f"test_{case.name}", model_name=case.name, url=None,
                                   model_dir=str(case), model=None, data_sets=None, kind="real",
                                   rtol=RTOL, atol=ATOL), "Real")
    result = unittest.TestResult()
    tests.include(f"^test_{case.name}_cpu$").test_suite.run(result)
    problems = [text for _, text in result.failures + result.errors]
    assert not problems, problems[0]
    assert result.testsRun - len(result.skipped) == 1, (result.testsRun, result.skipped)


def check(report, folder, name, model, *options):
    case = folder / name.replace("-", "_")
    with report.case(name):
        code, _, errors = peers.calque("testcase", model, case, *options)
        assert code == 0, errors
        code, out, errors = peers.calque("verify", case, "--rtol", str(RTOL), "--atol", str(ATOL))
        assert code == 0, out + errors
        replay(case)
    shutil.rmtree(case, ignore_errors=True)


def check_zoo(report, folder, name):
    size = IMAGES.get(name, "1x3x64x64")
    check(report, folder, name, name, *([] if name.startswith(OWN_SIZE) else ["--input", size]))


def check_torchvision(report, folder, names):
    import torch
    import torchvision
    for name in names:
        torch.manual_seed(0)
        settings = {"init_weights": False, "aux_logits": False} if name == "googlenet" else {}
        model = getattr(torchvision.models, name)(**settings).eval()
        archive = folder / f"{name}.pt"
        torch.jit.trace(model, torch.randn(1, 3, 64, 64)).save(str(archive))
        check(report, folder, f"torchvision_{name}", archive, "--input", "1x3x64x64")
        archive.unlink()


def main():
    report = peers.Report(__file__)
    wanted = [word for word in sys.argv[1:] if word != "--all"]
    zoo, archives = ZOO, TORCHVISION
    if "--all" in sys.argv:
        zoo = [line.split()[0] for line in peers.calque("zoo")[1].splitlines()]
        archives = TORCHVISION + MORE_TORCHVISION
    if report.needs("onnx", "ort", "torch", "torchvision"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for model in zoo:
                if not wanted or model in wanted:
                    check_zoo(report, folder, model)
            check_torchvision(report, folder, [n for n in archives if not wanted or n in wanted])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

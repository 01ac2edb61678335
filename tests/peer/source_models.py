#!/usr/bin/python3
"""torchvision's models from their own source files: calque export FILE --entry 'resnet18()' --weights
STATE_DICT with a dynamic batch, run in ONNX Runtime with another batch, compared with PyTorch.

    source_models.py [--all] [NAME…]      default: a sample; --all: every builder of classification
"""
import inspect
import sys
import tempfile
import warnings
import pathlib

import peers

SAMPLE = ["resnet18", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "squeezenet1_1", "mnasnet0_5",
          "densenet121", "regnet_y_400mf", "efficientnet_b0", "googlenet"]
SIZES = {"inception_v3": 299}


def builders():
    import torchvision
    models = torchvision.models
    return {name: fn for name, fn in vars(models).items()
            if inspect.isfunction(fn) and name[0].islower() and not name.startswith("get_")}


def check(name, folder):
    import torch
    fn = builders()[name]
    torch.manual_seed(1)
    model = (fn(init_weights=True) if name in ("googlenet", "inception_v3") else fn()).eval()
    weights, onnx = folder / "weights.pth", folder / "model.onnx"
    torch.save(model.state_dict(), weights)
    size = SIZES.get(name, 224)
    code, _, err = peers.calque("export", sys.modules[fn.__module__].__file__, "--entry", f"{name}()", "--weights", weights,
                                "--input", f"batchx3x{size}x{size}", "-o", onnx, timeout=300)
    assert code == 0, err[:400]
    x = torch.randn(2, 3, size, size)
    with torch.no_grad():
        want = model(x).numpy()
    got, = peers.run_ort(onnx, {"x": x.numpy()})
    scale = max(1.0, float(abs(want).max()))
    peers.expect_close(got / scale, want / scale, 1e-3, 1e-4, name)


def main():
    warnings.filterwarnings("ignore")
    report = peers.Report(__file__)
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    if report.needs("torch", "torchvision", "onnx", "ort"):
        for name in names or (list(builders()) if "--all" in sys.argv else SAMPLE):
            with report.case(name), tempfile.TemporaryDirectory() as folder:
                check(name, pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""torchvision's models from their own source files: calque export FILE --entry 'resnet18()' --weights
STATE_DICT with a dynamic batch, run in ONNX Runtime with another batch, compared with PyTorch.

    source_models.py [--all] [NAME…]      default: a sample; --all: every builder of torchvision

It also runs in the Python of another suite: tools/modern.sh sid python3 tests/peer/source_models.py --all
Images are small to save time. Detection models take a list of images, whose number is fixed.
"""
import pathlib
import sys
import tempfile
import time
import warnings

import peers

SAMPLE = ["resnet18", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "squeezenet1_1", "mnasnet0_5",
          "densenet121", "regnet_y_400mf", "efficientnet_b0", "googlenet", "swin_t", "lraspp_mobilenet_v3_large",
          "ssdlite320_mobilenet_v3_large", "r2plus1d_18", "raft_small", "quantized_mobilenet_v2"]

# Image sizes that are not the default, and arguments of builders. Attention over a grid of patches fixes the size.
SIZES = {"inception_v3": 96, "googlenet": 96, "quantized_inception_v3": 96, "quantized_googlenet": 96, "vit_h_14": 56,
         "maxvit_t": 224}
DEFAULT_SIZE = 64
CLIPS = {"mvit_v1_b": (16, 224, 224), "mvit_v2_s": (16, 224, 224), "s3d": (16, 224, 224)}
DEFAULT_CLIP = (8, 64, 64)
FLOW_SIZE = 128
MIN_SIZE, MAX_SIZE = 128, 192


def family(fn):
    """The subpackage of torchvision.models that defines the builder."""
    parts = fn.__module__.split(".")
    return parts[2] if len(parts) > 3 else "classification"


def arguments(name, fn):
    """Keyword arguments for a builder: no downloads, small images."""
    found = {}
    kind = family(fn)
    if kind in ("segmentation", "detection"):
        found["weights_backbone"] = None
    if kind == "detection" and not name.startswith("ssd"):
        found.update(min_size=MIN_SIZE, max_size=MAX_SIZE)
    if name in ("googlenet", "inception_v3", "quantized_googlenet", "quantized_inception_v3"):
        found["init_weights"] = True
    if name.startswith("vit_"):
        found["image_size"] = SIZES.get(name, DEFAULT_SIZE)
    return found


def randomize(model):
    """Give every weight an effect: new models have zero biases, zero gates and running statistics
    of 0 and 1."""
    import torch
    with torch.no_grad():
        for p in model.parameters():
            if p.abs().max() < 1e-3:
                p.normal_(0, 0.05)
        for buffer_name, buffer in model.named_buffers():
            if buffer_name.endswith("running_mean"):
                buffer.normal_(0, 0.1)
            elif buffer_name.endswith("running_var"):
                buffer.uniform_(0.8, 1.2)


def is_score_layer(name, part):
    """The last layer of a detector's classification: its results decide which boxes are kept, and
    in which order."""
    return hasattr(part, "weight") and part.weight.dim() in (2, 4) and (
        name.endswith(("cls_score", "cls_logits", "kps_score_lowres"))
        or "classification_head.module_list" in name and part.weight.shape[0] % 91 == 0)


def separate_scores(model, inputs):
    """Scores of random weights are nearly equal, so rounding would decide the order of the boxes. Scale each score layer to results of standard
    deviation 1 around 0. A layer may be called for several levels of a pyramid."""
    import torch
    norms = [part for part in model.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    for part in norms:
        part.momentum = None
        part.train()
    with torch.no_grad():  # running statistics of real feature maps keep the feature maps of later layers apart
        model(inputs[0] * 2)
    model.eval()
    layers = [part for name, part in model.named_modules() if is_score_layer(name, part)]
    assert layers, "no score layer is found"
    for part in layers:
        results = []
        hook = part.register_forward_hook(lambda part, args, result: results.append(result.flatten()))
        with torch.no_grad():
            model(*inputs)
            hook.remove()
            scores = torch.cat(results)
            factor = 1 / float(scores.std())
            part.weight.mul_(factor)
            if part.bias is not None:
                part.bias.mul_(factor).sub_(float(scores.mean()) * factor)


def example(name, fn):
    """The inputs of the export, as --input specifications, and a list of inputs for the
    comparison."""
    import torch
    kind = family(fn)
    if kind == "detection":
        size = 320 if name.startswith("ssdlite") else 300 if name.startswith("ssd") else 128
        return [f"[3x{size}x{size}]"], [[torch.rand(3, size, size)]]
    if kind == "video":
        clip = CLIPS.get(name, DEFAULT_CLIP)
        return ["batchx3x" + "x".join(map(str, clip))], [torch.randn(2, 3, *clip)]
    if kind == "optical_flow":
        return [f"batchx3x{FLOW_SIZE}x{FLOW_SIZE}"] * 2, [torch.rand(2, 3, FLOW_SIZE, FLOW_SIZE) * 2 - 1 for _ in range(2)]
    size = SIZES.get(name, DEFAULT_SIZE)
    return [f"batchx3x{size}x{size}"], [torch.randn(2, 3, size, size)]


def flatten(value):
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [leaf for part in (value.values() if isinstance(value, dict) else value) for leaf in flatten(part)]


def run_onnx(path, arrays):
    import ort
    if ort.find_library() is None:
        import onnxruntime
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return session.run(None, dict(zip([i.name for i in session.get_inputs()], arrays)))
    session = ort.Session(str(path))
    return session.run(dict(zip(session.inputs, arrays)))


def check(name, fn, folder):
    import torch
    torch.manual_seed(1)
    given = arguments(name, fn)
    model = fn(**given).eval()
    randomize(model)
    specs, inputs = example(name, fn)
    if family(fn) == "detection":
        separate_scores(model, inputs)
    weights, onnx = folder / "weights.pth", folder / "model.onnx"
    torch.save(model.state_dict(), weights)
    entry = f"{fn.__name__}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
    code, _, err = peers.calque("export", sys.modules[fn.__module__].__file__, "--entry", entry, "--weights", weights,
                                *[word for spec in specs for word in ("--input", spec)], "-o", onnx, timeout=300)
    assert code == 0, err[:600]
    with torch.no_grad():
        expected = flatten(model(*inputs))
    got = run_onnx(onnx, flatten(inputs))
    assert len(got) == len(expected), f"{len(got)} outputs, expected {len(expected)}"
    for index, (g, w) in enumerate(zip(got, expected)):
        assert g.shape == w.shape, f"output {index}: shape {g.shape}, expected {w.shape}"
        assert w.size, f"output {index} is empty"
    if family(fn) == "detection":
        got = [g[order] for g in got] if (order := same_order(got, expected)) else got
    for index, (g, w) in enumerate(zip(got, expected)):
        scale = float(abs(w).max()) or 1.0
        peers.expect_close(g / scale, w / scale, 1e-3, 1e-3 if family(fn) == "optical_flow" else 1e-4, f"{name}, output {index}")


def same_order(got, expected):
    """Detections of equal scores may come in another order: the detection in `got` for each one in `want`, or None if some
    detection has no counterpart."""
    import numpy as np
    order, left = [], list(range(len(expected[0])))
    for row in range(len(expected[0])):
        found = next((i for i in left
                      if all(np.allclose(g[i], w[row], 1e-3, 1e-3) for g, w in zip(got, expected))), None)
        if found is None:
            return None
        left.remove(found)
        order.append(found)
    return order


def builders():
    """Every builder that torchvision registers, by its name in torchvision.models.list_models()."""
    import torchvision
    models = torchvision.models
    return {name: models.get_model_builder(name) if hasattr(models, "get_model_builder")
            else models._api.find_model(name) for name in models.list_models()}


def main():
    warnings.filterwarnings("ignore")
    report = peers.Report(__file__)
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    if report.needs("torch", "torchvision"):
        found = builders()
        for name in names or (list(found) if "--all" in sys.argv else SAMPLE):
            begin = time.time()
            with report.case(name), tempfile.TemporaryDirectory() as folder:
                check(name, found[name], pathlib.Path(folder))
                if "--verbose" in sys.argv:
                    print(f"ok {name} {time.time() - begin:.1f} s", flush=True)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

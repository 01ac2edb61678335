#!/usr/bin/python3
"""Models that calque did not make: exports of torchvision models and of a few others by the real
torch.onnx.export, run by calque and by ONNX Runtime.

    torch_exports.py [MODEL …]

Weights are random; statistics of normalisations are made such that numbers neither vanish nor
explode on the way.
"""
import pathlib
import sys
import tempfile
import warnings

import numpy as np

import peers

# model, sizes of its input, opset. Small images: what differs would differ on them too.
MODELS = [
    ("alexnet", (1, 3, 224, 224), 11), ("resnet18", (1, 3, 64, 64), 13),
    ("densenet121", (1, 3, 64, 64), 11), ("inception_v3", (1, 3, 107, 107), 16),
    ("googlenet", (1, 3, 64, 64), 13), ("mobilenet_v2", (1, 3, 64, 64), 17),
    ("mobilenet_v3_small", (2, 3, 64, 64), 11), ("squeezenet1_1", (1, 3, 64, 64), 16),
    ("shufflenet_v2_x0_5", (1, 3, 64, 64), 13), ("mnasnet0_5", (1, 3, 64, 64), 17),
    ("efficientnet_b0", (1, 3, 64, 64), 11), ("convnext_tiny", (1, 3, 64, 64), 13),
    ("vision_transformer", (1, 3, 32, 32), 16), ("swin_t", (1, 3, 64, 64), 17),
    ("regnet_y_400mf", (1, 3, 64, 64), 13), ("fcn_resnet50", (1, 3, 64, 64), 11),
    ("deeplabv3_mobilenet_v3_large", (1, 3, 64, 64), 16), ("lstm", (5, 2, 8), 13),
    ("gru_reversed", (5, 2, 8), 11), ("transformer_encoder", (5, 2, 16), 17),
    ("resnet18", (1, 3, 64, 64), 9), ("transformer_encoder", (5, 2, 16), 11),
    ("lstm", (5, 2, 8), 16),
]
RTOL, ATOL = 2e-3, 1e-4  # errors of a hundred layers add up


def build(name):
    import torch
    from torch import nn
    import torchvision
    own = {
        # As vit_b_16, whose 86 million weights would show no more.
        "vision_transformer": lambda: torchvision.models.VisionTransformer(
            image_size=32, patch_size=8, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128),
        "lstm": lambda: nn.LSTM(8, 6, num_layers=2, bidirectional=True),
        "gru_reversed": lambda: nn.GRU(8, 6, bidirectional=True),
        "transformer_encoder": lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 4, 32), 2, enable_nested_tensor=False),
    }
    torch.manual_seed(0)
    if name in own:
        model = own[name]().eval()
        if name == "vision_transformer":  # its head is zeros at first
            nn.init.normal_(model.heads.head.weight)
        return model
    options = {"weights": None}
    if name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large"):
        options.update(weights_backbone=None, num_classes=4)
        maker = getattr(torchvision.models.segmentation, name)
    else:
        maker = getattr(torchvision.models, name)
    if name in ("inception_v3", "googlenet"):
        options.update(init_weights=False, transform_input=True)
    model = maker(**options).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.running_mean, -0.1, 0.1)
    return model


class FirstOnly:
    """torchvision's segmentation models give dictionaries, of which "out" is wanted."""

    @staticmethod
    def wrap(model):
        from torch import nn

        class Out(nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, x):
                return self.model(x)["out"]

        return Out().eval()


def export(name, sizes, opset, folder):
    import torch
    model = build(name)
    if name.startswith(("fcn", "deeplab")):
        model = FirstOnly.wrap(model)
    x = torch.from_numpy(np.random.RandomState(1).standard_normal(sizes).astype(np.float32))
    with warnings.catch_warnings():  # with gradients: without, attention is one opaque operator
        warnings.simplefilter("ignore")
        torch.onnx.export(model, x, str(folder / "model.onnx"), opset_version=opset,
                          input_names=["x"], dynamic_axes={"x": {0: "batch"}}, verbose=False)
    return x.numpy()


def write(folder, name, array):
    import onnx
    import onnx.numpy_helper
    path = folder / "test_data_set_0" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(onnx.numpy_helper.from_array(np.ascontiguousarray(array)).SerializeToString())


def main():
    report = peers.Report(__file__)
    if not report.needs("torch", "torchvision", "onnx", "ort"):
        return report.finish()
    for name, sizes, opset in MODELS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        with report.case(f"{name} at opset {opset}"), tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            x = export(name, sizes, opset, folder)
            write(folder, "input_0.pb", x)
            for i, y in enumerate(peers.run_ort(str(folder / "model.onnx"), {"x": x})):
                assert np.all(np.isfinite(y)) and np.std(y) > 0, "these numbers show nothing"
                write(folder, f"output_{i}.pb", y)
            code, out, _ = peers.calque("verify", "--rtol", RTOL, "--atol", ATOL, folder)
            assert code == 0, out.splitlines()[0]
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())

"""Annotations and anchors."""
import pytorch_pfn_extras as ppe
import pytorch_pfn_extras.onnx
import torch
import torch.nn.functional as F
from torch import nn


class Annotated(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 9, 3)
        self.linear = nn.Linear(28, 20)

    def forward(self, x):
        with ppe.onnx.annotate(key="value", number=3):
            h = self.conv(x)
        h = self.conv2(h)
        with ppe.onnx.annotate(part=["a", "b"]):
            return self.linear(h)


class Applied(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(32, 20)

    def forward(self, x):
        def soft(h):
            return F.log_softmax(F.relu(h), dim=-1)

        return ppe.onnx.apply_annotation(soft, self.linear(x), key="value")


class Anchored(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 6, 3)
        self.second = nn.Conv2d(6, 6, 3)

    def forward(self, x):
        with ppe.onnx.scoped_anchor(part="both"):
            h = self.second(self.first(x))
        return ppe.onnx.anchor(h, place="end") * 2


torch.manual_seed(4)
x = torch.ones((1, 1, 32, 32))
for name, net in (("annotated", Annotated()), ("applied", Applied()), ("anchored", Anchored())):
    ppe.onnx.export(net, x, name + ".onnx", input_names=["x"])

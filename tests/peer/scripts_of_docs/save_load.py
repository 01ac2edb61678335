"""State dicts and checkpoints: written, read again, and loaded into another model."""
import io
from collections import OrderedDict

import torch
from torch import nn


def make():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(72, 4))


torch.manual_seed(6)
net = make().eval()
base = torch.arange(12.0).reshape(3, 4)
checkpoint = {
    "state_dict": net.state_dict(), "epoch": 3, "rates": [0.1, 2 ** 40, -5, True, None], "pair": ("a", 1.5),
    "views": (base, base[1], base.t()), "more": OrderedDict(half=torch.ones(2).half(), flags=torch.tensor([True])),
    "weight": net[4].weight,
}
torch.save(net.state_dict(), "state.pth")
torch.save(checkpoint, "checkpoint.pth")
again = make().eval()
print(again.load_state_dict(torch.load("checkpoint.pth")["state_dict"]))
buffer = io.BytesIO()
torch.save(again.state_dict(), buffer)
buffer.seek(0)
other = make().eval()
other.load_state_dict(torch.load(buffer))
loaded = torch.load("checkpoint.pth")
print(loaded["epoch"], loaded["rates"], loaded["pair"], loaded["views"][1].tolist(), list(loaded["more"]))
torch.onnx.export(other, torch.ones(1, 1, 8, 8), "other.onnx")

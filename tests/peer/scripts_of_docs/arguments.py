"""The other arguments of torch.onnx.export."""
import io

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, scale=None, offset=None):
        x = self.drop(self.norm(self.conv(x)))
        if scale is not None:
            x = x * scale
        return x if offset is None else x + offset


torch.manual_seed(2)
net = Net()
x = torch.randn(1, 3, 8, 8)
torch.onnx.export(net, x, "plain.onnx")
torch.onnx.export(net, x, "training.onnx", training=torch.onnx.TrainingMode.TRAINING)
torch.onnx.export(net, x, "no_params.onnx", export_params=False)
torch.onnx.export(net, x, "as_inputs.onnx", keep_initializers_as_inputs=True)
torch.onnx.export(net, x, "not_inputs.onnx", keep_initializers_as_inputs=False, opset_version=9)
torch.onnx.export(net, x, "unfolded.onnx", do_constant_folding=False)
torch.onnx.export(net, (x, torch.tensor(2.0)), "two.onnx", input_names=["x", "scale"], opset_version=11)
torch.onnx.export(net, (x, {"offset": torch.tensor(3.0)}), "named.onnx")
net.train()
buffer = io.BytesIO()
torch.onnx.export(net, x, buffer)
print(net.training, len(buffer.getvalue()) > 100)

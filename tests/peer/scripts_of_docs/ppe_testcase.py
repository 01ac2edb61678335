"""A test case with gradients, a second data set, and a stripped model."""
import pytorch_pfn_extras.onnx as tou
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.linear = nn.Linear(30, 20, bias=False)

    def forward(self, x):
        return self.linear(self.conv(x))


torch.manual_seed(3)
net = Net()
x = torch.ones((1, 1, 32, 32))
out = tou.export_testcase(net, x, "plain", input_names=["x"], output_names=["y"], return_output=True)
print([tuple(y.shape) for y in out])
tou.export_testcase(net, torch.zeros(1, 1, 32, 32), "plain", input_names=["x"], output_names=["y"],
                    model_overwrite=False)
tou.export_testcase(net, x, "gradients", output_grad=torch.full((1, 6, 30, 20), 0.5), metadata=False,
                    training=torch.onnx.TrainingMode.TRAINING)
tou.export_testcase(net, x, "stripped", strip_large_tensor_data=True, large_tensor_threshold=50,
                    user_meta={"made_by": "a script"})
result = tou.export(net, x, "model.onnx", return_output=True, strip_large_tensor_data=True)
print(tuple(result.shape))

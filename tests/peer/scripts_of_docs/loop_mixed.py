"""A traced module that calls a scripted function: only the loop of the function stays a Loop."""
import torch


@torch.jit.script
def repeat(x, y):
    for i in range(int(y)):
        x = x + i
    return x


class Net(torch.nn.Module):
    def forward(self, x, y):
        for factor in (2, 3):
            x = x * factor
        return repeat(x, y)


example = (torch.ones(2, 3, dtype=torch.long), torch.tensor(5, dtype=torch.long))
torch.onnx.export(Net(), example, "mixed.onnx", opset_version=11)

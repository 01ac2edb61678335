"""The same loop in a scripted module and in a scripted function: a Loop in the graph."""
import torch


class Repeat(torch.nn.Module):
    def forward(self, x, y):
        for i in range(int(y)):
            x = x + i
        return x


scripted = torch.jit.script(Repeat())
example = (torch.ones(2, 3, dtype=torch.long), torch.tensor(5, dtype=torch.long))
torch.onnx.export(scripted, example, "loop.onnx", opset_version=11, input_names=["x", "count"])

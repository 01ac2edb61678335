"""A loop that a trace unrolls: the count of the example is in the graph."""
import torch


class Repeat(torch.nn.Module):
    def forward(self, x, y):
        for i in range(y):
            x = x + i
        return x


class RepeatTensor(torch.nn.Module):
    def forward(self, x, y):
        for i in range(int(y)):
            x = x + i
        return x


example = (torch.ones(2, 3, dtype=torch.long), torch.tensor(5, dtype=torch.long))
torch.onnx.export(RepeatTensor(), example, "loop.onnx", opset_version=11)
torch.onnx.export(torch.jit.trace(RepeatTensor(), example), example, "traced.onnx", opset_version=11)

"""The three forms of dynamic_axes: names, indices, and both."""
import torch


class Sum(torch.nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1)


def write(name, axes):
    torch.onnx.export(Sum(), (torch.ones(2, 2),), name, input_names=["x"], output_names=["sum"],
                      dynamic_axes=axes)


write("none.onnx", None)
write("named.onnx", {"x": {0: "rows"}, "sum": {0: "rows"}})
write("indices.onnx", {"x": [0], "sum": [0]})
write("mixed.onnx", {"x": {0: "rows", 1: "columns"}, "sum": [0]})

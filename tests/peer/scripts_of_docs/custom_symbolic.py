"""Operators with symbolic functions in the script."""
import torch
from torch.onnx import register_custom_op_symbolic
from torch.onnx.symbolic_helper import parse_args


def inverse_sine(g, x):
    return g.op("com.example::InverseSine", x, scale_f=1.5, names_s=["a", "b"], sizes_i=[1, 2])


@parse_args("v", "f", "f")
def soft(g, x, beta, threshold):
    scaled = g.op("Mul", x, g.op("Constant", value_t=torch.tensor(beta)))
    return g.op("Div", g.op("Softplus", scaled), g.op("Constant", value_t=torch.tensor(beta)))


def two(g, x, dim, keepdim):
    first, second = g.op("com.example::Pair", x, outputs=2)
    return first, second


register_custom_op_symbolic("aten::asinh", inverse_sine, 9)
register_custom_op_symbolic("::softplus", soft, 9)
register_custom_op_symbolic("aten::max", two, 9)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act = torch.nn.Softplus(beta=2.0)

    def forward(self, x):
        values, indices = torch.max(self.act(torch.asinh(x)), 1)
        return values, indices


torch.onnx.export(Net(), torch.ones(2, 3), "custom.onnx", opset_version=13, custom_opsets={"com.example": 2})
torch.onnx.unregister_custom_op_symbolic("aten::asinh", 9)

"""Functions with a symbolic method, and one without."""
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None

    @staticmethod
    def symbolic(g, x, factor):
        return g.op("com.example::Scale", x, factor_f=factor)


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def symbolic(g, x):
        return g.op("Clip", x, g.op("Constant", value_t=torch.tensor(0, dtype=torch.float)))


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y, x - y

    @staticmethod
    def symbolic(g, x, y):
        return g.op("com.example::Both", x, y, outputs=2)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x):
        a, b = Both.apply(Scale.apply(self.fc(x), 0.5), x)
        return Clip.apply(a) * b


torch.manual_seed(1)
torch.onnx.export(Net(), torch.ones(2, 3), "function.onnx", opset_version=13, custom_opsets={"com.example": 1})

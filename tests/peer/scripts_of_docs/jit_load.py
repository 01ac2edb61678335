"""A TorchScript archive, net.pt, that PyTorch has saved: called, exported, and with other weights."""
import torch

net = torch.jit.load("net.pt")
y, parts = net(torch.ones(2, 3))
print(tuple(y.shape), len(parts), list(net.state_dict()), net.training, isinstance(net, torch.jit.ScriptModule))
torch.onnx.export(net, torch.ones(2, 3), "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "rows"}})
torch.save({"weights": net.state_dict()}, "weights.pth")

"""AlexNet with names for its inputs, its parameters and its output."""
import torch
import torchvision

torch.manual_seed(0)
images = torch.randn(10, 3, 224, 224)
network = torchvision.models.alexnet()
names_in = ["actual_input_1"] + ["learned_%d" % i for i in range(16)]
torch.onnx.export(network, images, "alexnet.onnx", verbose=False, input_names=names_in, output_names=["output1"])

"""Parameters as one vector."""
import torch


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    start = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[start:start + n].view(p.shape)
        start += n

"""Stochastic depth: whole residual branches are dropped in training."""
import torch
from torch import nn


def stochastic_depth(input, p, mode, training=True):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    n = input.shape[0] if mode == "row" else 1
    noise = torch.rand([n] + [1] * (input.dim() - 1), dtype=input.dtype)
    kept = (noise < 1.0 - p).to(input.dtype)
    return input * (kept / (1.0 - p) if p < 1.0 else kept)


class StochasticDepth(nn.Module):
    def __init__(self, p, mode):
        super().__init__()
        self.p = p
        self.mode = mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)

    def extra_repr(self):
        return f"p={self.p}, mode={self.mode}"

    def __repr__(self):
        return f"StochasticDepth(p={self.p}, mode={self.mode})"

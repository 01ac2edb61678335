"""ChannelShuffle."""
import torch
from .module import Module


class ChannelShuffle(Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return torch.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"

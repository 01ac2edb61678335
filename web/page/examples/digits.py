"""A small convolutional network, as source. Its weights are random until a checkpoint is given."""
import torch
from torch import nn
import torch.nn.functional as F


class Digits(nn.Module):
    def __init__(self, classes: int = 10):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 16, 3, padding=1)
        self.head = nn.Linear(16 * 7 * 7, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.head(torch.flatten(x, 1))

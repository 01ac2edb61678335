import contextlib

import torch


@contextlib.contextmanager
def doubling(module):
    module.factor = 2
    yield
    module.factor = 1


class Net(torch.nn.Module):
    factor = 1

    def forward(self, x):
        with doubling(self):
            return x * self.factor

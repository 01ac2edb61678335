"""Mixtures of experts."""

import torch

from calque import gradient


@gradient("aten::_grouped_mm")
def _grouped_mm_gradient(grad, self, mat2, offs):
    """The gradients of a grouped product are grouped products: of rows, columns or sums."""
    return {
        "self": torch.ops.aten._grouped_mm(grad, torch.transpose(mat2, -2, -1), offs),
        "mat2": torch.ops.aten._grouped_mm(torch.transpose(self, -2, -1), grad, offs),
    }


@gradient("transformers::grouped_mm_fallback")
def transformers_grouped_mm_fallback_gradient(grad, input, weight, offs):
    return {
        "input": torch.ops.aten._grouped_mm(grad, torch.transpose(weight, -2, -1), offs),
        "weight": torch.ops.aten._grouped_mm(torch.transpose(input, -2, -1), grad, offs),
    }

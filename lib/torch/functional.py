"""Functions of torch that PyTorch has in Python: they accept more than the operators do."""
from typing import Optional

import torch


def _asked(v, i, n, return_inverse: bool, return_counts: bool):
    if return_inverse:
        return (v, i, n) if return_counts else (v, i)
    return (v, n) if return_counts else v


def unique(input, sorted: bool = True, return_inverse: bool = False,
           return_counts: bool = False, dim: Optional[int] = None):
    if dim is None:
        v, i, n = torch.ops.aten._unique2(input, sorted, return_inverse, return_counts)
    else:
        v, i, n = torch.ops.aten.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _asked(v, i, n, return_inverse, return_counts)


def unique_consecutive(input, return_inverse: bool = False, return_counts: bool = False,
                       dim: Optional[int] = None):
    v, i, n = torch.ops.aten.unique_consecutive(input, return_inverse, return_counts, dim)
    return _asked(v, i, n, return_inverse, return_counts)


def stft(input, n_fft: int, hop_length: Optional[int] = None, win_length: Optional[int] = None,
         window=None, center: bool = True, pad_mode: str = 'reflect', normalized: bool = False,
         onesided: Optional[bool] = None, return_complex: Optional[bool] = None):
    if center:
        rank = input.dim()
        input = input.reshape([1] * (3 - rank) + list(input.shape))
        input = torch.ops.aten.pad(input, [n_fft // 2, n_fft // 2], pad_mode)
        input = input.reshape(list(input.shape)[3 - rank:])
    return torch.ops.aten.stft(input, n_fft, hop_length, win_length, window, normalized, onesided,
                               return_complex)


def tensordot(a, b, dims=2, out=None):
    if isinstance(dims, int):
        return torch.ops.aten.tensordot(a, b, list(range(-dims, 0)), list(range(dims)))
    return torch.ops.aten.tensordot(a, b, dims[0], dims[1])


def norm(input, p=2, dim=None, keepdim: bool = False, out=None, dtype=None):
    if p == 'nuc':
        axes = [-2, -1] if dim is None else dim
        return torch.linalg.matrix_norm(input, 'nuc', axes, keepdim)
    order = 2.0 if p == 'fro' else p
    dim = list(range(input.dim())) if dim is None else dim
    axes = [dim] if isinstance(dim, int) else dim
    return torch.linalg.vector_norm(input, order, axes, keepdim, dtype=dtype)

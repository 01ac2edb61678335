"""torch.nn.init: initial values of parameters.

The draws have the order of PyTorch's, so the same seed gives the same weights.
"""
import math
import warnings

import torch


def calculate_gain(nonlinearity, param=None):
    if nonlinearity in ("linear", "sigmoid", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
                        "conv_transpose2d", "conv_transpose3d"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor):
    shape = tensor.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than "
                         "2 dimensions")
    field = 1
    for size in shape[2:]:
        field *= size
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with torch.no_grad():
        return tensor.uniform_(a, b)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with torch.no_grad():
        return tensor.normal_(mean, std)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
                      "The distribution of values may be incorrect.")
    low, high = _normal_cdf((a - mean) / std), _normal_cdf((b - mean) / std)
    with torch.no_grad():
        tensor.uniform_(2 * low - 1, 2 * high - 1)
        tensor.erfinv_()
        tensor.mul_(std * math.sqrt(2.0))
        tensor.add_(mean)
        tensor.clamp_(min=a, max=b)
    return tensor


def _normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def constant_(tensor, val):
    with torch.no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    return constant_(tensor, 0.0)


def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with torch.no_grad():
        tensor.copy_(torch.eye(tensor.shape[0], tensor.shape[1]))
    return tensor


def dirac_(tensor, groups=1):
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    shape = list(tensor.shape)
    if shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = shape[0] // groups
    center = tuple(size // 2 for size in shape[2:])
    with torch.no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(per_group, shape[1])):
                tensor[(g * per_group + d, d) + center] = 1
    return tensor


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)))


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op")
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op")
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std)


def _orthonormal(a):
    """The factor Q of a = QR whose R has a positive diagonal: Gram-Schmidt, each column twice."""
    q = torch.zeros(a.shape, dtype=torch.float64)
    for k in range(a.shape[1]):
        v = a[:, k].double()
        v = v - q @ (q.t() @ v)
        v = v - q @ (q.t() @ v)
        q[:, k] = v / torch.sqrt((v * v).sum())
    return q.to(a.dtype)


def orthogonal_(tensor, gain=1, generator=None):
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    cols = tensor.numel() // rows
    flat = torch.empty((rows, cols), dtype=tensor.dtype).normal_(0, 1)
    if rows < cols:
        flat = flat.t()
    if flat.shape[0] <= 64:
        q, r = torch.linalg.qr(flat)
        q = q * torch.diag(r, 0).sign()
    else:  # linalg.qr is written out for each row, and refuses larger matrices
        q = _orthonormal(flat)
    if rows < cols:
        q = q.t()
    with torch.no_grad():
        tensor.copy_(q.reshape(tensor.shape))
        tensor.mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    count = int(math.ceil(sparsity * rows))
    with torch.no_grad():
        tensor.normal_(0, std)
        for col in range(cols):
            for row in torch.randperm(rows)[:count].tolist():
                tensor[row, col] = 0
    return tensor


def uniform(tensor, a=0.0, b=1.0):
    return uniform_(tensor, a, b)


def normal(tensor, mean=0.0, std=1.0):
    return normal_(tensor, mean, std)


def constant(tensor, val):
    return constant_(tensor, val)


def xavier_uniform(tensor, gain=1.0):
    return xavier_uniform_(tensor, gain)


def xavier_normal(tensor, gain=1.0):
    return xavier_normal_(tensor, gain)


def kaiming_uniform(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    return kaiming_uniform_(tensor, a, mode, nonlinearity)


def kaiming_normal(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    return kaiming_normal_(tensor, a, mode, nonlinearity)


def orthogonal(tensor, gain=1):
    return orthogonal_(tensor, gain)


def eye(tensor):
    return eye_(tensor)


def dirac(tensor, groups=1):
    return dirac_(tensor, groups)


def sparse(tensor, sparsity, std=0.01):
    return sparse_(tensor, sparsity, std)

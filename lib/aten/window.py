"""Windows for spectra."""

import math
import torch

from calque import dtype_name, is_known, kaiser, operator, result_type
from aten.common import scaled


# n numbers from 0 in steps of turn / (n - 1).
def ramp(n, turn, dtype):
    t = torch.arange(n, dtype=dtype)
    return t * (turn / (n - 1)) if is_known(n) else t * turn / (n - 1)


def wave(t, times, factor):
    return scaled(t, times).cos() * factor


@operator(
    "aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
def hann_window(window_length, dtype, layout, device, pin_memory):
    """Hann_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if True else window_length
    t = wave(ramp(n, 2 * math.pi, type), 1.0, -0.5) + 0.5
    return torch.ops.aten.slice(t, 0, 0, -1) if True else t


@operator(
    "aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def hann_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Hann_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = wave(ramp(n, 2 * math.pi, type), 1.0, -0.5) + 0.5
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


@operator(
    "aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
def hamming_window(window_length, dtype, layout, device, pin_memory):
    """Hamming_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if True else window_length
    t = wave(ramp(n, 2 * math.pi, type), 1.0, -0.46) + 0.54
    return torch.ops.aten.slice(t, 0, 0, -1) if True else t


@operator(
    "aten::hamming_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def hamming_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Hamming_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = wave(ramp(n, 2 * math.pi, type), 1.0, -0.46) + 0.54
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


@operator(
    "aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def hamming_window_periodic_alpha(
    window_length, periodic, alpha, dtype, layout, device, pin_memory
):
    """Hamming_window with other factors."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = wave(ramp(n, 2 * math.pi, type), 1.0, -0.46) + alpha
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


@operator(
    "aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, "
    "float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def hamming_window_periodic_alpha_beta(
    window_length, periodic, alpha, beta, dtype, layout, device, pin_memory
):
    """Hamming_window with other factors."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = wave(ramp(n, 2 * math.pi, type), 1.0, -beta) + alpha
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


@operator(
    "aten::blackman_window(int window_length, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def blackman_window(window_length, dtype, layout, device, pin_memory):
    """Blackman_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if True else window_length
    t = ramp(n, math.pi, type)
    t = wave(t, 4.0, 0.08) - wave(t, 2.0, 0.5) + 0.42
    return torch.ops.aten.slice(t, 0, 0, -1) if True else t


@operator(
    "aten::blackman_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def blackman_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Blackman_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = ramp(n, math.pi, type)
    t = wave(t, 4.0, 0.08) - wave(t, 2.0, 0.5) + 0.42
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


@operator(
    "aten::bartlett_window(int window_length, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def bartlett_window(window_length, dtype, layout, device, pin_memory):
    """Bartlett_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if True else window_length
    t = 1 - (ramp(n, 2.0, type) - 1).abs()
    return torch.ops.aten.slice(t, 0, 0, -1) if True else t


@operator(
    "aten::bartlett_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def bartlett_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Bartlett_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = 1 - (ramp(n, 2.0, type) - 1).abs()
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


@operator(
    "aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
def kaiser_window(window_length, dtype, layout, device, pin_memory):
    """Kaiser_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if True else window_length
    t = kaiser(int(n), 12.0, type)
    return torch.ops.aten.slice(t, 0, 0, -1) if True else t


@operator(
    "aten::kaiser_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def kaiser_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Kaiser_window of that many numbers."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = kaiser(int(n), 12.0, type)
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


@operator(
    "aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def kaiser_window_beta(window_length, periodic, beta, dtype, layout, device, pin_memory):
    """Kaiser_window with another beta."""
    assert window_length >= 0, f"a window of {window_length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    if is_known(window_length) and window_length < 2:
        return torch.ones([window_length], dtype=type)
    n = window_length + 1 if periodic else window_length
    t = kaiser(int(n), beta, type)
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t

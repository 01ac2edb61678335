"""Window functions.

A periodic window is a symmetric one of length + 1 without its last element.
"""

import math
import torch

from calque import dtype_name, is_known, kaiser, operator, result_type
from aten.common import scaled


def window_dtype(length, dtype):
    """The dtype of a window of length numbers."""
    assert length >= 0, f"expected a length of at least 0, got {length}"
    found = result_type(1.0) if dtype is None else dtype
    assert found.is_floating_point, f"expected a floating-point dtype, got {dtype_name(found)}"
    return found


def is_trivial(length):
    return is_known(length) and length < 2


def symmetric_length(length, periodic):
    return length + 1 if periodic else length


def trimmed(t, periodic):
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


def ramp(n, end, dtype):
    """n numbers from 0 to end, in equal steps."""
    t = torch.arange(n, dtype=dtype)
    return t * (end / (n - 1)) if is_known(n) else t * end / (n - 1)


def wave(t, times, factor):
    return scaled(t, times).cos() * factor


@operator(
    "aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def hann_window(
    window_length, periodic=True, dtype=None, layout=None, device=None, pin_memory=None
):
    """The Hann window: one period of a raised cosine."""
    return hamming_window(window_length, periodic, 0.5, 0.5, dtype)


@operator(
    "aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::hamming_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, "
    "float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def hamming_window(
    window_length,
    periodic=True,
    alpha=0.54,
    beta=0.46,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
):
    """The Hamming window: alpha minus beta times a cosine."""
    found = window_dtype(window_length, dtype)
    if is_trivial(window_length):
        return torch.ones([window_length], dtype=found)
    t = ramp(symmetric_length(window_length, periodic), 2 * math.pi, found)
    return trimmed(wave(t, 1.0, -beta) + alpha, periodic)


@operator(
    "aten::blackman_window(int window_length, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::blackman_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def blackman_window(
    window_length, periodic=True, dtype=None, layout=None, device=None, pin_memory=None
):
    """The Blackman window: a sum of two cosines."""
    found = window_dtype(window_length, dtype)
    if is_trivial(window_length):
        return torch.ones([window_length], dtype=found)
    t = ramp(symmetric_length(window_length, periodic), math.pi, found)
    return trimmed(wave(t, 4.0, 0.08) - wave(t, 2.0, 0.5) + 0.42, periodic)


@operator(
    "aten::bartlett_window(int window_length, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::bartlett_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def bartlett_window(
    window_length, periodic=True, dtype=None, layout=None, device=None, pin_memory=None
):
    """The Bartlett window: a triangle."""
    found = window_dtype(window_length, dtype)
    if is_trivial(window_length):
        return torch.ones([window_length], dtype=found)
    t = ramp(symmetric_length(window_length, periodic), 2.0, found)
    return trimmed(1 - (t - 1).abs(), periodic)


@operator(
    "aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::kaiser_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
@operator(
    "aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def kaiser_window(
    window_length, periodic=True, beta=12.0, dtype=None, layout=None, device=None, pin_memory=None
):
    """The Kaiser window, based on a Bessel function."""
    found = window_dtype(window_length, dtype)
    if is_trivial(window_length):
        return torch.ones([window_length], dtype=found)
    return trimmed(kaiser(int(symmetric_length(window_length, periodic)), beta, found), periodic)

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


# The dtype of a window of length numbers.
def window_dtype(length, dtype):
    assert length >= 0, f"a window of {length} numbers"
    type = result_type(1.0) if dtype is None else dtype
    assert type.is_floating_point, f"a window is of floats, not of {dtype_name(type)}"
    return type


def is_trivial(length):
    return is_known(length) and length < 2


# A periodic window is a symmetric one that is longer by one, without its last number.
def full_length(length, periodic):
    return length + 1 if periodic else length


def trimmed(t, periodic):
    return torch.ops.aten.slice(t, 0, 0, -1) if periodic else t


def cosine_window(length, periodic, alpha, beta, dtype):
    type = window_dtype(length, dtype)
    if is_trivial(length):
        return torch.ones([length], dtype=type)
    t = ramp(full_length(length, periodic), 2 * math.pi, type)
    return trimmed(wave(t, 1.0, -beta) + alpha, periodic)


def blackman(length, periodic, dtype):
    type = window_dtype(length, dtype)
    if is_trivial(length):
        return torch.ones([length], dtype=type)
    t = ramp(full_length(length, periodic), math.pi, type)
    return trimmed(wave(t, 4.0, 0.08) - wave(t, 2.0, 0.5) + 0.42, periodic)


def bartlett(length, periodic, dtype):
    type = window_dtype(length, dtype)
    if is_trivial(length):
        return torch.ones([length], dtype=type)
    t = ramp(full_length(length, periodic), 2.0, type)
    return trimmed(1 - (t - 1).abs(), periodic)


def kaiser_of(length, periodic, beta, dtype):
    type = window_dtype(length, dtype)
    if is_trivial(length):
        return torch.ones([length], dtype=type)
    return trimmed(kaiser(int(full_length(length, periodic)), beta, type), periodic)


@operator(
    "aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
def hann_window(window_length, dtype, layout, device, pin_memory):
    """Hann_window of that many numbers."""
    return cosine_window(window_length, True, 0.5, 0.5, dtype)


@operator(
    "aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def hann_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Hann_window of that many numbers."""
    return cosine_window(window_length, periodic, 0.5, 0.5, dtype)


@operator(
    "aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
def hamming_window(window_length, dtype, layout, device, pin_memory):
    """Hamming_window of that many numbers."""
    return cosine_window(window_length, True, 0.54, 0.46, dtype)


@operator(
    "aten::hamming_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def hamming_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Hamming_window of that many numbers."""
    return cosine_window(window_length, periodic, 0.54, 0.46, dtype)


@operator(
    "aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def hamming_window_periodic_alpha(
    window_length, periodic, alpha, dtype, layout, device, pin_memory
):
    """Hamming_window with other factors."""
    return cosine_window(window_length, periodic, alpha, 0.46, dtype)


@operator(
    "aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, "
    "float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def hamming_window_periodic_alpha_beta(
    window_length, periodic, alpha, beta, dtype, layout, device, pin_memory
):
    """Hamming_window with other factors."""
    return cosine_window(window_length, periodic, alpha, beta, dtype)


@operator(
    "aten::blackman_window(int window_length, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def blackman_window(window_length, dtype, layout, device, pin_memory):
    """Blackman_window of that many numbers."""
    return blackman(window_length, True, dtype)


@operator(
    "aten::blackman_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def blackman_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Blackman_window of that many numbers."""
    return blackman(window_length, periodic, dtype)


@operator(
    "aten::bartlett_window(int window_length, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
def bartlett_window(window_length, dtype, layout, device, pin_memory):
    """Bartlett_window of that many numbers."""
    return bartlett(window_length, True, dtype)


@operator(
    "aten::bartlett_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def bartlett_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Bartlett_window of that many numbers."""
    return bartlett(window_length, periodic, dtype)


@operator(
    "aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor"
)
def kaiser_window(window_length, dtype, layout, device, pin_memory):
    """Kaiser_window of that many numbers."""
    return kaiser_of(window_length, True, 12.0, dtype)


@operator(
    "aten::kaiser_window.periodic(int window_length, bool periodic, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def kaiser_window_periodic(window_length, periodic, dtype, layout, device, pin_memory):
    """Kaiser_window of that many numbers."""
    return kaiser_of(window_length, periodic, 12.0, dtype)


@operator(
    "aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def kaiser_window_beta(window_length, periodic, beta, dtype, layout, device, pin_memory):
    """Kaiser_window with another beta."""
    return kaiser_of(window_length, periodic, beta, dtype)

"""Fourier transforms, as products with matrices of roots of unity."""

import math
import torch

from calque import dtype_name, is_known, operator, size_hint, waves, wrap_dim, wrap_dims
from aten.common import in_float


def complex_of(x, y):
    return torch.view_as_complex(torch.stack([x, y], -1))


def wide_real(x):
    return torch.float64 if x.dtype in [torch.float64, torch.complex128] else torch.float32


def factor_of(n):
    """The largest factor of n that is at most its square root (and at most 256)."""
    return max([i for i in range(1, 257) if i * i <= n and n % i == 0])


def in_two(x, a, b):
    return x.reshape(list(x.shape[:-1]) + [a, b])


def pairs_in_row(x):
    return torch.view_as_real(x).flatten(-2, -1) if x.is_complex() else x


def spectrum(x, n, m, sign, scale):
    """The first m of the n frequencies of x, whose last dimension has n numbers. For a large n = a
    b: transforms of every b-th number, multiplied by twiddle factors and transformed again
    (Cooley-Tukey)."""
    a = factor_of(n) if n > 256 else 1
    b = n // a
    type = wide_real(x)
    kind = "complex" if x.is_complex() else "real"
    rows = 2 * n if x.is_complex() else n
    if a == 1:
        y = pairs_in_row(x) @ waves(kind, n, rows, 2 * m, sign, scale, type)
        return torch.view_as_complex(in_two(y, m, 2))
    y = spectrum(in_two(x, a, b).transpose(-2, -1), a, a, sign, 1.0)
    y = y * complex_of(
        waves("cosine", n, b, a, sign, 1.0, type), waves("sine", n, b, a, sign, 1.0, type)
    )
    y = spectrum(y.transpose(-2, -1), b, b, sign, scale).transpose(-2, -1).flatten(-2, -1)
    return y if m == n else torch.ops.aten.slice(y, -1, 0, m)


def signal_of(x, n, sign, scale):
    """Real numbers from half a spectrum. If the matrix would be large, the mirrored half is
    restored first."""
    m = n // 2 + 1
    if n <= 256 or factor_of(n) == 1:
        return pairs_in_row(x) @ waves("half", n, 2 * m, n, sign, scale, wide_real(x))
    x = torch.cat([x, torch.ops.aten.slice(x, -1, 1, n - m + 1).flip([-1]).conj()], -1)
    return torch.real(spectrum(x, n, n, sign, scale))


def in_length(x, n):
    """x truncated or padded with zeros to n along its last dimension. If a size is a symbol, a pad
    of possibly negative size does both."""
    more = n - x.shape[-1]
    if is_known(more) and more == 0:
        return x
    if is_known(more) and more < 0:
        return torch.ops.aten.slice(x, -1, 0, n)
    if not x.is_complex():
        return torch.constant_pad_nd(x, [0, more], 0)
    return torch.view_as_complex(torch.constant_pad_nd(torch.view_as_real(x), [0, 0, 0, more], 0))


def fourier_in_run(x, n, divided, real_in, real_out, inverse):
    """A transform whose length is a symbol: the model computes the matrix (_fft_c2c and its
    variants). The inverse transform of real input and the forward transform to real output are the
    opposite transforms of conjugates."""
    if real_out:
        return torch._fft_c2r(x if inverse else x.conj(), [-1], divided, n)
    if x.is_complex():
        return torch._fft_c2c(x, [-1], divided, not inverse)
    y = torch._fft_r2c(x, [-1], divided, real_in)
    return y.conj() if inverse else y


def fourier(x, dim, points, norm, real_in, real_out, inverse):
    """A transform along one dimension; points None or -1 mean its size. divided numbers the
    divisor: 0 none, 1 the square root of n, 2 n."""
    given = points is not None and points != -1
    have = x.shape[dim]
    n = points if given else (have - 1) * 2 if real_out else have
    size = size_hint(n)
    assert size > 0, f"expected at least 1 point, got {size}"
    if size > 65536 or (size > 4096 and factor_of(size) == 1):
        raise NotImplementedError(
            f"a Fourier transform of {size} points; the limit is 65536 (primes: 4096)"
        )
    how = "backward" if norm is None else norm
    assert how in ["backward", "forward", "ortho"], f"unknown norm {how}"
    divided = 1 if how == "ortho" else 2 if (how == "backward") == inverse else 0
    x = x.movedim(dim, -1)
    if not is_known(n):
        x = in_length(x, n // 2 + 1 if real_out else n)
        return fourier_in_run(x, n, divided, real_in, real_out, inverse).movedim(-1, dim)
    size = int(n)
    sign = 1 if inverse else -1
    scale = 1.0 if divided == 0 else 1 / math.sqrt(size) if divided == 1 else 1 / size
    x = in_length(x, size // 2 + 1 if real_out else size)
    y = (
        signal_of(x, size, sign, scale)
        if real_out
        else spectrum(x, size, size // 2 + 1 if real_in else size, sign, scale)
    )
    return y.movedim(-1, dim)


def fourier_input(x, real_in, real_out):
    """The argument as floats, or as complex numbers if it is half a spectrum."""
    if real_in and x.is_complex():
        raise TypeError(f"expected real numbers, got {dtype_name(x.dtype)}")
    if x.dtype in [torch.float16, torch.bfloat16]:
        raise TypeError(f"expected float32 or float64, got {dtype_name(x.dtype)}")
    if not x.is_complex():
        x = in_float(x)
    return complex_of(x, torch.zeros_like(x)) if real_out and (not x.is_complex()) else x


def fourier_1(x, n, dim, norm, real_in, real_out, inverse):
    x = fourier_input(x, real_in, real_out)
    if x.ndim == 0:
        raise TypeError("expected at least one dimension")
    return fourier(x, wrap_dim(dim, x.ndim), n, norm, real_in, real_out, inverse)


def fourier_n(x, s, dim, norm, real_in, real_out, inverse):
    """A transform of several dimensions. Only the transform of the last one has real input or
    output."""
    x = fourier_input(x, real_in, real_out)
    s = [] if s is None else s
    n = len(dim) if dim is not None else len(s) if len(s) > 0 else x.ndim
    assert (
        n > 0 and n <= x.ndim and (len(s) in [0, n])
    ), f"got {n} dimensions and {len(s)} sizes for a tensor of {x.ndim} dimensions"
    dims = range(x.ndim - n, x.ndim) if dim is None else wrap_dims(dim, x.ndim)
    sizes = [-1] * n if len(s) == 0 else s
    if real_in:
        x = fourier(x, dims[-1], sizes[-1], norm, True, False, inverse)
    for i in range(n - 1):
        x = fourier(x, dims[i], sizes[i], norm, False, False, inverse)
    return x if real_in else fourier(x, dims[-1], sizes[-1], norm, False, real_out, inverse)


def in_middle(window, size, n, dtype):
    """A window centred in a frame of n. None stands for ones and stays None if it fills the
    frame."""
    if size == n:
        return window
    before = (n - size) // 2
    w = torch.ones([size], dtype=dtype) if window is None else window
    return torch.constant_pad_nd(w, [before, n - size - before], 0)


def turns(rows, columns, n, dtype):
    """The angles 2 pi / n times row number times column number."""
    t = torch.arange(rows).unsqueeze(1) * torch.arange(columns) % n
    return t.to(dtype) * (2 * math.pi) / torch.scalar_tensor(n, dtype=dtype)


def normalized(x, n, normalization):
    if normalization == 0:
        return x
    by = torch.scalar_tensor(n, dtype=torch.real(x).dtype)
    return x / (by.sqrt() if normalization == 1 else by)


def overlapped(frames, hop):
    """Overlap-add of frames [batch, count, n] at distance hop: [batch, length]."""
    n = frames.shape[2]
    length = (frames.shape[1] - 1) * hop + n
    return torch.ops.aten.col2im(
        frames.transpose(1, 2), [1, length], [1, n], [1, 1], [0, 0], [1, hop]
    ).flatten(1, -1)


@operator(
    "aten::fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_fftn(self, s, dim, norm):
    """The Fourier transform over several dimensions."""
    return fourier_n(self, s, dim, norm, False, False, False)


@operator(
    "aten::fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_ifft(self, n, dim, norm):
    """The inverse Fourier transform."""
    return fourier_1(self, n, dim, norm, False, False, True)


@operator(
    "aten::fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
    "-> Tensor",
    of_views=True,
)
@operator(
    "aten::fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_ifft2(self, s, dim, norm):
    """The inverse Fourier transform over several dimensions."""
    return fourier_n(self, s, dim, norm, False, False, True)


@operator(
    "aten::fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_rfft(self, n, dim, norm):
    """The Fourier transform of real input: half the spectrum."""
    return fourier_1(self, n, dim, norm, True, False, False)


@operator(
    "aten::fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
    "-> Tensor",
    of_views=True,
)
@operator(
    "aten::fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_rfft2(self, s, dim, norm):
    """The Fourier transform of real input over several dimensions: half the spectrum."""
    return fourier_n(self, s, dim, norm, True, False, False)


@operator(
    "aten::fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_irfft(self, n, dim, norm):
    """The inverse Fourier transform of half a spectrum: real output."""
    return fourier_1(self, n, dim, norm, False, True, True)


@operator(
    "aten::fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
    "-> Tensor",
    of_views=True,
)
@operator(
    "aten::fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) " "-> Tensor",
    of_views=True,
)
def fft_irfft2(self, s, dim, norm):
    """The inverse Fourier transform of half a spectrum over several dimensions: real output."""
    return fourier_n(self, s, dim, norm, False, True, True)


@operator(
    "aten::fft_hfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_hfft(self, n, dim, norm):
    """The Fourier transform of half a Hermitian signal: real output."""
    return fourier_1(self, n, dim, norm, False, True, False)


@operator(
    "aten::fft_hfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
    "-> Tensor",
    of_views=True,
)
@operator(
    "aten::fft_hfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_hfft2(self, s, dim, norm):
    """The Fourier transform of half a Hermitian signal over several dimensions: real output."""
    return fourier_n(self, s, dim, norm, False, True, False)


@operator(
    "aten::fft_ihfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_ihfft(self, n, dim, norm):
    """The inverse Fourier transform of real input: half the result."""
    return fourier_1(self, n, dim, norm, True, False, True)


@operator(
    "aten::fft_ihfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
    "-> Tensor",
    of_views=True,
)
@operator(
    "aten::fft_ihfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) " "-> Tensor",
    of_views=True,
)
def fft_ihfft2(self, s, dim, norm):
    """The inverse Fourier transform of real input over several dimensions: half the result."""
    return fourier_n(self, s, dim, norm, True, False, True)


@operator(
    "aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    of_views=True,
)
def fft_fftfreq(n, d, dtype, layout, device, pin_memory):
    """The frequencies of fft."""
    n = int(n)
    assert n > 0, "expected at least one point"
    as_dtype = torch.float32 if dtype is None else dtype
    t = torch.cat(
        [
            torch.arange((n - 1) // 2 + 1, dtype=as_dtype),
            torch.arange(-(n // 2), 0, dtype=as_dtype),
        ],
        0,
    )
    return t * (1 / (n * d))


@operator(
    "aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    of_views=True,
)
def fft_rfftfreq(n, d, dtype, layout, device, pin_memory):
    """The frequencies of rfft."""
    n = int(n)
    assert n > 0, "expected at least one point"
    as_dtype = torch.float32 if dtype is None else dtype
    return torch.arange(n // 2 + 1, dtype=as_dtype) * (1 / (n * d))


@operator("aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", of_views=True)
def fft_fftshift(self, dim):
    """Frequency 0 moved to the middle."""
    dims = list(range(self.ndim)) if dim is None else wrap_dims(dim, self.ndim)
    return self.roll([self.shape[d] // 2 for d in dims], dims)


@operator("aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", of_views=True)
def fft_ifftshift(self, dim):
    """Frequency 0 moved from the middle to the front."""
    dims = list(range(self.ndim)) if dim is None else wrap_dims(dim, self.ndim)
    return self.roll([(self.shape[d] + 1) // 2 for d in dims], dims)


@operator(
    "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool normalized=False, bool? onesided=None, "
    "bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    of_views=True,
)
def stft(
    self,
    n_fft,
    hop_length,
    win_length,
    window,
    normalized,
    onesided,
    return_complex,
    align_to_window,
):
    """Spectra of overlapping frames.

    Overlapping frames times the window times the transform matrix: [.., frequencies, frames, 2].
    """
    if not self.is_floating_point() or self.ndim not in [1, 2]:
        raise TypeError("expected one or two dimensions of floats")
    n = int(n_fft)
    hop = n // 4 if hop_length is None else int(hop_length)
    size = n if win_length is None else int(win_length)
    assert (
        n > 0
        and n <= 65536
        and (n <= self.shape[-1])
        and (hop > 0)
        and (size > 0)
        and (size <= n)
        and (window is None or (window.ndim == 1 and window.shape[0] == size))
    ), "expected 0 < win_length <= n_fft <= the signal, a hop above 0, and a window of win_length"
    if align_to_window:
        raise NotImplementedError("align_to_window=True is not supported")
    w = in_middle(window, size, n, self.dtype)
    x = self.unfold(-1, n, hop)
    if w is not None:
        x = x * w
    if normalized:
        x = x * (1 / math.sqrt(n))
    m = n // 2 + 1 if onesided is None or onesided else n
    y = [
        (x @ waves(kind, n, n, m, -1, 1.0, self.dtype)).transpose(-2, -1)
        for kind in ["cosine", "sine"]
    ]
    return complex_of(y[0], y[1]) if return_complex else torch.stack(y, -1)


@operator(
    "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, "
    "int? length=None, bool return_complex=False) -> Tensor",
    of_views=True,
)
def istft(
    self,
    n_fft,
    hop_length,
    win_length,
    window,
    center,
    normalized,
    onesided,
    length,
    return_complex,
):
    """A signal from spectra of overlapping frames.

    Each frame is transformed back. The overlap-add of the frames is divided by that of the squared
    windows.
    """
    assert self.is_complex() and self.ndim in [
        2,
        3,
    ], "expected two or three dimensions of complex numbers"
    n = n_fft
    hop = n // 4 if hop_length is None else hop_length
    size = n if win_length is None else win_length
    x = (self if self.ndim == 3 else self.unsqueeze(0)).transpose(1, 2)
    half = x.shape[2] != n if onesided is None else onesided
    assert (
        size > 0 and size <= n and (hop > 0) and (x.shape[2] == (n // 2 + 1 if half else n))
    ), "expected n_fft, or half of it + 1, frequencies, 0 < win_length <= n_fft, and a hop above 0"
    assert not (half and return_complex), "return_complex=True expects a two-sided spectrum"
    w = in_middle(
        torch.ones([size], dtype=torch.real(x).dtype) if window is None else window,
        size,
        n,
        torch.real(x).dtype,
    )
    norm = "ortho" if normalized else "backward"
    if return_complex:
        x = torch.ops.aten.fft_ifft(x, n, -1, norm) * w
        y = torch.complex(overlapped(torch.real(x), hop), overlapped(torch.imag(x), hop))
    else:
        y = overlapped(
            torch.ops.aten.fft_irfft(torch.ops.aten.slice(x, 2, 0, n // 2 + 1), n, -1, norm) * w,
            hop,
        )
    by = overlapped((w * w).expand([1, x.shape[1], n]).contiguous(), hop)
    start = n // 2 if center else 0
    if length is None and (not center):
        end = 9223372036854775807
    elif length is None:
        end = -start
    else:
        end = start + length
    y = torch.ops.aten.slice(y, 1, start, end) / torch.ops.aten.slice(by, 1, start, end)
    if length is not None:
        y = torch.constant_pad_nd(y, [0, length - y.shape[1]], 0)
    return y if self.ndim == 3 else y.squeeze(0)


@operator(
    "aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    of_views=True,
)
def _fft_c2c(self, dim, normalization, forward):
    """Complex Fourier transform, forward or inverse.

    An internal operator of PyTorch. normalization numbers the divisor: 0 none, 1 the square root of
    n, 2 n.
    """
    n = self.shape[-1]
    if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and (not is_known(n)):
        t = turns(n, n, n, torch.real(self).dtype)
        c = t.cos()
        s = -t.sin() if forward else t.sin()
        x = torch.real(self)
        y = torch.imag(self)
        return normalized(torch.complex(x @ c - y @ s, x @ s + y @ c), n, normalization)
    if forward:
        return torch.ops.aten.fft_fftn(
            self, None, dim, ["backward", "ortho", "forward"][normalization]
        )
    return torch.ops.aten.fft_ifftn(
        self, None, dim, ["forward", "ortho", "backward"][normalization]
    )


@operator(
    "aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    of_views=True,
)
def _fft_r2c(self, dim, normalization, onesided):
    """Fourier transform of real input."""
    n = self.shape[-1]
    if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and (not is_known(n)):
        t = turns(n, n // 2 + 1 if onesided else n, n, self.dtype)
        return normalized(torch.complex(self @ t.cos(), -(self @ t.sin())), n, normalization)
    norm = ["backward", "ortho", "forward"][normalization]
    return (
        torch.ops.aten.fft_rfftn(self, None, dim, norm)
        if onesided
        else torch.ops.aten.fft_fftn(self, None, dim, norm)
    )


@operator(
    "aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) " "-> Tensor",
    of_views=True,
)
def _fft_c2r(self, dim, normalization, last_dim_size):
    """Inverse Fourier transform of half a spectrum: real output."""
    n = last_dim_size
    m = n // 2 + 1
    if len(dim) == 1 and dim[0] in [-1, self.ndim - 1] and (not is_known(n)):
        x = torch.ops.aten.slice(self, -1, 0, m)
        x = torch.cat([x, torch.ops.aten.slice(x, -1, 1, n - m + 1).flip([-1]).conj()], -1)
        t = turns(n, n, n, torch.real(self).dtype)
        return normalized(torch.real(x) @ t.cos() - torch.imag(x) @ t.sin(), n, normalization)
    s = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
    return torch.ops.aten.fft_irfftn(self, s, dim, ["forward", "ortho", "backward"][normalization])


@operator(
    "aten::fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
    of_views=True,
)
def fft_fft(self, n, dim, norm):
    """The Fourier transform."""
    return fourier_1(self, n, dim, norm, False, False, False)


@operator(
    "aten::fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
    of_views=True,
)
def fft_fft2(self, s, dim, norm):
    """The Fourier transform over two dimensions."""
    return fourier_n(self, s, dim, norm, False, False, False)

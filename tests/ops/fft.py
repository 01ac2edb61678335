"""Fourier transforms. Complex numbers, in and out."""
from cases import *

NEAR = (1e-5, 2e-5)  # sums of many numbers

for op in ["fft", "ifft"]:
    for x in [c64(3, 4), f32(3, 5), f64(6), i64(5), c64(2, 3, 4).transpose(0, 2)]:
        case(f"aten::fft_{op}", x, tol=NEAR, alias=False)
    case(f"aten::fft_{op}", c64(3, 4), 6, 0, tol=NEAR)
    case(f"aten::fft_{op}", c64(3, 4), 3, -1, "ortho", tol=NEAR)
    case(f"aten::fft_{op}", c64(3, 4), None, 1, "forward", tol=NEAR)
    fails(f"aten::fft_{op}", f32())
    fails(f"aten::fft_{op}", c64(3), 0)
    fails(f"aten::fft_{op}", c64(3), 3, 0, "sideways")
for op in ["rfft", "ihfft"]:
    for x in [f32(3, 4), f32(3, 5), f64(6), i64(5)]:
        case(f"aten::fft_{op}", x, tol=NEAR, alias=False)
    case(f"aten::fft_{op}", f32(3, 4), 6, 0, "ortho", tol=NEAR)
    case(f"aten::fft_{op}", f32(3, 4), 3, 1, tol=NEAR)
    fails(f"aten::fft_{op}", c64(3))
for op in ["irfft", "hfft"]:
    for x in [c64(3, 4), f32(3, 5)]:
        case(f"aten::fft_{op}", x, tol=NEAR)
    case(f"aten::fft_{op}", c64(3, 4), 7, tol=NEAR)
    case(f"aten::fft_{op}", c64(3, 4), 5, 0, "ortho", tol=NEAR)
    case(f"aten::fft_{op}", c64(3, 4), 4, 1, "forward", tol=NEAR)
for op, x in [("fft", c64(2, 3, 4)), ("ifft", f32(2, 3, 4)), ("rfft", f32(2, 3, 4)), ("irfft", c64(2, 3, 4)),
              ("hfft", c64(2, 3, 4)), ("ihfft", f32(2, 3, 4))]:
    case(f"aten::fft_{op}2", x, tol=NEAR, alias=False)
    case(f"aten::fft_{op}2", x, [4, 5], [0, 1], "ortho", tol=NEAR, alias=False)
    case(f"aten::fft_{op}n", x, tol=NEAR, alias=False)
    case(f"aten::fft_{op}n", x, [3, 3], tol=NEAR, alias=False)
    case(f"aten::fft_{op}n", x, None, [2, 0], "forward", tol=NEAR, alias=False)
# Long ones are made of short ones.
case("aten::fft_fft", c64(300), tol=(1e-5, 2e-4))
case("aten::fft_rfft", f32(2, 385), tol=(1e-5, 2e-4))
case("aten::fft_irfft", c64(2, 151), tol=(1e-5, 2e-4))
case("aten::fft_rfft", f32(263), tol=(1e-5, 2e-4))
for n in [1, 6, 7]:
    case("aten::fft_fftfreq", n)
    case("aten::fft_rfftfreq", n, 0.5)
case("aten::fft_fftfreq", 4, dtype=torch.float64)
for op in ["fft_fftshift", "fft_ifftshift"]:
    case(f"aten::{op}", f32(3, 4))
    case(f"aten::{op}", f32(3, 5), [-1])

case("aten::stft", f32(20), 8)
case("aten::stft", f32(2, 20), 8, 3)
case("aten::stft", f32(2, 20), 8, 4, 6, f32(6))
case("aten::stft", f32(2, 20), 8, 4, 6)
case("aten::stft", f32(2, 20), 7, 4, 7, f32(7), True)
case("aten::stft", f64(20), 8, 2, 8, f64(8), False, False)
case("aten::stft", f32(2, 20), 8, 4, 6, f32(6), return_complex=True, tol=NEAR)
fails("aten::stft", f32(4), 8)
window = torch.hann_window(8)
for options in [{}, {"center": False, "window": torch.ones(8)}, {"length": 17}, {"length": 30}, {"normalized": True},
                {"win_length": 6, "window": None}]:
    case("aten::istft", c64(2, 5, 7), 8, 3, **{"window": window, **options}, tol=NEAR)
case("aten::istft", c64(5, 7), 8, window=window, tol=NEAR)
fails("aten::istft", c64(2, 6, 7), 8, window=window)

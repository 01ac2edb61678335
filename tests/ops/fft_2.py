"""Fourier transforms under their inner names. Signals go in and come out as real numbers."""
from cases import *

for norm in (0, 1, 2):
    for dims in ([1], [0, 1]):
        case("aten::_fft_r2c", f32(4, 6), dims, norm, True)
        case("aten::_fft_r2c", f32(4, 6), dims, norm, False)
        for forward in (True, False):
            case("aten::_fft_c2c", c64(4, 6), dims, norm, forward)
        case("aten::_fft_c2r", c64(4, 4), dims, norm, 6)
        case("aten::_fft_c2r", c64(4, 4), dims, norm, 7)

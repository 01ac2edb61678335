"""Convolutions, and images as columns."""
from cases import *

# ---- plain ones ----
case("aten::conv1d", f32(1, 2, 7), f32(3, 2, 3), f32(3))
case("aten::conv1d", f32(1, 2, 7), f32(3, 2, 3), None, [2], [1], [2])
case("aten::conv1d", f32(2, 7), f32(3, 2, 3))
case("aten::conv1d", f32(2, 4, 5), f32(4, 2, 3), f32(4), groups=2)
case("aten::conv1d", f64(1, 2, 4), f64(1, 2, 2), f64(1))
case("aten::conv1d", f16(1, 2, 4), f16(1, 2, 2), f16(1), tol=(3e-3, 3e-3))
case("aten::conv1d", f32(1, 4, 2).transpose(1, 2), f32(1, 2, 2))
case("aten::conv1d", f32(0, 2, 4), f32(1, 2, 2))
fails("aten::conv1d", f32(1, 3, 7), f32(3, 2, 3))
fails("aten::conv1d", f32(1, 2, 2), f32(3, 2, 3))
fails("aten::conv1d", f32(1, 2, 7), f32(3, 2, 3), f32(2))
fails("aten::conv1d", f32(2, 3, 4, 7), f32(3, 2, 3))
fails("aten::conv1d", f32(1, 2, 7), f32(3, 2, 3), None, [0])
fails("aten::conv1d", f32(1, 2, 7), f32(3, 2, 3), None, [1], [-1])
case("aten::conv2d", f32(1, 2, 4, 5), f32(2, 2, 3, 2), f32(2))
case("aten::conv2d", f32(1, 2, 4, 5), f32(2, 2, 3, 2), None, [2, 1], [1, 0], [1, 2])
case("aten::conv2d", f32(2, 4, 5), f32(2, 2, 3, 3), f32(2), padding=1)
case("aten::conv2d", f32(1, 3, 4, 4), f32(3, 1, 3, 3), f32(3), [1, 1], [1, 1], [1, 1], 3)
case("aten::conv2d", f32(1, 2, 3, 3), f32(3, 2, 1, 1), f32(3))
case("aten::conv3d", f32(1, 1, 3, 4, 3), f32(2, 1, 2, 2, 3), f32(2))
case("aten::conv3d", f32(1, 2, 3, 3), f32(2, 1, 2, 2, 2), None, [1, 2, 1], [0, 1, 1])
for padding in ("same", "valid"):
    case("aten::conv1d.padding", f32(1, 2, 6), f32(1, 2, 4), f32(1), [1], padding)
    case("aten::conv2d.padding", f32(1, 1, 4, 5), f32(2, 1, 3, 2), f32(2), 1, padding, [1, 2])
    case("aten::conv3d.padding", f32(1, 1, 3, 3, 2), f32(1, 1, 2, 3, 1), None, 1, padding)
    case("aten::_convolution_mode", f32(1, 2, 6), f32(1, 2, 3), None, [1], padding, [1], 1)
fails("aten::conv1d.padding", f32(1, 2, 6), f32(1, 2, 4), None, [2], "same")
fails("aten::conv1d.padding", f32(1, 2, 6), f32(1, 2, 4), None, [1], "full")

# ---- transposed ones ----
case("aten::conv_transpose1d", f32(1, 2, 4), f32(2, 3, 3), f32(3))
case("aten::conv_transpose1d", f32(1, 2, 4), f32(2, 3, 3), None, [2], [1], [1], 1, [2])
case("aten::conv_transpose1d", f32(2, 4), f32(2, 3, 3), f32(3), 2)
case("aten::conv_transpose1d", f32(1, 4, 3), f32(4, 1, 2), f32(2), groups=2)
# More behind than a stride: less is cut off there instead.
case("aten::conv_transpose1d", f32(1, 2, 4), f32(2, 3, 3), f32(3), [2], [2], [3], 1, [4])
case("aten::conv_transpose2d.input", f32(1, 2, 2, 3), f32(2, 2, 3, 2), f32(2))
case("aten::conv_transpose2d.input", f32(1, 2, 2, 3), f32(2, 1, 3, 2), None, [2, 1], [1, 0], [1, 0])
case("aten::conv_transpose3d.input", f32(1, 2, 2, 2, 2), f32(2, 1, 2, 1, 2), f32(1), [2, 1, 1])
fails("aten::conv_transpose1d", f32(1, 3, 4), f32(2, 3, 3))

# ---- under other names ----
case("aten::convolution", f32(1, 2, 5), f32(2, 2, 3), f32(2), [1], [1], [1], False, [0], 1)
case("aten::convolution", f32(1, 2, 5), f32(2, 2, 3), None, [2], [1], [1], True, [1], 1)
case("aten::_convolution", f32(1, 2, 3, 4), f32(2, 2, 2, 2), f32(2), [1, 1], [0, 1], [1, 1], False,
     [0, 0], 1, False, False, True, True)
case("aten::_convolution", f32(1, 2, 3, 4), f32(2, 1, 2, 2), f32(2), [1, 1], [0, 1], [1, 1], True,
     [0, 0], 2, False, False, True, True)
case("aten::_convolution.deprecated", f32(1, 2, 3, 4), f32(2, 2, 2, 2), None, [1, 1], [0, 0], [1, 1],
     False, [0, 0], 1, False, False, True)
case("aten::conv_tbc", f32(5, 2, 3), f32(3, 3, 2), f32(2), 1)

# ---- columns ----
case("aten::im2col", f32(1, 2, 4, 5), [2, 3], [1, 1], [0, 0], [1, 1])
case("aten::im2col", f32(1, 1, 4, 5), [2, 2], [2, 1], [1, 0], [1, 2])
case("aten::im2col", f32(2, 3, 4), [2, 2], [1, 1], [0, 1], [1, 2])
fails("aten::im2col", f32(1, 2, 2, 2), [3, 3], [1, 1], [0, 0], [1, 1])
case("aten::col2im", f32(1, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])
case("aten::col2im", f32(4, 6), [3, 4], [2, 2], [1, 1], [0, 0], [1, 1])
case("aten::col2im", f32(1, 4, 4), [3, 5], [2, 2], [1, 2], [1, 0], [2, 2])
fails("aten::col2im", f32(1, 8, 8), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])

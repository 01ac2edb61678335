"""Resizing and sampling of images."""
from cases import *

IMAGE = {1: (1, 2, 5), 2: (1, 2, 3, 4), 3: (1, 1, 2, 3, 2)}
for n in (1, 2, 3):
    new = [7, 5, 3][3 - n:] if n < 3 else [3, 5, 4]
    for op in (f"aten::upsample_nearest{n}d", f"aten::_upsample_nearest_exact{n}d"):
        case(f"{op}.vec", f32(*IMAGE[n]), new, None)
        case(f"{op}.vec", f32(*IMAGE[n]), None, [2.0] * n)
        case(f"{op}.vec", f32(*IMAGE[n]), None, [1.7] * n)
        case(f"{op}.vec", f32(*IMAGE[n]), None, [0.6] * n)
        case(op, f32(*IMAGE[n]), new)
        case(op, f32(*IMAGE[n]), [4] * n, *([1.9] * n))
smooth = {"aten::upsample_linear1d": 1, "aten::upsample_bilinear2d": 2, "aten::upsample_trilinear3d": 3,
          "aten::upsample_bicubic2d": 2, "aten::_upsample_bilinear2d_aa": 2,
          "aten::_upsample_bicubic2d_aa": 2}
for op, n in smooth.items():
    for corners in (False, True):
        tol = (1e-4, 1e-5)
        case(f"{op}.vec", f32(*IMAGE[n]), [5, 4, 3][:n], corners, None, tol=tol)
        case(f"{op}.vec", f32(*IMAGE[n]), [2] * n, corners, None, tol=tol)
        case(f"{op}.vec", f32(*IMAGE[n]), None, corners, [2.0] * n, tol=tol)
        case(f"{op}.vec", f32(*IMAGE[n]), None, corners, [1.7] * n, tol=tol)
        case(op, f32(*IMAGE[n]), [4] * n, corners, tol=tol)
        case(op, f32(*IMAGE[n]), [4] * n, corners, *([1.9] * n), tol=tol)
case("aten::upsample_nearest2d.vec", f64(1, 1, 2, 2), None, [2.0, 3.0])
case("aten::upsample_nearest2d.vec", u8(1, 1, 2, 2), None, [2.0, 3.0])
case("aten::upsample_bilinear2d.vec", f64(2, 1, 3, 2), [4, 4], False, None)
for corners in [False, True]:  # float64 to its last digits
    case("aten::upsample_linear1d.vec", f64(2, 3, 5), [8], corners, None)
    case("aten::upsample_linear1d.vec", f64(2, 3, 5), None, corners, [1.7])
    case("aten::upsample_bilinear2d.vec", f64(1, 2, 4, 5), None, corners, [2.0, 1.5])
    case("aten::upsample_bicubic2d.vec", f64(1, 2, 4, 5), [7, 9], corners, None)
    case("aten::upsample_trilinear3d.vec", f64(1, 1, 2, 3, 4), [3, 5, 6], corners, None)
case("aten::upsample_bilinear2d.vec", f32(1, 1, 1, 1), [2, 2], True, None)
fails("aten::upsample_nearest2d.vec", f32(1, 2, 4), [2, 2], None)
fails("aten::upsample_nearest2d.vec", f32(1, 1, 2, 2), [2, 0], None)

# as older PyTorch wrote torch.nn.functional.interpolate
TOL = (1e-4, 1e-5)
for n, mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear"), (2, "bicubic")):
    for corners in (None, True):
        case("aten::__interpolate", f32(*IMAGE[n]), 4, None, mode, corners, tol=TOL)
        case("aten::__interpolate.size_list", f32(*IMAGE[n]), [5, 4, 3][:n], None, mode, corners, tol=TOL)
        case("aten::__interpolate.scale_list", f32(*IMAGE[n]), None, [1.7, 2.0, 1.3][:n], mode, corners,
             None, tol=TOL)
    case("aten::__interpolate.size_list_scale_list", f32(*IMAGE[n]), None, [1.7] * n, mode, False, True,
         tol=TOL)
for n in (1, 2, 3):
    case("aten::__interpolate", f32(*IMAGE[n]), 4, None, "nearest")
    case("aten::__interpolate", f32(*IMAGE[n]), None, 1.7)
    case("aten::__interpolate.size_list", f32(*IMAGE[n]), [5, 4, 3][:n])
    case("aten::__interpolate.scale_list", f32(*IMAGE[n]), None, [1.7, 2.0, 1.3][:n], "nearest", None, True)
    case("aten::__interpolate", f32(*IMAGE[n]), 3, None, "area")
fails("aten::__interpolate", f32(1, 2, 3, 4), 4, None, "linear")
case("aten::__upsample", f32(*IMAGE[2]), None, 2)
case("aten::__upsample.size_list", f32(*IMAGE[2]), [5, 4], None, "bilinear", True, tol=TOL)
case("aten::__upsample_nearest", f32(*IMAGE[2]), None, 2)
case("aten::__upsample_nearest.size_list", f32(*IMAGE[2]), [5, 4])
case("aten::__upsample_bilinear", f32(*IMAGE[2]), None, 2, tol=TOL)
case("aten::__upsample_bilinear.size_list", f32(*IMAGE[2]), [5, 4], tol=TOL)
case("aten::__upsample_bilinear.scale_list", f32(*IMAGE[2]), None, [2, 3], tol=TOL)
case("aten::__upsample_bilinear.size_list_scale_list", f32(*IMAGE[2]), [5, 4], tol=TOL)

for op in ("aten::grid_sampler", "aten::grid_sampler_2d"):
    for mode in (0, 1, 2):
        for padding in (0, 1, 2):
            case(op, f32(1, 2, 3, 4), f32(1, 2, 3, 2, low=-1.4, high=1.4), mode, padding, padding == 1)
case("aten::grid_sampler_2d", f32(1, 1, 3, 4), f32(1, 2, 3, 2, low=-1.4, high=1.4), 0, 0, True)
for mode in (0, 1):
    for padding in (0, 1, 2):
        case("aten::grid_sampler_3d", f32(1, 1, 2, 3, 2), f32(1, 2, 1, 2, 3, low=-1.4, high=1.4), mode,
             padding, padding != 1)
fails("aten::grid_sampler", f32(1, 2, 3, 4), f32(1, 2, 3, 3), 0, 0, False)
for corners in (False, True):
    case("aten::affine_grid_generator", f32(2, 2, 3), [2, 1, 3, 2], corners)
    case("aten::affine_grid_generator", f32(1, 3, 4), [1, 1, 2, 3, 2], corners)

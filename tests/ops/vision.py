"""Operators of torchvision."""
import torchvision  # noqa: F401  (registers them)

from cases import *


def boxes(n, of=f32, size=8):
    corner, extent = of(n, 2, low=0, high=size / 2), of(n, 2, low=1, high=size / 2)
    return torch.cat([corner, corner + extent], 1)


def rois(n, of=f32, size=8):
    return torch.cat([torch.arange(n).remainder(2).reshape(-1, 1).to(boxes(1, of).dtype),
                      boxes(n, of, size)], 1)


for of in (f32, f64):
    for overlap in [0.1, 0.5, 0.9]:
        case("torchvision::nms", boxes(9, of), of(9), overlap)
case("torchvision::nms", boxes(1), f32(1), 0.5)
fails("torchvision::nms", f32(3, 5), f32(3), 0.5)
fails("torchvision::nms", f32(3, 4), f32(4), 0.5)
for scale in [1.0, 0.5]:
    for ratio in [2, 1, 0, -1]:
        for aligned in [False, True]:
            case("torchvision::roi_align", f32(2, 3, 8, 9), rois(5), scale, 3, 2, ratio, aligned)
case("torchvision::roi_align", f64(2, 3, 8, 9), rois(5, f64), 1.0, 3, 2, 2, False, tol=(1e-5, 1e-5))
fails("torchvision::roi_align", f32(2, 8, 9), rois(5), 1.0, 3, 2, 2, False)
fails("torchvision::roi_align", f32(2, 3, 8, 9), f32(5, 4), 1.0, 3, 2, 2, False)
for scale in [1.0, 0.5]:
    case("torchvision::roi_pool", f32(2, 3, 8, 9), rois(5), scale, 3, 2)
    case("torchvision::ps_roi_align", f32(2, 12, 8, 9), rois(5), scale, 3, 2, 2)
    case("torchvision::ps_roi_align", f32(2, 12, 8, 9), rois(5), scale, 2, 3, 1)
fails("torchvision::ps_roi_align", f32(2, 11, 8, 9), rois(5), 1.0, 3, 2, 2)
for mask in [False, True]:
    case("torchvision::deform_conv2d", f32(1, 4, 5, 6), f32(2, 4, 3, 3), f32(1, 18, 3, 4),
         f32(1, 9, 3, 4), f32(2), 1, 1, 0, 0, 1, 1, 1, 1, mask)
    case("torchvision::deform_conv2d", f32(2, 4, 6, 5), f32(6, 2, 3, 2), f32(2, 24, 3, 4),
         f32(2, 12, 3, 4), f32(6), 2, 1, 1, 0, 1, 1, 2, 2, mask)
case("torchvision::deform_conv2d", f32(1, 2, 7, 7), f32(2, 2, 3, 3), f32(1, 18, 5, 5), f32(1, 1),
     f32(2), 1, 1, 1, 1, 2, 2, 1, 1, False)
fails("torchvision::deform_conv2d", f32(1, 2, 7, 7), f32(2, 2, 3, 3), f32(1, 16, 5, 5), f32(1, 1),
      f32(2), 1, 1, 1, 1, 2, 2, 1, 1, False)

"""Operators of torchvision. Detection requires opset 10, aligned regions opset 16."""

import torch

from calque.onnx import *

unsupported("torchvision::nms", "NonMaxSuppression requires opset 10", opset=7)
unsupported("torchvision::roi_align", "RoiAlign requires opset 10", opset=7)


@symbolic("torchvision::nms", opset=10)
def nms(dets, scores, iou_threshold):
    boxes = cast(dets, torch.float32)
    corners = Unsqueeze(boxes, [0])
    rows = Unsqueeze(cast(scores, torch.float32), [0, 1])
    kept = NonMaxSuppression(
        corners, rows, [boxes.size(0)], cast([iou_threshold], torch.float32)
    )
    return Squeeze(Gather(kept, [2], axis=1), [1])


# spatial_scale is an attribute. A scale that depends on data, such as the size of a feature map
# divided by that of the image, is multiplied into the boxes instead.


def scaled_corners(boxes, spatial_scale):
    corners = slice(boxes, 1, 1, 5)
    if is_known(spatial_scale):
        return corners
    return corners * cast(spatial_scale, torch.float32)


@symbolic("torchvision::roi_align", opset=10)
def roi_align(
    input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned
):
    if aligned and opset() < 16:
        return unsupported("aligned=True requires opset 16", 16)
    x = cast(input, torch.float32)
    boxes = cast(rois, torch.float32)
    corners = scaled_corners(boxes, spatial_scale)
    mode = None
    if opset() >= 16:
        mode = "half_pixel" if aligned else "output_half_pixel"
    return RoiAlign(
        x,
        corners,
        cast(Squeeze(slice(boxes, 1, 0, 1), [1]), torch.int64),
        coordinate_transformation_mode=mode,
        output_height=pooled_height,
        output_width=pooled_width,
        sampling_ratio=sampling_ratio if sampling_ratio > 0 else 0,
        spatial_scale=spatial_scale if is_known(spatial_scale) else 1.0,
    )


@symbolic("torchvision::roi_pool", opset=7)
def roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    if is_used(1):
        return unsupported("indices of maxima of a region are not available in ONNX")
    x = cast(input, torch.float32)
    boxes = cast(rois, torch.float32)
    if not is_known(spatial_scale):
        image = slice(boxes, 1, 0, 1)
        boxes = Concat(image, scaled_corners(boxes, spatial_scale), axis=1)
    return MaxRoiPool(
        x,
        boxes,
        pooled_shape=[pooled_height, pooled_width],
        spatial_scale=spatial_scale if is_known(spatial_scale) else 1.0,
    )

"""Boxes: x1, y1, x2, y2 in the last axis."""
import torch


def nms(boxes, scores, iou_threshold):
    return torch.ops.torchvision.nms(boxes, scores, iou_threshold)


def batched_nms(boxes, scores, idxs, iou_threshold):
    """Boxes of different classes are moved so far apart that they do not overlap."""
    if boxes.numel() == 0:
        return torch.empty((0,), dtype=torch.int64)
    offsets = idxs.to(boxes) * (boxes.max() + torch.tensor(1).to(boxes))
    return nms(boxes + offsets[:, None], scores, iou_threshold)


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _inter_union(boxes1, boxes2):
    top = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    bottom = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    size = (bottom - top).clamp(min=0)
    inter = size[:, :, 0] * size[:, :, 1]
    return inter, box_area(boxes1)[:, None] + box_area(boxes2) - inter


def box_iou(boxes1, boxes2):
    inter, union = _inter_union(boxes1, boxes2)
    return inter / union


def generalized_box_iou(boxes1, boxes2):
    inter, union = _inter_union(boxes1, boxes2)
    top = torch.min(boxes1[:, None, :2], boxes2[:, :2])
    bottom = torch.max(boxes1[:, None, 2:], boxes2[:, 2:])
    size = (bottom - top).clamp(min=0)
    area = size[:, :, 0] * size[:, :, 1]
    return inter / union - (area - union) / area


def clip_boxes_to_image(boxes, size):
    height, width = size
    x = boxes[..., 0::2].clamp(min=0, max=width)
    y = boxes[..., 1::2].clamp(min=0, max=height)
    return torch.stack((x, y), boxes.dim()).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size):
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    return torch.where((w >= min_size) & (h >= min_size))[0]


def box_convert(boxes, in_fmt, out_fmt):
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == out_fmt:
        return boxes.clone()
    if in_fmt == "xywh":
        a, b, c, d = a, b, a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        a, b, c, d = a, b, c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return torch.stack((a, b, c, d), -1)

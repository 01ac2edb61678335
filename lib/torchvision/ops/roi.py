"""Pooling of regions of interest: boxes are rows (image, x1, y1, x2, y2), or a list by image."""
import torch
from torch import nn


def _pair(x):
    return (x, x) if isinstance(x, int) else tuple(x)


def _rows(boxes):
    if torch.is_tensor(boxes):
        return boxes
    images = [torch.full_like(b[:, :1], i) for i, b in enumerate(boxes)]
    return torch.cat([torch.cat(images), torch.cat(list(boxes))], 1)


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    h, w = _pair(output_size)
    return torch.ops.torchvision.roi_align(input, _rows(boxes), spatial_scale, h, w,
                                           sampling_ratio, aligned)


def roi_pool(input, boxes, output_size, spatial_scale=1.0):
    h, w = _pair(output_size)
    return torch.ops.torchvision.roi_pool(input, _rows(boxes), spatial_scale, h, w)[0]


def ps_roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1):
    h, w = _pair(output_size)
    return torch.ops.torchvision.ps_roi_align(input, _rows(boxes), spatial_scale, h, w,
                                              sampling_ratio)[0]


class RoIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio
        self.aligned = aligned

    def forward(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio,
                         self.aligned)


class RoIPool(nn.Module):
    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale

    def forward(self, input, rois):
        return roi_pool(input, rois, self.output_size, self.spatial_scale)


class PSRoIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio):
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio

    def forward(self, input, rois):
        return ps_roi_align(input, rois, self.output_size, self.spatial_scale,
                            self.sampling_ratio)

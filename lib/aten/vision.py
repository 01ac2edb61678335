"""Operators of torchvision."""

import torch

from calque import gradient, operator, size_hint, traits


def tap_places(taps, steps, axis, dilation, stride, pad, dtype):
    """The coordinates of kernel taps along an axis without offsets; broadcasts with [.., kh, kw,
    oh, ow]."""
    t = (torch.arange(taps, dtype=dtype) * dilation).reshape(
        [-1 if i == axis else 1 for i in range(4)]
    )
    s = torch.arange(steps, dtype=dtype) * stride - pad
    return t + s.reshape([-1 if i == axis + 2 else 1 for i in range(4)])


def to_grid(places, size):
    """Converts pixel coordinates to the sampler's, from -1 to 1 over the image
    (align_corners=False)."""
    return (places * 2 + 1) / size - 1


@operator(
    "torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, "
    "int pooled_height, int pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
    of_views=True,
)
def torchvision_ps_roi_align(
    input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio
):
    """Position-sensitive RoI pooling: each bin reads its own channels.

    Each bin of the result has its own channel in the image: the diagonal of all bins and all
    channels.
    """
    h = pooled_height
    w = pooled_width
    assert (
        h > 0 and w > 0 and (input.ndim == 4) and (input.shape[1] % (h * w) == 0)
    ), f"expected a multiple of {h * w} channels"
    k = rois.shape[0]
    c = input.shape[1] // (h * w)
    t = torch.ops.torchvision.roi_align(input, rois, spatial_scale, h, w, sampling_ratio, True)
    t = t.reshape([k, c, h, w, h, w]).diagonal(0, 2, 4).diagonal(0, 2, 3)
    channel = torch.arange(input.shape[1], dtype=torch.int32).reshape([c, h, w])
    return (t.contiguous(), channel.expand([k, c, h, w]))


@operator(
    "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, "
    "Tensor bias, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, "
    "int dilation_w, int groups, int offset_groups, bool use_mask) -> Tensor"
)
def torchvision_deform_conv2d(
    input,
    weight,
    offset,
    mask,
    bias,
    stride_h,
    stride_w,
    pad_h,
    pad_w,
    dilation_h,
    dilation_w,
    groups,
    offset_groups,
    use_mask,
):
    """Deformable convolution: offsets move the taps."""
    assert (
        input.ndim == 4
        and weight.ndim == 4
        and (offset.ndim == 4)
        and (offset_groups > 0)
        and (input.shape[1] % offset_groups == 0)
    ), "expected input, weight and offset of 4 dimensions, and channels divisible by offset groups"
    assert (
        stride_h > 0 and stride_w > 0 and (dilation_h > 0) and (dilation_w > 0)
    ), "expected strides and dilations above 0"
    assert (
        groups > 0 and weight.shape[0] % groups == 0
    ), f"{weight.shape[0]} channels are not divisible by {groups} groups"
    batch, channels, h, w = input.shape
    kh = size_hint(weight.shape[2])
    kw = size_hint(weight.shape[3])
    assert (
        offset.shape[1] == 2 * offset_groups * kh * kw
    ), f"expected {2 * offset_groups * kh * kw} channels of offsets, got {offset.shape[1]}"
    out_h = (h + (2 * pad_h - dilation_h * (kh - 1) - 1)) // stride_h + 1
    out_w = (w + (2 * pad_w - dilation_w * (kw - 1) - 1)) // stride_w + 1
    n = batch * offset_groups
    rows = kh * kw * out_h
    by = offset.reshape([n, kh, kw, 2, out_h, out_w])
    y = by.select(3, 0) + tap_places(kh, out_h, 0, dilation_h, stride_h, pad_h, input.dtype)
    x = by.select(3, 1) + tap_places(kw, out_w, 1, dilation_w, stride_w, pad_w, input.dtype)
    y = to_grid(y, h).reshape([n, rows, out_w])
    x = to_grid(x, w).reshape([n, rows, out_w])
    t = input.reshape([n, size_hint(channels) // offset_groups, h, w])
    t = torch.grid_sampler(t, torch.stack([x, y], -1), 0, 0, False)
    if use_mask:
        t = t * mask.reshape([n, 1, rows, out_w])
    taps = size_hint(weight.shape[1]) * kh * kw
    t = t.reshape([batch, groups, taps, out_h * out_w])
    t = weight.reshape([groups, size_hint(weight.shape[0]) // groups, taps]) @ t
    return t.reshape([batch, weight.shape[0], out_h, out_w]) + bias.reshape([-1, 1, 1])


@gradient("torchvision::roi_pool")
def torchvision_roi_pool_gradient(grad, result1, input, rois):
    planes = input.shape[1]
    size = input.shape[2] * input.shape[3]
    at = result1.to(torch.int64)
    image = rois.select(1, 0).to(torch.int64).reshape([rois.shape[0], 1, 1, 1])
    plane = image * planes + torch.arange(planes).reshape([planes, 1, 1])
    at = torch.ops.aten.where.ScalarOther(at >= 0, plane * size + 1 + at, 0).reshape([-1])
    sums = torch.zeros([input.numel() + 1], dtype=input.dtype)
    return {
        "input": torch.ops.aten.slice(sums.index_add(0, at, grad.reshape([-1])), 0, 1).reshape(
            input.shape
        )
    }


# ---- traits of operators whose rows are in C ----

traits("torchvision::nms", cost="pairs_of_boxes")
traits("torchvision::roi_align", cost="regions")
traits("torchvision::roi_pool", cost="regions")

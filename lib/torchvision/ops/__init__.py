"""torchvision.ops: functions and layers on the operators of torchvision's C++ library."""
from .boxes import (
    batched_nms, box_area, box_convert, box_iou, clip_boxes_to_image, generalized_box_iou, nms,
    remove_small_boxes)
from .deform_conv import DeformConv2d, deform_conv2d
from .misc import FrozenBatchNorm2d, MLP, Permute
from .roi import PSRoIAlign, RoIAlign, RoIPool, ps_roi_align, roi_align, roi_pool
from .stochastic_depth import StochasticDepth, stochastic_depth

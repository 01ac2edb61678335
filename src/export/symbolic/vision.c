/* Operators of torchvision. Detection came to ONNX with opset 10; aligned regions with 16. */
#include "export/symbolic/symbolic.h"

/* spatial_scale is an attribute. A scale that depends on data, such as the size of a feature map
 * divided by that of the image, is multiplied into the boxes instead. */
#define SCALED                                                                                     \
    "boxes = cast(rois, 'float32'); image = slice(boxes, 1, 0, 1);"                                \
    "scale = spatial_scale if known(spatial_scale) else 1.0;"                                      \
    "corners = slice(boxes, 1, 1, 5) if known(spatial_scale) else"                                 \
    " slice(boxes, 1, 1, 5) * cast(spatial_scale, 'float32');"
#define REGIONS                                                                                    \
    "x = cast(input, 'float32');" SCALED "of_image = cast(Squeeze(image, [1]), 'int64');"
#define REGION_SIZES                                                                               \
    "output_height = pooled_height, output_width = pooled_width,"                                  \
    "sampling_ratio = sampling_ratio if 0 < sampling_ratio else 0, spatial_scale = scale"

const cq_symbolic cq_symbolics_vision[] = {
    { "torchvision::nms", 7, .no = "NonMaxSuppression came with opset 10" },
    { "torchvision::nms", 10,
      .as = "boxes = cast(dets, 'float32');"
            "kept = NonMaxSuppression("
            "Unsqueeze(boxes, [0]), Unsqueeze(cast(scores, 'float32'), [0, 1]),"
            "[size(boxes, 0)], cast([iou_threshold], 'float32'));"
            "Squeeze(Gather<axis = 1>(kept, [2]), [1])" },
    { "torchvision::roi_align", 7, .no = "RoiAlign came with opset 10" },
    { "torchvision::roi_align", 10,
      .as = REGIONS "no('RoiAlign is aligned since opset 16', 16) if aligned else"
                    " RoiAlign<" REGION_SIZES ">(x, corners, of_image)" },
    { "torchvision::roi_align", 16,
      .as = REGIONS "RoiAlign<coordinate_transformation_mode ="
                    " 'half_pixel' if aligned else 'output_half_pixel'," REGION_SIZES ">"
                    "(x, corners, of_image)" },
    { "torchvision::roi_pool", 7,
      .as = SCALED
      "no('ONNX does not tell where the greatest elements of a region are') if used(1) else"
      " MaxRoiPool<pooled_shape = [pooled_height, pooled_width], spatial_scale = scale>"
      "(cast(input, 'float32'),"
      " boxes if known(spatial_scale) else Concat<axis = 1>(image, corners))" },
    { 0 },
};

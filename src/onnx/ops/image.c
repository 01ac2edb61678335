/* Schemas: resampling and object detection. Written by tools/onnx_schemas.py. */
#include "onnx/ops/rows.h"

const char *const cq_onnx_rows_image[] = {
    "AffineGrid 20 function | theta:T1 size:T2 | grid:T1 | align_corners:i=0 | T1=ieee,bf16 "
    "T2=i64",
    "CenterCropPad 18 function | input_data:T shape:Tind | output_data:T | axes:is | "
    "T=any,bf16 Tind=i32,i64",
    "GridSample 16 | X:T1 grid:T1 | Y:T2 | align_corners:i=0 mode:s=bilinear "
    "padding_mode:s=zeros | T1=any T2=ieee",
    "GridSample 20 | X:T1 grid:T2 | Y:T1 | align_corners:i=0 mode:s=linear "
    "padding_mode:s=zeros | T1=any T2=ieee",
    "GridSample 22 | X:T1 grid:T2 | Y:T1 | align_corners:i=0 mode:s=linear "
    "padding_mode:s=zeros | T1=any,bf16 T2=ieee,bf16",
    "ImageDecoder 20 | encoded_stream:T1 | image:T2 | pixel_format:s=RGB | T1=u8 T2=u8",
    "MaxRoiPool 1 | X:T rois:T | Y:T | pooled_shape!:is spatial_scale:f=1 | T=ieee",
    "MaxRoiPool 22 | X:T rois:T | Y:T | pooled_shape!:is spatial_scale:f=1 | T=ieee,bf16",
    "NonMaxSuppression 10 | boxes:f32 scores:f32 max_output_boxes_per_class?:i64 "
    "iou_threshold?:f32 score_threshold?:f32 | selected_indices:i64 | center_point_box:i=0",
    "NonMaxSuppression 11 | boxes:f32 scores:f32 max_output_boxes_per_class?:i64 "
    "iou_threshold?:f32 score_threshold?:f32 | selected_indices:i64 | center_point_box:i=0",
    "Resize 10 | X:T scales:f32 | Y:T | mode:s=nearest | T=any",
    "Resize 11 | X:T1 roi:T2 scales:f32 sizes?:i64 | Y:T1 | "
    "coordinate_transformation_mode:s=half_pixel cubic_coeff_a:f=-0.75 exclude_outside:i=0 "
    "extrapolation_value:f=0 mode:s=nearest nearest_mode:s=round_prefer_floor | T1=any "
    "T2=ieee",
    "Resize 13 | X:T1 roi?:T2 scales?:f32 sizes?:i64 | Y:T1 | "
    "coordinate_transformation_mode:s=half_pixel cubic_coeff_a:f=-0.75 exclude_outside:i=0 "
    "extrapolation_value:f=0 mode:s=nearest nearest_mode:s=round_prefer_floor | T1=any,bf16 "
    "T2=ieee",
    "Resize 18 | X:T1 roi?:T2 scales?:f32 sizes?:i64 | Y:T1 | antialias:i=0 axes:is "
    "coordinate_transformation_mode:s=half_pixel cubic_coeff_a:f=-0.75 exclude_outside:i=0 "
    "extrapolation_value:f=0 keep_aspect_ratio_policy:s=stretch mode:s=nearest "
    "nearest_mode:s=round_prefer_floor | T1=any,bf16 T2=ieee",
    "Resize 19 | X:T1 roi?:T2 scales?:f32 sizes?:i64 | Y:T1 | antialias:i=0 axes:is "
    "coordinate_transformation_mode:s=half_pixel cubic_coeff_a:f=-0.75 exclude_outside:i=0 "
    "extrapolation_value:f=0 keep_aspect_ratio_policy:s=stretch mode:s=nearest "
    "nearest_mode:s=round_prefer_floor | T1=any,bf16 T2=ieee",
    "RoiAlign 10 | X:T1 rois:T1 batch_indices:T2 | Y:T1 | mode:s=avg output_height:i=1 "
    "output_width:i=1 sampling_ratio:i=0 spatial_scale:f=1 | T1=ieee T2=i64",
    "RoiAlign 16 | X:T1 rois:T1 batch_indices:T2 | Y:T1 | "
    "coordinate_transformation_mode:s=half_pixel mode:s=avg output_height:i=1 "
    "output_width:i=1 sampling_ratio:i=0 spatial_scale:f=1 | T1=ieee T2=i64",
    "RoiAlign 22 | X:T1 rois:T1 batch_indices:T2 | Y:T1 | "
    "coordinate_transformation_mode:s=half_pixel mode:s=avg output_height:i=1 "
    "output_width:i=1 sampling_ratio:i=0 spatial_scale:f=1 | T1=ieee,bf16 T2=i64",
    "Upsample 1 uninferred | X:T | Y:T | height_scale!:f mode:s=nearest width_scale!:f | "
    "T=ieee,bool,i32,i64",
    "Upsample 7 | X:T | Y:T | mode:s=nearest scales!:fs | T=any",
    "Upsample 9 | X:T scales:f32 | Y:T | mode:s=nearest | T=any",
    "Upsample 10 deprecated | X:T scales:f32 | Y:T | mode:s=nearest | T=any",
    NULL,
};

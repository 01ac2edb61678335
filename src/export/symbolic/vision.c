/* Operators of torchvision. Detection came to ONNX with opset 10; aligned regions with 16. */
#include "export/symbolic/common.h"

static cq_status nms(cq_sym *s)
{
    int64_t   first = 0, both[2] = { 0, 1 }, one = 1;
    cq_value *boxes   = cq_sym_in_as(s, "dets", CQ_DTYPE_F32);
    cq_value *scores  = cq_sym_in_as(s, "scores", CQ_DTYPE_F32), *v;
    cq_value *most    = cq_sym_of_int_1d(s, cq_sym_size(s, boxes, 0));
    float     overlap = (float)cq_sym_f64(s, "iou_threshold");

    if (cq_sym_opset(s) < 10)
        return cq_sym_no(s, 10, "NonMaxSuppression came with opset 10");
    boxes  = cq_sym_unsqueeze(s, boxes, &first, 1);
    scores = cq_sym_unsqueeze(s, scores, both, 2);
    v      = cq_sym_op(s, "NonMaxSuppression",
                       CQ_IN(boxes, scores, most, cq_sym_const_f32s(s, &overlap, 1)), CQ_NO_ATTR);
    cq_sym_set_type(s, v, CQ_DTYPE_I64, 2,
                    (cq_int[]){ cq_sym_result_type(s, 0).sizes[0], cq_i(3) });
    v = cq_sym_gather(s, v, cq_sym_const_i64s(s, (int64_t[]){ 2 }, 1), 1);
    return cq_sym_done(s, cq_sym_squeeze(s, v, &one, 1));
}

static cq_status roi_align(cq_sym *s)
{
    cq_value *x     = cq_sym_in_as(s, "input", CQ_DTYPE_F32),
             *rois  = cq_sym_in_as(s, "rois", CQ_DTYPE_F32);
    int64_t   ratio = cq_sym_i64(s, "sampling_ratio"), one = 1;
    bool      aligned = cq_sym_bool(s, "aligned"), named = cq_sym_opset(s) >= 16;
    cq_value *boxes, *batch, *v;

    if (cq_sym_opset(s) < 10)
        return cq_sym_no(s, 10, "RoiAlign came with opset 10");
    if (aligned && !named)
        return cq_sym_no(s, 16, "RoiAlign is aligned since opset 16");
    boxes = cq_sym_slice(s, rois, 1, cq_i(1), cq_i(5), 1);
    batch = cq_sym_squeeze(s, cq_sym_slice(s, rois, 1, cq_i(0), cq_i(1), 1), &one, 1);
    v     = cq_sym_op(s, "RoiAlign", CQ_IN(x, boxes, cq_sym_cast(s, batch, CQ_DTYPE_I64)),
                      CQ_ATTR(named ? cq_attr_s("coordinate_transformation_mode",
                                            aligned ? "half_pixel" : "output_half_pixel")
                                    : (cq_attr){ 0 },
                              cq_attr_i("output_height", cq_sym_i64(s, "pooled_height")),
                              cq_attr_i("output_width", cq_sym_i64(s, "pooled_width")),
                              cq_attr_i("sampling_ratio", ratio > 0 ? ratio : 0),
                              cq_attr_f("spatial_scale", cq_sym_f64(s, "spatial_scale"))));
    cq_sym_set_dtype(s, v, CQ_DTYPE_F32);
    return cq_sym_done(s, v);
}

static cq_status roi_pool(cq_sym *s)
{
    cq_value *x        = cq_sym_in_as(s, "input", CQ_DTYPE_F32),
             *rois     = cq_sym_in_as(s, "rois", CQ_DTYPE_F32);
    int64_t   shape[2] = { cq_sym_i64(s, "pooled_height"), cq_sym_i64(s, "pooled_width") };
    cq_value *v[2]     = { NULL, NULL };

    if (cq_sym_result_used(s, 1))
        return cq_sym_no(s, 0, "ONNX does not tell where the greatest elements of a region are");
    v[0] = cq_sym_op(s, "MaxRoiPool", CQ_IN(x, rois),
                     CQ_ATTR(cq_attr_is(s, "pooled_shape", shape, 2),
                             cq_attr_f("spatial_scale", cq_sym_f64(s, "spatial_scale"))));
    cq_sym_set_dtype(s, v[0], CQ_DTYPE_F32);
    return cq_sym_done_n(s, v, 2);
}

const cq_symbolic cq_symbolics_vision[] = {
    { "torchvision::nms", 7, .fn = nms },
    { "torchvision::roi_align", 7, .fn = roi_align },
    { "torchvision::roi_pool", 7, .fn = roi_pool },
    { 0 },
};

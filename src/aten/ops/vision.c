/* Operators of torchvision: what detectors need beside PyTorch's own. Regions of interest are rows
 * of an image's number and the corners of a box. */
#include "aten/ops/image.h"
#include "kernel/operand.h"
#include "kernel/conv/regions.h"

/* ---- non-maximum suppression ---- */

static cq_status check_boxes(const cq_opcall *c)
{
    cq_tensor *dets = cq_arg_tensor(c, "dets"), *scores = cq_arg_tensor(c, "scores");

    if (dets->rank != 2 || dets->sizes[1].value != 4 || scores->rank != 1 ||
        scores->sizes[0].value != dets->sizes[0].value)
        return cq_call_fail(c, CQ_E_TYPE, "expected boxes [n, 4] and n scores");
    if (!cq_dtype_is_float(dets->dtype) || dets->dtype != scores->dtype)
        return cq_call_fail(c, CQ_E_TYPE, "boxes and scores should be of one float type");
    return CQ_OK;
}

static cq_status nms_shape(cq_opcall *c)
{
    cq_int n = cq_unknown_size(c, cq_arg_tensor(c, "dets")->sizes[0].value);

    CQ_TRY(check_boxes(c));
    return cq_result(c, 0, CQ_DTYPE_I64, 1, &n);
}

static cq_status nms_run(cq_opcall *c)
{
    cq_tensor  *dets = cq_arg_tensor(c, "dets");
    cq_operands s    = { .compute = CQ_DTYPE_F64 };
    cq_nms      m    = { .n_boxes     = dets->rank ? dets->sizes[0].value : 0,
                         .limit       = INT64_MAX,
                         .max_overlap = cq_arg_f64(c, "iou_threshold") };
    int64_t    *chosen, n = 0;
    cq_int      size;

    CQ_TRY(check_boxes(c));
    chosen   = cq_alloc_array((size_t)m.n_boxes + 1, sizeof *chosen);
    m.boxes  = cq_operands_in(&s, dets);
    m.scores = cq_operands_in(&s, cq_arg_tensor(c, "scores"));
    if (!chosen && s.status == CQ_OK)
        s.status = CQ_E_NO_MEMORY;
    if (s.status == CQ_OK)
        s.status = cq_kernel_nms(chosen, &n, &m);
    if (s.status == CQ_OK) {
        size = cq_i(n);
        if (cq_result(c, 0, CQ_DTYPE_I64, 1, &size) == CQ_OK)
            memcpy(cq_tensor_bytes(cq_result_tensor(c, 0)), chosen, (size_t)n * sizeof *chosen);
    }
    cq_free(chosen);
    return cq_operands_close(&s);
}

/* ---- regions ---- */

static cq_status regions_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "input"), *rois = cq_arg_tensor(c, "rois");
    cq_int     sizes[4];

    if (x->rank != 4 || rois->rank != 2 || rois->sizes[1].value != 5)
        return cq_call_fail(c, CQ_E_TYPE, "expected images [n, c, h, w] and regions [k, 5]");
    if (x->dtype != rois->dtype || !cq_dtype_is_float(x->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "images and regions should be of one float type");
    sizes[0] = rois->sizes[0];
    sizes[1] = x->sizes[1];
    sizes[2] = cq_i(cq_arg_i64(c, "pooled_height"));
    sizes[3] = cq_i(cq_arg_i64(c, "pooled_width"));
    if (sizes[2].value < 1 || sizes[3].value < 1)
        return cq_call_fail(c, CQ_E_ARGUMENT, "regions of %lld by %lld bins",
                            (long long)sizes[2].value, (long long)sizes[3].value);
    cq_result(c, 0, x->dtype, 4, sizes);
    if (c->n_results > 1)
        cq_result(c, 1, CQ_DTYPE_I32, 4, sizes);
    return c->cx->status;
}

/* Columns from … up to to of a matrix. Release it. */
static cq_status columns(cq_tensor **out, const cq_tensor *t, int64_t from, int64_t to)
{
    return cq_tensor_new_view(out, t, t->dtype, 2, (cq_int[]){ t->sizes[0], cq_i(to - from) },
                              t->strides, t->offset + from * t->strides[1]);
}

/* The cost table knows the feature map, but boxes may be larger. */
static cq_status spend_on_samples(const cq_opcall *c, const cq_tensor *boxes, const cq_regions *how)
{
    enum { POINTS = 8 }; /* in a step */
    const cq_tensor *y = cq_result_tensor(c, 0);
    double           n = cq_kernel_roi_samples(boxes, how, cq_size_of(y, 2), cq_size_of(y, 3)) *
               (double)cq_size_of(y, 1) / POINTS;

    return c->cx->spend ? c->cx->spend(c->cx->spender, n < 1e18 ? (uint64_t)n : UINT64_MAX) : CQ_OK;
}

static cq_status roi_align_run(cq_opcall *c)
{
    cq_tensor *rois = cq_arg_tensor(c, "rois"), *boxes = NULL, *first = NULL, *batch = NULL;
    int64_t    ratio = cq_arg_i64(c, "sampling_ratio");
    cq_regions how   = { .scale      = cq_arg_f64(c, "spatial_scale"),
                         .ratio      = ratio > 0 ? ratio : 0,
                         .half_pixel = cq_arg_bool(c, "aligned") };
    cq_status  status;

    CQ_TRY(columns(&boxes, rois, 1, 5));
    status = columns(&first, rois, 0, 1);
    if (status == CQ_OK)
        status = cq_tensor_clone(&batch, first, CQ_DTYPE_I64);
    if (status == CQ_OK)
        status = spend_on_samples(c, boxes, &how);
    if (status == CQ_OK)
        status = cq_kernel_roi_align(cq_result_tensor(c, 0), cq_arg_tensor(c, "input"), boxes,
                                     batch, &how);
    cq_tensor_release(boxes);
    cq_tensor_release(first);
    cq_tensor_release(batch);
    return status;
}

static cq_status roi_pool_run(cq_opcall *c)
{
    return cq_kernel_roi_pool(cq_result_tensor(c, 0), cq_result_tensor(c, 1),
                              cq_arg_tensor(c, "input"), cq_arg_tensor(c, "rois"),
                              cq_arg_f64(c, "spatial_scale"));
}

#define REGIONS                                                                                    \
    "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"

const cq_op_def cq_ops_vision[] = {
    { .schema = "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
      .about  = "non-maximum suppression of boxes",
      .shape  = nms_shape,
      .run    = nms_run,
      .flags  = CQ_OP_DYNAMIC },
    CQ_KERNEL("torchvision::roi_align(" REGIONS ", int sampling_ratio, bool aligned) -> Tensor",
              "RoI pooling by bilinear sampling of bins", regions_shape, roi_align_run),
    CQ_KERNEL("torchvision::roi_pool(" REGIONS ") -> (Tensor, Tensor)",
              "RoI pooling by maxima of bins, and their indices", regions_shape, roi_pool_run),
    { 0 },
};

/* Operators of torchvision: what detectors need beside PyTorch's own. Regions of interest are rows
 * of an image's number and the corners of a box. */
#include "aten/image.h"
#include "kernel/operand.h"
#include "kernel/regions.h"

/* ---- non-maximum suppression ---- */

static cq_status check_boxes(const cq_opcall *c)
{
    cq_tensor *dets = cq_arg_tensor(c, "dets"), *scores = cq_arg_tensor(c, "scores");

    if (dets->rank != 2 || dets->sizes[1].value != 4 || scores->rank != 1 ||
        scores->sizes[0].value != dets->sizes[0].value)
        return cq_call_fail(c, CQ_E_TYPE, "wants boxes [n, 4] and n scores");
    if (!cq_dtype_is_float(dets->dtype) || dets->dtype != scores->dtype)
        return cq_call_fail(c, CQ_E_TYPE, "boxes and scores should be of one float type");
    return CQ_OK;
}

static cq_status nms_shape(cq_opcall *c)
{
    cq_int n = cq_unknown_size(c, cq_arg_tensor(c, "dets")->sizes[0].value);

    CQ_TRY(check_boxes(c));
    cq_result(c, 0, CQ_DTYPE_I64, 1, &n);
    return c->cx->status;
}

static cq_status nms_run(cq_opcall *c)
{
    cq_tensor  *dets = cq_arg_tensor(c, "dets"), *out;
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
        out  = cq_result(c, 0, CQ_DTYPE_I64, 1, &size);
        if (out)
            memcpy(cq_tensor_bytes(out), chosen, (size_t)n * sizeof *chosen);
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
        return cq_call_fail(c, CQ_E_TYPE, "wants images [n, c, h, w] and regions [k, 5]");
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

/* Each bin of the result has a channel of its own in the image: of all bins of all channels the
 * diagonal counts. */
static cq_status ps_roi_align(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = cq_arg_tensor(c, "input"), *t, *channel;
    int64_t    h = cq_arg_i64(c, "pooled_height"), w = cq_arg_i64(c, "pooled_width");
    cq_int     k = cq_arg_tensor(c, "rois")->sizes[0], of[4];

    if (h < 1 || w < 1 || h > INT32_MAX || w > INT32_MAX || x->rank != 4 ||
        x->sizes[1].value % (h * w))
        return cq_call_fail(c, CQ_E_TYPE, "wants a multiple of %lld by %lld channels", (long long)h,
                            (long long)w);
    of[0] = k;
    of[1] = cq_size_floordiv(c, x->sizes[1], cq_i(h * w));
    of[2] = cq_i(h);
    of[3] = cq_i(w);
    t = CQ_OP(cx, "torchvision::roi_align", T(x), c->args[1], c->args[2], c->args[3], c->args[4],
              c->args[5], B(true));
    t = CQ_OP(cx, "aten::reshape", T(t),
              cq_ints(cx, (cq_int[]){ k, of[1], of[2], of[3], of[2], of[3] }, 6));
    t = CQ_OP(cx, "aten::diagonal", T(t), I(0), I(2), I(4)); /* [k, c, w, w, h] */
    t = CQ_OP(cx, "aten::diagonal", T(t), I(0), I(2), I(3)); /* [k, c, h, w] */
    cq_result_set_tensor(c, 0, CQ_OP(cx, "aten::contiguous", T(t)));
    channel = CQ_OP(cx, "aten::arange", N(x->sizes[1]), DTYPE(CQ_DTYPE_I32));
    channel = CQ_OP(cx, "aten::reshape", T(channel), cq_ints(cx, of + 1, 3));
    cq_result_set_tensor(c, 1, CQ_OP(cx, "aten::expand", T(channel), cq_ints(cx, of, 4)));
    return cx->status;
}

/* ---- convolution of a bent image ---- */

typedef struct bent {
    cq_int  n, groups, per_group, h, w, out_h, out_w; /* groups of offsets, channels in one */
    int64_t kernel[2], stride[2], pad[2], dilation[2];
} bent;

static cq_int out_size(const cq_opcall *c, const bent *b, cq_int in, int axis)
{
    cq_int room =
        cq_size_add(c, in, cq_i(2 * b->pad[axis] - b->dilation[axis] * (b->kernel[axis] - 1) - 1));

    return cq_size_add(c, cq_size_floordiv(c, room, cq_i(b->stride[axis])), cq_i(1));
}

static cq_status read_bent(cq_opcall *c, bent *b)
{
    cq_tensor *x = cq_arg_tensor(c, "input"), *w = cq_arg_tensor(c, "weight");
    cq_tensor *offset = cq_arg_tensor(c, "offset");
    int64_t    groups = cq_arg_i64(c, "offset_groups");

    if (x->rank != 4 || w->rank != 4 || offset->rank != 4 || groups < 1 ||
        x->sizes[1].value % groups)
        return cq_call_fail(c, CQ_E_TYPE, "wants images, weights and offsets of 4 dimensions");
    *b = (bent){ .n         = x->sizes[0],
                 .groups    = cq_i(groups),
                 .per_group = cq_i(x->sizes[1].value / groups),
                 .h         = x->sizes[2],
                 .w         = x->sizes[3],
                 .kernel    = { w->sizes[2].value, w->sizes[3].value },
                 .stride    = { cq_arg_i64(c, "stride_h"), cq_arg_i64(c, "stride_w") },
                 .pad       = { cq_arg_i64(c, "pad_h"), cq_arg_i64(c, "pad_w") },
                 .dilation  = { cq_arg_i64(c, "dilation_h"), cq_arg_i64(c, "dilation_w") } };
    for (int i = 0; i < 2; i++)
        if (b->stride[i] < 1 || b->dilation[i] < 1 || b->stride[i] > CQ_WINDOW_MAX ||
            b->dilation[i] > CQ_WINDOW_MAX || b->pad[i] > CQ_WINDOW_MAX ||
            b->pad[i] < -CQ_WINDOW_MAX)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "strides and dilations should be above 0, and no "
                                "number of a window above %d",
                                CQ_WINDOW_MAX);
    b->out_h = out_size(c, b, b->h, 0);
    b->out_w = out_size(c, b, b->w, 1);
    if (offset->sizes[1].value != 2 * groups * b->kernel[0] * b->kernel[1])
        return cq_call_fail(c, CQ_E_TYPE, "%lld channels of offsets for %lld groups of %lld taps",
                            (long long)offset->sizes[1].value, (long long)groups,
                            (long long)(b->kernel[0] * b->kernel[1]));
    return c->cx->status;
}

/* Where along an axis the taps lie without offsets, so that it goes with [.., kh, kw, oh, ow]. */
static cq_tensor *tap_places(cq_opcall *c, const bent *b, int axis, cq_dtype dtype)
{
    cq_ctx    *cx    = c->cx;
    cq_tensor *taps  = CQ_OP(cx, "aten::arange", I(b->kernel[axis]), DTYPE(dtype));
    cq_tensor *steps = CQ_OP(cx, "aten::arange", N(axis ? b->out_w : b->out_h), DTYPE(dtype));
    int64_t    t[4] = { 1, 1, 1, 1 }, s[4] = { 1, 1, 1, 1 };

    t[axis]     = -1;
    s[2 + axis] = -1;
    taps        = CQ_OP(cx, "aten::mul.Scalar", T(taps), I(b->dilation[axis]));
    steps       = CQ_OP(cx, "aten::mul.Scalar", T(steps), I(b->stride[axis]));
    steps       = CQ_OP(cx, "aten::sub.Scalar", T(steps), I(b->pad[axis]));
    return CQ_OP(cx, "aten::add.Tensor", T(CQ_OP(cx, "aten::reshape", T(taps), cq_i64s(cx, t, 4))),
                 T(CQ_OP(cx, "aten::reshape", T(steps), cq_i64s(cx, s, 4))));
}

/* Places of pixels, as the sampler counts them: from -1 to 1 over the whole image, pixels being
 * squares of it. */
static cq_tensor *to_grid(cq_opcall *c, cq_tensor *places, cq_int size)
{
    cq_ctx *cx = c->cx;

    places = CQ_OP(cx, "aten::add.Scalar", T(CQ_OP(cx, "aten::mul.Scalar", T(places), I(2))), I(1));
    places = CQ_OP(cx, "aten::div.Scalar", T(places), N(size));
    return CQ_OP(cx, "aten::sub.Scalar", T(places), I(1));
}

/* The image at all taps of all places: [n * groups, channels, kh * kw * oh, ow]. */
static cq_tensor *sample_taps(cq_opcall *c, const bent *b, cq_int rows)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = cq_arg_tensor(c, "input"), *offset = cq_arg_tensor(c, "offset"), *place[2],
              *grid;
    cq_int n       = cq_size_mul(c, b->n, b->groups);
    cq_int split[] = { n, cq_i(b->kernel[0]), cq_i(b->kernel[1]), cq_i(2), b->out_h, b->out_w };

    offset = CQ_OP(cx, "aten::reshape", T(offset), cq_ints(cx, split, 6));
    for (int axis = 0; axis < 2; axis++) {
        cq_tensor *by = CQ_OP(cx, "aten::select.int", T(offset), I(3), I(axis));

        place[axis] = CQ_OP(cx, "aten::add.Tensor", T(by), T(tap_places(c, b, axis, x->dtype)));
        place[axis] = to_grid(c, place[axis], axis ? b->w : b->h);
        place[axis] = CQ_OP(cx, "aten::reshape", T(place[axis]),
                            cq_ints(cx, (cq_int[]){ n, rows, b->out_w }, 3));
    }
    grid =
        CQ_OP(cx, "aten::stack", cq_tensors(cx, (cq_tensor *[]){ place[1], place[0] }, 2), I(-1));
    x = CQ_OP(cx, "aten::reshape", T(x), cq_ints(cx, (cq_int[]){ n, b->per_group, b->h, b->w }, 4));
    return CQ_OP(cx, "aten::grid_sampler", T(x), T(grid), I(0), I(0), B(false));
}

/* The columns that a convolution would multiply, taken at bent places; then the product. */
static cq_status deform_conv2d(cq_opcall *c)
{
    cq_ctx    *cx     = c->cx;
    cq_tensor *w      = cq_arg_tensor(c, "weight"), *t, *mask;
    int64_t    groups = cq_arg_i64(c, "groups"), taps;
    cq_int     places, rows, in, n, out = w->sizes[0];
    bent       b;

    CQ_TRY(read_bent(c, &b));
    if (groups < 1 || out.value % groups)
        return cq_call_fail(c, CQ_E_TYPE, "%lld channels in %lld groups", (long long)out.value,
                            (long long)groups);
    taps   = b.kernel[0] * b.kernel[1];
    rows   = cq_size_mul(c, cq_i(taps), b.out_h);
    n      = cq_size_mul(c, b.n, b.groups);
    places = cq_size_mul(c, b.out_h, b.out_w);
    t      = sample_taps(c, &b, rows);
    if (cq_arg_bool(c, "use_mask")) {
        mask = CQ_OP(cx, "aten::reshape", cq_arg_val(c, "mask"),
                     cq_ints(cx, (cq_int[]){ n, cq_i(1), rows, b.out_w }, 4));
        t    = CQ_OP(cx, "aten::mul.Tensor", T(t), T(mask));
    }
    in = cq_i(w->sizes[1].value * taps);
    t  = CQ_OP(cx, "aten::reshape", T(t),
               cq_ints(cx, (cq_int[]){ b.n, cq_i(groups), in, places }, 4));
    w  = CQ_OP(cx, "aten::reshape", T(w),
               cq_ints(cx, (cq_int[]){ cq_i(groups), cq_i(out.value / groups), in }, 3));
    t  = CQ_OP(cx, "aten::matmul", T(w), T(t));
    t  = CQ_OP(cx, "aten::reshape", T(t), cq_ints(cx, (cq_int[]){ b.n, out, b.out_h, b.out_w }, 4));
    w  = CQ_OP(cx, "aten::reshape", cq_arg_val(c, "bias"), cq_i64s(cx, (int64_t[]){ -1, 1, 1 }, 3));
    cq_result_set_tensor(c, 0, CQ_OP(cx, "aten::add.Tensor", T(t), T(w)));
    return cx->status;
}

#define REGIONS                                                                                    \
    "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"

const cq_op_def cq_ops_vision[] = {
    { .schema = "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
      .about  = "the boxes that no better one overlaps too much, best first",
      .shape  = nms_shape,
      .run    = nms_run,
      .flags  = CQ_OP_DYNAMIC },
    { .schema = "torchvision::roi_align(" REGIONS ", int sampling_ratio, bool aligned) -> Tensor",
      .about  = "regions of images, sampled in bins",
      .shape  = regions_shape,
      .run    = roi_align_run },
    { .schema = "torchvision::roi_pool(" REGIONS ") -> (Tensor, Tensor)",
      .about  = "the greatest elements of regions of images, and where they are",
      .shape  = regions_shape,
      .run    = roi_pool_run },
    { .schema  = "torchvision::ps_roi_align(" REGIONS ", int sampling_ratio) -> (Tensor, Tensor)",
      .about   = "regions of images, each bin from channels of its own",
      .compose = ps_roi_align,
      .flags   = CQ_OP_PARTS },
    { .schema =
          "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, "
          "Tensor bias, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, "
          "int dilation_w, int groups, int offset_groups, bool use_mask) -> Tensor",
      .about   = "convolution whose taps are moved by offsets",
      .compose = deform_conv2d },
    { 0 }
};

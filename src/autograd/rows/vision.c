/* Regions of feature maps for detectors. A region of roi_align is a weighted sum of rows, and of
 * these of columns: its gradient uses the transposed weights. Regions themselves have no gradient,
 * as in torchvision. */
#include "autograd/gradient.h"

#include <math.h>

/* One axis of a region: its pixels, and the weight of each pixel in every bin. */
typedef struct axis {
    int64_t from, to; /* pixels with a weight, [from, to) */
    double *weights;  /* [bins, size of the image] */
} axis;

/* A sample between two pixels; further out than one pixel there is nothing. */
static void add_sample(axis *a, double *row, double at, int64_t size, double weight)
{
    int64_t low, high;
    double  rest;

    if (at < -1 || at > (double)size)
        return;
    at   = at < 0 ? 0 : at;
    low  = (int64_t)at;
    high = low + 1;
    if (low >= size - 1)
        low = high = size - 1;
    rest = low == high ? 0 : at - (double)low;
    row[low] += (1 - rest) * weight;
    row[high] += rest * weight;
    a->from = low < a->from ? low : a->from;
    a->to   = high + 1 > a->to ? high + 1 : a->to;
}

static void fill_axis(cq_grad *g, axis *a, double low, double high, int64_t bins, int64_t size)
{
    double  scale   = cq_arg_f64(&g->call, "spatial_scale");
    bool    aligned = cq_arg_bool(&g->call, "aligned");
    int64_t samples = cq_arg_i64(&g->call, "sampling_ratio");
    double  start = low * scale - (aligned ? 0.5 : 0), length = (high - low) * scale, bin;

    if (!aligned && length < 1)
        length = 1;
    bin = length / (double)bins;
    if (samples <= 0)
        samples = (int64_t)ceil(bin);
    a->from = size;
    a->to   = 0;
    memset(a->weights, 0, (size_t)(bins * size) * sizeof *a->weights);
    for (int64_t i = 0; i < bins; i++)
        for (int64_t k = 0; k < samples; k++)
            add_sample(a, a->weights + i * size,
                       start + (double)i * bin + ((double)k + 0.5) * bin / (double)samples, size,
                       1 / (double)samples);
}

/* The weights of the pixels of the region, [bins, to - from]. */
static cq_tensor *weights_of(cq_ctx *cx, const axis *a, int64_t bins, int64_t size, cq_dtype dtype)
{
    cq_tensor *t = NULL;

    if (cx->status != CQ_OK)
        return NULL;
    if (cq_tensor_new(&t, CQ_DTYPE_F64, 2, (int64_t[]){ bins, size }, a->weights) != CQ_OK) {
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return NULL;
    }
    t = cq_ctx_own_tensor(cx, t);
    t = CQ_OP(cx, "aten::slice.Tensor", TENSOR(t), INT(1), INT(a->from), INT(a->to));
    return CQ_OP(cx, "aten::to.dtype", TENSOR(t), DTYPE(dtype));
}

static void add_region(cq_grad *g, cq_tensor *sum, cq_tensor *grad, axis *y, axis *x)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *rows = weights_of(cx, y, grad->sizes[1].value, sum->sizes[1].value, grad->dtype), *t;
    cq_tensor *columns = weights_of(cx, x, grad->sizes[2].value, sum->sizes[2].value, grad->dtype);

    t   = CQ_OP(cx, "aten::matmul", TENSOR(CQ_OP(cx, "aten::t", TENSOR(rows))), TENSOR(grad));
    t   = CQ_OP(cx, "aten::matmul", TENSOR(t), TENSOR(columns));
    sum = CQ_OP(cx, "aten::slice.Tensor", TENSOR(sum), INT(1), INT(y->from), INT(y->to));
    sum = CQ_OP(cx, "aten::slice.Tensor", TENSOR(sum), INT(2), INT(x->from), INT(x->to));
    CQ_OP(cx, "aten::add_.Tensor", TENSOR(sum), TENSOR(t));
}

static cq_status roi_align_of(cq_grad *g)
{
    cq_ctx    *cx    = g->cx;
    cq_tensor *input = cq_grad_arg(g, "input"), *rois = cq_grad_arg(g, "rois");
    cq_tensor *grad = cq_grad_of(g, 0), *sums = CQ_OP(cx, "aten::zeros_like", TENSOR(input));
    int64_t    h = input->sizes[2].value, w = input->sizes[3].value;
    int64_t    bins_y = grad->sizes[2].value, bins_x = grad->sizes[3].value;
    axis       y = { .weights = cq_alloc_array((size_t)(bins_y * h) + 1, sizeof *y.weights) };
    axis       x = { .weights = cq_alloc_array((size_t)(bins_x * w) + 1, sizeof *x.weights) };

    if (!y.weights || !x.weights)
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
    for (int64_t k = 0; k < rois->sizes[0].value && cx->status == CQ_OK; k++) {
        size_t mark = cq_ctx_mark(cx);
        double box[5];

        for (int64_t i = 0; i < 5; i++)
            box[i] = cq_tensor_get_f64(rois, 5 * k + i);
        fill_axis(g, &y, box[2], box[4], bins_y, h);
        fill_axis(g, &x, box[1], box[3], bins_x, w);
        if (y.from < y.to && x.from < x.to)
            add_region(g, CQ_OP(cx, "aten::select.int", TENSOR(sums), INT(0), INT((int64_t)box[0])),
                       CQ_OP(cx, "aten::select.int", TENSOR(grad), INT(0), INT(k)), &y, &x);
        cq_ctx_pop(cx, mark, NULL, 0);
    }
    cq_free(y.weights);
    cq_free(x.weights);
    CQ_TRY(cx->status);
    return cq_grad_set(g, "input", sums);
}

static cq_status roi_align(cq_grad *g)
{
    CQ_TRY(cq_grad_need_data(g));
    return roi_align_of(g);
}

const cq_gradient cq_gradients_vision[] = {
    { "torchvision::roi_align", .fn = roi_align },
    { 0 },
};

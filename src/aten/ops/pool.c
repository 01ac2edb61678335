/* Pooling: the maximum or mean of windows. Output sizes equal PyTorch's, also in ceil mode
 * (cq_positions); inputs may lack a batch axis. */
#include "aten/ops/pool.h"

/* Spatial axes of the operator: the digit in its name. */
size_t cq_pool_axes(const cq_opcall *c)
{
    const char *d = strpbrk(c->op->schema->name, "123");

    return d ? (size_t)(*d - '0') : 2;
}

static bool has_divisor(const cq_opcall *c)
{
    return cq_schema_find(c->op->schema, "divisor_override") >= 0 &&
           !cq_arg_is_none(c, "divisor_override");
}

cq_status cq_pool_read(const cq_opcall *c, cq_pool *p)
{
    static const int64_t ones[CQ_MAX_SPATIAL] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    cq_window           *w                    = &p->window;

    *p = (cq_pool){ .x         = cq_arg_tensor(c, "self"),
                    .n         = cq_pool_axes(c),
                    .ceil_mode = cq_arg_bool(c, "ceil_mode") };
    CQ_TRY(cq_need_image(c, p->x, p->n));
    cq_arg_window(c, "kernel_size", w->kernel, p->n, 1, NULL);
    cq_arg_window(c, "stride", w->stride, p->n, 1, w->kernel);
    cq_arg_window(c, "padding", w->padding, p->n, 0, NULL);
    memcpy(w->dilation, ones, sizeof ones);
    if (cq_schema_find(c->op->schema, "dilation") >= 0)
        cq_arg_window(c, "dilation", w->dilation, p->n, 1, NULL);
    for (size_t i = 0; i < p->n && c->cx->status == CQ_OK; i++)
        if (w->padding[i] > w->kernel[i] / 2)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "padding %lld is more than half of the window of %lld",
                                (long long)w->padding[i], (long long)w->kernel[i]);
    return c->cx->status;
}

static cq_status pool_shape(cq_opcall *c)
{
    cq_pool p;
    cq_int  sizes[CQ_MAX_RANK];
    size_t  lead;

    CQ_TRY(cq_pool_read(c, &p));
    lead = p.x->rank - p.n;
    memcpy(sizes, p.x->sizes, lead * sizeof *sizes);
    for (size_t i = 0; i < p.n; i++)
        sizes[lead + i] = cq_positions(c, p.x->sizes[lead + i], cq_i(p.window.kernel[i]),
                                       p.window.stride[i], p.window.padding[i], p.window.padding[i],
                                       p.window.dilation[i], p.ceil_mode);
    cq_result(c, 0, p.x->dtype, p.x->rank, sizes);
    if (c->n_results > 1)
        cq_result(c, 1, CQ_DTYPE_I64, p.x->rank, sizes);
    return c->cx->status;
}

/* The arguments of kernels: input and result as batches, by index; NULL after a failure. */
static cq_tensor *batch_of(cq_opcall *c, size_t n, int result)
{
    if (result < 0)
        return cq_with_batch(c, c->args[0].u.tensor, n);
    if ((size_t)result >= c->n_results)
        return NULL;
    return cq_with_batch(c, cq_result_tensor(c, (size_t)result), n);
}

static cq_status max_pool_run(cq_opcall *c)
{
    cq_pool    p;
    cq_tensor *x, *out, *indices;

    CQ_TRY(cq_pool_read(c, &p));
    x       = batch_of(c, p.n, -1);
    out     = batch_of(c, p.n, 0);
    indices = batch_of(c, p.n, 1);
    CQ_TRY(c->cx->status);
    return cq_kernel_max_pool(out, indices, x, &p.window);
}

cq_avg_pool cq_pool_options(const cq_opcall *c)
{
    return (cq_avg_pool){ .count_include_pad = cq_arg_bool(c, "count_include_pad"),
                          .divisor = has_divisor(c) ? cq_arg_i64(c, "divisor_override") : 0 };
}

static cq_status avg_pool_run(cq_opcall *c)
{
    cq_avg_pool options = cq_pool_options(c);
    cq_pool     p;
    cq_tensor  *x, *out;

    CQ_TRY(cq_pool_read(c, &p));
    x   = batch_of(c, p.n, -1);
    out = batch_of(c, p.n, 0);
    CQ_TRY(c->cx->status);
    return cq_kernel_avg_pool(out, x, &p.window, &options);
}

static cq_status avg_pool_shape(cq_opcall *c)
{
    if (has_divisor(c) && cq_arg_i64(c, "divisor_override") == 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected a divisor other than 0");
    return pool_shape(c);
}

/* ---- adaptive pooling: the output sizes are given ---- */

static cq_status adaptive_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "self");
    size_t     n = cq_pool_axes(c), given;
    cq_int     sizes[CQ_MAX_RANK], out[3];

    CQ_TRY(cq_need_image(c, x, n));
    given = cq_arg_ints(c, "output_size", out, 3);
    if (given != n && given != 1)
        return cq_call_fail(c, CQ_E_ARGUMENT, "\"output_size\" expects %zu numbers but got %zu", n,
                            given);
    memcpy(sizes, x->sizes, (x->rank - n) * sizeof *sizes);
    for (size_t i = 0; i < n; i++) {
        sizes[x->rank - n + i] = out[given == 1 ? 0 : i];
        if (x->sizes[x->rank - n + i].value < 1)
            return cq_call_fail(c, CQ_E_TYPE, "expected an input with elements");
        if (sizes[x->rank - n + i].value < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "expected \"output_size\" of at least 0");
    }
    cq_result(c, 0, x->dtype, x->rank, sizes);
    if (c->n_results > 1)
        cq_result(c, 1, CQ_DTYPE_I64, x->rank, sizes);
    return c->cx->status;
}

static cq_status adaptive_avg_run(cq_opcall *c)
{
    size_t     n = cq_pool_axes(c);
    cq_tensor *x = batch_of(c, n, -1), *out = batch_of(c, n, 0);

    return c->cx->status != CQ_OK ? c->cx->status : cq_kernel_adaptive_avg_pool(out, x);
}

static cq_status adaptive_max_run(cq_opcall *c)
{
    size_t     n = cq_pool_axes(c);
    cq_tensor *x = batch_of(c, n, -1), *out = batch_of(c, n, 0), *indices = batch_of(c, n, 1);

    return c->cx->status != CQ_OK ? c->cx->status : cq_kernel_adaptive_max_pool(out, indices, x);
}

/* ---- unpooling ---- */

static cq_status unpool_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor, *indices = cq_arg_tensor(c, "indices");
    size_t     n = cq_pool_axes(c);
    cq_int     sizes[CQ_MAX_RANK];

    CQ_TRY(cq_need_image(c, x, n));
    if (indices->dtype != CQ_DTYPE_I64)
        return cq_call_fail(c, CQ_E_TYPE, "expected \"indices\" of int64, got %s",
                            cq_dtype_name(indices->dtype));
    if (indices->rank != x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "expected \"indices\" with the shape of the input");
    for (size_t i = 0; i < x->rank; i++)
        if (indices->sizes[i].value != x->sizes[i].value)
            return cq_call_fail(c, CQ_E_TYPE, "expected \"indices\" with the shape of the input");
    memcpy(sizes, x->sizes, (x->rank - n) * sizeof *sizes);
    if (cq_arg_ints(c, "output_size", sizes + x->rank - n, n) != n)
        return cq_call_fail(c, CQ_E_ARGUMENT, "\"output_size\" expects %zu numbers", n);
    return cq_result(c, 0, x->dtype, x->rank, sizes);
}

static cq_status unpool_run(cq_opcall *c)
{
    size_t     n = cq_pool_axes(c);
    cq_tensor *x = batch_of(c, n, -1), *out = batch_of(c, n, 0);
    cq_tensor *indices = cq_with_batch(c, cq_arg_tensor(c, "indices"), n);

    return c->cx->status != CQ_OK ? c->cx->status : cq_kernel_max_unpool(out, x, indices);
}

#define WINDOW_1D "int[1] kernel_size, int[1] stride=[], int[1] padding=[0]"
#define WINDOW_2D "int[2] kernel_size, int[2] stride=[], int[2] padding=0"
#define WINDOW_3D "int[3] kernel_size, int[3] stride=[], int[3] padding=0"
#define MEAN_ARGS ", bool ceil_mode=False, bool count_include_pad=True"

const cq_op_def cq_ops_pool[] = {
    CQ_KERNEL("aten::max_pool1d(Tensor self, " WINDOW_1D
              ", int[1] dilation=[1], bool ceil_mode=False) "
              "-> Tensor",
              "the maximum of each window along one axis", pool_shape, max_pool_run),
    CQ_KERNEL("aten::max_pool2d(Tensor self, " WINDOW_2D
              ", int[2] dilation=1, bool ceil_mode=False) "
              "-> Tensor",
              "the maximum of each window along two axes", pool_shape, max_pool_run),
    CQ_KERNEL("aten::max_pool3d(Tensor self, " WINDOW_3D
              ", int[3] dilation=1, bool ceil_mode=False) "
              "-> Tensor",
              "the maximum of each window along three axes", pool_shape, max_pool_run),
    CQ_KERNEL("aten::max_pool1d_with_indices(Tensor self, " WINDOW_1D ", int[1] dilation=[1], "
              "bool ceil_mode=False) -> (Tensor, Tensor)",
              "max_pool1d, and the indices of the maxima", pool_shape, max_pool_run),
    CQ_KERNEL("aten::max_pool2d_with_indices(Tensor self, " WINDOW_2D ", int[2] dilation=1, "
              "bool ceil_mode=False) -> (Tensor, Tensor)",
              "max_pool2d, and the indices of the maxima", pool_shape, max_pool_run),
    CQ_KERNEL("aten::max_pool3d_with_indices(Tensor self, " WINDOW_3D ", int[3] dilation=1, "
              "bool ceil_mode=False) -> (Tensor, Tensor)",
              "max_pool3d, and the indices of the maxima", pool_shape, max_pool_run),
    CQ_KERNEL("aten::avg_pool1d(Tensor self, " WINDOW_1D MEAN_ARGS ") -> Tensor",
              "the mean of each window along one axis", avg_pool_shape, avg_pool_run),
    CQ_KERNEL("aten::avg_pool2d(Tensor self, " WINDOW_2D MEAN_ARGS
              ", int? divisor_override=None) -> Tensor",
              "the mean of each window along two axes", avg_pool_shape, avg_pool_run),
    CQ_KERNEL("aten::avg_pool3d(Tensor self, " WINDOW_3D MEAN_ARGS
              ", int? divisor_override=None) -> Tensor",
              "the mean of each window along three axes", avg_pool_shape, avg_pool_run),
    CQ_KERNEL("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
              "means of windows, for a given output size", adaptive_shape, adaptive_avg_run),
    CQ_KERNEL("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
              "means of windows, for a given output size", adaptive_shape, adaptive_avg_run),
    CQ_KERNEL("aten::adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
              "means of windows, for a given output size", adaptive_shape, adaptive_avg_run),
    CQ_KERNEL("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
              "the internal operator of adaptive_avg_pool2d", adaptive_shape, adaptive_avg_run),
    CQ_KERNEL("aten::_adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
              "the internal operator of adaptive_avg_pool3d", adaptive_shape, adaptive_avg_run),
    CQ_KERNEL("aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
              "maxima of windows, for a given output size", adaptive_shape, adaptive_max_run),
    CQ_KERNEL("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
              "maxima of windows, for a given output size", adaptive_shape, adaptive_max_run),
    CQ_KERNEL("aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
              "maxima of windows, for a given output size", adaptive_shape, adaptive_max_run),
    CQ_KERNEL("aten::max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor",
              "inverse of max_pool2d, given its indices", unpool_shape, unpool_run),
    CQ_KERNEL("aten::max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, "
              "int[3] padding) -> Tensor",
              "inverse of max_pool3d, given its indices", unpool_shape, unpool_run),
    { 0 }
};

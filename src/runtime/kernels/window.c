/* Convolutions and pooling. */
#include "runtime/kernels/window.h"

#include "kernel/conv/conv.h"
#include "kernel/conv/pool.h"
#include "runtime/kernels/families.h"

#include <inttypes.h>

/* ---- windows ---- */

/* Reads a list of n numbers; if it is missing, all are fallback. Numbers below least are
 * rejected. */
static cq_status read_list(int64_t *out, const cq_rt *rt, const char *name, int n, int64_t fallback,
                           int64_t least)
{
    cq_rt_ints list;

    CQ_TRY(cq_rt_attr_ints(&list, rt, name));
    if (list.n && list.n != (size_t)n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s has %zu numbers, expected %d", name, list.n, n);
    for (int i = 0; i < n; i++) {
        out[i] = list.n ? list.at[i] : fallback;
        if (out[i] < least || out[i] > INT32_MAX)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "%s has the number %" PRId64, name, out[i]);
    }
    return CQ_OK;
}

/* SAME_*: computes the padding that gives ceil(in / stride) outputs. */
static void pad_same(cq_rt_window *w, const cq_tensor *x, bool lower)
{
    for (int i = 0; i < w->n; i++) {
        int64_t in    = cq_size_of(x, (size_t)i + 2);
        int64_t out   = (in + w->w.stride[i] - 1) / w->w.stride[i];
        int64_t reach = (w->w.kernel[i] - 1) * w->w.dilation[i] + 1;
        int64_t total = (out - 1) * w->w.stride[i] + reach - in;

        total           = total > 0 ? total : 0;
        w->w.padding[i] = lower ? total - total / 2 : total / 2;
        w->after[i]     = total - w->w.padding[i];
    }
}

static cq_status read_padding(cq_rt_window *w, cq_rt *rt, const cq_tensor *x)
{
    int64_t pads[2 * CQ_MAX_SPATIAL];

    for (int i = 0; i < w->n; i++)
        w->w.padding[i] = w->after[i] = 0;
    if (cq_rt_is(rt, "auto_pad", "SAME_UPPER") || cq_rt_is(rt, "auto_pad", "SAME_LOWER")) {
        pad_same(w, x, cq_rt_is(rt, "auto_pad", "SAME_LOWER"));
        return CQ_OK;
    }
    if (cq_rt_is(rt, "auto_pad", "VALID"))
        return CQ_OK;
    CQ_TRY(read_list(pads, rt, "pads", 2 * w->n, 0, INT32_MIN));
    for (int i = 0; i < w->n; i++) {
        w->w.padding[i] = pads[i];
        w->after[i]     = pads[w->n + i];
    }
    return CQ_OK;
}

static cq_status count_axes(int *out, const cq_tensor *x)
{
    if (x->rank < 2 || x->rank > CQ_MAX_SPATIAL + 2)
        return cq_fail(
            CQ_E_TYPE, NULL, NULL,
            "the feature map has rank %u, expected batch, channels and up to %d spatial dimensions",
            x->rank, CQ_MAX_SPATIAL);
    *out = (int)x->rank - 2;
    return CQ_OK;
}

cq_status cq_rt_window_read(cq_rt_window *out, cq_rt *rt, const cq_tensor *x, const cq_tensor *w)
{
    *out = (cq_rt_window){ .is_ceil = cq_rt_int(rt, "ceil_mode") };
    CQ_TRY(count_axes(&out->n, x));
    CQ_TRY(read_list(out->w.kernel, rt, "kernel_shape", out->n, 1, w ? 0 : 1));
    if (w) {
        bool given = cq_rt_attr_given(rt, "kernel_shape");

        if (w->rank != x->rank)
            return cq_rt_misfit(x, w);
        for (int i = 0; i < out->n; i++) {
            if (given && out->w.kernel[i] != cq_size_of(w, (size_t)i + 2))
                return cq_fail(CQ_E_TYPE, NULL, NULL,
                               "kernel_shape has %" PRId64 ", the weight %" PRId64,
                               out->w.kernel[i], cq_size_of(w, (size_t)i + 2));
            out->w.kernel[i] = cq_size_of(w, (size_t)i + 2);
            if (out->w.kernel[i] > CQ_WINDOW_MAX) /* possible if the weight has no elements */
                return cq_rt_misfit(x, w);
        }
    }
    CQ_TRY(read_list(out->w.stride, rt, "strides", out->n, 1, 1));
    CQ_TRY(read_list(out->w.dilation, rt, "dilations", out->n, 1, 1));
    return read_padding(out, rt, x);
}

cq_status cq_rt_window_positions(int64_t *out, const cq_rt_window *w, const cq_tensor *x)
{
    for (int i = 0; i < w->n; i++) {
        int64_t in = cq_size_of(x, (size_t)i + 2);

        out[i] = cq_window_positions(in, w->w.kernel[i], w->w.stride[i], w->w.padding[i],
                                     w->after[i], w->w.dilation[i], w->is_ceil);
        if (out[i] < 0)
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "a window of %" PRId64 " does not fit in %" PRId64 " and its padding",
                           w->w.kernel[i], in);
    }
    return CQ_OK;
}

/* ---- convolution ---- */

cq_status cq_rt_conv_sizes(cq_rt_sizes *out, cq_rt_window *w, cq_rt *rt, const cq_tensor *x,
                           const cq_tensor *weight, const cq_tensor *bias)
{
    int64_t groups = cq_rt_int(rt, "group"), channels;

    CQ_TRY(cq_rt_window_read(w, rt, x, weight));
    channels = cq_size_of(x, 1);
    if (groups < 1 || channels % groups || cq_size_of(weight, 0) % groups ||
        cq_size_of(weight, 1) != channels / groups)
        return cq_rt_misfit(x, weight);
    if (bias && (bias->rank != 1 || cq_size_of(bias, 0) != cq_size_of(weight, 0)))
        return cq_rt_misfit(weight, bias);
    out->rank  = x->rank;
    out->at[0] = cq_size_of(x, 0);
    out->at[1] = cq_size_of(weight, 0);
    return cq_rt_window_positions(out->at + 2, w, x);
}

static cq_status conv(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *weight = cq_rt_in(rt, 1), *bias = cq_rt_in(rt, 2);
    cq_rt_window     w;
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(cq_rt_conv_sizes(&sizes, &w, rt, x, weight, bias));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_conv(y, x, weight, bias, &w.w, cq_rt_int(rt, "group"));
}

cq_status cq_rt_transposed_sizes(cq_rt_sizes *out, cq_rt_window *w, cq_rt *rt, const cq_tensor *x)
{
    int64_t    extra[CQ_MAX_SPATIAL], given[CQ_MAX_SPATIAL];
    cq_rt_ints shape;
    bool       lower = cq_rt_is(rt, "auto_pad", "SAME_LOWER");
    bool       same  = lower || cq_rt_is(rt, "auto_pad", "SAME_UPPER");

    CQ_TRY(read_list(extra, rt, "output_padding", w->n, 0, 0));
    CQ_TRY(cq_rt_attr_ints(&shape, rt, "output_shape"));
    /* Some exporters include batch and channels. */
    if (shape.n && shape.n != (size_t)w->n && shape.n != (size_t)w->n + 2)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "output_shape has %zu numbers, expected %d", shape.n,
                       w->n);
    for (int i = 0; i < w->n; i++) {
        int64_t in = cq_size_of(x, (size_t)i + 2);
        int64_t full, total;

        if (in > CQ_WINDOW_MAX) /* possible if the feature map has no elements */
            return cq_fail(CQ_E_TYPE, NULL, NULL, "the image has size %" PRId64, in);
        full = (in - 1) * w->w.stride[i] + extra[i] + (w->w.kernel[i] - 1) * w->w.dilation[i] + 1;
        given[i] = shape.n ? shape.at[shape.n - (size_t)w->n + (size_t)i] : in * w->w.stride[i];
        if (given[i] < 0)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "output_shape has %" PRId64, given[i]);
        if (shape.n || same) {
            total           = full - given[i] > 0 ? full - given[i] : 0;
            w->w.padding[i] = same && !lower ? total / 2 : total - total / 2;
            w->after[i]     = total - w->w.padding[i];
            out->at[i + 2]  = given[i];
        } else {
            out->at[i + 2] = full - w->w.padding[i] - w->after[i];
        }
        if (out->at[i + 2] < 0)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "the output has size %" PRId64, out->at[i + 2]);
    }
    return CQ_OK;
}

static cq_status conv_transpose(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *weight = cq_rt_in(rt, 1), *bias = cq_rt_in(rt, 2);
    int64_t          groups = cq_rt_int(rt, "group");
    cq_rt_window     w;
    cq_rt_sizes      sizes = { .rank = x->rank };
    cq_tensor       *y;

    CQ_TRY(cq_rt_window_read(&w, rt, x, weight));
    if (groups < 1 || cq_size_of(x, 1) % groups || cq_size_of(weight, 0) != cq_size_of(x, 1))
        return cq_rt_misfit(x, weight);
    sizes.at[0] = cq_size_of(x, 0);
    if (__builtin_mul_overflow(cq_size_of(weight, 1), groups, &sizes.at[1]))
        return cq_rt_misfit(x, weight);
    if (bias && (bias->rank != 1 || cq_size_of(bias, 0) != sizes.at[1]))
        return cq_rt_misfit(weight, bias);
    CQ_TRY(cq_rt_transposed_sizes(&sizes, &w, rt, x));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_conv_transpose(y, x, weight, bias, &w.w, groups);
}

/* ---- pooling ---- */

static cq_status pool_sizes(cq_rt_sizes *out, cq_rt_window *w, cq_rt *rt, const cq_tensor *x)
{
    CQ_TRY(cq_rt_window_read(w, rt, x, NULL));
    out->rank  = x->rank;
    out->at[0] = cq_size_of(x, 0);
    out->at[1] = cq_size_of(x, 1);
    return cq_rt_window_positions(out->at + 2, w, x);
}

/* Converts indices in a plane to indices in the whole tensor, in row-major or column-major
 * order. */
static void globalize(cq_tensor *indices, const cq_tensor *x, bool by_column)
{
    int64_t  plane = cq_sizes_product(x, 2, x->rank), n = cq_tensor_numel(indices);
    int64_t  each = cq_sizes_product(indices, 2, indices->rank);
    int64_t *at   = cq_tensor_data(indices);

    for (int64_t i = 0; i < n; i++) {
        int64_t index = at[i];

        if (by_column) {
            int64_t left = index, column = 0;

            /* Column-major order: the stride of an axis is the product of the sizes before it. */
            for (uint32_t d = x->rank; d-- > 2;) {
                column += left % cq_size_of(x, d) * cq_sizes_product(x, 2, d);
                left /= cq_size_of(x, d);
            }
            index = column;
        }
        at[i] = i / each * plane + index;
    }
}

static cq_status max_pool(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y, *indices = NULL;
    cq_rt_window     w;
    cq_rt_sizes      sizes;

    CQ_TRY(pool_sizes(&sizes, &w, rt, x));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    if (cq_rt_wants(rt, 1))
        CQ_TRY(cq_rt_out_sized(&indices, rt, 1, CQ_DTYPE_I64, &sizes));
    CQ_TRY(cq_kernel_max_pool(y, indices, x, &w.w));
    if (indices)
        globalize(indices, x, cq_rt_int(rt, "storage_order"));
    return CQ_OK;
}

static cq_status average_pool(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_window     w;
    cq_avg_pool      options = { .padding_after     = w.after,
                                 .count_include_pad = cq_rt_int(rt, "count_include_pad") };
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(pool_sizes(&sizes, &w, rt, x));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_avg_pool(y, x, &w.w, &options);
}

/* In old versions p was a float. */
static double read_order(const cq_rt *rt)
{
    double p = cq_rt_float(rt, "p");

    return p != 0 ? p : (double)cq_rt_int(rt, "p");
}

static cq_status lp_pool(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_window     w;
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(pool_sizes(&sizes, &w, rt, x));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_lp_pool(y, x, &w.w, read_order(rt));
}

enum { GLOBAL_AVERAGE, GLOBAL_MAX, GLOBAL_LP };

static cq_status global_pool(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes = { .rank = x->rank };
    cq_window        all   = { .kernel = { 0 } };
    cq_tensor       *y;
    int              n;

    CQ_TRY(count_axes(&n, x));
    for (uint32_t i = 0; i < x->rank; i++)
        sizes.at[i] = i < 2 ? cq_size_of(x, i) : 1;
    for (int i = 0; i < n; i++)
        all.kernel[i] = cq_size_of(x, (size_t)i + 2);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    if (rt->step->row->arg == GLOBAL_AVERAGE)
        return cq_kernel_adaptive_avg_pool(y, x);
    if (rt->step->row->arg == GLOBAL_MAX)
        return cq_kernel_adaptive_max_pool(y, NULL, x);
    return cq_kernel_lp_pool(y, x, &all, read_order(rt));
}

/* Indices refer to the whole output. */
static cq_status max_unpool(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *index = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes;
    cq_rt_ints       shape;
    cq_rt_window     w;
    const cq_tensor *flat;
    cq_tensor       *y;
    size_t           size = cq_dtype_size(x->dtype);

    CQ_TRY(cq_rt_window_read(&w, rt, x, NULL));
    CQ_TRY(cq_rt_in_ints(&shape, rt, 2));
    cq_rt_sizes_of(&sizes, x);
    for (int i = 0; i < w.n; i++)
        sizes.at[i + 2] =
            (sizes.at[i + 2] - 1) * w.w.stride[i] + w.w.kernel[i] - w.w.padding[i] - w.after[i];
    if (shape.given && shape.n != x->rank)
        return cq_rt_misfit(x, cq_rt_in(rt, 2));
    for (uint32_t i = 0; shape.given && i < x->rank; i++)
        sizes.at[i] = shape.at[i];
    if (cq_tensor_numel(index) != cq_tensor_numel(x))
        return cq_rt_misfit(x, index);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    CQ_TRY(cq_kernel_fill_i64(y, 0));
    CQ_TRY(cq_rt_contiguous(&flat, rt, x));
    for (int64_t i = 0; i < cq_tensor_numel(x); i++) {
        int64_t at = cq_tensor_get_i64(index, i);

        if (at < 0 || at >= cq_tensor_numel(y))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "index %" PRId64 " is outside of %" PRId64, at,
                           cq_tensor_numel(y));
        memcpy(cq_tensor_bytes(y) + (size_t)at * size, cq_tensor_bytes(flat) + (size_t)i * size,
               size);
    }
    return CQ_OK;
}

const cq_rt_row cq_rt_rows_window[] = {
    { "Conv", 1, conv, 0, 0 },
    { "ConvTranspose", 1, conv_transpose, 0, 0 },
    { "MaxPool", 1, max_pool, 0, 0 },
    { "AveragePool", 1, average_pool, 0, 0 },
    { "LpPool", 1, lp_pool, 0, 0 },
    { "GlobalAveragePool", 1, global_pool, 0, GLOBAL_AVERAGE },
    { "GlobalMaxPool", 1, global_pool, 0, GLOBAL_MAX },
    { "GlobalLpPool", 1, global_pool, 0, GLOBAL_LP },
    { "MaxUnpool", 9, max_unpool, 0, 0 },
    { 0 },
};

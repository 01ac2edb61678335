/* The calls of <calque/nn.h> on shapes, indices, sums and orders. */
#include "aten/core/ctx.h"

/* The tensors of a list result, at most max of them into out. */
static size_t list_op(cq_ctx *cx, const char *name, const cq_val *args, size_t n_args,
                      cq_tensor **out, size_t max)
{
    const cq_op *op = cq_op_or_fail(cx, name);
    cq_val       result;
    size_t       n = 0;

    for (size_t i = 0; i < max; i++)
        out[i] = NULL;
    if (!op || cq_op_call(cx, op, args, n_args, &result, 1) != CQ_OK || result.kind != CQ_VAL_LIST)
        return 0;
    for (; n < result.u.list->n && n < max; n++)
        out[n] = result.u.list->items[n].u.tensor;
    return result.u.list->n;
}

/* values and indices */
static cq_tensor *two(cq_ctx *cx, const char *name, const cq_val *args, size_t n,
                      cq_tensor **indices)
{
    cq_tensor *results[2];

    cq_op_tensors(cx, name, args, n, results, 2);
    if (indices)
        *indices = results[1];
    return results[0];
}

CQ_API cq_tensor *cq_view(cq_ctx *cx, cq_tensor *x, size_t rank, const cq_int *sizes)
{
    return CQ_OP(cx, "aten::view", TENSOR(x), cq_ints(cx, sizes, rank));
}

CQ_API cq_tensor *cq_reshape(cq_ctx *cx, cq_tensor *x, size_t rank, const cq_int *sizes)
{
    return CQ_OP(cx, "aten::reshape", TENSOR(x), cq_ints(cx, sizes, rank));
}

CQ_API cq_tensor *cq_flatten(cq_ctx *cx, cq_tensor *x, int start, int end)
{
    return CQ_OP(cx, "aten::flatten.using_ints", TENSOR(x), INT(start), INT(end));
}

CQ_API cq_tensor *cq_transpose(cq_ctx *cx, cq_tensor *x, int a, int b)
{
    return CQ_OP(cx, "aten::transpose.int", TENSOR(x), INT(a), INT(b));
}

CQ_API cq_tensor *cq_permute(cq_ctx *cx, cq_tensor *x, size_t rank, const int64_t *dims)
{
    return CQ_OP(cx, "aten::permute", TENSOR(x), cq_i64s(cx, dims, rank));
}

CQ_API cq_tensor *cq_squeeze(cq_ctx *cx, cq_tensor *x, int dim)
{
    return CQ_OP(cx, "aten::squeeze.dim", TENSOR(x), INT(dim));
}

CQ_API cq_tensor *cq_unsqueeze(cq_ctx *cx, cq_tensor *x, int dim)
{
    return CQ_OP(cx, "aten::unsqueeze", TENSOR(x), INT(dim));
}

CQ_API cq_tensor *cq_expand(cq_ctx *cx, cq_tensor *x, size_t rank, const cq_int *sizes)
{
    return CQ_OP(cx, "aten::expand", TENSOR(x), cq_ints(cx, sizes, rank));
}

CQ_API cq_tensor *cq_repeat(cq_ctx *cx, cq_tensor *x, size_t rank, const cq_int *times)
{
    return CQ_OP(cx, "aten::repeat", TENSOR(x), cq_ints(cx, times, rank));
}

CQ_API cq_tensor *cq_cat(cq_ctx *cx, size_t n, cq_tensor *const *xs, int dim)
{
    return CQ_OP(cx, "aten::cat", cq_tensors(cx, xs, n), INT(dim));
}

CQ_API cq_tensor *cq_stack(cq_ctx *cx, size_t n, cq_tensor *const *xs, int dim)
{
    return CQ_OP(cx, "aten::stack", cq_tensors(cx, xs, n), INT(dim));
}

CQ_API size_t cq_split(cq_ctx *cx, cq_tensor *x, cq_int size, int dim, cq_tensor **out, size_t max)
{
    CQ_NEED_ELSE(cx, 0);
    return list_op(cx, "aten::split.Tensor", (cq_val[]){ TENSOR(x), SIZE(size), INT(dim) }, 3, out,
                   max);
}

CQ_API size_t cq_chunk(cq_ctx *cx, cq_tensor *x, int64_t n_chunks, int dim, cq_tensor **out,
                       size_t max)
{
    CQ_NEED_ELSE(cx, 0);
    return list_op(cx, "aten::chunk", (cq_val[]){ TENSOR(x), INT(n_chunks), INT(dim) }, 3, out,
                   max);
}

CQ_API size_t cq_unbind(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor **out, size_t max)
{
    CQ_NEED_ELSE(cx, 0);
    return list_op(cx, "aten::unbind.int", (cq_val[]){ TENSOR(x), INT(dim) }, 2, out, max);
}

CQ_API cq_tensor *cq_pixel_shuffle(cq_ctx *cx, cq_tensor *x, int64_t factor)
{
    return CQ_OP(cx, "aten::pixel_shuffle", TENSOR(x), INT(factor));
}

CQ_API cq_tensor *cq_pad(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *pads, const char *mode,
                         double value)
{
    CQ_NEED_ELSE(cx, NULL);
    return CQ_OP(cx, "aten::pad", TENSOR(x), cq_i64s(cx, pads, n), cq_str_val(cx, mode),
                 strcmp(mode, "constant") == 0 ? FLOAT(value) : CQ_NONE);
}

/* ---- indexing ---- */

CQ_API cq_tensor *cq_slice(cq_ctx *cx, cq_tensor *x, int dim, cq_int start, cq_int end,
                           int64_t step)
{
    return CQ_OP(cx, "aten::slice.Tensor", TENSOR(x), INT(dim), SIZE(start), SIZE(end), INT(step));
}

CQ_API cq_tensor *cq_select(cq_ctx *cx, cq_tensor *x, int dim, cq_int index)
{
    return CQ_OP(cx, "aten::select.int", TENSOR(x), INT(dim), SIZE(index));
}

CQ_API cq_tensor *cq_narrow(cq_ctx *cx, cq_tensor *x, int dim, cq_int start, cq_int length)
{
    return CQ_OP(cx, "aten::narrow", TENSOR(x), INT(dim), SIZE(start), SIZE(length));
}

CQ_API cq_tensor *cq_index(cq_ctx *cx, cq_tensor *x, size_t n, cq_tensor *const *indices)
{
    return CQ_OP(cx, "aten::index.Tensor", TENSOR(x), cq_tensors(cx, indices, n));
}

CQ_API cq_tensor *cq_index_put_(cq_ctx *cx, cq_tensor *x, size_t n, cq_tensor *const *indices,
                                cq_tensor *values, bool accumulate)
{
    return CQ_OP(cx, "aten::index_put_", TENSOR(x), cq_tensors(cx, indices, n), TENSOR(values),
                 BOOL(accumulate));
}

CQ_API cq_tensor *cq_index_select(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor *index)
{
    return CQ_OP(cx, "aten::index_select", TENSOR(x), INT(dim), TENSOR(index));
}

CQ_API cq_tensor *cq_gather(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor *index)
{
    return CQ_OP(cx, "aten::gather", TENSOR(x), INT(dim), TENSOR(index));
}

CQ_API cq_tensor *cq_scatter(cq_ctx *cx, cq_tensor *x, int dim, cq_tensor *index, cq_tensor *src)
{
    return CQ_OP(cx, "aten::scatter.src", TENSOR(x), INT(dim), TENSOR(index), TENSOR(src));
}

/* ---- sums and orders ---- */

static cq_val dims_or_none(cq_ctx *cx, size_t n, const int64_t *dims)
{
    return n ? cq_i64s(cx, dims, n) : CQ_NONE;
}

CQ_API cq_tensor *cq_sum(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims, bool keepdim)
{
    return CQ_OP(cx, "aten::sum.dim_IntList", TENSOR(x), dims_or_none(cx, n_dims, dims),
                 BOOL(keepdim));
}

CQ_API cq_tensor *cq_mean(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims,
                          bool keepdim)
{
    return CQ_OP(cx, "aten::mean.dim", TENSOR(x), dims_or_none(cx, n_dims, dims), BOOL(keepdim));
}

CQ_API cq_tensor *cq_var(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims,
                         bool unbiased, bool keepdim)
{
    return CQ_OP(cx, "aten::var.dim", TENSOR(x), dims_or_none(cx, n_dims, dims), BOOL(unbiased),
                 BOOL(keepdim));
}

CQ_API cq_tensor *cq_std(cq_ctx *cx, cq_tensor *x, size_t n_dims, const int64_t *dims,
                         bool unbiased, bool keepdim)
{
    return CQ_OP(cx, "aten::std.dim", TENSOR(x), dims_or_none(cx, n_dims, dims), BOOL(unbiased),
                 BOOL(keepdim));
}

CQ_API cq_tensor *cq_max_dim(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim, cq_tensor **indices)
{
    return two(cx, "aten::max.dim", (cq_val[]){ TENSOR(x), INT(dim), BOOL(keepdim) }, 3, indices);
}

CQ_API cq_tensor *cq_min_dim(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim, cq_tensor **indices)
{
    return two(cx, "aten::min.dim", (cq_val[]){ TENSOR(x), INT(dim), BOOL(keepdim) }, 3, indices);
}

CQ_API cq_tensor *cq_argmax(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim)
{
    return CQ_OP(cx, "aten::argmax", TENSOR(x), INT(dim), BOOL(keepdim));
}

CQ_API cq_tensor *cq_argmin(cq_ctx *cx, cq_tensor *x, int dim, bool keepdim)
{
    return CQ_OP(cx, "aten::argmin", TENSOR(x), INT(dim), BOOL(keepdim));
}

CQ_API cq_tensor *cq_topk(cq_ctx *cx, cq_tensor *x, int64_t k, int dim, bool largest,
                          cq_tensor **indices)
{
    return two(cx, "aten::topk",
               (cq_val[]){ TENSOR(x), INT(k), INT(dim), BOOL(largest), BOOL(true) }, 5, indices);
}

CQ_API cq_tensor *cq_sort(cq_ctx *cx, cq_tensor *x, int dim, bool descending, cq_tensor **indices)
{
    return two(cx, "aten::sort", (cq_val[]){ TENSOR(x), INT(dim), BOOL(descending) }, 3, indices);
}

CQ_API cq_tensor *cq_cumsum(cq_ctx *cx, cq_tensor *x, int dim)
{
    return CQ_OP(cx, "aten::cumsum", TENSOR(x), INT(dim));
}

CQ_API cq_tensor *cq_norm(cq_ctx *cx, cq_tensor *x, double p, size_t n_dims, const int64_t *dims,
                          bool keepdim)
{
    return n_dims ? CQ_OP(cx, "aten::norm.ScalarOpt_dim", TENSOR(x), FLOAT(p),
                          cq_i64s(cx, dims, n_dims), BOOL(keepdim))
                  : CQ_OP(cx, "aten::norm.Scalar", TENSOR(x), FLOAT(p));
}

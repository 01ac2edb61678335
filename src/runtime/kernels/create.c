/* Operators that create tensors: constants, shapes, ranges. */
#include "runtime/kernels/families.h"

#include "onnx/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants ---- */

static cq_status constant_texts(cq_rt *rt, const cq_onnx_bytes *items, size_t rank, uint32_t n)
{
    int64_t   size = n;
    cq_texts *t;

    CQ_TRY(cq_texts_new(&t, rank, &size));
    CQ_TRY(cq_rt_set(rt, 0, cq_val_of_texts(t)));
    for (uint32_t i = 0; i < n; i++)
        CQ_TRY(cq_texts_set(t, i, items[i].data ? items[i].data : "", items[i].size));
    return CQ_OK;
}

static cq_status constant_data(cq_rt *rt, cq_dtype dtype, size_t rank, uint32_t n, const void *data)
{
    int64_t    size = n;
    cq_tensor *t;

    CQ_TRY(cq_rt_out(&t, rt, 0, dtype, rank, &size));
    if (n)
        memcpy(cq_tensor_data(t), data, n * cq_dtype_size(dtype));
    return CQ_OK;
}

static cq_status constant(cq_rt *rt)
{
    const cq_onnx_model     *m       = rt->step->model;
    const cq_onnx_attribute *a       = NULL;
    static const char *const names[] = { "value",        "sparse_value", "value_int",
                                         "value_ints",   "value_float",  "value_floats",
                                         "value_string", "value_strings" };
    cq_val                   v;

    for (size_t i = 0; i < sizeof names / sizeof *names && !a; i++)
        a = cq_rt_attr_given(rt, names[i]);
    if (!a)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "a Constant has no value");
    switch ((cq_onnx_attribute_type)a->type) {
    case CQ_ONNX_ATTR_TENSOR:
        CQ_TRY(cq_onnx_tensor_to_value(&v, m, a->t));
        return cq_rt_set(rt, 0, v);
    case CQ_ONNX_ATTR_SPARSE_TENSOR:
        CQ_TRY(cq_onnx_sparse_to_value(&v, m, a->sparse_tensor));
        return cq_rt_set(rt, 0, v);
    case CQ_ONNX_ATTR_INT: return constant_data(rt, CQ_DTYPE_I64, 0, 1, &a->i);
    case CQ_ONNX_ATTR_INTS: return constant_data(rt, CQ_DTYPE_I64, 1, a->ints.n, a->ints.items);
    case CQ_ONNX_ATTR_FLOAT: return constant_data(rt, CQ_DTYPE_F32, 0, 1, &a->f);
    case CQ_ONNX_ATTR_FLOATS:
        return constant_data(rt, CQ_DTYPE_F32, 1, a->floats.n, a->floats.items);
    case CQ_ONNX_ATTR_STRING: return constant_texts(rt, &a->s, 0, 1);
    default: return constant_texts(rt, a->strings.items, 1, a->strings.n);
    }
}

static cq_status constant_of_shape(cq_rt *rt)
{
    const cq_onnx_attribute *a     = cq_rt_attr_given(rt, "value");
    cq_tensor               *value = NULL, *y, *wide;
    cq_rt_sizes              sizes;
    cq_rt_ints               shape;

    CQ_TRY(cq_rt_in_ints(&shape, rt, 0));
    if (shape.n > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a shape has %zu dimensions, at most %d work",
                       shape.n, CQ_MAX_RANK);
    sizes.rank = (uint32_t)shape.n;
    for (size_t i = 0; i < shape.n; i++)
        sizes.at[i] = shape.at[i];
    if (a)
        CQ_TRY(cq_rt_keep(rt, cq_onnx_tensor_to_tensor(&value, rt->step->model, a->t), &value));
    if (value && cq_tensor_numel(value) != 1)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "value has %" PRId64 " elements, expected one",
                       cq_tensor_numel(value));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, value ? value->dtype : CQ_DTYPE_F32, &sizes));
    if (!value)
        return cq_kernel_fill_i64(y, 0);
    CQ_TRY(cq_rt_reshaped(&value, rt, value, &(cq_rt_sizes){ 0, { 0 } }));
    CQ_TRY(cq_rt_expanded(&wide, rt, value, &sizes));
    return cq_tensor_copy_into(y, wide);
}

/* ---- shapes as tensors ---- */

static cq_status shape(cq_rt *rt)
{
    const cq_tensor *x    = cq_rt_in(rt, 0);
    int64_t          rank = x->rank, start = cq_rt_int(rt, "start");
    int64_t          end = cq_rt_attr_given(rt, "end") ? cq_rt_int(rt, "end") : rank;
    int64_t          n, *to;
    cq_tensor       *y;

    start = start < 0 ? start + rank : start;
    end   = end < 0 ? end + rank : end;
    start = start < 0 ? 0 : start > rank ? rank : start;
    end   = end < start ? start : end > rank ? rank : end;
    n     = end - start;
    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_I64, 1, &n));
    to = cq_tensor_data(y);
    for (int64_t i = 0; i < n; i++)
        to[i] = cq_size_of(x, (size_t)(start + i));
    return CQ_OK;
}

static cq_status size(cq_rt *rt)
{
    cq_tensor *y;

    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_I64, 0, NULL));
    *(int64_t *)cq_tensor_data(y) = cq_tensor_numel(cq_rt_in(rt, 0));
    return CQ_OK;
}

/* ---- ranges and matrices ---- */

static cq_status range(cq_rt *rt)
{
    cq_dtype   dtype = cq_rt_in(rt, 0)->dtype;
    cq_tensor *y;
    int64_t    n;

    if (cq_dtype_is_float(dtype)) {
        double start, limit, delta, count;

        CQ_TRY(cq_rt_in_f64(&start, rt, 0, 0));
        CQ_TRY(cq_rt_in_f64(&limit, rt, 1, 0));
        CQ_TRY(cq_rt_in_f64(&delta, rt, 2, 0));
        count = ceil((limit - start) / delta);
        if (!(count < 9e18))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "a range from %g to %g with step %g has no end",
                           start, limit, delta);
        n = count > 0 ? (int64_t)count : 0;
        CQ_TRY(cq_rt_out(&y, rt, 0, dtype, 1, &n));
        return cq_kernel_arange_f64(y, start, delta);
    } else {
        int64_t start, limit, delta, gap;

        CQ_TRY(cq_rt_in_i64(&start, rt, 0, 0));
        CQ_TRY(cq_rt_in_i64(&limit, rt, 1, 0));
        CQ_TRY(cq_rt_in_i64(&delta, rt, 2, 0));
        if (delta == 0 || delta == INT64_MIN || __builtin_sub_overflow(limit, start, &gap))
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "a range from %" PRId64 " to %" PRId64 " by %" PRId64 " has no end",
                           start, limit, delta);
        n = gap == 0 || (gap > 0) != (delta > 0) ? 0 : (gap - (gap > 0 ? 1 : -1)) / delta + 1;
        CQ_TRY(cq_rt_out(&y, rt, 0, dtype, 1, &n));
        return cq_kernel_arange_i64(y, start, delta);
    }
}

static cq_status eye_like(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    cq_dtype         dtype = x->dtype;
    int64_t          k     = cq_rt_int(rt, "k"), rows, columns, first, n;
    cq_tensor       *y, *diagonal;

    CQ_TRY(cq_rt_need_rank(x, "input", 2));
    if (cq_rt_attr_given(rt, "dtype"))
        CQ_TRY(cq_rt_out_dtype(&dtype, rt, "dtype"));
    rows    = cq_size_of(x, 0);
    columns = cq_size_of(x, 1);
    CQ_TRY(cq_rt_out(&y, rt, 0, dtype, 2, (int64_t[]){ rows, columns }));
    CQ_TRY(cq_kernel_fill_i64(y, 0));
    if (k >= columns || k <= -rows)
        return CQ_OK;
    first = k >= 0 ? k : -k * columns;
    n     = k >= 0 ? (columns - k < rows ? columns - k : rows)
                   : (rows + k < columns ? rows + k : columns);
    CQ_TRY(cq_rt_keep(rt,
                      cq_tensor_new_on(&diagonal, y->storage, dtype, 1, &n,
                                       (int64_t[]){ columns + 1 }, y->offset + first),
                      &diagonal));
    return cq_kernel_fill_i64(diagonal, 1);
}

static cq_status trilu(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y;
    int64_t          k;

    if (x->rank < 2)
        return cq_rt_misfit(x, NULL);
    CQ_TRY(cq_rt_in_i64(&k, rt, 1, 0));
    /* Beyond the edge of the matrix every offset gives the same result. */
    k = k > INT32_MAX ? INT32_MAX : k < -INT32_MAX ? -INT32_MAX : k;
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_rt_int(rt, "upper") ? cq_kernel_triu(y, x, k) : cq_kernel_tril(y, x, k);
}

const cq_rt_row cq_rt_rows_create[] = {
    { "Constant", 1, constant, 0, 0 },
    { "ConstantOfShape", 9, constant_of_shape, 0, 0 },
    { "Shape", 1, shape, CQ_RT_TEXT_IN, 0 },
    { "Size", 1, size, CQ_RT_TEXT_IN, 0 },
    { "Range", 11, range, 0, 0 },
    { "EyeLike", 9, eye_like, 0, 0 },
    { "Trilu", 14, trilu, CQ_RT_TEXT_OUT, 0 },
    { 0 },
};

/* Order along a dimension and running sums.
 *
 * Everything with an order is TopK, which also says where the elements were, and of equal
 * ones gives the first first, as PyTorch's stable sort. Where NaN goes, which PyTorch takes
 * for the greatest, ONNX leaves open. Running operators that ONNX has not
 * (all but CumSum) reduce a table whose row i has the elements up to i. */
#include "export/arith.h"
#include "export/symbolic/places.h"

/* ---- TopK ---- */

/* The dtype that TopK is given for elements of d; NONE if order would suffer. */
static cq_dtype orderable(const cq_sym *s, cq_dtype d)
{
    bool floats_only = cq_sym_opset(s) < 11;

    switch (d) {
    case CQ_DTYPE_F32:
    case CQ_DTYPE_F64: return d;
    case CQ_DTYPE_F16:
    case CQ_DTYPE_BF16: return CQ_DTYPE_F32;
    case CQ_DTYPE_I64: return floats_only ? CQ_DTYPE_NONE : d;
    default: return floats_only ? CQ_DTYPE_F64 : CQ_DTYPE_I32;
    }
}

static cq_dtype summable(cq_dtype d)
{
    return d == CQ_DTYPE_F16 || d == CQ_DTYPE_BF16 ? CQ_DTYPE_F32
           : d == CQ_DTYPE_F32 || d == CQ_DTYPE_F64 || d == CQ_DTYPE_I32 || d == CQ_DTYPE_I64
               ? d
               : CQ_DTYPE_I64;
}

typedef struct sorted {
    cq_value *values, *places;
} sorted;

/* The k greatest or least along axis, in order. */
static sorted topk(cq_sym *s, cq_value *x, cq_int k, int axis, bool largest)
{
    cq_dtype  own = cq_sym_dtype(s, x), with = orderable(s, own);
    cq_value *out[2];

    if (s->status == CQ_OK && with == CQ_DTYPE_NONE)
        cq_sym_no(s, 11, "integers of 64 bits can be ordered since opset 11");
    if (s->status != CQ_OK)
        return (sorted){ NULL, NULL };
    if (cq_int_is(k, 0)) {
        x = cq_sym_slice(s, x, axis, k, k, 1);
        return (sorted){ x, cq_sym_cast(s, x, CQ_DTYPE_I64) };
    }
    cq_sym_topk(s, cq_sym_cast(s, x, with), k, axis, largest, out);
    return (sorted){ cq_sym_cast(s, out[0], own), out[1] };
}

static cq_status done_both(cq_sym *s, sorted r)
{
    return cq_sym_done_n(
        s, CQ_IN(cq_sym_in_sizes_of(s, r.values, 0), cq_sym_in_sizes_of(s, r.places, 1)));
}

static cq_status sort(cq_sym *s)
{
    cq_value *x    = cq_sym_with_dims(s, cq_sym_in(s, "self"));
    int       axis = cq_sym_dim(s, "dim", cq_sym_rank(s, x));

    return done_both(s, topk(s, x, cq_sym_size(s, x, axis), axis, cq_sym_bool(s, "descending")));
}

static cq_status top(cq_sym *s)
{
    cq_value *x    = cq_sym_with_dims(s, cq_sym_in(s, "self"));
    int       axis = cq_sym_dim(s, "dim", cq_sym_rank(s, x));

    return done_both(s, topk(s, x, cq_sym_int(s, "k"), axis, cq_sym_bool(s, "largest")));
}

/* ---- one of each lane ---- */

/* The k-th least: the last of the k least. */
static sorted kth(cq_sym *s, cq_value *x, int axis, cq_int k)
{
    sorted r  = topk(s, x, k, axis, false);
    cq_int at = cq_int_sub(CQ_SYMBOLS(s), k, cq_i(1));

    r.values = cq_sym_gather(s, r.values, cq_sym_of_int_1d(s, at), axis);
    r.places = cq_sym_gather(s, r.places, cq_sym_of_int_1d(s, at), axis);
    return r;
}

static cq_status kthvalue(cq_sym *s)
{
    cq_value *x = cq_sym_with_dims(s, cq_sym_in(s, "self"));

    return done_both(s, kth(s, x, cq_sym_dim(s, "dim", cq_sym_rank(s, x)), cq_sym_int(s, "k")));
}

/* The lower median, or NaN if there is one. */
static sorted median_along(cq_sym *s, cq_value *x, int axis)
{
    cq_int   n      = cq_sym_size(s, x, axis);
    cq_dtype dtype  = cq_sym_dtype(s, x);
    int64_t  axis64 = axis;
    sorted   r      = kth(s, x, axis,
                          cq_int_floordiv(CQ_SYMBOLS(s), cq_int_add(CQ_SYMBOLS(s), n, cq_i(1)), cq_i(2)));

    if (cq_dtype_is_float(dtype) && cq_sym_opset(s) >= 9) {
        cq_value *nan = cq_sym_op(s, "IsNaN", CQ_IN(cq_sym_cast(s, x, CQ_DTYPE_F32)), CQ_NO_ATTR);

        cq_sym_set_type_of(nan, x);
        cq_sym_set_dtype(s, nan, CQ_DTYPE_BOOL);
        nan = cq_sym_reduce(s, "ReduceMax", cq_sym_cast(s, nan, CQ_DTYPE_F32), &axis64, 1, true);
        nan = cq_sym_op(s, "Cast", CQ_IN(nan),
                        CQ_ATTR(cq_attr_i("to", cq_dtype_to_onnx(CQ_DTYPE_BOOL))));
        nan = cq_sym_op(s, "Where",
                        CQ_IN(nan, cq_sym_const_f64(s, dtype, __builtin_nan("")), r.values),
                        CQ_NO_ATTR);
        cq_sym_set_type_of(nan, r.values);
        r.values = nan;
    }
    return r;
}

static cq_status median_dim(cq_sym *s)
{
    cq_value *x = cq_sym_with_dims(s, cq_sym_in(s, "self"));

    return done_both(s, median_along(s, x, cq_sym_dim(s, "dim", cq_sym_rank(s, x))));
}

static cq_status median(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self");
    cq_int    n = cq_i(1);

    for (int i = 0; i < cq_sym_rank(s, x); i++)
        n = cq_int_mul(CQ_SYMBOLS(s), n, cq_sym_size(s, x, i));
    if (cq_int_is(n, 0))
        return cq_sym_done(s, cq_sym_const_f64(s, cq_sym_dtype(s, x), __builtin_nan("")));
    return cq_sym_done(
        s, cq_sym_in_sizes_of(s, median_along(s, cq_sym_reshape(s, x, &n, 1), 0).values, 0));
}

/* The median of those that are no NaN, which come last: in place (count - 1) / 2. */
static sorted median_of_numbers(cq_sym *s, cq_value *x, int axis)
{
    cq_dtype  dtype = cq_sym_dtype(s, x), wide = dtype == CQ_DTYPE_F64 ? dtype : CQ_DTYPE_F32;
    int64_t   axis64 = axis;
    cq_value *nan, *count, *at;
    sorted    r;

    if (cq_sym_opset(s) < 11) {
        cq_sym_no(s, 11, "it needs GatherElements, of opset 11");
        return (sorted){ NULL, NULL };
    }
    x     = cq_sym_cast(s, x, wide);
    nan   = cq_sym_is_nan(s, x);
    count = cq_sym_cast(s, cq_sym_op1(s, "Not", nan), CQ_DTYPE_I64);
    if (count && x)
        cq_sym_set_type(s, count, CQ_DTYPE_I64, (size_t)x->type.rank, x->type.sizes);
    count = cq_sym_reduce(s, "ReduceSum", count, &axis64, 1, true);
    at    = cq_sym_ints_op(s, "Div", cq_sym_ints_op(s, "Sub", count, cq_sym_const_i64(s, 1)),
                           cq_sym_const_i64(s, 2));
    x     = cq_sym_where(s, nan, cq_sym_const_f64(s, wide, __builtin_inf()), x);
    r     = topk(s, x, cq_sym_size(s, x, axis), axis, false);
    r.values =
        cq_sym_op(s, "GatherElements", CQ_IN(r.values, at), CQ_ATTR(cq_attr_i("axis", axis)));
    r.places =
        cq_sym_op(s, "GatherElements", CQ_IN(r.places, at), CQ_ATTR(cq_attr_i("axis", axis)));
    r.values = cq_sym_op(s, "Where",
                         CQ_IN(cq_sym_equal(s, count, cq_sym_const_i64(s, 0)),
                               cq_sym_const_f64(s, wide, __builtin_nan("")), r.values),
                         CQ_NO_ATTR);
    cq_sym_set_dtype(s, r.values, wide);
    cq_sym_set_dtype(s, r.places, CQ_DTYPE_I64);
    return r;
}

static cq_status nanmedian_dim(cq_sym *s)
{
    cq_value *x    = cq_sym_with_dims(s, cq_sym_in(s, "self"));
    int       axis = cq_sym_dim(s, "dim", cq_sym_rank(s, x));

    return done_both(s, cq_dtype_is_float(cq_sym_dtype(s, x)) ? median_of_numbers(s, x, axis)
                                                              : median_along(s, x, axis));
}

static cq_status nanmedian(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self");

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)) || cq_int_is(cq_sym_numel(s, x), 0))
        return median(s);
    return cq_sym_done(s,
                       cq_sym_in_sizes_of(s, median_of_numbers(s, cq_sym_flat(s, x), 0).values, 0));
}

/* Every element is compared with every other. Of those that occur most often it is the least, and
 * of equal ones the last. */
static cq_status mode(cq_sym *s)
{
    cq_value *x = cq_sym_with_dims(s, cq_sym_in(s, "self")), *same, *count, *most, *worst, *value,
             *at;
    int      rank = cq_sym_rank(s, x), axis = cq_sym_dim(s, "dim", rank);
    cq_dtype with = summable(cq_sym_dtype(s, x));
    int64_t  last = rank - 1, over = rank, before = rank - 1;

    if (cq_int_is(cq_sym_numel(s, x), 0))
        return cq_sym_no(s, 0, "of no elements");
    x     = cq_sym_swap_dims(s, cq_sym_cast(s, x, with), axis, (int)last);
    same  = cq_sym_equal(s, cq_sym_unsqueeze(s, x, &over, 1), cq_sym_unsqueeze(s, x, &before, 1));
    count = cq_sym_reduce(s, "ReduceSum", cq_sym_cast(s, same, CQ_DTYPE_F32), &over, 1, false);
    cq_sym_set_type_of(count, x);
    cq_sym_set_dtype(s, count, CQ_DTYPE_F32);
    most  = cq_sym_reduce(s, "ReduceMax", count, &last, 1, true);
    worst = cq_sym_const_f64(s, with,
                             cq_dtype_is_float(with) ? __builtin_inf()
                             : with == CQ_DTYPE_I32  ? INT32_MAX
                                                     : 9223372036854774784.);
    value = cq_sym_where(s, cq_sym_equal(s, count, most), x, worst);
    value = cq_sym_reduce(s, "ReduceMin", value, &last, 1, true);
    at    = cq_sym_where(s, cq_sym_equal(s, x, value), cq_sym_iota(s, cq_sym_size(s, x, (int)last)),
                         cq_sym_const_i64(s, -1));
    at    = cq_sym_reduce(s, "ReduceMax", at, &last, 1, true);
    return done_both(s, (sorted){ cq_sym_swap_dims(s, value, axis, (int)last),
                                  cq_sym_swap_dims(s, at, axis, (int)last) });
}

/* ---- running ---- */

/* [n, n]: whether place j is not after place i. */
static cq_value *up_to(cq_sym *s, cq_int n)
{
    int64_t   one = 1;
    cq_value *i   = cq_sym_iota(s, n), *after;

    if (cq_sym_opset(s) < 9) { /* Greater is of floats */
        i = cq_sym_cast(s, i, CQ_DTYPE_F32);
    }
    after = cq_sym_op2(s, "Greater", i, cq_sym_unsqueeze(s, i, &one, 1));
    cq_sym_set_type(s, after, CQ_DTYPE_BOOL, 2, (cq_int[]){ n, n });
    return cq_sym_op(s, "Not", CQ_IN(after), CQ_NO_ATTR);
}

/* Before CumSum: a product with the table of what comes before. */
static cq_value *cumsum_by_product(cq_sym *s, cq_value *x, int axis)
{
    int       last    = cq_sym_rank(s, x) - 1;
    cq_dtype  dtype   = cq_sym_dtype(s, x);
    int64_t   perm[2] = { 1, 0 };
    cq_value *table, *v;

    if (!cq_dtype_is_float(dtype) && !cq_sym_since(s, 9, "products of integers need opset 9"))
        return NULL;
    x     = cq_sym_swap_dims(s, x, axis, last);
    table = cq_sym_transpose(s, up_to(s, cq_sym_size(s, x, last)), perm, 2);
    v     = cq_sym_op2(s, "MatMul", x, cq_sym_cast(s, table, dtype));
    cq_sym_set_type_of(v, x);
    return cq_sym_swap_dims(s, v, axis, last);
}

cq_value *cq_sym_cumsum(cq_sym *s, cq_value *x, int axis)
{
    cq_value *v;

    if (cq_sym_opset(s) < 11)
        return cumsum_by_product(s, x, axis);
    v = cq_sym_op2(s, "CumSum", x, cq_sym_const_i64(s, axis));
    cq_sym_set_type_of(v, x);
    return v;
}

static cq_status cumsum(cq_sym *s)
{
    cq_type   type = cq_sym_result_type(s, 0);
    cq_value *x    = cq_sym_with_dims(s, cq_sym_cast(s, cq_sym_in(s, "self"), type.dtype));
    int       axis = cq_sym_dim(s, "dim", cq_sym_rank(s, x));
    cq_dtype  with = summable(type.dtype);

    x = cq_sym_cumsum(s, cq_sym_cast(s, x, with), axis);
    return cq_sym_done(s, cq_sym_in_sizes_of(s, x, 0));
}

/* [lanes…, i, j]: element j of the lane where it is not after i, else neutral. axis is last
 * in the lanes. */
static cq_value *running_table(cq_sym *s, cq_value *x, cq_value *neutral)
{
    int64_t   before_last = cq_sym_rank(s, x) - 1;
    cq_value *v           = cq_sym_op(
                  s, "Where",
                  CQ_IN(up_to(s, cq_sym_size(s, x, -1)), cq_sym_unsqueeze(s, x, &before_last, 1), neutral),
                  CQ_NO_ATTR);

    cq_sym_set_dtype(s, v, cq_sym_dtype(s, x));
    return v;
}

static cq_status reduce_running(cq_sym *s, const char *reduce, double neutral)
{
    cq_type   type = cq_sym_result_type(s, 0);
    cq_value *x    = cq_sym_with_dims(s, cq_sym_cast(s, cq_sym_in(s, "self"), type.dtype)), *v;
    int       rank = cq_sym_rank(s, x), axis = cq_sym_dim(s, "dim", rank);
    cq_dtype  with = summable(type.dtype);
    int64_t   over = rank;

    x = cq_sym_swap_dims(s, cq_sym_cast(s, x, with), axis, rank - 1);
    v = running_table(s, x, cq_sym_const_f64(s, with, neutral));
    v = cq_sym_reduce(s, reduce, v, &over, 1, false);
    cq_sym_set_type_of(v, x);
    return cq_sym_done(s, cq_sym_in_sizes_of(s, cq_sym_swap_dims(s, v, axis, rank - 1), 0));
}

static cq_status cumprod(cq_sym *s)
{
    return reduce_running(s, "ReduceProd", 1);
}

static cq_status logcumsumexp(cq_sym *s)
{
    return reduce_running(s, "ReduceLogSumExp", -__builtin_inf());
}

/* Of equal extremes the last one counts. */
static cq_status cumextreme(cq_sym *s, bool least)
{
    cq_value *x    = cq_sym_with_dims(s, cq_sym_in(s, "self")), *table, *out[2];
    int       rank = cq_sym_rank(s, x), axis = cq_sym_dim(s, "dim", rank);
    cq_dtype  own = cq_sym_dtype(s, x), with = summable(own);
    int64_t   over  = rank;
    double    worst = least ? __builtin_inf() : -__builtin_inf();

    if (!cq_dtype_is_float(with))
        worst = with == CQ_DTYPE_I32 ? (least ? INT32_MAX : INT32_MIN) : (least ? 9.2e18 : -9.2e18);
    x      = cq_sym_swap_dims(s, cq_sym_cast(s, x, with), axis, rank - 1);
    table  = running_table(s, x, cq_sym_const_f64(s, with, worst));
    out[0] = cq_sym_reduce(s, least ? "ReduceMin" : "ReduceMax", table, &over, 1, false);
    cq_sym_set_type_of(out[0], x);
    out[1] = cq_sym_op(s, least ? "ArgMin" : "ArgMax", CQ_IN(table),
                       CQ_ATTR(cq_attr_i("axis", over), cq_attr_i("keepdims", 0),
                               cq_attr_i("select_last_index", 1)));
    cq_sym_set_type_of(out[1], x);
    cq_sym_set_dtype(s, out[1], CQ_DTYPE_I64);
    for (int i = 0; i < 2; i++)
        out[i] = cq_sym_in_sizes_of(s, cq_sym_swap_dims(s, out[i], axis, rank - 1), (size_t)i);
    return cq_sym_done_n(s, out, 2);
}

static cq_status cummax(cq_sym *s)
{
    return cumextreme(s, false);
}

static cq_status cummin(cq_sym *s)
{
    return cumextreme(s, true);
}

const cq_symbolic cq_symbolics_sort[] = {
    { "aten::sort", 7, .fn = sort },
    { "aten::topk", 7, .fn = top },
    { "aten::kthvalue", 7, .fn = kthvalue },
    { "aten::median", 7, .fn = median },
    { "aten::median.dim", 7, .fn = median_dim },
    { "aten::nanmedian", 7, .fn = nanmedian },
    { "aten::nanmedian.dim", 7, .fn = nanmedian_dim },
    { "aten::mode", 7, .no = "it needs Where, of opset 9" },
    { "aten::mode", 9, .fn = mode },
    { "aten::cumsum", 7, .fn = cumsum },
    { "aten::cumprod", 7, .no = "it needs Where, of opset 9" },
    { "aten::cumprod", 9, .fn = cumprod },
    { "aten::logcumsumexp", 7, .no = "it needs Where, of opset 9" },
    { "aten::logcumsumexp", 9, .fn = logcumsumexp },
    { "aten::cummax", 7, .no = "the last of equal elements can be found since opset 12" },
    { "aten::cummax", 12, .fn = cummax },
    { "aten::cummin", 7, .no = "the last of equal elements can be found since opset 12" },
    { "aten::cummin", 12, .fn = cummin },
    { 0 },
};

/* Selection by value: masks, different elements, searching. Sizes of results depend on data,
 * so what is needed of them is read off values at run time. */
#include "export/symbolic/places.h"

static cq_value *typed(cq_sym *s, cq_value *v, cq_dtype dtype)
{
    cq_sym_set_dtype(s, v, dtype);
    return v;
}

/* ---- not zero ---- */

static cq_value *nonzero_rows(cq_sym *s, cq_value *x)
{
    return typed(s, cq_sym_op1(s, "NonZero", cq_sym_cast(s, x, CQ_DTYPE_BOOL)), CQ_DTYPE_I64);
}

/* ---- masks ---- */

/* x and its mask in the sizes that they have together. */
static void spread(cq_sym *s, cq_value **x, cq_value **mask)
{
    int    a = cq_sym_rank(s, *x), b = cq_sym_rank(s, *mask), n = a > b ? a : b;
    cq_int sizes[CQ_MAX_RANK];

    for (int i = 0; i < n && s->status == CQ_OK; i++) {
        cq_int u = i < n - a ? cq_i(1) : cq_sym_size(s, *x, i - (n - a));
        cq_int v = i < n - b ? cq_i(1) : cq_sym_size(s, *mask, i - (n - b));

        sizes[i] =
            cq_int_is(u, 1) || (u.value == 1 && v.value != 1) || (u.expr && !v.expr && v.value != 1)
                ? v
                : u;
    }
    if (s->status != CQ_OK)
        return;
    *x    = cq_sym_expand_any(s, *x, sizes, (size_t)n);
    *mask = cq_sym_expand_any(s, cq_sym_cast(s, *mask, CQ_DTYPE_BOOL), sizes, (size_t)n);
    if (*x && (*x)->node)
        cq_sym_set_type(s, *x, cq_sym_dtype(s, *x), (size_t)n, sizes);
    if (*mask && (*mask)->node)
        cq_sym_set_type(s, *mask, CQ_DTYPE_BOOL, (size_t)n, sizes);
}

static cq_status masked_select(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self"), *mask = cq_sym_in(s, "mask");

    if (cq_sym_dtype(s, x) == CQ_DTYPE_BF16) /* which Compress does not take */
        x = cq_sym_cast(s, x, CQ_DTYPE_F32);
    spread(s, &x, &mask);
    return cq_sym_done(
        s, typed(s,
                 cq_sym_op(s, "Compress", CQ_IN(cq_sym_flat(s, x), cq_sym_flat(s, mask)),
                           CQ_ATTR(cq_attr_i("axis", 0))),
                 cq_sym_dtype(s, x)));
}

/* The k-th true element of the mask gets the k-th of source. */
static cq_status masked_scatter(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self"), *mask = cq_sym_in(s, "mask"), *at, *many, *v;
    cq_value *source = cq_sym_in(s, "source");
    cq_type   type   = cq_sym_result_type(s, 0);
    int64_t   row[]  = { -1 };
    cq_int    n;

    spread(s, &x, &mask);
    n    = cq_sym_numel(s, x);
    at   = typed(s, cq_sym_reshape_i64(s, nonzero_rows(s, cq_sym_flat(s, mask)), row, 1),
                 CQ_DTYPE_I64);
    many = cq_sym_op2(s, "Gather", cq_sym_shape(s, at), cq_sym_const_i64(s, 0));
    many = cq_sym_count_to(s, many);
    v    = cq_sym_scatter(
           s, cq_sym_reshape(s, x, &n, 1), 0, at,
           cq_sym_op2(s, "Gather", cq_sym_flat(s, source), typed(s, many, CQ_DTYPE_I64)), NULL);
    return cq_sym_done(s, cq_sym_reshape(s, v, type.sizes, (size_t)type.rank));
}

/* ---- counts ---- */

/* A table of which number each element is, added up. */
static cq_status bincount(cq_sym *s)
{
    cq_value *x       = cq_sym_cast(s, cq_sym_in(s, "self"), CQ_DTYPE_I64),
             *weights = cq_sym_in(s, "weights");
    cq_dtype  dtype   = cq_sym_result_type(s, 0).dtype;
    int64_t   least = cq_sym_i64(s, "minlength") - 1, zero = 0, one = 1;
    cq_value *depth, *table, *range;

    least = least < -1 ? -1 : least;
    depth = cq_sym_op(s, "Concat", CQ_IN(x, cq_sym_const_i64s(s, &least, 1)),
                      CQ_ATTR(cq_attr_i("axis", 0)));
    depth = cq_sym_reduce(s, "ReduceMax", typed(s, depth, CQ_DTYPE_I64), &zero, 1, false);
    depth = cq_sym_op2(s, "Add", depth, cq_sym_const_i64(s, 1));
    range = cq_sym_count_to(s, depth);
    table = typed(s, cq_sym_op2(s, "Equal", cq_sym_unsqueeze(s, x, &one, 1), range), CQ_DTYPE_BOOL);
    table = cq_sym_cast(s, table, dtype);
    if (weights)
        table = typed(s,
                      cq_sym_op2(s, "Mul", table,
                                 cq_sym_unsqueeze(s, cq_sym_cast(s, weights, dtype), &one, 1)),
                      dtype);
    return cq_sym_done(s, typed(s, cq_sym_reduce(s, "ReduceSum", table, &zero, 1, false), dtype));
}

/* Place i goes on until the running sum: how many sums are not above each number. */
static cq_status repeat_index(cq_sym *s)
{
    cq_value *repeats = cq_sym_in_as(s, "repeats", CQ_DTYPE_I64), *sums, *total, *table;
    int64_t   zero = 0, one = 1;

    sums  = cq_sym_cumsum(s, repeats, 0);
    total = cq_sym_count_to(s, cq_sym_reduce(s, "ReduceSum", repeats, &zero, 1, false));
    table = cq_sym_op2(s, "Less", cq_sym_unsqueeze(s, total, &one, 1), sums);
    table = typed(s, cq_sym_op1(s, "Not", table), CQ_DTYPE_BOOL);
    return cq_sym_done(
        s,
        typed(s, cq_sym_reduce(s, "ReduceSum", cq_sym_cast(s, table, CQ_DTYPE_I64), &one, 1, false),
              CQ_DTYPE_I64));
}

/* ---- searching: how many of the sorted are not greater (or not as great) ---- */

static cq_status searchsorted(cq_sym *s)
{
    cq_value   *sorted = cq_sym_in(s, "sorted_sequence"), *sorter = cq_sym_in(s, "sorter");
    cq_dtype    dtype = cq_sym_dtype(s, sorted), with = dtype;
    cq_value   *x     = cq_sym_in_as(s, "self", dtype), *table;
    const char *side  = cq_sym_str(s, "side", "left");
    bool        right = cq_sym_bool(s, "right") || side[0] == 'r';
    int         rank = cq_sym_rank(s, x), of = cq_sym_rank(s, sorted);
    int64_t     last = rank, before = of - 1, over = rank;

    if (sorter && !cq_sym_since(s, 11, "a sorter needs GatherElements, of opset 11"))
        return s->status;
    if (sorter) {
        cq_value *v = cq_sym_op(s, "GatherElements", CQ_IN(sorted, sorter),
                                CQ_ATTR(cq_attr_i("axis", of - 1)));

        cq_sym_set_type_of(v, sorted);
        sorted = v;
    }
    if (!cq_dtype_is_float(dtype) && !cq_sym_since(s, 9, "integers can be compared since opset 9"))
        return s->status;
    if (dtype == CQ_DTYPE_F16 || dtype == CQ_DTYPE_BF16)
        with = CQ_DTYPE_F32;
    else if (!cq_dtype_is_float(dtype))
        with = CQ_DTYPE_I64;
    sorted = cq_sym_cast(s, sorted, with);
    x      = cq_sym_unsqueeze(s, cq_sym_cast(s, x, with), &last, 1);
    if (of > 1)
        sorted = cq_sym_unsqueeze(s, sorted, &before, 1);
    /* NaN is behind everything: it counts all, so greater is asked and denied. */
    table = cq_sym_op2(s, "Greater", sorted, x);
    if (!right) {
        cq_value *same = cq_sym_opset(s) < 11 && cq_dtype_is_float(with)
                             ? cq_sym_op1(s, "Not", cq_sym_op2(s, "Less", sorted, x))
                             : cq_sym_op2(s, "Equal", sorted, x);

        table = cq_sym_op2(s, "Or", table, same);
    }
    table = typed(s, cq_sym_op1(s, "Not", table), CQ_DTYPE_BOOL);
    table = cq_sym_cast(s, table, cq_sym_opset(s) < 9 ? CQ_DTYPE_F32 : CQ_DTYPE_I64);
    return cq_sym_done(s, typed(s, cq_sym_reduce(s, "ReduceSum", table, &over, 1, false),
                                cq_sym_opset(s) < 9 ? CQ_DTYPE_F32 : CQ_DTYPE_I64));
}

/* ---- different elements ---- */

static cq_value *none(cq_sym *s)
{
    return cq_sym_const_i64s(s, NULL, 0);
}

static cq_dtype unique_takes(cq_dtype d)
{
    return d == CQ_DTYPE_F16 || d == CQ_DTYPE_BF16  ? CQ_DTYPE_F32
           : d == CQ_DTYPE_F32 || d == CQ_DTYPE_F64 ? d
                                                    : CQ_DTYPE_I64;
}

static cq_status unique(cq_sym *s)
{
    cq_value *x   = cq_sym_in(s, "self"), *out[4];
    cq_dtype  own = cq_sym_dtype(s, x), with = unique_takes(own);
    bool      along   = cq_schema_find(s->op->schema, "dim") >= 0;
    size_t    n       = cq_sym_n_results(s);
    int       axis    = along ? cq_sym_dim(s, "dim", cq_sym_rank(s, x)) : 0;
    bool      inverse = along || cq_sym_bool(s, "return_inverse");
    bool      counts  = along || (n > 2 && cq_sym_bool(s, "return_counts"));

    cq_sym_op_n(s, "Unique", CQ_IN(cq_sym_cast(s, x, with)),
                CQ_ATTR(along ? cq_attr_i("axis", axis) : (cq_attr){ 0 }, cq_attr_i("sorted", 1)),
                out, 4);
    out[0] = cq_sym_cast(s, typed(s, out[0], with), own);
    out[1] = inverse ? typed(s, out[2], CQ_DTYPE_I64) : none(s);
    if (inverse && !along && cq_sym_rank(s, x) != 1)
        out[1] = cq_sym_reshape(s, out[1], x->type.sizes, (size_t)x->type.rank);
    out[2] = counts ? out[3] : none(s);
    return cq_sym_done_n(s, out, n);
}

/* A new one begins where an element differs from the one before it. */
static cq_status unique_consecutive(cq_sym *s)
{
    cq_value *x     = cq_sym_flat(s, cq_sym_in(s, "self")), *begins, *key, *out[3], *at, *ends;
    cq_int    n     = cq_sym_numel(s, x);
    int64_t   row[] = { -1 };
    cq_value *yes   = cq_sym_cast(s, cq_sym_const_i64s(s, (int64_t[]){ 1 }, 1), CQ_DTYPE_BOOL);
    cq_type   type  = cq_sym_in(s, "self")->type;

    if (!cq_sym_is_none(s, "dim"))
        return cq_sym_no(s, 0, "slices are not compared as wholes");
    if (cq_int_is(n, 0)) {
        out[0] = x;
        out[1] = cq_sym_bool(s, "return_inverse")
                     ? cq_sym_cast(s, cq_sym_in(s, "self"), CQ_DTYPE_I64)
                     : none(s);
        out[2] = none(s);
        return cq_sym_done_n(s, out, 3);
    }
    key    = cq_sym_cast(s, x, unique_takes(cq_sym_dtype(s, x)));
    begins = cq_sym_op2(s, "Equal", cq_sym_slice(s, key, 0, cq_i(1), cq_i(INT64_MAX), 1),
                        cq_sym_slice(s, key, 0, cq_i(0), cq_i(-1), 1));
    begins = cq_sym_op(s, "Concat", CQ_IN(yes, cq_sym_op1(s, "Not", begins)),
                       CQ_ATTR(cq_attr_i("axis", 0)));
    typed(s, begins, CQ_DTYPE_BOOL);
    if (cq_sym_dtype(s, x) == CQ_DTYPE_BF16)
        x = key;
    out[0] = typed(s, cq_sym_op(s, "Compress", CQ_IN(x, begins), CQ_ATTR(cq_attr_i("axis", 0))),
                   cq_sym_dtype(s, x));
    out[1] = out[2] = NULL;
    if (cq_sym_bool(s, "return_inverse")) {
        out[1] =
            cq_sym_op2(s, "CumSum", cq_sym_cast(s, begins, CQ_DTYPE_I64), cq_sym_const_i64(s, 0));
        out[1] = typed(s, cq_sym_op2(s, "Sub", out[1], cq_sym_const_i64(s, 1)), CQ_DTYPE_I64);
        out[1] = cq_sym_reshape(s, out[1], type.sizes, (size_t)type.rank);
    }
    if (cq_sym_bool(s, "return_counts")) {
        at   = typed(s, cq_sym_reshape_i64(s, nonzero_rows(s, begins), row, 1), CQ_DTYPE_I64);
        ends = cq_sym_op(
            s, "Concat",
            CQ_IN(cq_sym_slice(s, at, 0, cq_i(1), cq_i(INT64_MAX), 1), cq_sym_of_int_1d(s, n)),
            CQ_ATTR(cq_attr_i("axis", 0)));
        out[2] = typed(s, cq_sym_op2(s, "Sub", ends, at), CQ_DTYPE_I64);
    }
    out[1] = out[1] ? out[1] : none(s);
    out[2] = out[2] ? out[2] : none(s);
    return cq_sym_done_n(s, out, 3);
}

/* Along a dimension: a slice is another one where any of its elements is. */
#define DIFFERENT_SLICES                                                                           \
    "d = wrap_dim(0 if dim is None else dim, self.ndim)\n"                                         \
    "x = self.movedim(d, 0).flatten(1, -1) if self.ndim > 1 else self.unsqueeze(1)\n"              \
    "n = x.shape[0]\n"                                                                             \
    "begins = (x.slice(0, 1) != x.slice(0, 0, -1)).any(1)\n"                                       \
    "begins = cat([ones([min(n, 1)], dtype=torch.bool), begins], 0)\n"                             \
    "at = begins.nonzero().squeeze(1)\n"                                                           \
    "none = zeros([0], dtype=torch.int64)\n"                                                       \
    "inverse = begins.cumsum(0) - 1 if return_inverse else none\n"                                 \
    "end = full([min(n, 1)], 1, dtype=torch.int64) * n\n"                                          \
    "counts = cat([at.slice(0, 1), end], 0) - at if return_counts else none\n"                     \
    "return self.index_select(d, at), inverse, counts"

const cq_symbolic cq_symbolics_select[] = {
    { "aten::nonzero", 7, .no = "ONNX tells what is not zero since opset 9" },
    /* A number is a row of one, whose place has no dimensions. */
    { "aten::nonzero", 9,
      .as    = "Transpose<perm = [1, 0]>(NonZero(cast(self, 'bool'))) if rank(self) > 0"
               " else no('a number has no dimensions')",
      .parts = "self.reshape([1]).nonzero().slice(1, 0, 0)" },
    { "aten::masked_select", 7, .no = "ONNX selects by a mask since opset 9" },
    { "aten::masked_select", 9, .fn = masked_select },
    { "aten::masked_scatter", 7, .fn = masked_scatter },
    { "aten::bincount", 7, .fn = bincount },
    { "aten::repeat_interleave.Tensor", 7, .fn = repeat_index },
    { "aten::searchsorted", 7, .fn = searchsorted },
    { "aten::_unique", 7, .no = "Unique came with opset 11" },
    { "aten::_unique", 11, .fn = unique },
    { "aten::_unique2", 7, .no = "Unique came with opset 11" },
    { "aten::_unique2", 11, .fn = unique },
    { "aten::unique_dim", 7, .no = "Unique came with opset 11" },
    { "aten::unique_dim", 11, .fn = unique },
    { "aten::unique_consecutive", 7, .no = "it needs CumSum, of opset 11" },
    { "aten::unique_consecutive", 11, .fn = unique_consecutive, .parts = DIFFERENT_SLICES },
    { "aten::unique_dim_consecutive", 7, .no = "slices are not compared as wholes" },
    { 0 },
};

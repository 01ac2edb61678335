/* Elements read and written one by one along a dimension.
 *
 * GatherElements and ScatterElements are PyTorch's gather and scatter since opset 11. Before,
 * places in the flat tensor do for reading. Writes that add up or take extremes need opset 16
 * and 18; before, a table says which source goes to which place, and is reduced. */
#include "export/arith.h"
#include "export/symbolic/places.h"

/* ---- gather ---- */

/* The flat place of element [i…, index, k…]: each dimension's place times its stride. */
static cq_value *flat_places(cq_sym *s, cq_value *x, cq_value *index, int axis)
{
    int       rank   = cq_sym_rank(s, x);
    cq_int    stride = cq_i(1);
    cq_value *sum    = NULL;

    for (int i = rank - 1; i >= 0 && s->status == CQ_OK; i--) {
        cq_value *at = index;

        if (i != axis) {
            cq_int shape[CQ_MAX_RANK];

            for (int k = 0; k < rank; k++)
                shape[k] = k == i ? cq_sym_size(s, index, i) : cq_i(1);
            at = cq_sym_reshape(s, cq_sym_iota(s, shape[i]), shape, (size_t)rank);
        }
        if (!cq_int_is(stride, 1))
            at = cq_sym_ints_op(s, "Mul", at, cq_sym_of_int(s, stride));
        sum    = sum ? cq_sym_ints_op(s, "Add", sum, at) : at;
        stride = cq_int_mul(CQ_SYMBOLS(s), stride, cq_sym_size(s, x, i));
    }
    if (sum && index)
        sum->type = index->type;
    return sum;
}

static cq_status gather(cq_sym *s)
{
    cq_value *x     = cq_sym_with_dims(s, cq_sym_in(s, "self")),
             *index = cq_sym_with_dims(s, cq_sym_in(s, "index"));
    int       rank = cq_sym_rank(s, x), axis = cq_sym_dim(s, "dim", rank);
    cq_int    n = cq_i(1);
    cq_value *v;

    if (cq_sym_opset(s) >= 11) {
        v = cq_sym_op(s, "GatherElements", CQ_IN(x, index), CQ_ATTR(cq_attr_i("axis", axis)));
    } else {
        for (int i = 0; i < rank; i++)
            n = cq_int_mul(CQ_SYMBOLS(s), n, cq_sym_size(s, x, i));
        v = cq_sym_op2(s, "Gather", cq_sym_reshape(s, x, &n, 1), flat_places(s, x, index, axis));
    }
    if (v && index)
        cq_sym_set_type(s, v, cq_sym_dtype(s, x), (size_t)index->type.rank, index->type.sizes);
    return cq_sym_done(s, cq_sym_in_sizes_of(s, v, 0));
}

/* ---- scatter ---- */

typedef struct scatter {
    cq_value *x, *index, *src; /* src has index's shape */
    int       axis, rank;
    bool      covers; /* index has x's sizes in all dimensions but axis */
} scatter;

/* The corner of src that index covers. */
static cq_value *corner(cq_sym *s, cq_value *src, const cq_value *index)
{
    for (int i = 0; s->status == CQ_OK && i < cq_sym_rank(s, index); i++)
        if (!cq_int_same(src->type.sizes[i], index->type.sizes[i])) {
            cq_int    sizes[CQ_MAX_RANK];
            cq_value *v = cq_sym_slice(s, src, i, cq_i(0), index->type.sizes[i], 1);

            memcpy(sizes, src->type.sizes, (size_t)src->type.rank * sizeof *sizes);
            sizes[i] = index->type.sizes[i];
            cq_sym_set_type(s, v, src->type.dtype, (size_t)src->type.rank, sizes);
            src = v;
        }
    return src;
}

static scatter read_scatter(cq_sym *s)
{
    scatter  c     = { .x = cq_sym_with_dims(s, cq_sym_in(s, "self")), .covers = true };
    cq_dtype dtype = cq_sym_dtype(s, c.x);

    c.index = cq_sym_with_dims(s, cq_sym_in(s, "index"));
    c.rank  = cq_sym_rank(s, c.x);
    c.axis  = cq_sym_dim(s, "dim", c.rank);
    if (s->status != CQ_OK)
        return c;
    if (cq_schema_find(s->op->schema, "src") >= 0)
        c.src = corner(s, cq_sym_with_dims(s, cq_sym_in_as(s, "src", dtype)), c.index);
    else
        c.src = cq_sym_expand_any(s, cq_sym_in_as(s, "value", dtype), c.index->type.sizes,
                                  (size_t)c.index->type.rank);
    for (int i = 0; i < c.rank && s->status == CQ_OK; i++)
        c.covers &= i == c.axis || cq_int_same(c.x->type.sizes[i], c.index->type.sizes[i]);
    return c;
}

static cq_status scatter_set(cq_sym *s)
{
    scatter c = read_scatter(s);

    return cq_sym_done(
        s, cq_sym_in_sizes_of(s, cq_sym_scatter(s, c.x, c.axis, c.index, c.src, NULL), 0));
}

/* ---- scatter with a reduction ---- */

typedef struct reduction {
    const char *name;    /* PyTorch's */
    const char *scatter; /* ScatterElements', since opset 16 (18 for extremes); NULL: none */
    const char *reduce, *combine;
    double      neutral;
} reduction;

static const reduction reductions[] = {
    { "add", "add", "ReduceSum", "Add", 0 },
    { "sum", "add", "ReduceSum", "Add", 0 },
    { "multiply", "mul", "ReduceProd", "Mul", 1 },
    { "prod", "mul", "ReduceProd", "Mul", 1 },
    { "mean", NULL, "ReduceSum", "Add", 0 },
    { "amax", "max", "ReduceMax", "Max", -__builtin_inf() },
    { "amin", "min", "ReduceMin", "Min", __builtin_inf() },
};

static int first_opset(const reduction *r)
{
    return !r->scatter                                                        ? 0
           : strcmp(r->scatter, "max") == 0 || strcmp(r->scatter, "min") == 0 ? 18
                                                                              : 16;
}

/* The least or greatest number of an integer dtype, in place of an infinity. */
static cq_value *neutral_of(cq_sym *s, cq_dtype dtype, double x)
{
    int64_t    bits = (int64_t)cq_dtype_size(dtype) * 8, value;
    cq_tensor *t    = NULL;
    cq_value  *v    = NULL;

    if (cq_dtype_is_float(dtype) || (x == 0 || x == 1))
        return cq_sym_const_f64(s, dtype, x);
    value = dtype == CQ_DTYPE_BOOL       ? x > 0
            : !cq_dtype_is_signed(dtype) ? x > 0 ? (INT64_C(1) << bits) - 1 : 0
            : x > 0                      ? (int64_t)(UINT64_MAX >> (65 - bits))
                                         : -(int64_t)(UINT64_MAX >> (65 - bits)) - 1;
    if (cq_sym_fail(s, cq_tensor_new(&t, CQ_DTYPE_I64, 0, NULL, &value)) == CQ_OK)
        v = cq_sym_cast(s, cq_sym_const(s, t), dtype);
    cq_tensor_release(t);
    return v;
}

/* [lanes…, sources, places]: whether a source goes to a place. axis is last in the lanes. */
static cq_value *table_of(cq_sym *s, const scatter *c)
{
    int64_t   last  = c->rank;
    cq_value *index = cq_sym_swap_dims(s, c->index, c->axis, c->rank - 1), *v;

    v = cq_sym_op2(s, "Equal", cq_sym_unsqueeze(s, index, &last, 1),
                   cq_sym_iota(s, cq_sym_size(s, c->x, c->axis)));
    cq_sym_set_dtype(s, v, CQ_DTYPE_BOOL);
    return v;
}

/* The sources of each place reduced; axis is last. */
static cq_value *reduce_table(cq_sym *s, const scatter *c, cq_value *table, cq_value *src,
                              const reduction *r)
{
    cq_dtype  dtype = cq_sym_dtype(s, c->x);
    int64_t   last = c->rank, over = c->rank - 1;
    cq_value *v;

    src = cq_sym_unsqueeze(s, cq_sym_swap_dims(s, src, c->axis, c->rank - 1), &last, 1);
    v   = cq_sym_op(s, "Where", CQ_IN(table, src, neutral_of(s, dtype, r->neutral)), CQ_NO_ATTR);
    cq_sym_set_dtype(s, v, dtype);
    v = cq_sym_reduce(s, r->reduce, v, &over, 1, false);
    cq_sym_set_dtype(s, v, dtype);
    return v;
}

static cq_value *count_of(cq_sym *s, const scatter *c, cq_value *table)
{
    int64_t   over = c->rank - 1;
    cq_value *v =
        cq_sym_reduce(s, "ReduceSum", cq_sym_cast(s, table, CQ_DTYPE_F32), &over, 1, false);

    cq_sym_set_dtype(s, v, CQ_DTYPE_F32);
    return v;
}

/* Max and Min take integers since opset 12. */
static cq_value *combined(cq_sym *s, const reduction *r, cq_value *a, cq_value *b)
{
    bool      extreme = r->combine[0] == 'M' && r->combine[1] != 'u';
    cq_dtype  dtype   = cq_sym_dtype(s, a);
    cq_value *v;

    if (extreme && cq_sym_opset(s) < 12 && !cq_dtype_is_float(dtype))
        v = cq_sym_op(s, "Where",
                      CQ_IN(cq_sym_op2(s, r->combine[1] == 'a' ? "Greater" : "Less", a, b), a, b),
                      CQ_NO_ATTR);
    else
        v = cq_sym_op2(s, r->combine, a, b);
    cq_sym_set_dtype(s, v, dtype);
    return v;
}

static cq_status by_table(cq_sym *s, const scatter *c, const reduction *r, bool with_self)
{
    cq_dtype  dtype = cq_sym_dtype(s, c->x);
    bool      mean  = strcmp(r->name, "mean") == 0;
    cq_value *x     = cq_sym_swap_dims(s, c->x, c->axis, c->rank - 1), *table, *v, *count;
    int64_t   perm[CQ_MAX_RANK];

    if (!cq_sym_since(s, 9, "it needs Where, of opset 9"))
        return s->status;
    if (!c->covers)
        return cq_sym_no(s, first_opset(r), "index is smaller than self beside dim");
    table = table_of(s, c);
    v     = reduce_table(s, c, table, c->src, r);
    if (with_self)
        v = combined(s, r, x, v);
    count = mean || !with_self ? count_of(s, c, table) : NULL;
    if (mean) {
        cq_value *one = cq_sym_const_f64(s, CQ_DTYPE_F32, 1); /* and never by none */
        cq_value *by  = cq_sym_op2(s, with_self ? "Add" : "Max", count, one);

        cq_sym_set_dtype(s, by, CQ_DTYPE_F32);
        by = cq_sym_cast(s, by, dtype);
        v  = cq_dtype_is_float(dtype) ? cq_sym_op2(s, "Div", v, by) : cq_sym_floor_divide(s, v, by);
    }
    if (!with_self) {
        v = cq_sym_op(
            s, "Where",
            CQ_IN(cq_sym_op2(s, "Greater", count, cq_sym_const_f64(s, CQ_DTYPE_F32, 0)), v, x),
            CQ_NO_ATTR);
    }
    cq_sym_set_type_of(v, x);
    for (int i = 0; i < c->rank; i++)
        perm[i] = i == c->axis ? c->rank - 1 : i == c->rank - 1 ? c->axis : i;
    if (c->axis != c->rank - 1)
        v = cq_sym_transpose(s, v, perm, (size_t)c->rank);
    return cq_sym_done(s, cq_sym_in_sizes_of(s, v, 0));
}

/* What ONNX, and ONNX Runtime, reduce. */
static cq_dtype reducible(cq_dtype d)
{
    return d == CQ_DTYPE_F32 || d == CQ_DTYPE_F64 || d == CQ_DTYPE_I32 || d == CQ_DTYPE_I64 ? d
           : cq_dtype_is_float(d) ? CQ_DTYPE_F32
                                  : CQ_DTYPE_I32;
}

static cq_status reduce_by(cq_sym *s, const char *name, bool with_self)
{
    scatter          c = read_scatter(s);
    const reduction *r = NULL;
    cq_value        *x, *neutral;

    c.src = cq_sym_cast(s, c.src, reducible(cq_sym_dtype(s, c.x)));
    c.x = x = cq_sym_cast(s, c.x, reducible(cq_sym_dtype(s, c.x)));

    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].name, name) == 0)
            r = &reductions[i];
    if (s->status != CQ_OK || !r)
        return s->status != CQ_OK ? s->status : cq_sym_no(s, 0, "the reduction \"%s\"", name);
    if (!r->scatter || cq_sym_opset(s) < first_opset(r))
        return by_table(s, &c, r, with_self);
    if (!with_self) { /* elements that are written to begin as what changes nothing */
        neutral = cq_sym_expand_any(s, neutral_of(s, cq_sym_dtype(s, x), r->neutral),
                                    c.index->type.sizes, (size_t)c.index->type.rank);
        x       = cq_sym_scatter(s, x, c.axis, c.index, neutral, NULL);
    }
    return cq_sym_done(
        s, cq_sym_in_sizes_of(s, cq_sym_scatter(s, x, c.axis, c.index, c.src, r->scatter), 0));
}

static cq_status scatter_add(cq_sym *s)
{
    return reduce_by(s, "add", true);
}

static cq_status scatter_reduce(cq_sym *s)
{
    return reduce_by(s, cq_sym_str(s, "reduce", ""),
                     cq_schema_find(s->op->schema, "include_self") < 0 ||
                         cq_sym_bool(s, "include_self"));
}

/* Of an index that is smaller than self beside dim; all other reductions are nodes then. */
#define MEAN                                                                                       \
    "if reduce != 'mean': raise NotImplementedError('index is smaller than self beside dim')\n"    \
    "zeros = zeros_like(index, dtype=self.dtype); n = ones_like(self)\n"                           \
    "x = self if include_self else self.scatter(dim, index, zeros)\n"                              \
    "if not include_self: n = n.scatter(dim, index, zeros)\n"                                      \
    "x = x.scatter_add(dim, index, src)\n"                                                         \
    "n = n.scatter_add(dim, index, ones_like(src)).clamp(min=1)\n"                                 \
    "return x / n if x.is_floating_point() else x.div(n, rounding_mode='floor')"

const cq_symbolic cq_symbolics_scatter[] = {
    { "aten::gather", 7, .fn = gather },
    { "aten::scatter.reduce", 7, .fn = scatter_reduce },
    { "aten::scatter.value_reduce", 7, .fn = scatter_reduce },
    { "aten::scatter", 7, .fn = scatter_set },
    { "aten::scatter_add", 7, .fn = scatter_add },
    { "aten::scatter_reduce.two", 7, .fn = scatter_reduce },
    { "aten::scatter_reduce.two", 16, .fn = scatter_reduce, .parts = MEAN },
    { 0 },
};

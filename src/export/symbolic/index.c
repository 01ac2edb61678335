/* Indexing with tensors.
 *
 * x[a, :, b] moves the indexed dimensions to the front, where GatherND reads, and ScatterND writes,
 * at tuples of indices; the dimensions of the indices are then moved to their position in PyTorch.
 * A mask is replaced by the indices of its true elements (NonZero). Before opset 11 the indexed
 * dimensions are flattened and the indices are single numbers, for Gather and Scatter. */
#include "export/symbolic/arith.h"
#include "export/symbolic/common.h"
#include "export/symbolic/positions.h"

static bool is_mask(cq_sym *s, const cq_value *v)
{
    return cq_sym_dtype(s, v) == CQ_DTYPE_BOOL || cq_sym_dtype(s, v) == CQ_DTYPE_U8;
}

/* ---- what x[…] names ---- */

typedef struct named {
    size_t    n;                 /* indexed dimensions */
    int64_t   dims[CQ_MAX_RANK]; /* of x, ascending */
    cq_value *at[CQ_MAX_RANK];   /* an index for each */
    size_t    rank;              /* of the indices, broadcast together */
    cq_int    sizes[CQ_MAX_RANK];
    bool      counted;   /* a mask is among them: its size is seen at run time only */
    size_t    first_dim; /* position of the indices' dimensions in the result */
    cq_value *mask;      /* the only index is a mask */
    cq_value *x;
} named;

/* The indices of the true elements of a mask of several dimensions: a row for each dimension. */
static void add_mask(cq_sym *s, named *m, cq_value *mask, size_t dim)
{
    int       rank = cq_sym_rank(s, mask);
    cq_value *rows;

    if (cq_sym_opset(s) < 9) {
        cq_sym_no(s, 9, "a mask as an index needs NonZero, of opset 9");
        return;
    }
    rows = cq_sym_op(s, "NonZero", CQ_IN(cq_sym_cast(s, mask, CQ_DTYPE_BOOL)), CQ_NO_ATTR);
    cq_sym_set_dtype(s, rows, CQ_DTYPE_I64);
    for (int i = 0; i < rank; i++) {
        m->dims[m->n] = (int64_t)dim + i;
        m->at[m->n++] = cq_sym_gather(s, rows, cq_sym_const_i64(s, i), 0);
    }
    m->rank    = m->rank ? m->rank : 1;
    m->counted = true;
    m->mask    = mask;
}

static void add_index(cq_sym *s, named *m, cq_value *index, size_t dim)
{
    size_t rank = (size_t)cq_sym_rank(s, index), n = rank > m->rank ? rank : m->rank;
    cq_int sizes[CQ_MAX_RANK];

    if (s->status != CQ_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        cq_int a = i < n - m->rank ? cq_i(1) : m->sizes[i - (n - m->rank)];
        cq_int b = i < n - rank ? cq_i(1) : index->type.sizes[i - (n - rank)];

        sizes[i] = cq_int_is(a, 1) || (a.value == 1 && b.value != 1) || (a.expr && !b.expr) ? b : a;
        if (cq_int_is(b, 1))
            sizes[i] = a;
    }
    memcpy(m->sizes, sizes, n * sizeof *sizes);
    m->rank       = n;
    m->dims[m->n] = (int64_t)dim;
    m->at[m->n++] = cq_sym_cast(s, index, CQ_DTYPE_I64);
}

static named named_by_args(cq_sym *s)
{
    named  m = { .x = cq_sym_in(s, "self") };
    size_t n = cq_sym_n_list(s, "indices"), dim = 0, n_given = 0;
    bool   together = true;

    for (size_t k = 0; k < n && s->status == CQ_OK; k++) {
        cq_value *index = cq_sym_in_at(s, "indices", k);
        bool      mask  = index && is_mask(s, index);

        if (mask)
            add_mask(s, &m, index, dim);
        else if (index)
            add_index(s, &m, index, dim);
        n_given += index != NULL;
        dim += mask ? (size_t)cq_sym_rank(s, index) : 1;
    }
    for (size_t i = 1; i < m.n; i++)
        together &= m.dims[i] == m.dims[i - 1] + 1;
    m.first_dim = together && m.n ? (size_t)m.dims[0] : 0;
    if (n_given != 1)
        m.mask = NULL;
    return m;
}

/* All indices in the shape that they have together. */
static void broadcast(cq_sym *s, named *m)
{
    cq_value *sum, *shape;

    if (!m->counted) {
        for (size_t i = 0; i < m->n; i++)
            m->at[i] = cq_sym_expand_any(s, m->at[i], m->sizes, m->rank);
        return;
    }
    if (m->mask || m->n == 1)
        return; /* all of one mask: the same shape already */
    sum = m->at[0];
    for (size_t i = 1; i < m->n; i++)
        sum = cq_sym_ints_op(s, "Add", sum, m->at[i]);
    shape = cq_sym_shape(s, sum);
    for (size_t i = 0; i < m->n; i++)
        m->at[i] = cq_sym_op(s, "Expand", CQ_IN(m->at[i], shape), CQ_NO_ATTR);
}

/* [indices…, n]: a tuple of n for each index. */
static cq_value *tuples(cq_sym *s, named *m)
{
    int64_t   last = (int64_t)m->rank;
    cq_value *columns[CQ_MAX_RANK];

    broadcast(s, m);
    for (size_t i = 0; i < m->n; i++)
        columns[i] = cq_sym_unsqueeze(s, m->at[i], &last, 1);
    if (s->status != CQ_OK)
        return NULL;
    return m->n == 1 ? columns[0]
                     : cq_sym_op(s, "Concat", columns, m->n, CQ_ATTR(cq_attr_i("axis", last)));
}

/* A linear index into the flattened dimensions for each tuple. */
static cq_value *joined_indices(cq_sym *s, const named *m)
{
    cq_value *v = NULL;

    for (size_t i = 0; i < m->n; i++) {
        cq_int    size = cq_sym_size(s, m->x, (int)m->dims[i]);
        cq_value *at   = cq_sym_from_begin(s, m->at[i], size, false);

        v = i ? cq_sym_ints_op(s, "Add", cq_sym_ints_op(s, "Mul", v, cq_sym_of_int(s, size)), at)
              : at;
    }
    return v;
}

/* x with its indexed dimensions in front, as one. */
static cq_value *joined(cq_sym *s, const named *m)
{
    int       rank = cq_sym_rank(s, m->x);
    cq_value *x    = cq_sym_to_front(s, m->x, m->dims, m->n);
    cq_int    sizes[CQ_MAX_RANK];
    size_t    n = 1;

    if (s->status != CQ_OK || m->n == 1)
        return x;
    sizes[0] = cq_i(1);
    for (int i = 0; i < rank; i++)
        if (i < (int)m->n)
            sizes[0] = cq_int_mul(CQ_SYMBOLS(s), sizes[0], x->type.sizes[i]);
        else
            sizes[n++] = x->type.sizes[i];
    return cq_sym_reshape(s, x, sizes, n);
}

/* Moves the dimensions of the indices from the front to their position. Its rank is the
 * result's. */
static cq_value *settle(cq_sym *s, cq_value *v, const named *m, bool back)
{
    size_t  rank = m->rank + (size_t)cq_sym_rank(s, m->x) - m->n;
    int64_t perm[CQ_MAX_RANK], to[CQ_MAX_RANK];

    if (s->status != CQ_OK || m->first_dim == 0 || rank > CQ_MAX_RANK)
        return v;
    for (size_t i = 0; i < rank; i++)
        perm[i] = (int64_t)(i < m->first_dim             ? m->rank + i
                            : i < m->first_dim + m->rank ? i - m->first_dim
                                                         : i);
    for (size_t i = 0; i < rank; i++)
        to[perm[i]] = (int64_t)i;
    return cq_sym_transpose(s, v, back ? to : perm, rank);
}

/* ---- reading ---- */

/* One mask: the masked dimensions, flattened, with Compress. */
static cq_status compress(cq_sym *s, const named *m)
{
    int       rank = cq_sym_rank(s, m->x), covered = cq_sym_rank(s, m->mask);
    cq_int    sizes[CQ_MAX_RANK], all              = cq_i(1);
    size_t    n = 0;
    cq_value *x = m->x, *mask = cq_sym_cast(s, m->mask, CQ_DTYPE_BOOL);

    if (cq_sym_dtype(s, x) == CQ_DTYPE_BF16) /* which Compress does not take */
        x = cq_sym_cast(s, x, CQ_DTYPE_F32);
    for (int i = 0; i < rank; i++) {
        if (i >= (int)m->first_dim && i < (int)m->first_dim + covered)
            all = cq_int_mul(CQ_SYMBOLS(s), all, cq_sym_size(s, x, i));
        if (i < (int)m->first_dim || i >= (int)m->first_dim + covered)
            sizes[n++] = cq_sym_size(s, x, i);
        else if (i == (int)m->first_dim)
            sizes[n++] = cq_i(0);
    }
    sizes[m->first_dim] = all;
    if (covered > 1) {
        x    = cq_sym_reshape(s, x, sizes, n);
        mask = cq_sym_reshape(s, mask, &all, 1);
    }
    x = cq_sym_op(s, "Compress", CQ_IN(x, mask), CQ_ATTR(cq_attr_i("axis", (int64_t)m->first_dim)));
    if (cq_sym_dtype(s, m->x) == CQ_DTYPE_BF16) {
        cq_sym_set_dtype(s, x, CQ_DTYPE_F32);
        x = cq_sym_cast(s, x, CQ_DTYPE_BF16);
    }
    return cq_sym_done(s, x);
}

static cq_status index_tensor(cq_sym *s)
{
    named     m = named_by_args(s);
    cq_value *v;

    CQ_TRY(s->status);
    if (m.mask)
        return compress(s, &m);
    if (m.n == 1)
        return cq_sym_done(
            s, cq_sym_gather(
                   s, m.x, cq_sym_from_begin(s, m.at[0], cq_sym_size(s, m.x, (int)m.dims[0]), true),
                   (int)m.dims[0]));
    if (cq_sym_opset(s) >= 11)
        v = cq_sym_op(s, "GatherND", CQ_IN(cq_sym_to_front(s, m.x, m.dims, m.n), tuples(s, &m)),
                      CQ_NO_ATTR);
    else
        v = cq_sym_op(s, "Gather", CQ_IN(joined(s, &m), joined_indices(s, &m)),
                      CQ_ATTR(cq_attr_i("axis", 0)));
    return cq_sym_done(s, settle(s, v, &m, false));
}

/* ---- writing ---- */

/* The values in the shape of x[…], with the dimensions of the indices in front. */
static cq_value *values_in_shape(cq_sym *s, named *m, cq_value *values)
{
    int       rank = cq_sym_rank(s, m->x);
    cq_int    sizes[CQ_MAX_RANK];
    cq_value *pieces[3], *indices = NULL;
    size_t    n = 0, at = 0;

    if (s->status != CQ_OK)
        return NULL;
    for (int i = 0; i < rank; i++) {
        bool indexed = false;

        for (size_t k = 0; k < m->n; k++)
            indexed |= m->dims[k] == i;
        if (!indexed)
            sizes[n++] = cq_sym_size(s, m->x, i);
    }
    if (!m->counted) {
        memmove(sizes + m->first_dim + m->rank, sizes + m->first_dim,
                (n - m->first_dim) * sizeof *sizes);
        memcpy(sizes + m->first_dim, m->sizes, m->rank * sizeof *sizes);
        return settle(s, cq_sym_expand_any(s, values, sizes, n + m->rank), m, true);
    }
    indices = cq_sym_shape(s, m->at[0]);
    if (m->first_dim)
        pieces[at++] = cq_sym_of_ints(s, sizes, m->first_dim);
    pieces[at++] = indices;
    if (n > m->first_dim)
        pieces[at++] = cq_sym_of_ints(s, sizes + m->first_dim, n - m->first_dim);
    if (s->status != CQ_OK)
        return NULL;
    if (at > 1)
        indices = cq_sym_op(s, "Concat", pieces, at, CQ_ATTR(cq_attr_i("axis", 0)));
    values = cq_sym_op(s, "Expand", CQ_IN(values, indices), CQ_NO_ATTR);
    return settle(s, values, m, true);
}

/* Where a mask is true, the same value everywhere. */
static cq_value *where_mask(cq_sym *s, const named *m, cq_value *value)
{
    int       rank = cq_sym_rank(s, m->x), covered = cq_sym_rank(s, m->mask);
    cq_int    sizes[CQ_MAX_RANK];
    size_t    n    = 0;
    cq_value *mask = cq_sym_cast(s, m->mask, CQ_DTYPE_BOOL), *v;

    for (int i = (int)m->first_dim; i < rank; i++)
        sizes[n++] = i < (int)m->first_dim + covered ? cq_sym_size(s, m->x, i) : cq_i(1);
    if ((int)m->first_dim + covered < rank)
        mask = cq_sym_reshape(s, mask, sizes, n);
    v = cq_sym_where(s, mask, value, m->x);
    cq_sym_set_type_of(v, m->x);
    return v;
}

/* Without reductions of Scatter: x plus a product that sums the values of equal indices. Column p
 * of the table is 1 where an index is p. */
static cq_value *add_by_table(cq_sym *s, cq_value *x, cq_value *indices, cq_value *values)
{
    cq_dtype  dtype = cq_sym_dtype(s, x);
    cq_int    n = cq_sym_size(s, x, 0), rest = cq_i(1), sizes[2], shape[CQ_MAX_RANK];
    int       rank = cq_sym_rank(s, x);
    int64_t   axis = 1, perm[2] = { 1, 0 };
    cq_value *table, *sum;

    if (s->status != CQ_OK)
        return NULL;
    if (!cq_dtype_is_float(dtype) && !cq_sym_since(s, 9, "products of integers need opset 9"))
        return NULL;
    for (int i = 0; i < rank; i++) {
        shape[i] = x->type.sizes[i];
        rest     = i ? cq_int_mul(CQ_SYMBOLS(s), rest, shape[i]) : rest;
    }
    sizes[0] = n;
    sizes[1] = rest;
    table = cq_sym_op(s, "Equal", CQ_IN(cq_sym_unsqueeze(s, indices, &axis, 1), cq_sym_iota(s, n)),
                      CQ_NO_ATTR);
    table = cq_sym_op(s, "Transpose", CQ_IN(table), CQ_ATTR(cq_attr_is(s, "perm", perm, 2)));
    cq_sym_set_dtype(s, table, CQ_DTYPE_BOOL);
    sum = cq_sym_op(s, "MatMul", CQ_IN(cq_sym_cast(s, table, dtype), values), CQ_NO_ATTR);
    cq_sym_set_type(s, sum, dtype, 2, sizes);
    sum = cq_sym_op(s, "Add", CQ_IN(x, cq_sym_reshape(s, sum, shape, (size_t)rank)), CQ_NO_ATTR);
    cq_sym_set_type_of(sum, x);
    return sum;
}

/* The flattened form of x, and values as [indices, rest]. */
static cq_value *write_joined(cq_sym *s, named *m, cq_value *values, bool add)
{
    cq_value *x     = joined(s, m), *indices, *v;
    int       rank  = cq_sym_rank(s, x);
    int64_t   row[] = { -1 }, table[2] = { -1, 1 }, one = 1;
    cq_int    rest = cq_i(1), sizes[2];

    broadcast(s, m);
    indices = cq_sym_reshape_i64(s, joined_indices(s, m), row, 1);
    for (int i = 1; i < rank; i++)
        rest = cq_int_mul(CQ_SYMBOLS(s), rest, cq_sym_size(s, x, i));
    if (s->status == CQ_OK && rest.expr) {
        values = cq_sym_op(s, "Reshape",
                           CQ_IN(values, cq_sym_of_ints(s, (cq_int[]){ cq_i(-1), rest }, 2)),
                           CQ_NO_ATTR);
    } else {
        table[1] = rest.value;
        values   = cq_sym_reshape_i64(s, values, table, 2);
    }
    if (add)
        return add_by_table(s, x, indices, values);
    sizes[0] = cq_sym_size(s, x, 0);
    sizes[1] = rest;
    if (s->status != CQ_OK)
        return NULL;
    v       = cq_sym_reshape(s, x, sizes, 2);
    indices = cq_sym_op(s, "Expand",
                        CQ_IN(cq_sym_unsqueeze(s, indices, &one, 1), cq_sym_shape(s, values)),
                        CQ_NO_ATTR);
    v       = cq_sym_scatter(s, v, 0, indices, values, NULL);
    return cq_sym_reshape(s, v, x->type.sizes, (size_t)rank);
}

static cq_status index_put(cq_sym *s)
{
    named     m      = named_by_args(s);
    bool      add    = cq_sym_bool(s, "accumulate");
    cq_value *values = cq_sym_in(s, "values"), *v, *front;

    CQ_TRY(s->status);
    if (add) { /* ONNX Runtime adds no halves while it scatters */
        m.x    = cq_sym_widen(s, m.x);
        values = cq_sym_widen(s, values);
    }
    if (m.mask && !add && cq_sym_rank(s, values) == 0)
        return cq_sym_done(s, where_mask(s, &m, values));
    if (cq_sym_opset(s) >= (add ? 16 : 11)) {
        cq_value *at = tuples(s, &m);

        front = cq_sym_to_front(s, m.x, m.dims, m.n);
        v     = cq_sym_op(s, "ScatterND", CQ_IN(front, at, values_in_shape(s, &m, values)),
                          CQ_ATTR(add ? cq_attr_s("reduction", "add") : (cq_attr){ 0 }));
        cq_sym_set_type_of(v, front);
    } else {
        broadcast(s, &m);
        v     = write_joined(s, &m, values_in_shape(s, &m, values), add);
        front = cq_sym_to_front(s, m.x, m.dims, m.n);
        if (front && m.n > 1)
            v = cq_sym_reshape(s, v, front->type.sizes, (size_t)front->type.rank);
    }
    return cq_sym_done(s, cq_sym_from_front(s, v, m.dims, m.n));
}

/* ---- slices by number ---- */

static cq_value *as_row(cq_sym *s, cq_value *index)
{
    int64_t zero = 0;

    return cq_sym_rank(s, index) ? index : cq_sym_unsqueeze(s, index, &zero, 1);
}

/* source in the sizes of x, but along axis. */
static cq_value *as_wide_as(cq_sym *s, cq_value *source, cq_value *x, int axis)
{
    int     rank = cq_sym_rank(s, x), lack = rank - cq_sym_rank(s, source);
    bool    wider = false;
    int64_t axes[CQ_MAX_RANK];
    cq_int  sizes[CQ_MAX_RANK];

    for (int i = 0; i < lack; i++)
        axes[i] = axis + 1 + i;
    if (lack > 0)
        source = cq_sym_unsqueeze(s, source, axes, (size_t)lack);

    for (int i = 0; i < rank; i++) {
        cq_int have = cq_sym_size(s, source, i);

        sizes[i] = i == axis ? have : cq_sym_size(s, x, i);
        wider |= i != axis && cq_int_is(have, 1) && !cq_int_is(sizes[i], 1);
    }
    return wider ? cq_sym_expand_any(s, source, sizes, (size_t)rank) : source;
}

static cq_status index_add(cq_sym *s)
{
    cq_value *x      = cq_sym_widen(s, cq_sym_in(s, "self")),
             *source = cq_sym_widen(s, cq_sym_in(s, "source")), *v;
    int       rank   = cq_sym_rank(s, x);
    int64_t   axis = cq_sym_dim(s, "dim", rank), one = 1, table[2] = { -1, 1 };
    cq_value *index = cq_sym_cast(s, as_row(s, cq_sym_in(s, "index")), CQ_DTYPE_I64);
    cq_int    rest  = cq_i(1);

    if (cq_sym_rank(s, source) > 1 && rank > 1)
        source = as_wide_as(s, source, x, (int)axis);
    if (s->status == CQ_OK && cq_sym_f64(s, "alpha") != 1) {
        v = cq_sym_op(s, "Mul", CQ_IN(source, cq_sym_in_as(s, "alpha", cq_sym_dtype(s, x))),
                      CQ_NO_ATTR);
        cq_sym_set_type_of(v, source);
        source = v;
    }
    if (rank == 0) {
        v = cq_sym_op(s, "Add", CQ_IN(x, cq_sym_reshape_i64(s, source, NULL, 0)), CQ_NO_ATTR);
        cq_sym_set_type_of(v, x);
        return cq_sym_done(s, v);
    }
    x      = cq_sym_to_front(s, x, &axis, 1);
    source = cq_sym_to_front(s, source, &axis, 1);
    if (cq_sym_opset(s) >= 16) {
        v = cq_sym_op(s, "ScatterND", CQ_IN(x, cq_sym_unsqueeze(s, index, &one, 1), source),
                      CQ_ATTR(cq_attr_s("reduction", "add")));
        cq_sym_set_type_of(v, x);
    } else {
        for (int i = 1; i < rank; i++)
            rest = cq_int_mul(CQ_SYMBOLS(s), rest, cq_sym_size(s, x, i));
        table[1] = rest.value;
        source   = rest.expr
                       ? cq_sym_reshape(s, source, (cq_int[]){ cq_sym_size(s, index, 0), rest }, 2)
                       : cq_sym_reshape_i64(s, source, table, 2);
        v        = add_by_table(s, x, index, source);
    }
    return cq_sym_done(s, cq_sym_from_front(s, v, &axis, 1));
}

const cq_symbolic cq_symbolics_index[] = {
    { "aten::index", 7, .fn = index_tensor },
    { "aten::index_put", 9, .fn = index_put },
    { "aten::_index_put_impl", 9, .fn = index_put },
    { "aten::index_add", 7, .fn = index_add },
    { 0 },
};

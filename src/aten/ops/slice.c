/* Views of a part of a tensor, and the copies with a part replaced (slice_scatter …) by which a
 * change of a part is written back. Lists of parts are split.c's. A part has one geometry
 * function; its view shows a tensor through it and its scatter writes through it. */
#include "aten/ops/geometry.h"

typedef cq_status geometry_fn(cq_opcall *c, const cq_tensor *self, cq_geometry *g);

static cq_status part_view(cq_opcall *c, geometry_fn *geometry)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g;

    CQ_TRY(geometry(c, self, &g));
    return cq_geometry_result(c, self, &g);
}

static cq_status scatter_shape(cq_opcall *c, geometry_fn *geometry)
{
    cq_tensor  *self = cq_arg_tensor(c, "self"), *src = cq_arg_tensor(c, "src");
    cq_geometry g;
    bool        same;

    CQ_TRY(geometry(c, self, &g));
    same = src->rank == g.rank;
    for (size_t i = 0; same && i < g.rank; i++)
        same = src->sizes[i].value == g.sizes[i].value;
    if (!same)
        return cq_call_fail(c, CQ_E_ARGUMENT, "src has not the sizes of the part it replaces");
    return cq_result_like(c, 0, self, self->dtype);
}

static cq_status scatter_run(cq_opcall *c, geometry_fn *geometry)
{
    cq_tensor  *out = cq_result_tensor(c, 0);
    cq_geometry g;

    CQ_TRY(cq_tensor_copy_into(out, cq_arg_tensor(c, "self")));
    CQ_TRY(geometry(c, out, &g));
    return cq_geometry_write(out, &g, cq_arg_tensor(c, "src"));
}

/* The functions of the rows of a part. */
#define PART(name)                                                                                 \
    static cq_status name##_view(cq_opcall *c)                                                     \
    {                                                                                              \
        return part_view(c, name##_geometry);                                                      \
    }                                                                                              \
    static cq_status name##_scatter_shape(cq_opcall *c)                                            \
    {                                                                                              \
        return scatter_shape(c, name##_geometry);                                                  \
    }                                                                                              \
    static cq_status name##_scatter_run(cq_opcall *c)                                              \
    {                                                                                              \
        return scatter_run(c, name##_geometry);                                                    \
    }

/* ---- slice ---- */

static cq_status slice_geometry(cq_opcall *c, const cq_tensor *self, cq_geometry *g)
{
    size_t dim   = (size_t)cq_arg_dim(c, "dim", self->rank);
    cq_int start = cq_arg_is_none(c, "start") ? cq_i(0) : cq_arg_int(c, "start");
    cq_int end   = cq_arg_is_none(c, "end") ? cq_i(INT64_MAX) : cq_arg_int(c, "end");
    cq_int step  = cq_arg_int(c, "step");

    if (!self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a tensor without dimensions cannot be sliced");
    if (step.value <= 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "step must be positive, not %lld",
                            (long long)step.value);
    *g              = cq_geometry_of(self);
    g->sizes[dim]   = cq_slice_size(c, self->sizes[dim], &start, &end, step);
    g->strides[dim] = cq_stride_times(g->strides[dim], step.value);
    g->offset += start.value * self->strides[dim];
    return c->cx->status;
}

PART(slice)

/* ---- select ---- */

static cq_status select_geometry(cq_opcall *c, const cq_tensor *self, cq_geometry *g)
{
    size_t dim   = (size_t)cq_arg_dim(c, "dim", self->rank);
    cq_int index = cq_arg_int(c, "index");

    if (!self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "a tensor without dimensions has nothing to select from");
    if (index.value < -self->sizes[dim].value || index.value >= self->sizes[dim].value) {
        if (!cq_size_is_dont_care(c, self->sizes[dim]))
            return cq_call_fail(c, CQ_E_ARGUMENT, "index %lld is out of range for size %lld",
                                (long long)index.value, (long long)self->sizes[dim].value);
        index.value = 0;
    }
    if (index.value < 0)
        index.value += self->sizes[dim].value;
    *g = cq_geometry_of(self);
    g->offset += index.value * self->strides[dim];
    cq_geometry_drop(g, dim);
    return c->cx->status;
}

PART(select)

/* The first element of a row is still known (batch_sizes[0] of a packed sequence). */
static cq_status select_known(cq_opcall *c)
{
    const cq_tensor *self = cq_arg_tensor(c, "self");
    const cq_int     at   = cq_arg_int(c, "index");

    CQ_TRY(select_view(c));
    return self->known && self->rank == 1 && at.value == 0 && !at.expr
               ? cq_tensor_set_known(cq_result_tensor(c, 0), self->known, 1)
               : CQ_OK;
}

static cq_status unbind_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    size_t      dim  = (size_t)cq_arg_dim(c, "dim", self->rank), n;
    cq_geometry g    = cq_geometry_of(self);
    cq_tensor **items;

    if (!self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a tensor without dimensions cannot be unbound");
    n     = (size_t)self->sizes[dim].value;
    items = cq_alloc_array(n, sizeof *items);
    if (!items)
        return CQ_E_NO_MEMORY;
    if (self->sizes[dim].expr && c->cx->listener)
        c->cx->listener->baked(c->cx->listener_self, c->cx, "the number of tensors of unbind",
                               self->sizes[dim]);
    cq_geometry_drop(&g, dim);
    for (size_t i = 0; i < n; i++) {
        cq_geometry_result(c, self, &g);
        items[i] = cq_result_tensor(c, 0);
        g.offset += self->strides[dim];
    }
    if (c->cx->status == CQ_OK)
        cq_result_set_tensors(c, 0, items, n);
    cq_free(items);
    return c->cx->status;
}

/* ---- diagonal ---- */

static cq_status diagonal_geometry(cq_opcall *c, const cq_tensor *self, cq_geometry *g)
{
    size_t      a      = (size_t)cq_arg_dim(c, "dim1", self->rank);
    size_t      b      = (size_t)cq_arg_dim(c, "dim2", self->rank);
    int64_t     offset = cq_arg_i64(c, "offset"), stride;
    cq_symbols *table  = c->cx->symbols;
    cq_int      rows, columns, n;

    if (self->rank < 2 || a == b)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected two different dimensions");
    *g      = cq_geometry_of(self);
    rows    = self->sizes[a];
    columns = self->sizes[b];
    if (offset >= 0)
        columns = cq_size_sub(c, columns, cq_i(offset));
    else
        rows = cq_size_add(c, rows, cq_i(offset));
    n = cq_int_min(table, rows, columns);
    if (n.value <= 0)
        n = cq_int_max(table, n, cq_i(0));
    if (n.value > 0)
        g->offset += offset >= 0 ? offset * self->strides[b] : -offset * self->strides[a];
    stride = self->strides[a] + self->strides[b];
    cq_geometry_drop(g, a > b ? a : b);
    cq_geometry_drop(g, a > b ? b : a);
    cq_geometry_insert(g, g->rank, n, stride);
    return c->cx->status;
}

PART(diagonal)

/* ---- unfold: windows along a dimension ---- */

static cq_status unfold_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    size_t      dim  = (size_t)cq_arg_dim(c, "dimension", self->rank);
    int64_t     size = cq_arg_i64(c, "size"), step = cq_arg_i64(c, "step");
    int64_t     stride = self->rank ? self->strides[dim] : 1;
    cq_int      whole  = self->rank ? self->sizes[dim] : cq_i(1);
    cq_geometry g      = cq_geometry_of(self);

    if (size < 0 || size > whole.value || step <= 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "windows of %lld every %lld do not fit in size %lld",
                            (long long)size, (long long)step, (long long)whole.value);
    if (self->rank) {
        g.sizes[dim] = cq_size_add(
            c, cq_size_floordiv(c, cq_size_sub(c, whole, cq_i(size)), cq_i(step)), cq_i(1));
        g.strides[dim] = cq_stride_times(stride, step);
    }
    cq_geometry_insert(&g, g.rank, cq_i(size), stride);
    return cq_geometry_result(c, self, &g);
}

/* ---- as_strided: any look at the memory ---- */

/* A tensor with data is checked against its storage; a fake tensor against its elements. */
static bool is_inside(const cq_tensor *self, const cq_geometry *g)
{
    int64_t last = g->offset, reach;
    bool    bad  = g->offset < 0;

    for (size_t i = 0; i < g->rank; i++)
        if (g->sizes[i].value == 0)
            return true;
    for (size_t i = 0; i < g->rank; i++) {
        bad |= __builtin_mul_overflow(g->sizes[i].value - 1, g->strides[i], &reach);
        bad |= __builtin_add_overflow(last, reach, &last);
    }
    return !bad && last < cq_tensor_numel(self);
}

static cq_status as_strided_geometry(cq_opcall *c, const cq_tensor *self, cq_geometry *g)
{
    g->rank = cq_arg_ints(c, "size", g->sizes, CQ_MAX_RANK);
    g->offset =
        cq_arg_is_none(c, "storage_offset") ? self->offset : cq_arg_i64(c, "storage_offset");
    if (cq_arg_i64s(c, "stride", g->strides, CQ_MAX_RANK) != g->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "size and stride differ in length");
    for (size_t i = 0; i < g->rank; i++)
        if (g->strides[i] < 0 || g->sizes[i].value < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "sizes and strides must not be negative");
    if (cq_tensor_is_fake(self) && c->cx->status == CQ_OK && !is_inside(self, g))
        return cq_call_fail(c, CQ_E_ARGUMENT, "reaches outside of the memory of %lld elements",
                            (long long)cq_tensor_numel(self));
    return c->cx->status;
}

/* A graph has the elements of a tensor but not the memory around them. */
static cq_status as_strided_view(cq_opcall *c)
{
    const cq_tensor *self = cq_arg_tensor(c, "self");

    if (cq_tensor_is_fake(self) && (self->offset || !cq_tensor_is_contiguous(self)))
        return cq_call_fail(c, CQ_E_UNSUPPORTED,
                            "as_strided of a part of a tensor cannot be captured");
    return part_view(c, as_strided_geometry);
}

static cq_status as_strided_scatter_shape(cq_opcall *c)
{
    if (!cq_tensor_is_contiguous(cq_arg_tensor(c, "self")))
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "expected a contiguous tensor to write into");
    return scatter_shape(c, as_strided_geometry);
}

/* The offset is relative to self's memory; the result has separate memory. */
static cq_status as_strided_scatter_run(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self"), *out = cq_result_tensor(c, 0);
    cq_geometry g;

    CQ_TRY(as_strided_geometry(c, self, &g));
    g.offset -= self->offset;
    CQ_TRY(cq_tensor_copy_into(out, self));
    return cq_geometry_write(out, &g, cq_arg_tensor(c, "src"));
}

const cq_op_def cq_ops_slice[] = {
    CQ_VIEW("aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? "
            "end=None, SymInt step=1) -> Tensor(a)",
            "elements from start to end along a dimension", slice_view),
    CQ_KERNEL("aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
              "SymInt? end=None, SymInt step=1) -> Tensor",
              "a copy in which src replaces a slice", slice_scatter_shape, slice_scatter_run),
    CQ_VIEW("aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
            "one index of a dimension, which is removed", select_known),
    CQ_KERNEL("aten::select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
              "a copy in which src replaces one index of a dimension", select_scatter_shape,
              select_scatter_run),
    CQ_VIEW("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
            "one tensor for each index of a dimension", unbind_view),
    CQ_VIEW("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
            "the diagonal of two dimensions, as the last one", diagonal_view),
    CQ_KERNEL("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int "
              "dim2=1) -> Tensor",
              "a copy in which src replaces a diagonal", diagonal_scatter_shape,
              diagonal_scatter_run),
    CQ_VIEW("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
            "windows along a dimension, as the last one", unfold_view),
    CQ_VIEW("aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
            "storage_offset=None) -> Tensor(a)",
            "a view with given sizes and strides", as_strided_view),
    CQ_KERNEL("aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
              "SymInt? storage_offset=None) -> Tensor",
              "a copy in which src replaces the elements of as_strided", as_strided_scatter_shape,
              as_strided_scatter_run),
    { 0 },
};

/* Views of a part of a tensor, lists of such views, and the copies with a part replaced
 * (slice_scatter …) by which a change of a part is written back. A part has one geometry
 * function; its view shows a tensor through it and its scatter writes through it. */
#include "aten/geometry.h"

typedef cq_status geometry_fn(cq_opcall *c, const cq_tensor *self, cq_geometry *g);

static cq_status part_view(cq_opcall *c, geometry_fn *geometry)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    cq_geometry g;

    CQ_TRY(geometry(c, self, &g));
    cq_geometry_result(c, self, &g);
    return c->cx->status;
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
    cq_result_like(c, 0, self, self->dtype);
    return c->cx->status;
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
    *g            = cq_geometry_of(self);
    g->sizes[dim] = cq_slice_size(c, self->sizes[dim], &start, &end, step);
    g->strides[dim] *= step.value;
    g->offset += start.value * self->strides[dim];
    return c->cx->status;
}

PART(slice)

static cq_tensor *slice_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    (void)index;
    return CQ_OP(c->cx, "aten::slice_scatter", T(base), T(changed), cq_arg_val(c, "dim"),
                 cq_arg_val(c, "start"), cq_arg_val(c, "end"), cq_arg_val(c, "step"));
}

static cq_tensor *slice(cq_ctx *cx, cq_tensor *t, int64_t dim, cq_int start, cq_int end)
{
    return CQ_OP(cx, "aten::slice.Tensor", T(t), I(dim), N(start), N(end), I(1));
}

static cq_status narrow_from(cq_opcall *c, cq_int start)
{
    cq_tensor *self   = cq_arg_tensor(c, "self");
    int        dim    = cq_arg_dim(c, "dim", self->rank);
    cq_int     length = cq_arg_int(c, "length"), size;

    if (!self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a tensor without dimensions cannot be narrowed");
    size = self->sizes[dim];
    if (start.value < 0)
        start = cq_size_add(c, start, size);
    if (length.value < 0 || start.value < 0 || start.value > size.value ||
        length.value > size.value - start.value)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld elements from %lld are not within size %lld",
                            (long long)length.value, (long long)start.value, (long long)size.value);
    cq_result_set_tensor(c, 0, slice(c->cx, self, dim, start, cq_size_add(c, start, length)));
    return c->cx->status;
}

static cq_status narrow_compose(cq_opcall *c)
{
    return narrow_from(c, cq_arg_int(c, "start"));
}

/* The start is a number in a tensor. */
static cq_status narrow_tensor_compose(cq_opcall *c)
{
    cq_val start[1];

    CQ_TRY(cq_op_call(c->cx, cq_op_find("aten::Int.Tensor"), (cq_val[]){ cq_arg_val(c, "start") },
                      1, start, 1));
    return narrow_from(c, start[0].u.i);
}

/* ---- select ---- */

static cq_status select_geometry(cq_opcall *c, const cq_tensor *self, cq_geometry *g)
{
    size_t dim   = (size_t)cq_arg_dim(c, "dim", self->rank);
    cq_int index = cq_arg_int(c, "index");

    if (!self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "a tensor without dimensions has nothing to select from");
    if (index.value < -self->sizes[dim].value || index.value >= self->sizes[dim].value)
        return cq_call_fail(c, CQ_E_ARGUMENT, "index %lld is out of range for size %lld",
                            (long long)index.value, (long long)self->sizes[dim].value);
    if (index.value < 0)
        index.value += self->sizes[dim].value;
    *g = cq_geometry_of(self);
    g->offset += index.value * self->strides[dim];
    cq_geometry_drop(g, dim);
    return c->cx->status;
}

PART(select)

static cq_tensor *select_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    (void)index;
    return CQ_OP(c->cx, "aten::select_scatter", T(base), T(changed), cq_arg_val(c, "dim"),
                 cq_arg_val(c, "index"));
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
        items[i] = cq_geometry_result(c, self, &g);
        g.offset += self->strides[dim];
    }
    if (c->cx->status == CQ_OK)
        cq_result_set_tensors(c, 0, items, n);
    cq_free(items);
    return c->cx->status;
}

static cq_tensor *unbind_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    return CQ_OP(c->cx, "aten::select_scatter", T(base), T(changed), cq_arg_val(c, "dim"),
                 I((int64_t)index));
}

/* ---- split ---- */

/* The sizes of the parts: a list of them, or one for all but the last. Freed by the
 * caller. */
static cq_status sizes_of_parts(cq_opcall *c, const cq_tensor *self, size_t dim, cq_int **sizes,
                                size_t *n)
{
    const cq_val *given = &c->args[1];
    cq_int        whole = self->sizes[dim], each, sum = cq_i(0);

    if (given->kind == CQ_VAL_LIST) {
        *n     = given->u.list->n;
        *sizes = cq_alloc_array(*n, sizeof **sizes);
        if (!*sizes)
            return CQ_E_NO_MEMORY;
        for (size_t i = 0; i < *n; i++) {
            (*sizes)[i] = given->u.list->items[i].u.i;
            sum         = cq_size_add(c, sum, (*sizes)[i]);
            if ((*sizes)[i].value < 0)
                sum.value = -1;
        }
        if (sum.value == whole.value)
            return CQ_OK;
        cq_free(*sizes);
        return cq_call_fail(c, CQ_E_ARGUMENT, "the sizes of the parts make not %lld",
                            (long long)whole.value);
    }
    each = given->u.i;
    if (each.value < 0 || (each.value == 0 && whole.value != 0))
        return cq_call_fail(c, CQ_E_ARGUMENT, "parts of size %lld cannot make %lld",
                            (long long)each.value, (long long)whole.value);
    *n     = whole.value == 0 ? 1 : (size_t)((whole.value - 1) / each.value + 1);
    *sizes = cq_alloc_array(*n, sizeof **sizes);
    if (!*sizes)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i + 1 < *n; i++)
        (*sizes)[i] = each;
    (*sizes)[*n - 1] = cq_size_sub(c, whole, cq_size_mul(c, each, cq_i((int64_t)*n - 1)));
    return CQ_OK;
}

static cq_status split_view(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self");
    size_t      dim  = (size_t)cq_arg_dim(c, "dim", self->rank), n;
    cq_geometry g    = cq_geometry_of(self);
    cq_tensor **items;
    cq_int     *sizes;

    if (!self->rank)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a tensor without dimensions cannot be split");
    CQ_TRY(sizes_of_parts(c, self, dim, &sizes, &n));
    items = cq_alloc_array(n, sizeof *items);
    for (size_t i = 0; items && i < n; i++) {
        g.sizes[dim] = sizes[i];
        items[i]     = cq_geometry_result(c, self, &g);
        g.offset += sizes[i].value * self->strides[dim];
    }
    if (!items)
        cq_ctx_fail(c->cx, CQ_E_NO_MEMORY);
    else if (c->cx->status == CQ_OK)
        cq_result_set_tensors(c, 0, items, n);
    cq_free(items);
    cq_free(sizes);
    return c->cx->status;
}

static cq_tensor *split_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    size_t  dim = (size_t)cq_arg_dim(c, "dim", base->rank), n;
    cq_int *sizes, start = cq_i(0), end;

    if (sizes_of_parts(c, base, dim, &sizes, &n) != CQ_OK)
        return NULL;
    for (size_t i = 0; i < index; i++)
        start = cq_size_add(c, start, sizes[i]);
    end = cq_size_add(c, start, sizes[index]);
    cq_free(sizes);
    return CQ_OP(c->cx, "aten::slice_scatter", T(base), T(changed), I((int64_t)dim), N(start),
                 N(end), I(1));
}

static cq_status call_list(cq_opcall *c, const char *name, cq_val a, cq_val b, cq_val d)
{
    return cq_op_call(c->cx, cq_op_find(name), (cq_val[]){ a, b, d }, 3, c->results, 1);
}

static cq_status unsafe_split_compose(cq_opcall *c)
{
    return call_list(
        c, c->args[1].kind == CQ_VAL_LIST ? "aten::split_with_sizes" : "aten::split.Tensor",
        c->args[0], c->args[1], c->args[2]);
}

/* At most chunks parts of equal size, the last one smaller. */
static cq_status chunk_compose(cq_opcall *c)
{
    cq_tensor *self   = cq_arg_tensor(c, "self");
    size_t     dim    = (size_t)cq_arg_dim(c, "dim", self->rank);
    cq_int     chunks = cq_arg_int(c, "chunks"), each;

    if (!self->rank || chunks.value <= 0)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "wants a tensor with dimensions and a positive number of chunks");
    each = cq_size_floordiv(c, cq_size_add(c, self->sizes[dim], cq_size_sub(c, chunks, cq_i(1))),
                            chunks);
    if (self->sizes[dim].value == 0) { /* all of them, empty */
        cq_val  none  = cq_i64s(c->cx, NULL, 0);
        cq_val *sizes = none.kind == CQ_VAL_LIST ? &none : NULL;

        for (int64_t i = 0; sizes && i < chunks.value; i++)
            CQ_TRY(cq_list_push(sizes->u.list, I(0)));
        return call_list(c, "aten::split_with_sizes", c->args[0], none, I((int64_t)dim));
    }
    return call_list(c, "aten::split.Tensor", c->args[0], N(each), I((int64_t)dim));
}

/* ---- tensor_split ---- */

static cq_status split_at(cq_opcall *c, cq_tensor *self, int64_t dim, const cq_int *at, size_t n)
{
    cq_tensor **items = cq_alloc_array(n + 1, sizeof *items);
    cq_int      start = cq_i(0);

    if (!items)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i <= n; i++) {
        cq_int end = i < n ? at[i] : self->sizes[dim];

        items[i] = slice(c->cx, self, dim, start, end);
        start    = end;
    }
    if (c->cx->status == CQ_OK)
        cq_result_set_tensors(c, 0, items, n + 1);
    cq_free(items);
    return c->cx->status;
}

/* Sections whose sizes differ by one at most, the larger ones first. */
static cq_status split_evenly(cq_opcall *c, cq_tensor *self, int64_t dim, int64_t sections)
{
    cq_symbols *table = c->cx->symbols;
    cq_int      size = self->sizes[dim], n = cq_i(sections), *at;
    cq_status   status;

    if (sections <= 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants a positive number of sections, not %lld",
                            (long long)sections);
    at = cq_alloc_array((size_t)sections, sizeof *at);
    if (!at)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 1; i < sections; i++)
        at[i - 1] = cq_size_add(c, cq_size_mul(c, cq_i(i), cq_size_floordiv(c, size, n)),
                                cq_int_min(table, cq_i(i), cq_int_mod(table, size, n)));
    status = split_at(c, self, dim, at, (size_t)sections - 1);
    cq_free(at);
    return status;
}

static cq_status split_by_list(cq_opcall *c, cq_tensor *self, int64_t dim, const cq_list *indices)
{
    cq_int   *at = cq_alloc_array(indices->n, sizeof *at);
    cq_status status;

    if (!at)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < indices->n; i++)
        at[i] = indices->items[i].u.i;
    status = split_at(c, self, dim, at, indices->n);
    cq_free(at);
    return status;
}

/* Both forms of an argument: the number of sections, or the places to split at. */
static cq_status split_by(cq_opcall *c, int64_t dim, cq_val by)
{
    cq_tensor *self = cq_arg_tensor(c, "self");

    if (self->rank <= (size_t)dim)
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at least %lld dimensions but got %u",
                            (long long)dim + 1, (unsigned)self->rank);
    if (by.kind == CQ_VAL_LIST)
        return split_by_list(c, self, dim, by.u.list);
    return split_evenly(c, self, dim, by.u.i.value);
}

static cq_status tensor_split_compose(cq_opcall *c)
{
    return split_by(c, cq_arg_dim(c, "dim", cq_arg_tensor(c, "self")->rank), c->args[1]);
}

static cq_status tensor_split_by_tensor_compose(cq_opcall *c)
{
    cq_tensor *by;
    int64_t    n;
    cq_val     list;

    CQ_TRY(cq_call_data(c, &by, cq_arg_tensor(c, "tensor_indices_or_sections")));
    n = cq_tensor_numel(by);
    if (by->rank > 1 || by->dtype != CQ_DTYPE_I64)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "wants an int64 tensor of at most one dimension to "
                            "split by");
    list = cq_i64s(c->cx, NULL, 0);
    for (int64_t i = 0; list.kind == CQ_VAL_LIST && i < n; i++)
        CQ_TRY(cq_list_push(list.u.list, I(cq_tensor_get_i64(by, i))));
    return split_by(c, cq_arg_dim(c, "dim", cq_arg_tensor(c, "self")->rank),
                    by->rank ? list : I(cq_tensor_get_i64(by, 0)));
}

/* These, unlike tensor_split, want equal sections. */
static cq_status split_along(cq_opcall *c, size_t dim)
{
    const cq_tensor *self = cq_arg_tensor(c, "self");
    const cq_val    *by   = &c->args[1];

    if (by->kind == CQ_VAL_INT && dim < self->rank && by->u.i.value > 0 &&
        self->sizes[dim].value % by->u.i.value)
        return cq_call_fail(c, CQ_E_ARGUMENT, "size %lld does not make %lld equal sections",
                            (long long)self->sizes[dim].value, (long long)by->u.i.value);
    return split_by(c, (int64_t)dim, *by);
}

static cq_status hsplit_compose(cq_opcall *c)
{
    return split_along(c, cq_arg_tensor(c, "self")->rank > 1);
}

static cq_status vsplit_compose(cq_opcall *c)
{
    return split_along(c, 0);
}

static cq_status dsplit_compose(cq_opcall *c)
{
    return split_along(c, 2);
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
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants two different dimensions");
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

static cq_tensor *diagonal_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    (void)index;
    return CQ_OP(c->cx, "aten::diagonal_scatter", T(base), T(changed), cq_arg_val(c, "offset"),
                 cq_arg_val(c, "dim1"), cq_arg_val(c, "dim2"));
}

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
        g.strides[dim] = stride * step;
    }
    cq_geometry_insert(&g, g.rank, cq_i(size), stride);
    cq_geometry_result(c, self, &g);
    return c->cx->status;
}

/* Windows that do not overlap: the k-th elements of all windows are one slice. */
static cq_tensor *unfold_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    int64_t dim  = cq_arg_dim(c, "dimension", base->rank);
    int64_t size = cq_arg_i64(c, "size"), step = cq_arg_i64(c, "step");
    cq_int  reach;

    (void)index;
    if (size > step && changed->sizes[dim].value > 1) {
        cq_ctx_fail(c->cx, cq_fail(CQ_E_ARGUMENT, c->op->schema->full, "clone it first",
                                   "a tensor that shows the same element more than once is "
                                   "changed"));
        return NULL;
    }
    if (!base->rank)
        return CQ_OP(c->cx, "aten::select.int", T(changed), I(0), I(0));
    reach = cq_size_add(c, cq_size_mul(c, cq_size_sub(c, changed->sizes[dim], cq_i(1)), cq_i(step)),
                        cq_i(1));
    for (int64_t k = 0; k < size; k++) {
        cq_tensor *kth = CQ_OP(c->cx, "aten::select.int", T(changed), I(-1), I(k));

        base = CQ_OP(c->cx, "aten::slice_scatter", T(base), T(kth), I(dim), I(k),
                     N(cq_size_add(c, reach, cq_i(k))), I(step));
    }
    return base;
}

/* ---- as_strided: any look at the memory ---- */

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
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "wants a contiguous tensor to write into");
    return scatter_shape(c, as_strided_geometry);
}

/* The offset is one in self's memory; the result has memory of its own. */
static cq_status as_strided_scatter_run(cq_opcall *c)
{
    cq_tensor  *self = cq_arg_tensor(c, "self"), *out = cq_result_tensor(c, 0);
    cq_geometry g;

    CQ_TRY(as_strided_geometry(c, self, &g));
    g.offset -= self->offset;
    CQ_TRY(cq_tensor_copy_into(out, self));
    return cq_geometry_write(out, &g, cq_arg_tensor(c, "src"));
}

static cq_tensor *as_strided_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    (void)index;
    return CQ_OP(c->cx, "aten::as_strided_scatter", T(base), T(changed), cq_arg_val(c, "size"),
                 cq_arg_val(c, "stride"), cq_arg_val(c, "storage_offset"));
}

/* ---- rows ---- */

#define COMPOSED(schema_text, about_text, function)                                                \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .compose = function, .flags = CQ_OP_PARTS      \
    }
#define SPLIT(schema_text, about_text)                                                             \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .view = split_view, .unview = split_unview     \
    }

const cq_op_def cq_ops_slice[] = {
    { .schema = "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? "
                "end=None, SymInt step=1) -> Tensor(a)",
      .about  = "elements from start to end along a dimension",
      .view   = slice_view,
      .unview = slice_unview },
    { .schema = "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
                "SymInt? end=None, SymInt step=1) -> Tensor",
      .about  = "a copy in which src replaces a slice",
      .shape  = slice_scatter_shape,
      .run    = slice_scatter_run },
    COMPOSED("aten::narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
             "a number of elements along a dimension", narrow_compose),
    COMPOSED("aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)",
             "a number of elements along a dimension", narrow_tensor_compose),
    { .schema = "aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
      .about  = "one place of a dimension, which goes away",
      .view   = select_view,
      .unview = select_unview },
    { .schema = "aten::select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
      .about  = "a copy in which src replaces one place of a dimension",
      .shape  = select_scatter_shape,
      .run    = select_scatter_run },
    { .schema = "aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
      .about  = "all places of a dimension, one by one",
      .view   = unbind_view,
      .unview = unbind_unview },
    SPLIT("aten::split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]",
          "parts of equal size along a dimension"),
    SPLIT("aten::split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
          "parts of given sizes along a dimension"),
    SPLIT("aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
          "parts of given sizes along a dimension"),
    SPLIT("aten::split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> "
          "Tensor(a)[]",
          "parts of given sizes along a dimension"),
    COMPOSED("aten::unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
             "split, by PyTorch itself", unsafe_split_compose),
    COMPOSED("aten::unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
             "split_with_sizes, by PyTorch itself", unsafe_split_compose),
    COMPOSED("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
             "a number of parts of equal size", chunk_compose),
    COMPOSED("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
             "chunk, by PyTorch itself", chunk_compose),
    COMPOSED("aten::tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> "
             "Tensor(a)[]",
             "a number of parts of nearly equal size", tensor_split_compose),
    COMPOSED("aten::tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> "
             "Tensor(a)[]",
             "parts that begin at indices", tensor_split_compose),
    COMPOSED("aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
             "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
             "parts that begin at indices, or a number of them", tensor_split_by_tensor_compose),
    COMPOSED("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
             "parts along columns", hsplit_compose),
    COMPOSED("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
             "parts along columns", hsplit_compose),
    COMPOSED("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
             "parts along rows", vsplit_compose),
    COMPOSED("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
             "parts along rows", vsplit_compose),
    COMPOSED("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
             "parts along the third dimension", dsplit_compose),
    COMPOSED("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
             "parts along the third dimension", dsplit_compose),
    { .schema = "aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
      .about  = "the diagonal of two dimensions, as the last one",
      .view   = diagonal_view,
      .unview = diagonal_unview },
    { .schema = "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int "
                "dim2=1) -> Tensor",
      .about  = "a copy in which src replaces a diagonal",
      .shape  = diagonal_scatter_shape,
      .run    = diagonal_scatter_run },
    { .schema = "aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
      .about  = "windows along a dimension, as the last one",
      .view   = unfold_view,
      .unview = unfold_unview },
    { .schema = "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
                "storage_offset=None) -> Tensor(a)",
      .about  = "any sizes and strides on the memory",
      .view   = as_strided_view,
      .unview = as_strided_unview },
    { .schema = "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
                "SymInt? storage_offset=None) -> Tensor",
      .about  = "a copy in which src replaces what as_strided shows",
      .shape  = as_strided_scatter_shape,
      .run    = as_strided_scatter_run },
    { 0 }
};

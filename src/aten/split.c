/* Lists of views: a tensor split along a dimension, by sizes, by a number of parts, or at places.
 * Views of one part are slice.c's. */
#include "aten/geometry.h"

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
    if (!each.expr != !whole.expr) /* if neither is plain, a part of the whole is meant */
        cq_size_baked(c, each.expr ? each : whole, "the number of tensors of split");
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
    cq_int     chunks = cq_i(cq_arg_i64(c, "chunks")), each;

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

        items[i] = CQ_OP(c->cx, "aten::slice.Tensor", T(self), I(dim), N(start), N(end), I(1));
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
    return split_evenly(c, self, dim, cq_size_baked(c, by.u.i, "the number of sections"));
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
    if (by != cq_arg_tensor(c, "tensor_indices_or_sections"))
        c->cx->listener->baked(c->cx->listener_self, c->cx, "what a tensor is split by", cq_i(n));
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
/* ---- rows ---- */

#define COMPOSED(schema_text, about_text, function)                                                \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .compose = function, .flags = CQ_OP_PARTS      \
    }
#define SPLIT(schema_text, about_text)                                                             \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .view = split_view, .unview = split_unview     \
    }

const cq_op_def cq_ops_split[] = {
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
    { 0 }
};

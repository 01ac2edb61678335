/* Lists of views: a tensor split along a dimension, by sizes, by a number of parts, or at indices.
 * Views of one part are in slice.c. */
#include "aten/ops/geometry.h"

/* ---- split ---- */

/* The sizes of the parts: a list of them, or one for all but the last. Freed by the
 * caller. */
static cq_status sizes_of_parts(cq_opcall *c, const cq_tensor *self, size_t dim, cq_int **sizes,
                                size_t *n)
{
    const cq_val *given = &c->args[1];
    cq_int        whole = self->sizes[dim], each, sum = cq_i(0);

    if (cq_val_is_list(*given)) {
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
        cq_geometry_result(c, self, &g);
        items[i] = cq_result_tensor(c, 0);
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

#define SPLIT(schema_text, about_text, start) CQ_VIEW(schema_text, about_text, split_view)

const cq_op_def cq_ops_split[] = {
    SPLIT("aten::split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]",
          "parts of equal size along a dimension", "split_size * part"),
    SPLIT("aten::split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
          "parts of given sizes along a dimension", "sum(split_size[:part])"),
    SPLIT("aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
          "parts of given sizes along a dimension", "sum(split_sizes[:part])"),
    SPLIT("aten::split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> "
          "Tensor(a)[]",
          "parts of given sizes along a dimension", "sum(split_sizes[:part])"),
    { 0 },
};

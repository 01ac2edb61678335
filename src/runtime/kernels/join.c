#include "runtime/kernels/join.h"

#include "base/thread.h"

#include <inttypes.h>

enum { PART_BYTES = 1 << 16 }; /* approximate number of bytes that a thread copies at a time */

/* Whether t can be concatenated with first; sizes along an existing axis may differ. */
static bool fits(const cq_tensor *first, const cq_tensor *t, uint32_t axis, bool new_axis)
{
    if (t->dtype != first->dtype || t->rank != first->rank)
        return false;
    for (uint32_t d = 0; d < t->rank; d++)
        if ((new_axis || d != axis) && cq_size_of(t, d) != cq_size_of(first, d))
            return false;
    return true;
}

static cq_status joined_sizes(cq_rt_sizes *out, const cq_val *items, size_t n, uint32_t axis,
                              bool new_axis)
{
    const cq_tensor *first = items[0].u.tensor;
    int64_t          total = 0;

    for (size_t i = 0; i < n; i++) {
        const cq_tensor *t = items[i].kind == CQ_VAL_TENSOR ? items[i].u.tensor : NULL;

        if (!t)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "item %zu of a sequence is not a tensor",
                           i);
        if (!fits(first, t, axis, new_axis))
            return cq_rt_misfit(first, t);
        if (__builtin_add_overflow(total, new_axis ? 1 : cq_size_of(t, axis), &total))
            return cq_no_memory();
    }
    out->rank = 0;
    for (uint32_t d = 0; d < first->rank + new_axis; d++)
        out->at[out->rank++] = d == axis ? total : cq_size_of(first, d - (new_axis && d > axis));
    return CQ_OK;
}

/* A view of the part of the result that an item is copied to, with the item's rank. */
static cq_status place(cq_tensor **out, cq_rt *rt, const cq_tensor *y, uint32_t axis, int64_t start,
                       const cq_tensor *item, bool new_axis)
{
    cq_rt_sizes sizes;
    cq_tensor  *part;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_rt_slice(&part, y, axis, start, 1, new_axis ? 1 : cq_size_of(item, axis)));
    if (!new_axis) {
        *out = part;
        return CQ_OK;
    }
    cq_rt_sizes_of(&sizes, item);
    status = cq_rt_reshape(out, rt, part, &sizes); /* this is a view: only a size of 1 is removed */
    cq_tensor_release(part);
    return status;
}

/* Concatenation of all items in parts along another dimension, which threads share. */
struct joining {
    const cq_tensor *out;
    const cq_val    *items;
    size_t           n;
    uint32_t         axis, along;
    int64_t          parts;
};

static cq_status copy_item(const cq_tensor *to, const struct joining *j, size_t i, int64_t start,
                           int64_t from, int64_t n)
{
    const cq_tensor *item = j->items[i].u.tensor;
    cq_tensor       *place_of, *part = NULL;
    cq_status        status;

    CQ_TRY(cq_rt_slice(&place_of, to, j->axis, start, 1, cq_size_of(item, j->axis)));
    status = cq_rt_slice(&part, item, j->along, from, 1, n);
    if (status == CQ_OK)
        status = cq_tensor_copy_into(place_of, part);
    cq_tensor_release(part);
    cq_tensor_release(place_of);
    return status;
}

static cq_status join_part(void *user, int64_t part)
{
    const struct joining *j    = user;
    const int64_t         size = cq_size_of(j->out, j->along), from = size * part / j->parts;
    const int64_t         n     = size * (part + 1) / j->parts - from;
    int64_t               start = 0;
    cq_tensor            *to;
    cq_status             status = CQ_OK;

    CQ_TRY(cq_rt_slice(&to, j->out, j->along, from, 1, n));
    for (size_t i = 0; i < j->n && status == CQ_OK; i++) {
        status = copy_item(to, j, i, start, from, n);
        start += cq_size_of(j->items[i].u.tensor, j->axis);
    }
    cq_tensor_release(to);
    return status;
}

/* Chooses parts of a large copy: the first dimension that all items share is divided. */
static bool cut(struct joining *j)
{
    const cq_tensor *y     = j->out;
    const int64_t    bytes = cq_tensor_numel(y) * (int64_t)cq_dtype_size(y->dtype);

    for (j->along = 0; j->along < y->rank; j->along++)
        if (j->along != j->axis && cq_size_of(y, j->along) > 1)
            break;
    if (j->along == y->rank || bytes < 2 * PART_BYTES || cq_threads() == 1)
        return false;
    j->parts = bytes / PART_BYTES;
    if (j->parts > cq_size_of(y, j->along))
        j->parts = cq_size_of(y, j->along);
    return true;
}

/* Copies the items one after the other. */
static cq_status join_all(cq_rt *rt, const struct joining *j, bool new_axis)
{
    int64_t   start  = 0;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < j->n && status == CQ_OK && cq_tensor_numel(j->out); i++) {
        const cq_tensor *t = j->items[i].u.tensor;
        cq_tensor       *to;

        status = place(&to, rt, j->out, j->axis, start, t, new_axis);
        if (status == CQ_OK)
            status = cq_tensor_copy_into(to, t);
        cq_tensor_release(to);
        start += new_axis ? 1 : cq_size_of(t, j->axis);
    }
    return status;
}

cq_status cq_rt_join(cq_tensor **out, cq_rt *rt, const cq_val *items, size_t n, int64_t axis,
                     bool new_axis)
{
    struct joining j = { .items = items, .n = n };
    cq_rt_sizes    sizes;
    cq_status      status;

    *out = NULL;
    if (!n || items[0].kind != CQ_VAL_TENSOR)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected at least one tensor");
    if (items[0].u.tensor->rank + new_axis > CQ_MAX_RANK)
        return cq_rt_misfit(items[0].u.tensor, NULL);
    CQ_TRY(cq_rt_axis(&j.axis, axis, items[0].u.tensor->rank + new_axis));
    CQ_TRY(joined_sizes(&sizes, items, n, j.axis, new_axis));
    CQ_TRY(cq_rt_temp(out, rt, items[0].u.tensor->dtype, sizes.rank, sizes.at));
    j.out = *out;
    status =
        !new_axis && cut(&j) ? cq_parallel_for(j.parts, join_part, &j) : join_all(rt, &j, new_axis);
    if (status != CQ_OK) {
        cq_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

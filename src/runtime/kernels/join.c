#include "runtime/kernels/join.h"

#include <inttypes.h>

/* Whether t goes beside the first; on an axis that is there, its size may differ. */
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

/* The place of an item in the result, with the item's rank. */
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
    status = cq_rt_reshape(out, rt, part, &sizes); /* a view: only a size of 1 goes */
    cq_tensor_release(part);
    return status;
}

cq_status cq_rt_join(cq_tensor **out, cq_rt *rt, const cq_val *items, size_t n, int64_t axis,
                     bool new_axis)
{
    cq_rt_sizes sizes;
    int64_t     start = 0;
    uint32_t    at;
    cq_status   status = CQ_OK;

    *out = NULL;
    if (!n || items[0].kind != CQ_VAL_TENSOR)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "there are no tensors to put together");
    if (items[0].u.tensor->rank + new_axis > CQ_MAX_RANK)
        return cq_rt_misfit(items[0].u.tensor, NULL);
    CQ_TRY(cq_rt_axis(&at, axis, items[0].u.tensor->rank + new_axis));
    CQ_TRY(joined_sizes(&sizes, items, n, at, new_axis));
    CQ_TRY(cq_rt_temp(out, rt, items[0].u.tensor->dtype, sizes.rank, sizes.at));
    for (size_t i = 0; i < n && status == CQ_OK && cq_tensor_numel(*out); i++) {
        const cq_tensor *t = items[i].u.tensor;
        cq_tensor       *to;

        status = place(&to, rt, *out, at, start, t, new_axis);
        if (status == CQ_OK)
            status = cq_tensor_copy_into(to, t);
        cq_tensor_release(to);
        start += new_axis ? 1 : cq_size_of(t, at);
    }
    if (status != CQ_OK) {
        cq_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

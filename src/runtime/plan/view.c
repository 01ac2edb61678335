/* Views: tensors that share elements and have another shape. */
#include "runtime/call.h"

#include <inttypes.h>

static cq_status view(cq_tensor **out, const cq_tensor *t, const cq_rt_sizes *sizes,
                      const int64_t *strides, int64_t offset)
{
    return cq_tensor_new_on(out, t->storage, t->dtype, sizes->rank, sizes->at, strides, offset);
}

/* Computes strides for other sizes on t's elements, if that is possible: contiguous dimensions of t
 * can be merged and split. */
static bool restride(int64_t *strides, const cq_tensor *t, const cq_rt_sizes *sizes)
{
    int64_t old_n = 1, new_n = 1;
    int64_t from = t->rank, to = sizes->rank; /* dimensions before these indices remain to be
                                               * matched */
    int64_t step;

    while (from > 0 || to > 0) {
        int64_t first = from, last = to;

        old_n = new_n = 1;
        if (first > 0 && (last == 0 || cq_size_of(t, (size_t)first - 1) == 1)) {
            if (cq_size_of(t, (size_t)first - 1) != 1)
                return false;
            from--;
            continue;
        }
        if (last > 0 && sizes->at[last - 1] == 1) {
            strides[last - 1] = 1;
            to--;
            continue;
        }
        if (first == 0)
            return false;
        step  = t->strides[first - 1];
        old_n = cq_size_of(t, (size_t)--first);
        new_n = sizes->at[--last];
        while (old_n != new_n) {
            if (new_n < old_n) {
                if (last == 0)
                    return false;
                new_n *= sizes->at[--last];
            } else {
                int64_t size;

                if (first == 0)
                    return false;
                size = cq_size_of(t, (size_t)first - 1);
                if (size != 1 && t->strides[first - 1] != step * old_n)
                    return false;
                old_n *= size;
                first--;
            }
        }
        for (int64_t i = to, stride = step; i-- > last;) {
            strides[i] = stride;
            stride *= sizes->at[i];
        }
        from = first;
        to   = last;
    }
    return true;
}

cq_status cq_rt_reshape(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_rt_sizes *sizes)
{
    int64_t     strides[CQ_MAX_RANK], n = 1;
    char        text[CQ_DESCRIBE_SIZE];
    cq_tensor  *copy;
    cq_rt_sizes old;

    *out = NULL;
    for (uint32_t i = 0; i < sizes->rank; i++)
        if (sizes->at[i] < 0 || __builtin_mul_overflow(n, sizes->at[i], &n))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "size %" PRId64 " of a new shape makes no sense",
                           sizes->at[i]);
    if (n != cq_tensor_numel(t))
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "the new shape has %" PRId64 " elements, but the tensor is %s", n,
                       cq_tensor_describe(t, text, sizeof text));
    if (n == 0)
        return cq_rt_temp(out, rt, t->dtype, sizes->rank, sizes->at);
    if (restride(strides, t, sizes))
        return view(out, t, sizes, strides, t->offset);
    cq_rt_sizes_of(&old, t);
    CQ_TRY(cq_rt_temp(&copy, rt, t->dtype, old.rank, old.at));
    if (cq_tensor_copy_into(copy, t) == CQ_OK && restride(strides, copy, sizes))
        (void)view(out, copy, sizes, strides, 0);
    cq_tensor_release(copy);
    return *out ? CQ_OK : cq_last_error()->status;
}

cq_status cq_rt_permute(cq_tensor **out, const cq_tensor *t, const uint32_t *axes)
{
    int64_t     strides[CQ_MAX_RANK];
    cq_rt_sizes sizes = { .rank = t->rank };

    for (uint32_t i = 0; i < t->rank; i++) {
        sizes.at[i] = cq_size_of(t, axes[i]);
        strides[i]  = t->strides[axes[i]];
    }
    return view(out, t, &sizes, strides, t->offset);
}

cq_status cq_rt_slice(cq_tensor **out, const cq_tensor *t, uint32_t axis, int64_t start,
                      int64_t step, int64_t n)
{
    int64_t     strides[CQ_MAX_RANK], offset = t->offset;
    cq_rt_sizes sizes;

    cq_rt_sizes_of(&sizes, t);
    for (uint32_t i = 0; i < t->rank; i++)
        strides[i] = t->strides[i];
    sizes.at[axis] = n;
    if (n > 0) {
        offset += start * strides[axis];
        strides[axis] = n > 1 ? strides[axis] * step : strides[axis];
    }
    return view(out, t, &sizes, strides, offset);
}

cq_status cq_rt_select(cq_tensor **out, const cq_tensor *t, uint32_t axis, int64_t at)
{
    int64_t     strides[CQ_MAX_RANK];
    cq_rt_sizes sizes = { 0 };

    for (uint32_t i = 0; i < t->rank; i++)
        if (i != axis) {
            strides[sizes.rank]    = t->strides[i];
            sizes.at[sizes.rank++] = cq_size_of(t, i);
        }
    return view(out, t, &sizes, strides, t->offset + at * t->strides[axis]);
}

cq_status cq_rt_expand(cq_tensor **out, const cq_tensor *t, const cq_rt_sizes *sizes)
{
    int64_t strides[CQ_MAX_RANK];

    *out = NULL;
    if (t->rank > sizes->rank)
        return cq_rt_misfit(t, NULL);
    for (uint32_t i = 0; i < sizes->rank; i++) {
        uint32_t missing = sizes->rank - t->rank;
        int64_t  size    = i < missing ? 1 : cq_size_of(t, i - missing);

        if (size != sizes->at[i] && size != 1)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "size %" PRId64 " cannot be expanded to %" PRId64,
                           size, sizes->at[i]);
        strides[i] = i < missing || size == 1 ? 0 : t->strides[i - missing];
        if (size == 1 && sizes->at[i] == 1 && i >= missing)
            strides[i] = t->strides[i - missing];
    }
    return view(out, t, sizes, strides, t->offset);
}

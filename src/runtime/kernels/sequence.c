/* Sequences and optionals. Sequences are immutable lists: an insertion copies the list. An optional
 * is its value, or NONE. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/join.h"

#include <inttypes.h>

static const cq_list *list_in(const cq_rt *rt, size_t i)
{
    return rt->in[i].u.list; /* by the schema the input is a sequence, and types have been
                              * checked */
}

/* Sets output 0 to items[0 … n) without the item at index skip and with extra inserted before index
 * index; SIZE_MAX: not. */
static cq_status set_list(cq_rt *rt, const cq_val *items, size_t n, size_t skip, size_t index,
                          cq_val extra)
{
    cq_list *list;

    CQ_TRY(cq_list_new(&list, 0));
    CQ_TRY(cq_rt_set(rt, 0, cq_val_of_list(list)));
    for (size_t i = 0; i <= n; i++) {
        if (i == index)
            CQ_TRY(cq_list_push(list, extra));
        if (i < n && i != skip)
            CQ_TRY(cq_list_push(list, items[i]));
    }
    return CQ_OK;
}

/* Reads an index; negative indices count from the end, and limit is the largest allowed index. */
static cq_status position(size_t *out, cq_rt *rt, size_t input, size_t n, size_t limit,
                          int64_t fallback)
{
    int64_t at;

    CQ_TRY(cq_rt_in_i64(&at, rt, input, fallback));
    if (at < -(int64_t)n || at > (int64_t)limit)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "position %" PRId64 " is not in a sequence of %zu",
                       at, n);
    *out = (size_t)(at < 0 ? at + (int64_t)n : at);
    return CQ_OK;
}

static cq_status construct(cq_rt *rt)
{
    return set_list(rt, rt->in, rt->n_in, SIZE_MAX, SIZE_MAX, CQ_NONE);
}

static cq_status empty(cq_rt *rt)
{
    return set_list(rt, NULL, 0, SIZE_MAX, SIZE_MAX, CQ_NONE);
}

static cq_status insert(cq_rt *rt)
{
    const cq_list *list = list_in(rt, 0);
    size_t         at;

    CQ_TRY(position(&at, rt, 2, list->n, list->n, (int64_t)list->n));
    return set_list(rt, list->items, list->n, SIZE_MAX, at, rt->in[1]);
}

static cq_status erase(cq_rt *rt)
{
    const cq_list *list = list_in(rt, 0);
    size_t         at;

    if (!list->n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "cannot erase an item of an empty sequence");
    CQ_TRY(position(&at, rt, 1, list->n, list->n - 1, (int64_t)list->n - 1));
    return set_list(rt, list->items, list->n, at, SIZE_MAX, CQ_NONE);
}

static cq_status item_at(cq_rt *rt)
{
    const cq_list *list = list_in(rt, 0);
    size_t         at;

    if (!list->n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "cannot read an item of an empty sequence");
    CQ_TRY(position(&at, rt, 1, list->n, list->n - 1, 0));
    return cq_rt_set(rt, 0, cq_val_retain(list->items[at]));
}

static cq_status length(cq_rt *rt)
{
    cq_tensor *y;

    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_I64, 0, NULL));
    *(int64_t *)cq_tensor_data(y) = (int64_t)list_in(rt, 0)->n;
    return CQ_OK;
}

static cq_status concat_from(cq_rt *rt)
{
    const cq_list *list = list_in(rt, 0);
    cq_tensor     *y;

    CQ_TRY(
        cq_rt_join(&y, rt, list->items, list->n, cq_rt_int(rt, "axis"), cq_rt_int(rt, "new_axis")));
    return cq_rt_set_tensor(rt, 0, y);
}

/* ---- splitting ---- */

static cq_status push_part(cq_list *list, const cq_tensor *x, uint32_t axis, int64_t start,
                           int64_t n, bool keep)
{
    cq_tensor *part;
    cq_status  status;

    CQ_TRY(keep ? cq_rt_slice(&part, x, axis, start, 1, n) : cq_rt_select(&part, x, axis, start));
    status = cq_list_push(list, cq_val_of_tensor(part));
    cq_tensor_release(part);
    return status;
}

/* The length of part i: from a vector of lengths, or one length for all, with a shorter last
 * part. */
static int64_t part_length(const cq_tensor *split, int64_t i, int64_t left)
{
    int64_t n = 1;

    if (split)
        n = cq_tensor_get_i64(split, split->rank ? i : 0);
    return split && !split->rank && n > left ? left : n;
}

static cq_status split_to(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *split = cq_rt_in(rt, 1);
    bool             keep      = split || cq_rt_int(rt, "keepdims") == 1;
    bool             is_vector = split && split->rank;
    int64_t          start     = 0, size;
    cq_list         *list;
    uint32_t         axis;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    size = cq_size_of(x, axis);
    CQ_TRY(cq_list_new(&list, 0));
    CQ_TRY(cq_rt_set(rt, 0, cq_val_of_list(list)));
    for (int64_t i = 0; is_vector ? i < cq_tensor_numel(split) : start < size; i++) {
        int64_t n = part_length(split, i, size - start);

        if (n < 0 || n > size - start || (!is_vector && n == 0))
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "part %" PRId64 " of length %" PRId64 " does not fit in %" PRId64, i, n,
                           size);
        CQ_TRY(push_part(list, x, axis, start, n, keep));
        start += n;
    }
    if (start != size)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the parts make %" PRId64 ", expected %" PRId64,
                       start, size);
    return CQ_OK;
}

/* ---- optionals ---- */

static cq_status optional(cq_rt *rt)
{
    return cq_rt_set(rt, 0, rt->n_in ? cq_val_retain(rt->in[0]) : CQ_NONE);
}

static cq_status has_element(cq_rt *rt)
{
    cq_tensor *y;

    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_BOOL, 0, NULL));
    *(uint8_t *)cq_tensor_data(y) = cq_rt_has_in(rt, 0);
    return CQ_OK;
}

static cq_status get_element(cq_rt *rt)
{
    if (!cq_rt_has_in(rt, 0))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the optional is empty");
    return cq_rt_set(rt, 0, cq_val_retain(rt->in[0]));
}

const cq_rt_row cq_rt_rows_sequence[] = {
    { "SequenceConstruct", 11, construct, CQ_RT_TEXT_OWN, 0 },
    { "SequenceEmpty", 11, empty, 0, 0 },
    { "SequenceInsert", 11, insert, CQ_RT_TEXT_OWN, 0 },
    { "SequenceErase", 11, erase, CQ_RT_TEXT_OWN, 0 },
    { "SequenceAt", 11, item_at, CQ_RT_TEXT_OWN, 0 },
    { "SequenceLength", 11, length, CQ_RT_TEXT_OWN, 0 },
    { "ConcatFromSequence", 11, concat_from, CQ_RT_TEXT_OUT, 0 },
    { "SplitToSequence", 11, split_to, CQ_RT_TEXT_OUT, 0 },
    { "Optional", 15, optional, CQ_RT_TEXT_OWN, 0 },
    { "OptionalHasElement", 15, has_element, CQ_RT_TEXT_OWN, 0 },
    { "OptionalGetElement", 15, get_element, CQ_RT_TEXT_OWN, 0 },
    { 0 },
};

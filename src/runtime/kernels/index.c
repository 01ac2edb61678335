/* Operators that read and write at data-dependent indices. */
#include "runtime/kernels/families.h"

#include "kernel/index.h"
#include "kernel/sort.h"

#include <inttypes.h>
#include <string.h>

/* ---- gather ---- */

/* Takes one index of an axis, which is removed: a view. */
static cq_status take_one(cq_rt *rt, const cq_tensor *x, uint32_t axis, int64_t position)
{
    cq_rt_sizes sizes;
    cq_tensor  *one, *y;
    cq_status   status;

    CQ_TRY(
        cq_rt_slice(&one, x, axis, position < 0 ? position + cq_size_of(x, axis) : position, 1, 1));
    cq_rt_sizes_of(&sizes, one);
    sizes.rank--;
    for (uint32_t i = axis; i < sizes.rank; i++)
        sizes.at[i] = sizes.at[i + 1];
    status = cq_rt_reshape(&y, rt, one, &sizes);
    cq_tensor_release(one);
    return status == CQ_OK ? cq_rt_set_tensor(rt, 0, y) : status;
}

/* Whether index is a single valid index; the kernel reports invalid ones. */
static bool is_place(const cq_tensor *x, uint32_t axis, const cq_tensor *index)
{
    int64_t size = cq_size_of(x, axis), position = index->rank ? 0 : cq_tensor_get_i64(index, 0);

    return !index->rank && position >= -size && position < size && cq_tensor_numel(x);
}

static cq_status gather(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *index = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes = { 0 };
    uint32_t         axis;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    if (is_place(x, axis, index))
        return take_one(rt, x, axis, cq_tensor_get_i64(index, 0));
    if (x->rank + index->rank - 1 > CQ_MAX_RANK)
        return cq_rt_misfit(x, index);
    for (uint32_t i = 0; i < axis; i++)
        sizes.at[sizes.rank++] = cq_size_of(x, i);
    for (uint32_t i = 0; i < index->rank; i++)
        sizes.at[sizes.rank++] = cq_size_of(index, i);
    for (uint32_t i = axis + 1; i < x->rank; i++)
        sizes.at[sizes.rank++] = cq_size_of(x, i);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_index_select(y, x, axis, index);
}

static cq_status gather_elements(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *index = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes;
    uint32_t         axis;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    if (index->rank != x->rank)
        return cq_rt_misfit(x, index);
    for (uint32_t i = 0; i < x->rank; i++)
        if (i != axis && cq_size_of(index, i) > cq_size_of(x, i))
            return cq_rt_misfit(x, index);
    cq_rt_sizes_of(&sizes, index);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_gather(y, x, axis, index);
}

/* The number of x's dimensions after the batch dimensions that a tuple in index selects. */
static cq_status tuple_width(uint32_t *out, const cq_tensor *x, const cq_tensor *index,
                             uint32_t batch)
{
    int64_t width;

    if (!index->rank || !x->rank)
        return cq_rt_misfit(x, index);
    width = cq_size_of(index, index->rank - 1);
    if (width > (int64_t)x->rank - batch)
        return cq_rt_misfit(x, index);
    *out = (uint32_t)width;
    return CQ_OK;
}

static cq_status gather_nd(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *index = cq_rt_in(rt, 1);
    int64_t          batch = cq_rt_int(rt, "batch_dims");
    cq_rt_sizes      sizes = { 0 };
    uint32_t         width;
    cq_tensor       *y;

    if (batch < 0 || batch >= (int64_t)x->rank || batch >= (int64_t)index->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "batch_dims is %" PRId64 ", the ranks are %u and %u",
                       batch, x->rank, index->rank);
    CQ_TRY(tuple_width(&width, x, index, (uint32_t)batch));
    for (uint32_t i = 0; i < batch; i++)
        if (cq_size_of(x, i) != cq_size_of(index, i))
            return cq_rt_misfit(x, index);
    if (index->rank - 1 + x->rank - batch - width > CQ_MAX_RANK)
        return cq_rt_misfit(x, index);
    for (uint32_t i = 0; i + 1 < index->rank; i++)
        sizes.at[sizes.rank++] = cq_size_of(index, i);
    for (uint32_t i = (uint32_t)batch + width; i < x->rank; i++)
        sizes.at[sizes.rank++] = cq_size_of(x, i);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_gather_nd(y, x, index, (uint32_t)batch);
}

static cq_status nonzero(cq_rt *rt)
{
    const cq_tensor *x         = cq_rt_in(rt, 0);
    const uint32_t   swap[]    = { 1, 0 };
    cq_rt_sizes      as_vector = { .rank = 1, .at = { 1 } };
    cq_tensor       *rows, *view = NULL, *y;

    /* A scalar is treated as a vector of one element. */
    if (!x->rank)
        CQ_TRY(cq_rt_reshaped(&view, rt, x, &as_vector));
    CQ_TRY(cq_rt_keep(rt, cq_kernel_nonzero(&rows, view ? view : x), &rows));
    CQ_TRY(cq_rt_permuted(&y, rt, rows, swap));
    return cq_rt_pass(rt, 0, y);
}

/* ---- scatter ---- */

static cq_status reduction(cq_combine *out, const cq_rt *rt)
{
    static const char *const names[] = {
        [CQ_COMBINE_SET] = "none", [CQ_COMBINE_ADD] = "add", [CQ_COMBINE_MUL] = "mul",
        [CQ_COMBINE_MAX] = "max",  [CQ_COMBINE_MIN] = "min",
    };
    int found = CQ_COMBINE_SET;

    if (*cq_rt_string(rt, "reduction"))
        CQ_TRY(cq_rt_choose(&found, rt, "reduction", names, sizeof names / sizeof *names));
    *out = (cq_combine)found;
    return CQ_OK;
}

/* Initializes the output of a scatter with a copy of the data. */
static cq_status copy_of_data(cq_tensor **out, cq_rt *rt)
{
    CQ_TRY(cq_rt_out_like(out, rt, 0, cq_rt_in(rt, 0)));
    return cq_tensor_copy_into(*out, cq_rt_in(rt, 0));
}

static cq_status scatter_elements(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *index = cq_rt_in(rt, 1), *updates = cq_rt_in(rt, 2);
    cq_combine       how;
    uint32_t         axis;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(reduction(&how, rt));
    if (index->rank != x->rank || updates->rank != x->rank)
        return cq_rt_misfit(x, index);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (cq_size_of(index, i) != cq_size_of(updates, i))
            return cq_rt_misfit(index, updates);
        if (i != axis && cq_size_of(index, i) > cq_size_of(x, i))
            return cq_rt_misfit(x, index);
    }
    CQ_TRY(copy_of_data(&y, rt));
    return cq_kernel_scatter(y, axis, index, updates, how, true);
}

/* Copies n elements of update's axis, from index first on, to y, from index `at` on. */
static cq_status put_run(cq_rt *rt, cq_tensor *y, const cq_tensor *update, uint32_t axis,
                         int64_t at, int64_t first, int64_t n)
{
    cq_tensor *to, *from;

    CQ_TRY(cq_rt_sliced(&to, rt, y, axis, at, 1, n));
    CQ_TRY(cq_rt_sliced(&from, rt, update, axis, first, 1, n));
    return cq_tensor_copy_into(to, from);
}

/* Writes one sample of TensorScatter; `at` is the start index, which wraps around if circular. */
static cq_status put_sample(cq_rt *rt, cq_tensor *y, const cq_tensor *update, uint32_t axis,
                            int64_t at, bool circular)
{
    int64_t space = cq_size_of(y, axis), n = cq_size_of(update, axis), before;

    if (n > space)
        return cq_rt_misfit(y, update);
    if (n == 0)
        return CQ_OK;
    if (circular)
        at = (at % space + space) % space;
    if (at < 0 || at > space || (!circular && n > space - at))
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "%" PRId64 " elements from %" PRId64
                       " on do not fit into a cache of %" PRId64,
                       n, at, space);
    before = n < space - at ? n : space - at;
    CQ_TRY(put_run(rt, y, update, axis, at, 0, before));
    return put_run(rt, y, update, axis, 0, before, n - before);
}

static cq_status tensor_scatter(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *update = cq_rt_in(rt, 1), *at = cq_rt_in(rt, 2);
    bool             circular = cq_rt_is(rt, "mode", "circular");
    uint32_t         axis;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    if (!circular && !cq_rt_is(rt, "mode", "linear"))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "mode is '%s', expected linear or circular",
                       cq_rt_string(rt, "mode"));
    if (axis == 0 || update->rank != x->rank)
        return cq_rt_misfit(x, update);
    for (uint32_t i = 0; i < x->rank; i++)
        if (i != axis && cq_size_of(x, i) != cq_size_of(update, i))
            return cq_rt_misfit(x, update);
    if (at && (at->rank != 1 || cq_size_of(at, 0) != cq_size_of(x, 0)))
        return cq_rt_misfit(x, at);
    CQ_TRY(copy_of_data(&y, rt));
    for (int64_t i = 0; i < cq_size_of(x, 0); i++) {
        cq_tensor *to, *from;

        CQ_TRY(cq_rt_sliced(&to, rt, y, 0, i, 1, 1));
        CQ_TRY(cq_rt_sliced(&from, rt, update, 0, i, 1, 1));
        CQ_TRY(put_sample(rt, to, from, axis, at ? cq_tensor_get_i64(at, i) : 0, circular));
    }
    return CQ_OK;
}

static cq_status scatter_nd(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *index = cq_rt_in(rt, 1), *updates = cq_rt_in(rt, 2);
    cq_combine       how;
    uint32_t         width, rank;
    cq_tensor       *y;

    CQ_TRY(reduction(&how, rt));
    CQ_TRY(tuple_width(&width, x, index, 0));
    rank = index->rank - 1 + x->rank - width;
    if (updates->rank != rank)
        return cq_rt_misfit(index, updates);
    for (uint32_t i = 0; i < rank; i++)
        if (cq_size_of(updates, i) != (i + 1 < index->rank
                                           ? cq_size_of(index, i)
                                           : cq_size_of(x, width + i + 1 - index->rank)))
            return cq_rt_misfit(index, updates);
    CQ_TRY(copy_of_data(&y, rt));
    return cq_kernel_scatter_nd(y, index, updates, how);
}

/* ---- selection ---- */

static cq_status compress(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *condition = cq_rt_in(rt, 1);
    cq_tensor       *flat = NULL, *index = NULL, *y;
    cq_rt_sizes      sizes = { .rank = 1, .at = { cq_tensor_numel(x) } };
    int64_t          n     = 0, *to;
    uint32_t         axis  = 0;

    CQ_TRY(cq_rt_need_rank(condition, "condition", 1));
    if (cq_rt_attr_given(rt, "axis"))
        CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    else
        CQ_TRY(cq_rt_reshaped(&flat, rt, x, &sizes));
    x = flat ? flat : x;
    cq_rt_sizes_of(&sizes, x);
    for (int64_t i = 0; i < cq_size_of(condition, 0) && i < sizes.at[axis]; i++)
        n += cq_tensor_get_i64(condition, i) != 0;
    CQ_TRY(cq_rt_scratch(&index, rt, CQ_DTYPE_I64, 1, &n));
    to = cq_tensor_data(index);
    for (int64_t i = 0; i < cq_size_of(condition, 0) && i < sizes.at[axis]; i++)
        if (cq_tensor_get_i64(condition, i))
            *to++ = i;
    sizes.at[axis] = n;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_index_select(y, x, axis, index);
}

static cq_status topk(cq_rt *rt)
{
    const cq_tensor *x       = cq_rt_in(rt, 0);
    bool             largest = !cq_rt_attr_given(rt, "largest") || cq_rt_int(rt, "largest");
    cq_rt_sizes      sizes;
    int64_t          k = cq_rt_int(rt, "k");
    uint32_t         axis;
    cq_tensor       *values, *indices = NULL;

    CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
    CQ_TRY(cq_rt_in_i64(&k, rt, 1, k));
    cq_rt_sizes_of(&sizes, x);
    if (k < 0 || k > sizes.at[axis])
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "k is %" PRId64 ", but the axis has %" PRId64 " elements", k,
                       sizes.at[axis]);
    sizes.at[axis] = k;
    CQ_TRY(cq_rt_out_sized(&values, rt, 0, x->dtype, &sizes));
    if (cq_rt_wants(rt, 1))
        CQ_TRY(cq_rt_out_sized(&indices, rt, 1, CQ_DTYPE_I64, &sizes));
    return cq_kernel_topk(values, indices, x, axis, largest);
}

static cq_status one_hot(cq_rt *rt)
{
    const cq_tensor *index = cq_rt_in(rt, 0), *values = cq_rt_in(rt, 2);
    int64_t          depth, at                        = cq_rt_int(rt, "axis");
    cq_rt_sizes      sizes = { .rank = index->rank + 1 };
    size_t           size  = cq_dtype_size(values->dtype);
    int64_t          inner = 1, n = cq_tensor_numel(index);
    uint32_t         axis;
    const cq_tensor *flat;
    cq_tensor       *y;
    char            *to;

    if (sizes.rank > CQ_MAX_RANK || values->rank != 1 || cq_size_of(values, 0) != 2)
        return cq_rt_misfit(index, values);
    CQ_TRY(cq_rt_in_i64(&depth, rt, 1, 0));
    CQ_TRY(cq_rt_axis(&axis, at, sizes.rank));
    for (uint32_t i = 0, from = 0; i < sizes.rank; i++)
        sizes.at[i] = i == axis ? depth : cq_size_of(index, from++);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, values->dtype, &sizes));
    for (uint32_t i = axis + 1; i < sizes.rank; i++)
        inner *= sizes.at[i];
    CQ_TRY(cq_rt_contiguous(&flat, rt, values));
    to = cq_tensor_data(y);
    for (int64_t i = 0; i < cq_tensor_numel(y); i++)
        memcpy(to + (size_t)i * size, cq_tensor_data(flat), size);
    for (int64_t i = 0; i < n && depth > 0; i++) {
        int64_t hot      = cq_tensor_get_i64(index, i);
        int64_t position = i / inner * depth * inner + i % inner;

        hot = hot < 0 ? hot + depth : hot;
        if (hot >= 0 && hot < depth) /* an index out of range leaves the whole row at the off
                                      * value */
            memcpy(to + (size_t)(position + hot * inner) * size,
                   (char *)cq_tensor_data(flat) + size, size);
    }
    return CQ_OK;
}

/* Version 10 and later: sequences along one axis, reversed up to their lengths. */
static cq_status reverse_sequence(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *lengths = cq_rt_in(rt, 1);
    uint32_t         time, batch;
    cq_tensor       *y;

    CQ_TRY(cq_rt_axis(&time, cq_rt_int(rt, "time_axis"), x->rank));
    CQ_TRY(cq_rt_axis(&batch, cq_rt_int(rt, "batch_axis"), x->rank));
    if (lengths->rank != 1 || time == batch || cq_size_of(lengths, 0) != cq_size_of(x, batch))
        return cq_rt_misfit(x, lengths);
    CQ_TRY(copy_of_data(&y, rt));
    for (int64_t i = 0; i < cq_size_of(x, batch); i++) {
        int64_t    n = cq_tensor_get_i64(lengths, i);
        cq_tensor *from, *to, *part, *into;

        if (n < 0 || n > cq_size_of(x, time))
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "sequence %" PRId64 " has length %" PRId64 " of %" PRId64, i, n,
                           cq_size_of(x, time));
        CQ_TRY(cq_rt_sliced(&part, rt, x, batch, i, 1, 1));
        CQ_TRY(cq_rt_sliced(&from, rt, part, time, n - 1, -1, n));
        CQ_TRY(cq_rt_sliced(&into, rt, y, batch, i, 1, 1));
        CQ_TRY(cq_rt_sliced(&to, rt, into, time, 0, 1, n));
        CQ_TRY(cq_tensor_copy_into(to, from));
    }
    return CQ_OK;
}

/* ---- Unique ---- */

/* Computes the order of parts by first occurrence. */
static cq_status order_by_first(cq_tensor **order, const cq_tensor *firsts)
{
    cq_rt_sizes sizes;

    cq_rt_sizes_of(&sizes, firsts);
    CQ_TRY(cq_tensor_new(order, CQ_DTYPE_I64, sizes.rank, sizes.at, NULL));
    return cq_kernel_sort(NULL, *order, firsts, 0, false);
}

static cq_status reorder(cq_tensor **io, cq_rt *rt, const cq_tensor *order, uint32_t dim)
{
    cq_rt_sizes sizes;
    cq_tensor  *moved;
    cq_status   status;

    cq_rt_sizes_of(&sizes, *io);
    CQ_TRY(cq_rt_temp(&moved, rt, (*io)->dtype, sizes.rank, sizes.at));
    status = cq_kernel_index_select(moved, *io, dim, order);
    cq_tensor_release(*io);
    *io = moved;
    return status;
}

/* Updates `indices`, the index of the part that each element belongs to, for parts reordered by
 * `order`. */
static void renumber(cq_tensor *indices, const cq_tensor *order, int64_t *rank_of)
{
    int64_t *at = cq_tensor_data(indices);

    for (int64_t i = 0; i < cq_tensor_numel(order); i++)
        rank_of[cq_tensor_get_i64(order, i)] = i;
    for (int64_t i = 0; i < cq_tensor_numel(indices); i++)
        at[i] = rank_of[at[i]];
}

static cq_status keep_order(cq_tensor **values, cq_tensor **indices, cq_tensor **counts,
                            cq_tensor **firsts, cq_rt *rt, uint32_t dim)
{
    cq_tensor *order;
    int64_t   *rank_of;
    cq_status  status = order_by_first(&order, *firsts);

    rank_of = cq_alloc_array((size_t)cq_tensor_numel(*firsts), sizeof *rank_of);
    if (status == CQ_OK && !rank_of)
        status = CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        status = reorder(values, rt, order, dim);
    if (status == CQ_OK)
        status = reorder(counts, rt, order, 0);
    if (status == CQ_OK)
        status = reorder(firsts, rt, order, 0);
    if (status == CQ_OK)
        renumber(*indices, order, rank_of);
    cq_free(rank_of);
    cq_tensor_release(order);
    return status;
}

static cq_status unique(cq_rt *rt)
{
    const cq_tensor *x      = cq_rt_in(rt, 0);
    cq_tensor       *out[4] = { NULL }; /* values, firsts, indices, counts */
    cq_tensor       *flat   = NULL;
    cq_rt_sizes      sizes;
    uint32_t         axis = 0;
    int64_t          dim  = -1;
    cq_status        status;

    if (cq_rt_attr_given(rt, "axis")) {
        CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), x->rank));
        dim = axis;
    }
    CQ_TRY_OR_DONE(cq_kernel_unique(&out[0], &out[2], &out[3], &out[1], x, dim, false));
    sizes = (cq_rt_sizes){ .rank = 1, .at = { cq_tensor_numel(out[2]) } };
    CQ_TRY_OR_DONE(cq_rt_reshape(&flat, rt, out[2], &sizes));
    cq_tensor_release(out[2]);
    out[2] = flat;
    if (!cq_rt_int(rt, "sorted"))
        CQ_TRY_OR_DONE(keep_order(&out[0], &out[2], &out[3], &out[1], rt, axis));
    for (size_t i = 0; i < 4; i++)
        if (cq_rt_wants(rt, i)) {
            status = cq_rt_set_tensor(rt, i, out[i]);
            out[i] = NULL;
        }
done:
    for (size_t i = 0; i < 4; i++)
        cq_tensor_release(out[i]);
    return status;
}

const cq_rt_row cq_rt_rows_index[] = {
    { "Gather", 1, gather, CQ_RT_TEXT_OUT, 0 },
    { "GatherElements", 11, gather_elements, CQ_RT_TEXT_OUT, 0 },
    { "GatherND", 11, gather_nd, CQ_RT_TEXT_OUT, 0 },
    { "NonZero", 9, nonzero, CQ_RT_TEXT_IN, 0 },
    { "Scatter", 9, scatter_elements, CQ_RT_TEXT_OUT, 0 },
    { "ScatterElements", 11, scatter_elements, CQ_RT_TEXT_OUT, 0 },
    { "ScatterND", 11, scatter_nd, CQ_RT_TEXT_OUT, 0 },
    { "TensorScatter", 24, tensor_scatter, CQ_RT_TEXT_OUT, 0 },
    { "Compress", 9, compress, CQ_RT_TEXT_OUT, 0 },
    { "TopK", 1, topk, 0, 0 },
    { "OneHot", 9, one_hot, CQ_RT_TEXT_OUT, 0 },
    { "ReverseSequence", 10, reverse_sequence, CQ_RT_TEXT_OUT, 0 },
    { "Unique", 11, unique, CQ_RT_TEXT_OUT, 0 },
    { 0 },
};

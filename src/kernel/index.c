/* Indexing along one dimension. Tensors as indices are in index_plan.c, selection by value
 * in select.c. */
#include "kernel/index_core.h"

#include "kernel/elementwise.h"

static void byte_strides(int64_t *strides, const cq_tensor *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        strides[i] = t->strides[i] * (int64_t)cq_dtype_size(t->dtype);
}

/* Adds t to a walk over index's shape: its leading corner, without moving along dim. */
static cq_status add_corner(cq_walk *w, const cq_tensor *t, const cq_tensor *index, int64_t dim)
{
    int64_t strides[CQ_MAX_RANK] = { 0 };

    if (t->rank != index->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected an index of rank %u, got %u",
                       (unsigned)index->rank, (unsigned)t->rank);
    byte_strides(strides, t);
    for (uint32_t i = 0; i < t->rank; i++) {
        if ((int64_t)i == dim)
            strides[i] = 0;
        else if (index->sizes[i].value > t->sizes[i].value)
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "size %lld of the index in dimension %u exceeds the tensor's %lld",
                           (long long)index->sizes[i].value, (unsigned)i,
                           (long long)t->sizes[i].value);
    }
    cq_walk_add_bytes(w, cq_tensor_bytes(t), strides);
    return CQ_OK;
}

/* As in PyTorch, a tensor of rank 0 counts as rank 1 with size 1. */
static cq_status as_rank_1(cq_tensor **out, const cq_tensor *t)
{
    cq_int one = cq_i(1);

    if (t->rank)
        *out = cq_tensor_retain((cq_tensor *)t);
    else
        CQ_TRY(cq_tensor_new_view(out, t, t->dtype, 1, &one, (int64_t[]){ 0 }, t->offset));
    return CQ_OK;
}

static cq_status gather(cq_tensor *out, const cq_tensor *x, uint32_t dim, const cq_tensor *index)
{
    cq_tensor *offsets;
    cq_status  status;
    cq_walk    w;

    CQ_TRY(cq_offsets_along(&offsets, index, x, dim));
    cq_walk_init(&w, index->rank, index->sizes);
    CQ_TRY_OR_DONE(add_corner(&w, out, index, -1));
    CQ_TRY_OR_DONE(add_corner(&w, x, index, dim));
    CQ_TRY_OR_DONE(cq_walk_add(&w, offsets));
    cq_read_at_offsets(&w, (int64_t)cq_dtype_size(x->dtype));
done:
    cq_tensor_release(offsets);
    return status;
}

cq_status cq_kernel_gather(cq_tensor *out, const cq_tensor *x, uint32_t dim, const cq_tensor *index)
{
    cq_tensor *o = NULL, *y = NULL, *i = NULL;
    cq_status  status;

    CQ_TRY(cq_check_write(out, x, CQ_COMBINE_SET));
    CQ_TRY_OR_DONE(as_rank_1(&o, out));
    CQ_TRY_OR_DONE(as_rank_1(&y, x));
    CQ_TRY_OR_DONE(as_rank_1(&i, index));
    CQ_TRY_OR_DONE(gather(o, y, dim, i));
done:
    cq_tensor_release(o);
    cq_tensor_release(y);
    cq_tensor_release(i);
    return status;
}

/* Walks over the index once. src of rank 0 is repeated. */
static cq_status scatter(cq_tensor *out, uint32_t dim, const cq_tensor *index,
                         const cq_tensor *offsets, const cq_tensor *src, cq_combine how)
{
    cq_walk w;

    cq_walk_init(&w, index->rank, index->sizes);
    CQ_TRY(src->rank ? add_corner(&w, src, index, -1) : cq_walk_add(&w, src));
    CQ_TRY(add_corner(&w, out, index, dim));
    CQ_TRY(cq_walk_add(&w, offsets));
    cq_write_at_offsets(&w, out->dtype, how);
    return CQ_OK;
}

/* Resets written elements to the neutral element if they do not count themselves; if it depends on
 * the dtype, an element of src is used. */
static cq_status clear_targets(cq_tensor *out, uint32_t dim, const cq_tensor *index,
                               const cq_tensor *offsets, const cq_tensor *src, cq_combine how)
{
    cq_tensor *neutral;
    cq_status  status;

    if (how == CQ_COMBINE_MIN || how == CQ_COMBINE_MAX || how == CQ_COMBINE_SET)
        return scatter(out, dim, index, offsets, src, CQ_COMBINE_SET);
    CQ_TRY(cq_tensor_new(&neutral, out->dtype, 0, NULL, NULL));
    CQ_TRY_OR_DONE(cq_kernel_fill_i64(neutral, how == CQ_COMBINE_MUL));
    CQ_TRY_OR_DONE(scatter(out, dim, index, offsets, neutral, CQ_COMBINE_SET));
done:
    cq_tensor_release(neutral);
    return status;
}

/* Divides the sums in out by their numbers of elements. */
static cq_status divide_by_counts(cq_tensor *out, uint32_t dim, const cq_tensor *index,
                                  bool with_self)
{
    cq_tensor *counts, *one = NULL, *offsets = NULL;
    cq_status  status;

    CQ_TRY(cq_new_like(&counts, CQ_DTYPE_I64, out));
    CQ_TRY_OR_DONE(cq_tensor_new(&one, CQ_DTYPE_I64, 0, NULL, (int64_t[]){ 1 }));
    CQ_TRY_OR_DONE(cq_offsets_along(&offsets, index, counts, dim));
    if (with_self)
        CQ_TRY_OR_DONE(cq_kernel_fill_i64(counts, 1));
    CQ_TRY_OR_DONE(scatter(counts, dim, index, offsets, one, CQ_COMBINE_ADD));
    CQ_TRY_OR_DONE(cq_apply2(counts, CQ_EW_MAXIMUM, NULL, CQ_DTYPE_I64, counts, one));
    CQ_TRY_OR_DONE(cq_apply2(out, cq_dtype_is_float(out->dtype) ? CQ_EW_DIV : CQ_EW_DIV_FLOOR, NULL,
                             out->dtype, out, counts));
done:
    cq_tensor_release(counts);
    cq_tensor_release(one);
    cq_tensor_release(offsets);
    return status;
}

cq_status cq_kernel_scatter(cq_tensor *out, uint32_t dim, const cq_tensor *index,
                            const cq_tensor *src, cq_combine how, bool with_self)
{
    cq_tensor *o = NULL, *i = NULL, *offsets = NULL;
    cq_status  status;

    CQ_TRY(cq_check_write(out, src, how));
    CQ_TRY_OR_DONE(as_rank_1(&o, out));
    CQ_TRY_OR_DONE(as_rank_1(&i, index));
    CQ_TRY_OR_DONE(cq_offsets_along(&offsets, i, o, dim));
    if (!with_self && how != CQ_COMBINE_SET)
        CQ_TRY_OR_DONE(clear_targets(o, dim, i, offsets, src, how));
    CQ_TRY_OR_DONE(scatter(o, dim, i, offsets, src, how));
    if (how == CQ_COMBINE_MEAN)
        CQ_TRY_OR_DONE(divide_by_counts(o, dim, i, with_self));
done:
    cq_tensor_release(o);
    cq_tensor_release(i);
    cq_tensor_release(offsets);
    return status;
}

/* Adds x and offsets to a walk over x's dimensions in which index's dimensions replace dim. */
static void add_slices(cq_walk *w, const cq_tensor *x, uint32_t dim, const cq_tensor *offsets)
{
    int64_t  of_x[CQ_MAX_RANK] = { 0 }, of_offsets[CQ_MAX_RANK] = { 0 };
    int64_t  size = (int64_t)cq_dtype_size(x->dtype);
    uint32_t to   = 0;

    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != dim)
            of_x[to++] = x->strides[i] * size;
        for (uint32_t k = 0; i == dim && k < offsets->rank; k++)
            of_offsets[to++] = offsets->strides[k] * (int64_t)sizeof(int64_t);
    }
    cq_walk_add_bytes(w, cq_tensor_bytes(x), of_x);
    cq_walk_add_bytes(w, cq_tensor_bytes(offsets), of_offsets);
}

/* The sizes of the slices of x that index selects. */
static cq_status slice_sizes(cq_int *sizes, uint32_t *rank, const cq_tensor *x, uint32_t dim,
                             const cq_tensor *index)
{
    uint32_t to = 0;

    if (x->rank + index->rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the result would have more than %d dimensions",
                       CQ_MAX_RANK);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != dim)
            sizes[to++] = x->sizes[i];
        for (uint32_t k = 0; i == dim && k < index->rank; k++)
            sizes[to++] = index->sizes[k];
    }
    *rank = to;
    return CQ_OK;
}

static cq_status index_select(cq_tensor *out, const cq_tensor *x, uint32_t dim,
                              const cq_tensor *index)
{
    cq_tensor *offsets;
    cq_status  status;
    cq_int     sizes[CQ_MAX_RANK];
    uint32_t   rank;
    cq_walk    w;

    CQ_TRY(cq_offsets_along(&offsets, index, x, dim));
    CQ_TRY_OR_DONE(slice_sizes(sizes, &rank, x, dim, index));
    CQ_TRY_OR_DONE(cq_check_selected(out, rank, sizes));
    cq_walk_init(&w, rank, sizes);
    CQ_TRY_OR_DONE(cq_walk_add(&w, out));
    add_slices(&w, x, dim, offsets);
    cq_read_at_offsets(&w, (int64_t)cq_dtype_size(x->dtype));
done:
    cq_tensor_release(offsets);
    return status;
}

cq_status cq_kernel_index_select(cq_tensor *out, const cq_tensor *x, uint32_t dim,
                                 const cq_tensor *index)
{
    cq_tensor *y = NULL, *o = NULL;
    cq_status  status;

    CQ_TRY(cq_check_write(out, x, CQ_COMBINE_SET));
    CQ_TRY_OR_DONE(as_rank_1(&y, x));
    CQ_TRY_OR_DONE(!x->rank && index->rank ? as_rank_1(&o, out)
                                           : (o = cq_tensor_retain(out), CQ_OK));
    CQ_TRY_OR_DONE(index_select(o, y, dim, index));
done:
    cq_tensor_release(y);
    cq_tensor_release(o);
    return status;
}

cq_status cq_kernel_index_write(cq_tensor *out, uint32_t dim, const cq_tensor *index,
                                const cq_tensor *src, cq_combine how)
{
    cq_tensor *offsets = NULL, *o = NULL, *i = NULL;
    cq_status  status;
    cq_int     sizes[CQ_MAX_RANK];
    uint32_t   rank;
    cq_walk    w;

    CQ_TRY(cq_check_write(out, src, how));
    CQ_TRY_OR_DONE(as_rank_1(&o, out));
    CQ_TRY_OR_DONE(as_rank_1(&i, index));
    CQ_TRY_OR_DONE(cq_offsets_along(&offsets, i, o, dim));
    CQ_TRY_OR_DONE(slice_sizes(sizes, &rank, o, dim, i));
    cq_walk_init(&w, rank, sizes);
    CQ_TRY_OR_DONE(cq_walk_add(&w, src));
    add_slices(&w, o, dim, offsets);
    cq_write_at_offsets(&w, out->dtype, how);
done:
    cq_tensor_release(o);
    cq_tensor_release(i);
    cq_tensor_release(offsets);
    return status;
}

cq_status cq_kernel_take(cq_tensor *out, const cq_tensor *x, const cq_tensor *index)
{
    cq_tensor *dense = NULL, *row = NULL;
    cq_status  status;
    cq_int     n = cq_i(cq_tensor_numel(x));

    CQ_TRY_OR_DONE(cq_tensor_contiguous(&dense, x));
    CQ_TRY_OR_DONE(
        cq_tensor_new_view(&row, dense, x->dtype, 1, &n, (int64_t[]){ 1 }, dense->offset));
    CQ_TRY_OR_DONE(cq_kernel_index_select(out, row, 0, index));
done:
    cq_tensor_release(dense);
    cq_tensor_release(row);
    return status;
}

/* Tensors as indices: x[a, :, b] as in PyTorch, and ONNX's GatherND and ScatterND. */
#include "kernel/index_core.h"

/* The index tensors of each dimension of x, masks expanded; NULL: the whole dimension. */
typedef struct index_list {
    cq_tensor *at[CQ_MAX_RANK];
    uint32_t   n;
} index_list;

static void list_clear(index_list *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        cq_tensor_release(list->at[i]);
}

static cq_status too_many(const cq_tensor *x)
{
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "too many indices for a tensor of rank %u",
                   (unsigned)x->rank);
}

/* A mask is replaced by the columns of its nonzero. */
static cq_status list_add_mask(index_list *list, const cq_tensor *x, const cq_tensor *mask)
{
    cq_tensor *indices;
    cq_status  status = CQ_OK;

    if (mask->rank > x->rank - list->n)
        return too_many(x);
    if (mask->rank == 0)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a 0-d bool tensor cannot be an index");
    for (uint32_t i = 0; i < mask->rank; i++)
        if (mask->sizes[i].value != x->sizes[list->n + i].value)
            return cq_fail(
                CQ_E_ARGUMENT, NULL, NULL,
                "the mask has size %lld in dimension %u, the tensor %lld in its dimension %u",
                (long long)mask->sizes[i].value, (unsigned)i,
                (long long)x->sizes[list->n + i].value, (unsigned)(list->n + i));
    CQ_TRY(cq_kernel_nonzero(&indices, mask));
    for (uint32_t i = 0; i < mask->rank && status == CQ_OK; i++) {
        status = cq_tensor_new_view(&list->at[list->n], indices, CQ_DTYPE_I64, 1, indices->sizes,
                                    indices->strides, i);
        list->n += status == CQ_OK;
    }
    cq_tensor_release(indices);
    return status;
}

static cq_status list_fill(index_list *list, const cq_tensor *x, const cq_tensor *const *indices,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const cq_tensor *index = indices[i];

        if (index && (index->dtype == CQ_DTYPE_BOOL || index->dtype == CQ_DTYPE_U8)) {
            CQ_TRY(list_add_mask(list, x, index));
            continue;
        }
        if (list->n >= x->rank)
            return too_many(x);
        list->at[list->n++] = cq_tensor_retain((cq_tensor *)index);
    }
    while (list->n < x->rank)
        list->at[list->n++] = NULL;
    return CQ_OK;
}

/* The shape that all index tensors are broadcast to. */
static cq_status common_shape(cq_int *sizes, uint32_t *rank, const index_list *list)
{
    *rank = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i] && list->at[i]->rank > *rank)
            *rank = list->at[i]->rank;
    for (uint32_t k = 0; k < *rank; k++)
        sizes[k] = cq_i(1);
    for (uint32_t i = 0; i < list->n; i++) {
        const cq_tensor *t = list->at[i];

        for (uint32_t k = 0; t && k < t->rank; k++) {
            cq_int *to = &sizes[*rank - t->rank + k];

            if (to->value == 1)
                *to = t->sizes[k];
            else if (t->sizes[k].value != 1 && t->sizes[k].value != to->value)
                return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                               "index tensors of sizes %lld and %lld cannot be broadcast together",
                               (long long)to->value, (long long)t->sizes[k].value);
        }
    }
    return CQ_OK;
}

/* Index dimensions replace the indexed ones if those are adjacent, otherwise they come first. */
static uint32_t first_place(const index_list *list)
{
    uint32_t first = 0, last;

    while (first < list->n && !list->at[first])
        first++;
    for (last = first; last < list->n && list->at[last];)
        last++;
    for (uint32_t i = last; i < list->n; i++)
        if (list->at[i])
            return 0;
    return first == list->n ? 0 : first;
}

static cq_status plan_offsets(cq_index_plan *plan, const cq_tensor *x, const index_list *list)
{
    int64_t sizes[CQ_MAX_RANK];

    for (uint32_t k = 0; k < plan->n_dims; k++)
        sizes[k] = plan->sizes[plan->first + k].value;
    CQ_TRY(cq_tensor_new(&plan->offsets, CQ_DTYPE_I64, plan->n_dims, sizes, NULL));
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i])
            CQ_TRY(cq_add_offsets(plan->offsets, list->at[i], i, x->sizes[i].value, x->strides[i]));
    return CQ_OK;
}

static cq_status plan_from_list(cq_index_plan *plan, const cq_tensor *x, const index_list *list)
{
    cq_int   common[CQ_MAX_RANK];
    uint32_t others = 0;

    CQ_TRY(common_shape(common, &plan->n_dims, list));
    for (uint32_t i = 0; i < list->n; i++)
        others += !list->at[i];
    if (others + plan->n_dims > CQ_MAX_RANK)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the result would have more than %d dimensions",
                       CQ_MAX_RANK);
    plan->first = first_place(list);
    plan->rank  = others + plan->n_dims;
    for (uint32_t i = 0, d = 0; i < plan->rank; i++) {
        if (i >= plan->first && i < plan->first + plan->n_dims) {
            plan->sizes[i] = common[i - plan->first];
            continue;
        }
        while (list->at[d])
            d++;
        plan->from[i]  = d;
        plan->sizes[i] = x->sizes[d++];
    }
    return plan_offsets(plan, x, list);
}

cq_status cq_index_plan_init(cq_index_plan *plan, const cq_tensor *x,
                             const cq_tensor *const *indices, size_t n)
{
    index_list list = { .n = 0 };
    cq_status  status;

    plan->offsets = NULL;
    CQ_TRY_OR_DONE(list_fill(&list, x, indices, n));
    CQ_TRY_OR_DONE(plan_from_list(plan, x, &list));
done:
    list_clear(&list);
    if (status != CQ_OK)
        cq_index_plan_clear(plan);
    return status;
}

void cq_index_plan_clear(cq_index_plan *plan)
{
    cq_tensor_release(plan->offsets);
    plan->offsets = NULL;
}

static cq_status plan_walk(cq_walk *w, const cq_tensor *values, const cq_tensor *x,
                           const cq_index_plan *plan)
{
    int64_t of_x[CQ_MAX_RANK] = { 0 }, of_offsets[CQ_MAX_RANK] = { 0 };
    int64_t size = (int64_t)cq_dtype_size(x->dtype);

    for (uint32_t i = 0; i < plan->rank; i++) {
        if (i >= plan->first && i < plan->first + plan->n_dims)
            of_offsets[i] = plan->offsets->strides[i - plan->first] * (int64_t)sizeof(int64_t);
        else
            of_x[i] = x->strides[plan->from[i]] * size;
    }
    cq_walk_init(w, plan->rank, plan->sizes);
    CQ_TRY(cq_walk_add(w, values));
    cq_walk_add_bytes(w, cq_tensor_bytes(x), of_x);
    cq_walk_add_bytes(w, cq_tensor_bytes(plan->offsets), of_offsets);
    return CQ_OK;
}

cq_status cq_kernel_index_get(cq_tensor *out, const cq_tensor *x, const cq_index_plan *plan)
{
    cq_walk w;

    CQ_TRY(cq_check_write(out, x, CQ_COMBINE_SET));
    CQ_TRY(cq_check_selected(out, plan->rank, plan->sizes));
    CQ_TRY(plan_walk(&w, out, x, plan));
    cq_read_at_offsets(&w, (int64_t)cq_dtype_size(x->dtype));
    return CQ_OK;
}

cq_status cq_kernel_index_put(cq_tensor *x, const cq_index_plan *plan, const cq_tensor *values,
                              cq_combine how)
{
    cq_walk w;

    CQ_TRY(cq_check_write(x, values, how));
    CQ_TRY(plan_walk(&w, values, x, plan));
    cq_write_at_offsets(&w, x->dtype, how);
    return CQ_OK;
}

/* ---- tuples as indices ---- */

/* Offsets of the tuples in the last dimension of index. */
static cq_status tuple_offsets(cq_tensor **out, const cq_tensor *x, const cq_tensor *index,
                               uint32_t batch_dims, uint32_t n)
{
    cq_tensor *column = NULL;
    cq_status  status;
    int64_t    sizes[CQ_MAX_RANK];

    for (uint32_t i = 0; i + 1 < index->rank; i++)
        sizes[i] = index->sizes[i].value;
    CQ_TRY(cq_tensor_new(out, CQ_DTYPE_I64, index->rank - 1, sizes, NULL));
    for (uint32_t k = 0; k < n; k++) {
        uint32_t dim = batch_dims + k;

        CQ_TRY_OR_DONE(cq_tensor_new_view(&column, index, index->dtype, index->rank - 1,
                                          index->sizes, index->strides,
                                          index->offset + k * index->strides[index->rank - 1]));
        CQ_TRY_OR_DONE(cq_add_offsets(*out, column, dim, x->sizes[dim].value, x->strides[dim]));
        cq_tensor_release(column);
        column = NULL;
    }
    return CQ_OK;
done:
    cq_tensor_release(column);
    cq_tensor_release(*out);
    *out = NULL;
    return status;
}

/* A walk over the result: index's dimensions except the last, then the dimensions of x that the
 * tuples do not index. The first batch_dims belong to both index and x. */
static cq_status nd_walk(cq_walk *w, cq_tensor **offsets, const cq_tensor *values,
                         const cq_tensor *x, const cq_tensor *index, uint32_t batch_dims)
{
    int64_t  of_x[CQ_MAX_RANK] = { 0 }, of_offsets[CQ_MAX_RANK] = { 0 };
    int64_t  size = (int64_t)cq_dtype_size(x->dtype);
    cq_int   sizes[CQ_MAX_RANK];
    uint32_t rank, n;

    if (index->rank <= batch_dims || index->sizes[index->rank - 1].value < 0 ||
        index->sizes[index->rank - 1].value + batch_dims > x->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "index tuples exceed the rank %u of the tensor",
                       (unsigned)x->rank);
    n    = (uint32_t)index->sizes[index->rank - 1].value;
    rank = index->rank - 1 + x->rank - batch_dims - n;
    if (rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the result would have more than %d dimensions",
                       CQ_MAX_RANK);
    for (uint32_t i = 0; i < batch_dims; i++)
        if (index->sizes[i].value != x->sizes[i].value)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "batch dimension %u has sizes %lld and %lld",
                           (unsigned)i, (long long)x->sizes[i].value,
                           (long long)index->sizes[i].value);
    CQ_TRY(tuple_offsets(offsets, x, index, batch_dims, n));
    for (uint32_t i = 0; i + 1 < index->rank; i++) {
        sizes[i]      = index->sizes[i];
        of_offsets[i] = (*offsets)->strides[i] * (int64_t)sizeof(int64_t);
        of_x[i]       = i < batch_dims ? x->strides[i] * size : 0;
    }
    for (uint32_t i = index->rank - 1, d = batch_dims + n; d < x->rank; i++, d++) {
        sizes[i] = x->sizes[d];
        of_x[i]  = x->strides[d] * size;
    }
    CQ_TRY(cq_check_selected(values, rank, sizes));
    cq_walk_init(w, rank, sizes);
    CQ_TRY(cq_walk_add(w, values));
    cq_walk_add_bytes(w, cq_tensor_bytes(x), of_x);
    cq_walk_add_bytes(w, cq_tensor_bytes(*offsets), of_offsets);
    return CQ_OK;
}

cq_status cq_kernel_gather_nd(cq_tensor *out, const cq_tensor *x, const cq_tensor *index,
                              uint32_t batch_dims)
{
    cq_tensor *offsets = NULL;
    cq_status  status;
    cq_walk    w;

    CQ_TRY(cq_check_write(out, x, CQ_COMBINE_SET));
    CQ_TRY_OR_DONE(nd_walk(&w, &offsets, out, x, index, batch_dims));
    cq_read_at_offsets(&w, (int64_t)cq_dtype_size(x->dtype));
done:
    cq_tensor_release(offsets);
    return status;
}

cq_status cq_kernel_scatter_nd(cq_tensor *out, const cq_tensor *index, const cq_tensor *src,
                               cq_combine how)
{
    cq_tensor *offsets = NULL;
    cq_status  status;
    cq_walk    w;

    CQ_TRY(cq_check_write(out, src, how));
    CQ_TRY_OR_DONE(nd_walk(&w, &offsets, src, out, index, 0));
    cq_write_at_offsets(&w, out->dtype, how);
done:
    cq_tensor_release(offsets);
    return status;
}

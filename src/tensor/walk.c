/* Strided walks: drop, sort and merge the dimensions once, then count through them. */
#include "tensor/walk.h"

#include <stdlib.h>

void cq_walk_init(cq_walk *w, size_t rank, const cq_int *sizes)
{
    w->n_operands = 0;
    w->rank       = (uint32_t)rank;
    for (size_t i = 0; i < rank; i++)
        w->sizes[i] = sizes[i].value;
}

cq_status cq_walk_add(cq_walk *w, const cq_tensor *t)
{
    int64_t strides[CQ_MAX_RANK] = { 0 };
    int64_t size                 = (int64_t)cq_dtype_size(t->dtype);
    char    name[CQ_DESCRIBE_SIZE];

    if (t->rank > w->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s cannot be broadcast to %u dimensions",
                       cq_tensor_describe(t, name, sizeof name), (unsigned)w->rank);
    for (uint32_t i = 0, lead = w->rank - t->rank; i < t->rank; i++) {
        if (t->sizes[i].value == w->sizes[lead + i])
            strides[lead + i] = t->strides[i] * size;
        else if (t->sizes[i].value != 1)
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "%s cannot be broadcast: expected size %lld or 1, got %lld",
                           cq_tensor_describe(t, name, sizeof name), (long long)w->sizes[lead + i],
                           (long long)t->sizes[i].value);
    }
    cq_walk_add_bytes(w, cq_tensor_bytes(t), strides);
    return CQ_OK;
}

void cq_walk_add_bytes(cq_walk *w, void *data, const int64_t *strides)
{
    int k = w->n_operands++;

    w->at[k] = data;
    if (w->rank)
        memcpy(w->strides[k], strides, w->rank * sizeof *strides);
}

static void move_dim(cq_walk *w, uint32_t to, uint32_t from)
{
    w->sizes[to] = w->sizes[from];
    for (int k = 0; k < w->n_operands; k++)
        w->strides[k][to] = w->strides[k][from];
}

static void swap_dims(cq_walk *w, uint32_t a, uint32_t b)
{
    int64_t size = w->sizes[a];

    w->sizes[a] = w->sizes[b];
    w->sizes[b] = size;
    for (int k = 0; k < w->n_operands; k++) {
        int64_t stride = w->strides[k][a];

        w->strides[k][a] = w->strides[k][b];
        w->strides[k][b] = stride;
    }
}

/* Whether dimension a should be outside of b: the first operand that moves differently
 * along the two decides. */
static bool belongs_outside(const cq_walk *w, uint32_t a, uint32_t b)
{
    for (int k = 0; k < w->n_operands; k++) {
        int64_t sa = llabs(w->strides[k][a]), sb = llabs(w->strides[k][b]);

        if (sa != sb)
            return sa > sb;
    }
    return false;
}

/* Whether stepping off the end of b is the same as one step of a, in every operand. */
static bool lie_end_to_end(const cq_walk *w, uint32_t a, uint32_t b)
{
    for (int k = 0; k < w->n_operands; k++)
        if (w->strides[k][a] != w->strides[k][b] * w->sizes[b])
            return false;
    return true;
}

static void drop_dims_of_one(cq_walk *w)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < w->rank; i++)
        if (w->sizes[i] != 1)
            move_dim(w, kept++, i);
    w->rank = kept;
}

static void merge_dims(cq_walk *w)
{
    uint32_t last = 0;

    for (uint32_t i = 1; i < w->rank; i++) {
        if (lie_end_to_end(w, last, i)) {
            int64_t size = w->sizes[last];

            move_dim(w, last, i);
            w->sizes[last] *= size;
        } else {
            move_dim(w, ++last, i);
        }
    }
    w->rank = last + 1;
}

bool cq_walk_start(cq_walk *w, cq_walk_order order)
{
    for (uint32_t i = 0; i < w->rank; i++)
        if (w->sizes[i] == 0)
            return false;
    drop_dims_of_one(w);
    if (w->rank == 0) { /* a single element */
        w->rank     = 1;
        w->sizes[0] = 1;
        for (int k = 0; k < w->n_operands; k++)
            w->strides[k][0] = 0;
    }
    if (order == CQ_ANY_ORDER)
        for (uint32_t i = 1; i < w->rank; i++)
            for (uint32_t j = i; j > 0 && belongs_outside(w, j, j - 1); j--)
                swap_dims(w, j, j - 1);
    merge_dims(w);
    memset(w->index, 0, w->rank * sizeof *w->index);
    w->n = w->sizes[w->rank - 1];
    for (int k = 0; k < w->n_operands; k++)
        w->step[k] = w->strides[k][w->rank - 1];
    return true;
}

bool cq_walk_next(cq_walk *w)
{
    for (uint32_t i = w->rank - 1; i-- > 0;) {
        if (++w->index[i] < w->sizes[i]) {
            for (int k = 0; k < w->n_operands; k++)
                w->at[k] += w->strides[k][i];
            return true;
        }
        w->index[i] = 0;
        for (int k = 0; k < w->n_operands; k++)
            w->at[k] -= w->strides[k][i] * (w->sizes[i] - 1);
    }
    return false;
}

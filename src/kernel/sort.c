/* Sorting lanes by their keys. Unique elements are in unique.c. */
#include "kernel/sort.h"

#include "kernel/key.h"
#include "kernel/lane.h"
#include "tensor/convert.h"

#include <stdlib.h>

/* ---- lanes ---- */

/* The first m of a lane's keys after arrange() are the result. */
typedef struct job job;
typedef cq_status  arrange_fn(const job *j, cq_key *keys, cq_key *scratch, int64_t n, int64_t m);

struct job {
    arrange_fn *arrange;
    bool        flip;
    int64_t     k;
};

static void write_lane(const cq_tensor *values, const cq_tensor *indices, const cq_tensor *x,
                       const cq_lanes *l, const cq_key *keys, int64_t m)
{
    int     of_values = 1, of_places = values ? 2 : 1;
    int64_t size = (int64_t)cq_dtype_size(x->dtype);

    for (int64_t i = 0; values && i < m; i++)
        memcpy(l->at[of_values] + i * l->step[of_values], l->at[0] + keys[i].index * l->step[0],
               (size_t)size);
    for (int64_t i = 0; indices && i < m; i++)
        cq_store_of(indices->dtype, CQ_WIDE_I64)(l->at[of_places] + i * l->step[of_places], 0,
                                                 &keys[i].index, 1);
}

static cq_status run(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim,
                     const job *j)
{
    cq_key   *keys, *scratch = NULL;
    cq_status status;
    cq_lanes  l;

    if (values && values->dtype != x->dtype)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "cannot store in %s elements of %s",
                       cq_dtype_name(values->dtype), cq_dtype_name(x->dtype));
    cq_lanes_init(&l, dim);
    CQ_TRY(cq_lanes_add(&l, x));
    if (values)
        CQ_TRY(cq_lanes_add(&l, values));
    if (indices)
        CQ_TRY(cq_lanes_add(&l, indices));
    if (l.w.n_operands > 1 && l.n[1] > l.n[0])
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected k from 0 to the size, got %lld of %lld",
                       (long long)l.n[1], (long long)l.n[0]);
    if (values && indices && l.n[1] != l.n[2])
        return cq_fail(CQ_E_TYPE, NULL, NULL, "values and indices differ in size");
    status = CQ_OK;
    keys   = cq_alloc_array((size_t)l.n[0], sizeof *keys);
    if (keys)
        scratch = cq_alloc_array((size_t)l.n[0], sizeof *scratch);
    if (!keys || !scratch) {
        status = CQ_E_NO_MEMORY;
        goto done;
    }
    for (bool more = cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        CQ_TRY_OR_DONE(cq_keys_load(keys, x->dtype, l.at[0], l.step[0], l.n[0], j->flip));
        CQ_TRY_OR_DONE(j->arrange(j, keys, scratch, l.n[0], l.n[1]));
        write_lane(values, indices, x, &l, keys, l.n[1]);
    }
done:
    cq_free(keys);
    cq_free(scratch);
    return status;
}

static cq_status arrange_all(const job *j, cq_key *keys, cq_key *scratch, int64_t n, int64_t m)
{
    (void)j, (void)m;
    cq_keys_sort(keys, scratch, n);
    return CQ_OK;
}

cq_status cq_kernel_sort(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim,
                         bool descending)
{
    return run(values, indices, x, dim, &(job){ .arrange = arrange_all, .flip = descending });
}

/* Selection loses the order of equal elements, so they are sorted by index first. */
static int by_place(const void *a, const void *b)
{
    int64_t x = ((const cq_key *)a)->index, y = ((const cq_key *)b)->index;

    return (x > y) - (x < y);
}

static cq_status arrange_first(const job *j, cq_key *keys, cq_key *scratch, int64_t n, int64_t m)
{
    (void)j;
    if (m < n / 2) {
        cq_keys_select(keys, n, m);
        qsort(keys, (size_t)m, sizeof *keys, by_place);
        n = m;
    }
    cq_keys_sort(keys, scratch, n);
    return CQ_OK;
}

cq_status cq_kernel_topk(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim,
                         bool largest)
{
    return run(values, indices, x, dim, &(job){ .arrange = arrange_first, .flip = largest });
}

/* The k-th becomes the first. */
static cq_status arrange_kth(const job *j, cq_key *keys, cq_key *scratch, int64_t n, int64_t m)
{
    (void)m;
    if (j->k < 1 || j->k > n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "k is %lld for a dimension of size %lld",
                       (long long)j->k, (long long)n);
    cq_keys_sort(keys, scratch, n);
    keys[0] = keys[j->k - 1];
    return CQ_OK;
}

cq_status cq_kernel_kthvalue(cq_tensor *values, cq_tensor *indices, const cq_tensor *x,
                             uint32_t dim, int64_t k)
{
    return run(values, indices, x, dim, &(job){ .arrange = arrange_kth, .k = k });
}

static cq_status arrange_median(const job *j, cq_key *keys, cq_key *scratch, int64_t n, int64_t m)
{
    int64_t numbers = n;

    (void)m;
    if (n == 0)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the median of an empty tensor is undefined");
    cq_keys_sort(keys, scratch, n);
    while (numbers > 0 && keys[numbers - 1].key == CQ_KEY_NAN)
        numbers--;
    if (numbers < n && (!j->k || numbers == 0))
        keys[0] = keys[numbers]; /* the first NaN */
    else
        keys[0] = keys[(numbers - 1) / 2];
    return CQ_OK;
}

cq_status cq_kernel_median(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim,
                           bool skip_nan)
{
    return run(values, indices, x, dim, &(job){ .arrange = arrange_median, .k = skip_nan });
}

/* ---- searching ---- */

/* The number of n keys that are less than key, or (right) not greater. Comparisons with NaN count
 * as true, as in PyTorch. */
static int64_t lower_bound(const cq_key *keys, int64_t n, uint64_t key, bool right, bool real)
{
    int64_t low = 0, high = n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (keys[middle].key < key || (right && keys[middle].key == key) ||
            (real && (key == CQ_KEY_NAN || keys[middle].key == CQ_KEY_NAN)))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void search_lane(const cq_lanes *l, const cq_tensor *out, const cq_tensor *x,
                        const cq_key *sorted, int64_t n, bool right)
{
    for (int64_t i = 0; i < l->n[0]; i++) {
        cq_key  key;
        int64_t index;

        cq_keys_load(&key, x->dtype, l->at[0] + i * l->step[0], l->step[0], 1, false);
        index = lower_bound(sorted, n, key.key, right, cq_dtype_is_float(x->dtype));
        cq_store_of(out->dtype, CQ_WIDE_I64)(l->at[1] + i * l->step[1], 0, &index, 1);
    }
}

/* Keys of integers and floats are not comparable, so both sides are converted to one kind. */
static cq_status search(cq_tensor *out, const cq_tensor *sorted, const cq_tensor *x, bool right)
{
    bool      shared = sorted->rank == 1 && x->rank != 1;
    int64_t   n      = sorted->sizes[sorted->rank - 1].value;
    uint32_t  last   = x->rank ? x->rank - 1 : 0;
    cq_key   *keys;
    cq_status status;
    cq_lanes  l;

    cq_lanes_init(&l, last);
    CQ_TRY(cq_lanes_add(&l, x));
    CQ_TRY(cq_lanes_add(&l, out));
    if (!shared)
        CQ_TRY(cq_lanes_add(&l, sorted));
    keys = cq_alloc_array((size_t)n, sizeof *keys);
    if (!keys)
        return CQ_E_NO_MEMORY;
    status = CQ_OK;
    if (shared)
        CQ_TRY_OR_DONE(cq_keys_load(keys, sorted->dtype, cq_tensor_bytes(sorted),
                                    sorted->strides[0] * (int64_t)cq_dtype_size(sorted->dtype), n,
                                    false));
    for (bool more = cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        if (!shared)
            CQ_TRY_OR_DONE(cq_keys_load(keys, sorted->dtype, l.at[2], l.step[2], n, false));
        search_lane(&l, out, x, keys, n, right);
    }
done:
    cq_free(keys);
    return status;
}

cq_status cq_kernel_searchsorted(cq_tensor *out, const cq_tensor *sorted, const cq_tensor *x,
                                 bool right)
{
    cq_dtype   common = cq_dtype_promote(sorted->dtype, x->dtype);
    cq_tensor *s = NULL, *y = NULL;
    cq_status  status;

    if (sorted->rank == 0 || cq_dtype_is_complex(common))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected a sorted sequence of real numbers");
    CQ_TRY_OR_DONE(cq_tensor_clone(&s, sorted, common));
    CQ_TRY_OR_DONE(cq_tensor_clone(&y, x, common));
    CQ_TRY_OR_DONE(search(out, s, y, right));
done:
    cq_tensor_release(s);
    cq_tensor_release(y);
    return status;
}

/* The unique elements of a tensor, or the unique slices along a dimension. A slice is a row of keys
 * and an element a row with one key; rows are sorted lexicographically. */
#include "kernel/sort.h"

#include "kernel/index.h"
#include "kernel/key.h"

/* n rows of m keys each; order lists the rows, sorted if that is wanted. */
typedef struct rows {
    int64_t  n, m;
    cq_key  *keys;
    int64_t *order, *scratch;
} rows;

static void rows_clear(rows *r)
{
    cq_free(r->keys);
    cq_free(r->order);
    cq_free(r->scratch);
}

static int compare(const rows *r, int64_t a, int64_t b)
{
    const cq_key *x = r->keys + a * r->m, *y = r->keys + b * r->m;

    for (int64_t i = 0; i < r->m; i++)
        if (x[i].key != y[i].key)
            return x[i].key < y[i].key ? -1 : 1;
    return 0;
}

/* NaN is not equal to itself, so every NaN is unique. */
static bool equal(const rows *r, int64_t a, int64_t b)
{
    const cq_key *x = r->keys + a * r->m, *y = r->keys + b * r->m;

    for (int64_t i = 0; i < r->m; i++)
        if (x[i].key != y[i].key || x[i].key == CQ_KEY_NAN)
            return false;
    return true;
}

/* Stable, so the first row of equal ones is the one that occurs first. */
static void sort_rows(rows *r)
{
    for (int64_t width = 1; width < r->n; width *= 2) {
        int64_t *from = r->order, *to = r->scratch;

        for (int64_t start = 0; start < r->n; start += 2 * width) {
            int64_t middle = r->n - start < width ? r->n : start + width;
            int64_t end    = r->n - middle < width ? r->n : middle + width;
            int64_t a = start, b = middle;

            for (int64_t i = start; i < end; i++) {
                bool first = b == end || (a < middle && compare(r, from[a], from[b]) <= 0);

                to[i] = first ? from[a++] : from[b++];
            }
        }
        r->order   = to;
        r->scratch = from;
    }
}

/* A contiguous copy of x with dim and the first dimension swapped, which gives the order of slices
 * of PyTorch; or x itself, with elements as slices. */
static cq_status slices_first(cq_tensor **out, const cq_tensor *x, int64_t dim)
{
    cq_int     sizes[CQ_MAX_RANK];
    int64_t    strides[CQ_MAX_RANK];
    cq_tensor *view;
    cq_status  status;

    if (dim < 0)
        return cq_tensor_contiguous(out, x);
    for (uint32_t i = 0; i < x->rank; i++) {
        uint32_t from = i == 0 ? (uint32_t)dim : i == dim ? 0 : i;

        sizes[i]   = x->sizes[from];
        strides[i] = x->strides[from];
    }
    CQ_TRY(cq_tensor_new_view(&view, x, x->dtype, x->rank, sizes, strides, x->offset));
    status = cq_tensor_contiguous(out, view);
    cq_tensor_release(view);
    return status;
}

static cq_status rows_init(rows *r, const cq_tensor *x, int64_t dim, bool sorted)
{
    cq_tensor *dense;
    cq_status  status;
    int64_t    numel = cq_tensor_numel(x);

    memset(r, 0, sizeof *r);
    r->n = dim < 0 ? numel : x->sizes[dim].value;
    r->m = r->n ? numel / r->n : 0;
    CQ_TRY(slices_first(&dense, x, dim));
    r->keys    = cq_alloc_array((size_t)numel, sizeof *r->keys);
    r->order   = cq_alloc_array((size_t)r->n, sizeof *r->order);
    r->scratch = cq_alloc_array((size_t)r->n, sizeof *r->scratch);
    status     = CQ_E_NO_MEMORY;
    if (r->keys && r->order && r->scratch)
        status = cq_keys_load(r->keys, x->dtype, cq_tensor_data(dense),
                              (int64_t)cq_dtype_size(x->dtype), numel, false);
    cq_tensor_release(dense);
    if (status != CQ_OK)
        return status;
    for (int64_t i = 0; i < r->n; i++)
        r->order[i] = i;
    if (sorted)
        sort_rows(r);
    return CQ_OK;
}

/* values = the slices of x at the indices firsts. */
static cq_status select_values(cq_tensor **values, const cq_tensor *x, int64_t dim,
                               const cq_tensor *firsts)
{
    int64_t   sizes[CQ_MAX_RANK];
    cq_status status;

    for (uint32_t i = 0; i < x->rank; i++)
        sizes[i] = i == dim ? firsts->sizes[0].value : x->sizes[i].value;
    if (dim < 0)
        sizes[0] = firsts->sizes[0].value;
    CQ_TRY(cq_tensor_new_uninit(values, x->dtype, dim < 0 ? 1 : x->rank, sizes));
    status = dim < 0 ? cq_kernel_take(*values, x, firsts)
                     : cq_kernel_index_select(*values, x, (uint32_t)dim, firsts);
    if (status != CQ_OK) {
        cq_tensor_release(*values);
        *values = NULL;
    }
    return status;
}

/* Numbers the rows: index[i] is the number of row i; returns how many there are. */
static int64_t number_rows(const rows *r, int64_t *index, int64_t *counts, int64_t *firsts)
{
    int64_t n = 0;

    for (int64_t i = 0; i < r->n; i++) {
        int64_t row = r->order[i];

        if (i == 0 || !equal(r, r->order[i - 1], row)) {
            firsts[n]   = row;
            counts[n++] = 0;
        }
        counts[n - 1]++;
        index[row] = n - 1;
    }
    return n;
}

cq_status cq_kernel_unique(cq_tensor **values, cq_tensor **indices, cq_tensor **counts,
                           cq_tensor **firsts, const cq_tensor *x, int64_t dim, bool consecutive)
{
    cq_tensor *p = NULL, *c = NULL, *f = NULL, *all_c = NULL, *all_f = NULL;
    int64_t    sizes[CQ_MAX_RANK], n;
    cq_int     found;
    cq_status  status;
    rows       r;

    *values = NULL;
    if (dim >= (int64_t)x->rank)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "dimension %lld is out of range for a tensor of rank %u", (long long)dim,
                       (unsigned)x->rank);
    for (uint32_t i = 0; i < x->rank; i++)
        sizes[i] = x->sizes[i].value;
    CQ_TRY_OR_DONE(rows_init(&r, x, dim, !consecutive));
    CQ_TRY_OR_DONE(dim < 0 ? cq_tensor_new_uninit(&p, CQ_DTYPE_I64, x->rank, sizes)
                           : cq_tensor_new_uninit(&p, CQ_DTYPE_I64, 1, &r.n));
    CQ_TRY_OR_DONE(cq_tensor_new_uninit(&all_c, CQ_DTYPE_I64, 1, &r.n));
    CQ_TRY_OR_DONE(cq_tensor_new_uninit(&all_f, CQ_DTYPE_I64, 1, &r.n));
    n     = number_rows(&r, cq_tensor_data(p), cq_tensor_data(all_c), cq_tensor_data(all_f));
    found = cq_i(n);
    CQ_TRY_OR_DONE(cq_tensor_new_view(&c, all_c, CQ_DTYPE_I64, 1, &found, (int64_t[]){ 1 }, 0));
    CQ_TRY_OR_DONE(cq_tensor_new_view(&f, all_f, CQ_DTYPE_I64, 1, &found, (int64_t[]){ 1 }, 0));
    CQ_TRY_OR_DONE(select_values(values, x, dim, f));
    if (indices)
        *indices = cq_tensor_retain(p);
    if (counts)
        *counts = cq_tensor_retain(c);
    if (firsts)
        *firsts = cq_tensor_retain(f);
done:
    rows_clear(&r);
    cq_tensor_release(p);
    cq_tensor_release(c);
    cq_tensor_release(f);
    cq_tensor_release(all_c);
    cq_tensor_release(all_f);
    return status;
}

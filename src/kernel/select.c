/* Selection by value: indices of nonzero elements, masked elements, counts. All walk their tensors
 * in row-major order. */
#include "kernel/index_core.h"

#include "kernel/elementwise.h"
#include "tensor/convert.h"

/* ---- nonzero elements ---- */

enum { TRUTHS = 256 }; /* at a time */

/* Whether elements of any dtype are not zero, n of them at most TRUTHS; NaN is not zero. */
static void find_true(uint8_t *yes, cq_dtype dtype, const char *at, int64_t step, int64_t n)
{
    cq_dtype part = cq_dtype_part(dtype);
    uint8_t  also[TRUTHS];

    cq_convert_run((char *)yes, CQ_DTYPE_BOOL, 1, at, part, step, n);
    if (part == dtype)
        return;
    cq_convert_run((char *)also, CQ_DTYPE_BOOL, 1, at + cq_dtype_size(part), part, step, n);
    for (int64_t i = 0; i < n; i++)
        yes[i] |= also[i];
}

static bool is_true(cq_dtype dtype, const char *at)
{
    uint8_t yes;

    find_true(&yes, dtype, at, 0, 1);
    return yes;
}

/* Counts the true elements of t, broadcast to the walk's shape. */
static cq_status count_true(int64_t *n, uint32_t rank, const cq_int *sizes, const cq_tensor *t)
{
    uint8_t yes[TRUTHS];
    cq_walk w;

    *n = 0;
    cq_walk_init(&w, rank, sizes);
    CQ_TRY(cq_walk_add(&w, t));
    for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i += TRUTHS) {
            int64_t some = w.n - i < TRUTHS ? w.n - i : TRUTHS;

            find_true(yes, t->dtype, w.at[0] + i * w.step[0], w.step[0], some);
            for (int64_t k = 0; k < some; k++)
                *n += yes[k];
        }
    return CQ_OK;
}

cq_status cq_kernel_count_true(int64_t *n, const cq_tensor *x)
{
    return count_true(n, x->rank, x->sizes, x);
}

cq_status cq_kernel_nonzero(cq_tensor **out, const cq_tensor *x)
{
    int64_t  n, at[CQ_MAX_RANK] = { 0 }, *to;
    cq_int   sizes[CQ_MAX_RANK];
    cq_walk  w;
    uint32_t rank = x->rank;

    *out = NULL;
    if (rank)
        memcpy(sizes, x->sizes, rank * sizeof *sizes);
    CQ_TRY(count_true(&n, rank, sizes, x));
    CQ_TRY(cq_tensor_new_uninit(out, CQ_DTYPE_I64, 2, (int64_t[]){ n, rank }));
    to = cq_tensor_data(*out);
    cq_walk_init(&w, rank, sizes);
    CQ_TRY(cq_walk_add(&w, x)); /* cannot fail, it is x's own shape */
    for (bool more = cq_walk_start(&w, CQ_ROW_MAJOR); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            if (is_true(x->dtype, w.at[0] + i * w.step[0]) && rank) {
                memcpy(to, at, rank * sizeof *at);
                to += rank;
            }
            for (uint32_t d = rank; d-- > 0;) { /* the walk has merged dimensions */
                if (++at[d] < sizes[d].value)
                    break;
                at[d] = 0;
            }
        }
    return CQ_OK;
}

/* ---- masks ---- */

/* The shape that two tensors are broadcast to. */
static void broadcast(cq_int *sizes, uint32_t *rank, const cq_tensor *a, const cq_tensor *b)
{
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (uint32_t i = 0; i < *rank; i++) {
        uint32_t back = *rank - i;
        cq_int   of_a = back <= a->rank ? a->sizes[a->rank - back] : cq_i(1);
        cq_int   of_b = back <= b->rank ? b->sizes[b->rank - back] : cq_i(1);

        sizes[i] = of_a.value == 1 ? of_b : of_a; /* the walk rejects sizes that do not match */
    }
}

cq_status cq_kernel_masked_select(cq_tensor **out, const cq_tensor *x, const cq_tensor *mask)
{
    cq_int   sizes[CQ_MAX_RANK];
    uint32_t rank;
    int64_t  n, size = (int64_t)cq_dtype_size(x->dtype);
    cq_walk  w;
    char    *to;

    *out = NULL;
    broadcast(sizes, &rank, x, mask);
    cq_walk_init(&w, rank, sizes);
    CQ_TRY(cq_walk_add(&w, x));
    CQ_TRY(cq_walk_add(&w, mask));
    CQ_TRY(count_true(&n, rank, sizes, mask));
    CQ_TRY(cq_tensor_new_uninit(out, x->dtype, 1, &n));
    to = cq_tensor_data(*out);
    for (bool more = cq_walk_start(&w, CQ_ROW_MAJOR); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++)
            if (is_true(mask->dtype, w.at[1] + i * w.step[1])) {
                memcpy(to, w.at[0] + i * w.step[0], (size_t)size);
                to += size;
            }
    return CQ_OK;
}

cq_status cq_kernel_masked_scatter(cq_tensor *out, const cq_tensor *mask, const cq_tensor *src)
{
    int64_t    n, size = (int64_t)cq_dtype_size(out->dtype);
    cq_tensor *dense;
    cq_walk    w;
    char      *from;

    CQ_TRY(cq_check_write(out, src, CQ_COMBINE_SET));
    CQ_TRY(count_true(&n, out->rank, out->sizes, mask));
    if (n > cq_tensor_numel(src))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "the mask selects %lld elements but the source has %lld", (long long)n,
                       (long long)cq_tensor_numel(src));
    cq_walk_init(&w, out->rank, out->sizes);
    CQ_TRY(cq_walk_add(&w, out));
    CQ_TRY(cq_walk_add(&w, mask));
    CQ_TRY(cq_tensor_contiguous(&dense, src));
    from = cq_tensor_data(dense);
    for (bool more = cq_walk_start(&w, CQ_ROW_MAJOR); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++)
            if (is_true(mask->dtype, w.at[1] + i * w.step[1])) {
                memcpy(w.at[0] + i * w.step[0], from, (size_t)size);
                from += size;
            }
    cq_tensor_release(dense);
    return CQ_OK;
}

/* ---- counting ---- */

static cq_status check_counts(const char *what, const cq_tensor *t)
{
    if (t->rank <= 1 && (cq_dtype_is_integer(t->dtype) || t->dtype == CQ_DTYPE_BOOL))
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, NULL, NULL, "expected %s of integers with one dimension", what);
}

cq_status cq_kernel_repeat_index(cq_tensor **out, const cq_tensor *repeats)
{
    int64_t n = cq_tensor_numel(repeats), total = 0, *to;

    *out = NULL;
    CQ_TRY(check_counts("repeats", repeats));
    for (int64_t i = 0; i < n; i++) {
        int64_t times = cq_tensor_get_i64(repeats, i);

        if (times < 0 || __builtin_add_overflow(total, times, &total))
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "an element cannot be repeated %lld times",
                           (long long)times);
    }
    CQ_TRY(cq_tensor_new_uninit(out, CQ_DTYPE_I64, 1, &total));
    to = cq_tensor_data(*out);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = cq_tensor_get_i64(repeats, i); k > 0; k--)
            *to++ = i;
    return CQ_OK;
}

cq_status cq_kernel_bincount(cq_tensor **out, const cq_tensor *x, const cq_tensor *weights,
                             int64_t min_length)
{
    int64_t  n = cq_tensor_numel(x), bins = min_length;
    cq_dtype dtype = !weights                         ? CQ_DTYPE_I64
                     : weights->dtype == CQ_DTYPE_F32 ? CQ_DTYPE_F32
                                                      : CQ_DTYPE_F64;

    *out = NULL;
    CQ_TRY(check_counts("numbers to be counted", x));
    if (weights && cq_tensor_numel(weights) != n)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "expected as many weights as numbers, got %lld for %lld",
                       (long long)cq_tensor_numel(weights), (long long)n);
    for (int64_t i = 0; i < n; i++) {
        int64_t value = cq_tensor_get_i64(x, i);

        if (value < 0 || value == INT64_MAX)
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                           "bincount expects numbers of at least 0, got %lld", (long long)value);
        bins = value >= bins ? value + 1 : bins;
    }
    CQ_TRY(cq_tensor_new(out, dtype, 1, &bins, NULL));
    for (int64_t i = 0; i < n; i++) {
        int64_t bin = cq_tensor_get_i64(x, i);
        void   *to  = cq_tensor_data(*out);

        if (dtype == CQ_DTYPE_I64)
            ((int64_t *)to)[bin] += 1;
        else if (dtype == CQ_DTYPE_F32)
            ((float *)to)[bin] += (float)cq_tensor_get_f64(weights, i);
        else
            ((double *)to)[bin] += cq_tensor_get_f64(weights, i);
    }
    return CQ_OK;
}

/* Operations along one dimension of a tensor: extremes and their indices, running sums, products
 * and extremes, softmax. Reductions that need no order are in reduce.c. */
#include "kernel/reduce.h"

#include "kernel/lane.h"
#include "tensor/convert.h"

enum { CHUNK = 512 };

static cq_status check_real(const char *what, const cq_tensor *t)
{
    if (!cq_dtype_is_complex(t->dtype) && t->dtype != CQ_DTYPE_U64)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s of %s are not supported", what,
                   cq_dtype_name(t->dtype));
}

static void put_i64(const cq_tensor *t, char *at, int64_t value)
{
    cq_store_of(t->dtype, CQ_WIDE_I64)(at, 0, &value, 1);
}

static void copy_element(const cq_tensor *to, char *at, const cq_tensor *from, const char *element)
{
    cq_convert_run(at, to->dtype, 0, element, from->dtype, 0, 1);
}

/* ---- extremes ---- */

/* The best element so far. The first NaN ends a search, for the least as for the greatest. */
typedef struct best {
    cq_extreme which;
    bool       any, is_nan;
    double     f64;
    int64_t    i64, index;
    char      *at;
} best;

static void search_f64(best *b, const double *x, char *at, int64_t step, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n && !b->is_nan; i++) {
        bool better = b->which.least ? x[i] < b->f64 : x[i] > b->f64;

        if (!b->any || better || x[i] != x[i] || (b->which.last && x[i] == b->f64)) {
            b->any    = true;
            b->is_nan = x[i] != x[i];
            b->f64    = x[i];
            b->index  = first + i;
            b->at     = at + i * step;
        }
    }
}

static void search_i64(best *b, const int64_t *x, char *at, int64_t step, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool better = b->which.least ? x[i] < b->i64 : x[i] > b->i64;

        if (!b->any || better || (b->which.last && x[i] == b->i64)) {
            b->any   = true;
            b->i64   = x[i];
            b->index = first + i;
            b->at    = at + i * step;
        }
    }
}

/* Continues with a run of n elements, the first of which has the given index. */
static void search(best *b, const cq_tensor *x, char *at, int64_t step, int64_t first, int64_t n)
{
    union {
        double  f64[CHUNK];
        int64_t i64[CHUNK];
    } chunk;
    bool        real = cq_dtype_is_float(x->dtype);
    cq_load_fn *load = cq_load_of(x->dtype, real ? CQ_WIDE_F64 : CQ_WIDE_I64);

    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t m = n - i < CHUNK ? n - i : CHUNK;

        load(&chunk, at + i * step, step, m);
        if (real)
            search_f64(b, chunk.f64, at + i * step, step, first + i, m);
        else
            search_i64(b, chunk.i64, at + i * step, step, first + i, m);
    }
}

static cq_status no_elements(void)
{
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the extreme of an empty tensor is undefined");
}

static cq_status extreme_of_all(cq_tensor *values, cq_tensor *indices, const cq_extreme *which,
                                const cq_tensor *x)
{
    best    b     = { .which = *which };
    int64_t index = 0;
    cq_walk w;

    cq_walk_init(&w, x->rank, x->sizes);
    CQ_TRY(cq_walk_add(&w, x));
    for (bool more = cq_walk_start(&w, CQ_ROW_MAJOR); more; more = cq_walk_next(&w)) {
        search(&b, x, w.at[0], w.step[0], index, w.n);
        index += w.n;
    }
    if (!b.any)
        return no_elements();
    if (values)
        copy_element(values, cq_tensor_bytes(values), x, b.at);
    if (indices)
        put_i64(indices, cq_tensor_bytes(indices), b.index);
    return CQ_OK;
}

/* A view of a reduced output with the reduced dimension restored, of size 1. */
static cq_status with_dim(cq_tensor **out, const cq_tensor *t, const cq_tensor *x, uint32_t dim)
{
    cq_int  sizes[CQ_MAX_RANK];
    int64_t strides[CQ_MAX_RANK];

    *out = NULL;
    if (!t)
        return CQ_OK;
    if (t->rank == x->rank) {
        *out = cq_tensor_retain((cq_tensor *)t);
        return CQ_OK;
    }
    if (t->rank + 1 != x->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected an output of rank %u, got rank %u",
                       (unsigned)x->rank - 1, (unsigned)t->rank);
    for (uint32_t i = 0; i < x->rank; i++) {
        sizes[i]   = i == dim ? cq_i(1) : t->sizes[i - (i > dim)];
        strides[i] = i == dim ? 0 : t->strides[i - (i > dim)];
    }
    return cq_tensor_new_view(out, t, t->dtype, x->rank, sizes, strides, t->offset);
}

cq_status cq_extreme_of(cq_tensor *values, cq_tensor *indices, const cq_extreme *which,
                        const cq_tensor *x, int64_t dim)
{
    cq_tensor *v = NULL, *p = NULL;
    cq_status  status;
    cq_lanes   l;
    int        of_v = 1, of_p = values ? 2 : 1;

    CQ_TRY(check_real("extremes", x));
    status = CQ_OK;
    if (dim < 0)
        return extreme_of_all(values, indices, which, x);
    CQ_TRY_OR_DONE(with_dim(&v, values, x, (uint32_t)dim));
    CQ_TRY_OR_DONE(with_dim(&p, indices, x, (uint32_t)dim));
    cq_lanes_init(&l, (uint32_t)dim);
    CQ_TRY_OR_DONE(cq_lanes_add(&l, x));
    if (v)
        CQ_TRY_OR_DONE(cq_lanes_add(&l, v));
    if (p)
        CQ_TRY_OR_DONE(cq_lanes_add(&l, p));
    for (bool more = cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        best b = { .which = *which };

        search(&b, x, l.at[0], l.step[0], 0, l.n[0]);
        if (!b.any) {
            status = no_elements();
            goto done;
        }
        if (v)
            copy_element(v, l.at[of_v], x, b.at);
        if (p)
            put_i64(p, l.at[of_p], b.index);
    }
done:
    cq_tensor_release(v);
    cq_tensor_release(p);
    return status;
}

/* ---- running sums and products ---- */

typedef struct total {
    double  f64;
    int64_t i64;
} total;

static cq_status scan(cq_tensor *out, const cq_tensor *x, uint32_t dim, int flags, bool product)
{
    bool     real = cq_dtype_is_float(x->dtype) || cq_dtype_is_float(out->dtype);
    cq_wide  wide = real ? CQ_WIDE_F64 : CQ_WIDE_I64;
    cq_lanes l;

    if (cq_dtype_is_complex(x->dtype) || cq_dtype_is_complex(out->dtype))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "cumulative sums are not implemented for complex tensors");
    cq_lanes_init(&l, dim);
    CQ_TRY(cq_lanes_add(&l, out));
    CQ_TRY(cq_lanes_add(&l, x));
    for (bool more = cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        total sum = { product, product };

        for (int64_t k = 0; k < l.n[1]; k++) {
            int64_t i      = flags & CQ_SCAN_REVERSE ? l.n[1] - 1 - k : k;
            char   *to     = l.at[0] + i * l.step[0];
            total   before = sum, element;

            cq_load_of(x->dtype, wide)(real ? (void *)&element.f64 : &element.i64,
                                       l.at[1] + i * l.step[1], 0, 1);
            if (real)
                sum.f64 = product ? sum.f64 * element.f64 : sum.f64 + element.f64;
            else
                sum.i64 = (int64_t)(product ? (uint64_t)sum.i64 * (uint64_t)element.i64
                                            : (uint64_t)sum.i64 + (uint64_t)element.i64);
            if (!(flags & CQ_SCAN_EXCLUSIVE))
                before = sum;
            cq_store_of(out->dtype, wide)(to, 0, real ? (void *)&before.f64 : &before.i64, 1);
        }
    }
    return CQ_OK;
}

cq_status cq_kernel_cumsum(cq_tensor *out, const cq_tensor *x, uint32_t dim, int flags)
{
    return scan(out, x, dim, flags, false);
}

cq_status cq_kernel_cumprod(cq_tensor *out, const cq_tensor *x, uint32_t dim, int flags)
{
    return scan(out, x, dim, flags, true);
}

/* After a NaN the result stays NaN, but its index is that of the latest NaN, as in PyTorch. */
static cq_status running_extreme(cq_tensor *values, cq_tensor *indices, const cq_tensor *x,
                                 uint32_t dim, bool least)
{
    bool     real = cq_dtype_is_float(x->dtype);
    cq_lanes l;

    CQ_TRY(check_real("running extremes", x));
    cq_lanes_init(&l, dim);
    CQ_TRY(cq_lanes_add(&l, values));
    CQ_TRY(cq_lanes_add(&l, indices));
    CQ_TRY(cq_lanes_add(&l, x));
    for (bool more = cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        total   top = { 0, 0 }, e = { 0, 0 };
        int64_t index = 0;

        for (int64_t i = 0; i < l.n[2]; i++) {
            char *from = l.at[2] + i * l.step[2];
            bool  take;

            cq_load_of(x->dtype, real ? CQ_WIDE_F64 : CQ_WIDE_I64)(real ? (void *)&e.f64 : &e.i64,
                                                                   from, 0, 1);
            if (real)
                take = e.f64 != e.f64 || (least ? e.f64 <= top.f64 : e.f64 >= top.f64);
            else
                take = least ? e.i64 <= top.i64 : e.i64 >= top.i64;
            if (i == 0 || take) {
                top   = e;
                index = i;
            }
            copy_element(values, l.at[0] + i * l.step[0], x, l.at[2] + index * l.step[2]);
            put_i64(indices, l.at[1] + i * l.step[1], index);
        }
    }
    return CQ_OK;
}

cq_status cq_kernel_cummax(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim)
{
    return running_extreme(values, indices, x, dim, false);
}

cq_status cq_kernel_cummin(cq_tensor *values, cq_tensor *indices, const cq_tensor *x, uint32_t dim)
{
    return running_extreme(values, indices, x, dim, true);
}

/* ---- softmax ---- */

/* Softmax along a dimension. Dense rows, as in attention and the last layer of a classifier, are
 * distributed among threads. */
#include "kernel/reduce.h"

#include "base/thread.h"
#include "kernel/isa.h"
#include "kernel/lane.h"
#include "kernel/operand.h"
#include "tensor/convert.h"

#include <math.h>

/* The larger of each pair of elements. */
typedef int64_t bits __attribute__((vector_size(32)));

static void powers(double *out, const double *x, double top, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = exp(x[i] - top);
}

#define T            double
#define BYTES        32
#define POWERS       powers
#define MAX_OF(a, b) ((__typeof__(a))((((a) > (b)) & (bits)(a)) | (~((a) > (b)) & (bits)(b))))
#define FN(name)     name##_f64
#include "kernel/softmax.inc"

/* ---- dense rows ---- */

enum { ROW_WORK = 1 << 14 };

struct rows {
    cq_softmax_fn *fn;
    float         *out;
    const float   *x;
    int64_t        n, count, step;
};

static cq_status rows_block(void *user, int64_t block)
{
    const struct rows *r   = user;
    int64_t            end = (block + 1) * r->step < r->count ? (block + 1) * r->step : r->count;

    for (int64_t i = block * r->step; i < end; i++)
        r->fn(r->out + i * r->n, r->x + i * r->n, r->n);
    return CQ_OK;
}

static bool is_dense(const cq_tensor *t, uint32_t dim)
{
    return t->dtype == CQ_DTYPE_F32 && dim + 1 == t->rank && cq_tensor_is_contiguous(t);
}

static cq_status rows_run(cq_tensor *out, const cq_tensor *x, bool as_log)
{
    struct rows r = { .fn  = cq_isa_get()->softmax[as_log],
                      .out = cq_tensor_data(out),
                      .x   = cq_tensor_data(x),
                      .n   = cq_size_of(x, x->rank - 1) };

    r.count = r.n ? cq_tensor_numel(x) / r.n : 0;
    r.step  = r.n ? ROW_WORK / r.n + 1 : 1;
    return cq_parallel_for((r.count + r.step - 1) / r.step, rows_block, &r);
}

/* ---- any lanes ---- */

static cq_status softmax(cq_tensor *out, const cq_tensor *x, uint32_t dim, bool as_log)
{
    cq_wide  wide  = cq_wide_of(out->dtype);
    int64_t  size  = (int64_t)cq_dtype_size(cq_wide_dtype(wide));
    bool     exact = out->dtype == cq_wide_dtype(wide);
    void    *scratch;
    cq_lanes l;

    if (is_dense(out, dim) && is_dense(x, dim))
        return rows_run(out, x, as_log);
    if (wide == CQ_WIDE_I64 || cq_dtype_is_complex(out->dtype) || cq_dtype_is_complex(x->dtype))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "softmax of %s cannot be stored as %s",
                       cq_dtype_name(x->dtype), cq_dtype_name(out->dtype));
    cq_lanes_init(&l, dim);
    CQ_TRY(cq_lanes_add(&l, out));
    CQ_TRY(cq_lanes_add(&l, x));
    scratch = cq_alloc_array((size_t)l.n[1], (size_t)size);
    if (!scratch)
        return CQ_E_NO_MEMORY;
    for (bool more = cq_lanes_start(&l); more; more = cq_lanes_next(&l)) {
        void *lane = exact && l.step[0] == size ? (void *)l.at[0] : scratch;

        cq_load_of(x->dtype, wide)(lane, l.at[1], l.step[1], l.n[1]);
        if (wide == CQ_WIDE_F32)
            cq_isa_get()->softmax[as_log](lane, lane, l.n[1]);
        else
            (as_log ? log_softmax_f64 : softmax_f64)(lane, lane, l.n[1]);
        if (lane == scratch)
            cq_store_of(out->dtype, wide)(l.at[0], l.step[0], lane, l.n[0]);
    }
    cq_free(scratch);
    return CQ_OK;
}

cq_status cq_kernel_softmax(cq_tensor *out, const cq_tensor *x, uint32_t dim)
{
    return softmax(out, x, dim, false);
}

cq_status cq_kernel_log_softmax(cq_tensor *out, const cq_tensor *x, uint32_t dim)
{
    return softmax(out, x, dim, true);
}

#include "runtime/kernels/linear.h"

#include "kernel/matrix/gemm.h"
#include "runtime/plan/work.h"

cq_status cq_rt_linear_new(cq_rt_linear **out, cq_tensor *b, bool transposed)
{
    cq_rt_linear *l = *out = cq_zalloc(sizeof *l);

    if (!l)
        return CQ_E_NO_MEMORY;
    cq_mutex_init(&l->lock);
    l->b   = cq_tensor_retain(b);
    l->k   = cq_size_of(b, transposed ? 1 : 0);
    l->n   = cq_size_of(b, transposed ? 0 : 1);
    l->row = b->strides[transposed ? 1 : 0];
    l->col = b->strides[transposed ? 0 : 1];
    if (cq_tensor_new_fake(&l->shape, b->dtype, b->rank, b->sizes) == CQ_OK)
        return CQ_OK;
    cq_rt_linear_free(l);
    *out = NULL;
    return CQ_E_NO_MEMORY;
}

void cq_rt_linear_free(void *linear)
{
    cq_rt_linear *l = linear;

    if (!l)
        return;
    cq_tensor_release(l->b);
    cq_tensor_release(l->shape);
    cq_packed_free(atomic_load(&l->packed));
    cq_mutex_clear(&l->lock);
    cq_free(l->bias);
    cq_free(l);
}

/* ---- packing ---- */

enum {
    LARGE = 1 << 16, /* number of elements from which a matrix exceeds the caches */
    WAIT  = 8,       /* number of single-row products that cost as much as packing */
    SPARE = 4        /* a matrix is packed only if it takes at most 1/SPARE of the available
                      * memory */
};

/* Whether the rows of the matrix are contiguous. Then the product with a vector adds them in the
 * same order as the packed product. Otherwise columns are contiguous. */
static bool adds_rows(const cq_rt_linear *l)
{
    return l->col == 1 && (l->row != 1 || l->k == 1);
}

static double numbers_of(const cq_rt_linear *l)
{
    return (double)l->k * (double)l->n;
}

static bool is_large(const cq_rt_linear *l)
{
    return numbers_of(l) >= LARGE;
}

/* Whether the matrix is an unshared copy, which is freed when the matrix is packed. */
static bool is_own(const cq_rt_linear *l)
{
    const cq_storage *s = l->b->storage;

    return is_large(l) && atomic_load(&l->b->refs) == 1 && atomic_load(&s->refs) == 1 &&
           s->release == cq_free_aligned && !atomic_load(&s->is_pending);
}

static cq_status pack(cq_packed **out, cq_rt_linear *l)
{
    float *b = cq_tensor_data(l->b);

    return is_own(l) ? cq_packed_new_of(out, l->k, l->n, b, l->row, l->col)
                     : cq_packed_new(out, l->k, l->n, b, l->row, l->col);
}

/* Packs the matrix and releases the unpacked one. */
static cq_status packed_of(cq_packed **out, cq_rt_linear *l)
{
    cq_status status = CQ_OK;

    *out = atomic_load(&l->packed);
    if (*out)
        return CQ_OK;
    cq_mutex_lock(&l->lock);
    *out = atomic_load(&l->packed);
    if (!*out) {
        status = pack(out, l);
        if (status == CQ_OK) {
            atomic_store(&l->packed, *out);
            cq_rt_was_packed(l->b);
            if (adds_rows(l) || is_large(l)) {
                cq_tensor_release(l->b);
                l->b = NULL;
            }
        }
    }
    cq_mutex_unlock(&l->lock);
    return status;
}

/* Whether to pack the matrix for single rows. A single row reads every number once, which is
 * fastest sequentially and in huge pages. If rows are contiguous, packing pays off after a few
 * products; if columns are, after the first. */
static bool packs(cq_rt_linear *l)
{
    return is_large(l) && (!adds_rows(l) || l->n_alone++ == WAIT) &&
           numbers_of(l) * sizeof(float) * SPARE <= (double)cq_alloc_available();
}

/* The matrix in the layout of the model, retained, for a single row; NULL if the packed matrix is
 * better or the only one. */
static cq_tensor *plain_of(cq_rt_linear *l, bool could_not_pack)
{
    cq_tensor *b = NULL;

    cq_mutex_lock(&l->lock);
    if (l->b && (could_not_pack || !packs(l)))
        b = cq_tensor_retain(l->b);
    cq_mutex_unlock(&l->lock);
    return b;
}

/* ---- running ---- */

/* Large matrices give bit-identical results in both layouts. */
static cq_status multiply_plain(const cq_rt_linear *l, const float *b, float *y, const float *x)
{
    const cq_gemm g = { .dtype = CQ_DTYPE_F32,
                        .m     = 1,
                        .n     = l->n,
                        .k     = l->k,
                        .a     = { x, l->k, 1 },
                        .b     = { b, l->row, l->col },
                        .c     = y,
                        .ldc   = l->n,
                        .alpha = 1 };

    if (is_large(l) && !adds_rows(l))
        return cq_unpacked_run_row(l->k, l->n, b, l->row, l->col, y, x);
    return cq_gemm_run(&g);
}

/* Multiplies a vector by the matrix. If memory does not suffice for packing, the unpacked matrix is
 * used. */
static cq_status multiply_row(cq_rt_linear *l, float *y, const float *x)
{
    const cq_params limits = { .a = (double)l->lo, .b = (double)l->hi };
    cq_packed      *packed = NULL;
    cq_tensor      *b      = plain_of(l, false);
    cq_status       status;

    while (!b && packed_of(&packed, l) != CQ_OK)
        b = plain_of(l, true);
    status = b ? multiply_plain(l, cq_tensor_data(b), y, x) : cq_packed_run_row(packed, y, x);
    cq_tensor_release(b);
    CQ_TRY(status);
    for (int64_t i = 0; l->bias && i < l->n; i++)
        y[i] += l->bias[i];
    if (l->clamps)
        cq_apply1_f32(y, l->n, CQ_EW_CLAMP, &limits);
    if (l->activates)
        cq_apply1_f32(y, l->n, l->act, &l->act_params);
    return CQ_OK;
}

static cq_status multiply(cq_rt_linear *l, cq_tensor *y, const cq_tensor *x)
{
    cq_packed     *packed;
    cq_packed_call call = { .m          = cq_tensor_numel(x) / l->k,
                            .a          = cq_tensor_data(x),
                            .lda        = l->k,
                            .out        = cq_tensor_data(y),
                            .ldc        = l->n,
                            .bias       = l->bias,
                            .clamps     = l->clamps,
                            .lo         = l->lo,
                            .hi         = l->hi,
                            .activates  = l->activates,
                            .act        = l->act,
                            .act_params = l->act_params };

    if (call.m == 0)
        return CQ_OK;
    if (call.m == 1)
        return multiply_row(l, call.out, call.a);
    CQ_TRY(packed_of(&packed, l));
    return cq_packed_run(packed, &call);
}

static cq_status linear(cq_rt *rt)
{
    cq_rt_linear    *l = (cq_rt_linear *)rt->step->prepared; /* the lock protects the changes */
    const cq_tensor *x = cq_rt_in(rt, 0), *dense;
    cq_tensor       *y;
    cq_rt_sizes      sizes;

    if (!x->rank || x->dtype != CQ_DTYPE_F32 || cq_size_of(x, x->rank - 1) != l->k)
        return cq_rt_misfit(x, l->shape);
    if (l->is_matrix)
        CQ_TRY(cq_rt_need_rank(x, "A", 2));
    cq_rt_sizes_of(&sizes, x);
    sizes.at[sizes.rank - 1] = l->n;
    CQ_TRY(cq_rt_spend_on_products(rt, (double)cq_tensor_numel(x) * (double)l->n, CQ_DTYPE_F32));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    CQ_TRY(cq_rt_contiguous(&dense, rt, x));
    return multiply(l, y, dense);
}

const cq_rt_row cq_rt_row_linear = { "MatMul", 1, linear, CQ_RT_OWN, 0 };

/* Attention as two matrix products with a softmax between them. */
#include "kernel/attention.h"

#include "base/thread.h"
#include "kernel/gemm.h"
#include "kernel/operand.h"

#include <math.h>

enum { QUERIES = 64 }; /* in a block */

struct operand {
    const char *data;
    int64_t     batch[CQ_MAX_RANK]; /* strides along out's leading axes; 0: broadcast */
};

struct attention {
    cq_dtype         dtype;
    const cq_tensor *shape;                                     /* out, for its leading sizes */
    int64_t          size, n_queries, n_keys, width, n, blocks; /* blocks: of queries */
    double           scale;
    bool             causal, mask_is_bool;
    int64_t          mask_row, mask_col;
    struct operand   q, k, v, mask;
    char            *out;
};

#define T        float
#define EXP      expf
#define FN(name) name##_f32
#include "kernel/attention_type.inc"

#define T        double
#define EXP      exp
#define FN(name) name##_f64
#include "kernel/attention_type.inc"

/* t as contiguous data whose leading axes line up with those of a tensor of this rank. */
static struct operand open_operand(cq_operands *s, const cq_tensor *t, size_t rank)
{
    struct operand o      = { .data = cq_operands_in(s, t) };
    int64_t        stride = 1;

    for (size_t i = t->rank; i-- > 0; stride *= cq_size_of(t, i))
        if (i + 2 < t->rank && cq_size_of(t, i) != 1)
            o.batch[rank - t->rank + i] = stride;
    return o;
}

static const char *entry(const struct attention *a, const struct operand *o, int64_t batch)
{
    int64_t at = 0;

    for (size_t i = a->shape->rank - 2; i-- > 0;) {
        at += batch % cq_size_of(a->shape, i) * o->batch[i];
        batch /= cq_size_of(a->shape, i);
    }
    return o->data ? o->data + at * a->size : NULL;
}

static cq_status attend(void *user, int64_t block)
{
    const struct attention *a     = user;
    int64_t                 batch = block / a->blocks, first = block % a->blocks * QUERIES;
    int64_t                 rows = a->n_queries - first < QUERIES ? a->n_queries - first : QUERIES;
    const char             *mask = entry(a, &a->mask, batch);
    char                   *scores = cq_alloc_aligned((size_t)(rows * a->n_keys * a->size) + 1);
    cq_gemm                 g      = { .dtype = a->dtype,
                                       .m     = rows,
                                       .n     = a->n_keys,
                                       .k     = a->width,
                                       .alpha = a->scale,
                                       .c     = scores,
                                       .ldc   = a->n_keys };
    cq_status               status;

    if (!scores)
        return CQ_E_NO_MEMORY;
    g.a = (cq_matrix){ entry(a, &a->q, batch) + first * a->width * a->size, a->width, 1 };
    g.b = (cq_matrix){ entry(a, &a->k, batch), 1, a->width };
    CQ_TRY_OR_DONE(cq_gemm_run(&g));
    for (int64_t i = 0; i < rows; i++)
        (a->dtype == CQ_DTYPE_F64 ? soften_f64 : soften_f32)(a, scores + i * a->n_keys * a->size,
                                                             mask, first + i);
    g = (cq_gemm){ .dtype = a->dtype,
                   .m     = rows,
                   .n     = a->n,
                   .k     = a->n_keys,
                   .alpha = 1,
                   .a     = { scores, a->n_keys, 1 },
                   .b     = { entry(a, &a->v, batch), a->n, 1 },
                   .c     = a->out + (batch * a->n_queries + first) * a->n * a->size,
                   .ldc   = a->n };
    CQ_TRY_OR_DONE(cq_gemm_run(&g));
done:
    cq_free_aligned(scores);
    return status;
}

static void open_mask(struct attention *a, cq_operands *s, const cq_tensor *mask, size_t rank)
{
    if (!mask)
        return;
    a->mask         = open_operand(s, mask, rank);
    a->mask_is_bool = mask->dtype == CQ_DTYPE_BOOL;
    if (mask->rank >= 1 && cq_size_of(mask, mask->rank - 1) != 1)
        a->mask_col = 1;
    if (mask->rank >= 2 && cq_size_of(mask, mask->rank - 2) != 1)
        a->mask_row = cq_size_of(mask, mask->rank - 1);
}

cq_status cq_kernel_attention(cq_tensor *out, const cq_tensor *q, const cq_tensor *k,
                              const cq_tensor *v, const cq_attention *options)
{
    cq_operands      s = { .compute = cq_compute_dtype(out->dtype) };
    struct attention a = { .dtype = s.compute, .shape = out, .causal = options->causal };
    size_t           r = out->rank;

    CQ_TRY(cq_operands_need_float(q, "attention"));
    a.size      = (int64_t)cq_dtype_size(s.compute);
    a.n_queries = cq_size_of(q, q->rank - 2);
    a.width     = cq_size_of(q, q->rank - 1);
    a.n_keys    = cq_size_of(k, k->rank - 2);
    a.n         = cq_size_of(v, v->rank - 1);
    if (cq_size_of(k, k->rank - 1) != a.width || cq_size_of(v, v->rank - 2) != a.n_keys)
        return cq_operands_misfit("attention", k, cq_size_of(k, k->rank - 1) != a.width ? q : v);
    a.scale  = options->scale ? options->scale : 1 / sqrt((double)a.width);
    a.blocks = (a.n_queries + QUERIES - 1) / QUERIES;
    a.q      = open_operand(&s, q, r);
    a.k      = open_operand(&s, k, r);
    a.v      = open_operand(&s, v, r);
    open_mask(&a, &s, options->mask, r);
    a.out = cq_operands_out(&s, out);
    if (s.status == CQ_OK && cq_tensor_numel(out) > 0)
        s.status = cq_parallel_for(cq_sizes_product(out, 0, r - 2) * a.blocks, attend, &a);
    return cq_operands_close(&s);
}

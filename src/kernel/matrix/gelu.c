/* Dense memory uses the activation of products; strided memory uses the element-wise engine. */
#include "kernel/matrix/gelu.h"

#include "base/thread.h"
#include "kernel/elementwise.h"
#include "kernel/isa.h"

#include <string.h>

enum { BLOCK = 4096 }; /* fits into the L1 cache */

struct gelu {
    cq_gelu_fn  *fn;
    float       *out;
    const float *x;
    int64_t      n;
};

static cq_status gelu_block(void *user, int64_t block)
{
    const struct gelu *g = user;
    int64_t            i = block * BLOCK, n = g->n - i < BLOCK ? g->n - i : BLOCK;

    if (g->out != g->x)
        memcpy(g->out + i, g->x + i, sizeof *g->out * (size_t)n);
    g->fn(g->out + i, n);
    return CQ_OK;
}

static bool is_dense(const cq_tensor *t)
{
    return t->dtype == CQ_DTYPE_F32 && cq_tensor_is_contiguous(t);
}

cq_status cq_kernel_gelu(cq_tensor *out, const cq_tensor *x, bool by_tanh)
{
    struct gelu g = { .fn = cq_isa_get()->gelu[by_tanh], .n = cq_tensor_numel(x) };

    if (!is_dense(out) || !is_dense(x) || cq_tensor_numel(out) != g.n)
        return cq_apply1(out, by_tanh ? CQ_EW_GELU_TANH : CQ_EW_GELU, NULL, CQ_DTYPE_NONE, x);
    g.out = cq_tensor_data(out);
    g.x   = cq_tensor_data(x);
    return cq_parallel_for((g.n + BLOCK - 1) / BLOCK, gelu_block, &g);
}

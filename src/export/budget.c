/* Limits of an export: memory, and computation in advance (folded constants, weights merged into
 * layers). The runtime could do all of it, so a computation that is too expensive is skipped, not
 * an error. */
#include "base/steps.h"
#include "export/exporter.h"

enum { LEAST_STEPS = 20000000, LEAST_BYTES = 64 << 20, TIMES = 4 };

/* Sums the memory of all constants; shared memory counts once. */
static cq_status bytes_of_constants(double *bytes, const cq_graph *g)
{
    cq_ptr_map seen   = { 0 };
    cq_status  status = CQ_OK;

    *bytes = 0;
    for (size_t i = 0; i < g->constants.n && status == CQ_OK; i++) {
        const cq_storage *memory = g->constants.items[i]->data->storage;

        if (!memory || cq_ptr_map_get(&seen, memory))
            continue;
        status = cq_ptr_map_set(&seen, memory, (void *)memory);
        *bytes += (double)memory->size;
    }
    cq_ptr_map_clear(&seen);
    return status;
}

/* Limits the memory of constants: an operator of a few bytes, such as arange, can become a constant
 * of gigabytes. Data of the source is not counted twice. */
cq_status cq_export_convert_within_limits(cq_exporter *ex)
{
    enum { NODE_BYTES = 8 }; /* 256 times that are allowed, see cq_default_bytes */
    cq_alloc_budget before;
    cq_status       status;
    double          bytes, node_bytes = 0;

    CQ_TRY(bytes_of_constants(&bytes, ex->source));
    for (const cq_node *n = ex->source->top->first; n; n = n->next)
        node_bytes += NODE_BYTES;
    before = cq_alloc_set_budget(
        (cq_alloc_budget){ .limit = cq_default_bytes(bytes, node_bytes, cq_alloc_available()) });
    status = cq_export_convert(ex);
    cq_alloc_set_budget(before);
    return status;
}

static cq_status spend(void *spender, uint64_t steps)
{
    cq_exporter *ex = spender;

    if (steps > ex->steps_left)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "this takes too long to compute beforehand");
    ex->steps_left -= steps;
    return CQ_OK;
}

cq_status cq_export_budget_begin(cq_ctx **out, cq_exporter *ex)
{
    double bytes;

    CQ_TRY(bytes_of_constants(&bytes, ex->graph));
    ex->steps_left = cq_default_steps(LEAST_STEPS, bytes);
    if (!ex->has_budget) /* later the graph also has constants that were computed */
        ex->bytes_left = LEAST_BYTES + TIMES * (int64_t)(bytes < 0x1p56 ? bytes : 0x1p56);
    ex->has_budget = true;
    CQ_TRY(cq_ctx_new(out));
    (*out)->spend         = spend;
    (*out)->spender       = ex;
    (*out)->default_float = ex->options.default_dtype;
    return CQ_OK;
}

cq_alloc_budget cq_export_budget_enter(const cq_exporter *ex)
{
    return cq_alloc_set_budget(
        (cq_alloc_budget){ .limit = ex->bytes_left > 0 ? ex->bytes_left : 1 });
}

bool cq_export_budget_leave(cq_exporter *ex, cq_alloc_budget before, cq_ctx *cx)
{
    const cq_alloc_budget here = cq_alloc_set_budget(before);
    const bool            refused =
        cx->status == CQ_E_UNSUPPORTED || (cx->status == CQ_E_NO_MEMORY && here.peak == INT64_MAX);

    ex->bytes_left -= here.used;
    if (refused)
        cx->status = CQ_OK;
    return refused;
}

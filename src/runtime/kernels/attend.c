/* Fused attention: one kernel for decomposed attention. */
#include "runtime/kernels/attention.h"

#include "runtime/run.h"
#include "runtime/plan/work.h"

bool cq_rt_attention_in(cq_attention_in *out, const cq_tensor *t, const int64_t sizes[4])
{
    if (t->rank > 4)
        return false;
    *out = (cq_attention_in){ .data = cq_tensor_bytes(t) };
    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t at = 4 - t->rank + i;

        if (cq_size_of(t, i) != sizes[at] && cq_size_of(t, i) != 1)
            return false;
        out->step[at] = cq_size_of(t, i) == 1 ? 0 : t->strides[i];
    }
    return true;
}

/* ---- unfused execution ---- */

static cq_status run_parts(cq_rt *rt, const cq_rt_attention *p)
{
    cq_val    at[CQ_RT_ATTENTION_INPUTS + CQ_RT_ATTENTION_PARTS] = { CQ_NONE };
    cq_status status                                             = CQ_OK;

    for (uint32_t i = 0; i < p->n_in; i++)
        at[i] = rt->in[i];
    for (uint32_t i = 0; i < p->n_parts && status == CQ_OK; i++) {
        const cq_rt_step *part = &p->parts[i];
        cq_val            in[3], out = CQ_NONE;

        for (uint32_t k = 0; k < part->n_in; k++)
            in[k] = at[part->in[k]];
        status          = cq_rt_step_run(rt->run, part, rt->frame, in, &out);
        at[p->n_in + i] = out;
    }
    for (uint32_t i = 0; i + 1 < p->n_parts; i++)
        cq_val_release(at[p->n_in + i]);
    return status == CQ_OK ? cq_rt_set(rt, 0, at[p->n_in + p->n_parts - 1]) : status;
}

/* ---- fused execution ---- */

/* Input i if it is a tensor of that type with at least two axes; otherwise NULL. */
static const cq_tensor *operand(const cq_rt *rt, int i, cq_dtype dtype)
{
    const cq_tensor *t = cq_rt_in(rt, (size_t)i);

    return t && t->dtype == dtype && t->rank >= 2 && t->rank <= 4 ? t : NULL;
}

/* Broadcasts the two batch axes in sizes with those of t. */
static bool join_lead(int64_t sizes[4], const cq_tensor *t)
{
    for (uint32_t i = 0; i + 2 < t->rank; i++) {
        int64_t *to = &sizes[4 - t->rank + i], size = cq_size_of(t, i);

        if (*to != size && *to != 1 && size != 1)
            return false;
        *to = *to == 1 ? size : *to;
    }
    return true;
}

/* Describes a mask of any rank; false if it would broadcast scores to a larger shape. */
static bool set_mask(cq_attention_in *out, const cq_rt *rt, int i, cq_dtype dtype,
                     const int64_t sizes[4], uint32_t *rank)
{
    const cq_tensor *t = i < 0 ? NULL : cq_rt_in(rt, (size_t)i);

    if (i < 0)
        return true;
    if (!t || t->dtype != dtype || !cq_rt_attention_in(out, t, sizes))
        return false;
    *rank = t->rank > *rank ? t->rank : *rank;
    return true;
}

/* Describes the call for the kernel; false if the original steps must run instead. */
static bool describe(cq_attention *a, uint32_t *rank, const cq_rt *rt, const cq_rt_attention *p)
{
    const cq_tensor *q = operand(rt, p->q, CQ_DTYPE_F32), *k = operand(rt, p->k, CQ_DTYPE_F32);
    const cq_tensor *v        = operand(rt, p->v, CQ_DTYPE_F32);
    int64_t          sizes[4] = { 1, 1, 0, 0 }, scores, swap;

    if (!q || !k || !v || !join_lead(sizes, q) || !join_lead(sizes, k) || !join_lead(sizes, v))
        return false;
    *a     = (cq_attention){ .batch      = sizes[0],
                             .heads      = sizes[1],
                             .queries    = cq_size_of(q, q->rank - 2),
                             .keys       = cq_size_of(k, k->rank - 1),
                             .width      = cq_size_of(q, q->rank - 1),
                             .v_width    = cq_size_of(v, v->rank - 1),
                             .scale      = (float)p->scale,
                             .shown      = p->shown,
                             .bias_first = p->bias_first,
                             .hidden     = (float)p->hidden };
    scores = q->rank > k->rank ? q->rank : k->rank;
    *rank  = (uint32_t)scores > v->rank ? (uint32_t)scores : v->rank;
    if (cq_size_of(k, k->rank - 2) != a->width || cq_size_of(v, v->rank - 2) != a->keys ||
        (p->axis >= 0 && p->axis != (int64_t)*rank - 1))
        return false;
    if (!cq_rt_attention_in(&a->q, q, (int64_t[]){ sizes[0], sizes[1], a->queries, a->width }) ||
        !cq_rt_attention_in(&a->k, k, (int64_t[]){ sizes[0], sizes[1], a->width, a->keys }) ||
        !cq_rt_attention_in(&a->v, v, (int64_t[]){ sizes[0], sizes[1], a->keys, a->v_width }))
        return false;
    swap         = a->k.step[2]; /* its rows are keys, so its strides are exchanged */
    a->k.step[2] = a->k.step[3];
    a->k.step[3] = swap;
    sizes[2]     = a->queries;
    sizes[3]     = a->keys;
    scores       = *rank;
    return set_mask(&a->hides, rt, p->hides, CQ_DTYPE_BOOL, sizes, rank) &&
           set_mask(&a->bias, rt, p->bias, CQ_DTYPE_F32, sizes, rank) && *rank == (uint32_t)scores;
}

/* Allocates [batch, heads, queries, v_width], or fewer axes; if swaps is set, queries precede heads
 * in memory. */
static cq_status make_result(cq_rt *rt, cq_attention *a, uint32_t rank, bool swaps)
{
    static const uint32_t turned[2][4] = { { 1, 0, 2 }, { 0, 2, 1, 3 } };
    const int64_t         sizes[2][4]  = { { a->batch, a->heads, a->queries, a->v_width },
                                           { a->batch, a->queries, a->heads, a->v_width } };
    cq_tensor            *t, *y;
    cq_status             status = CQ_OK;

    swaps = swaps && rank > 2;
    CQ_TRY(cq_rt_temp(&t, rt, CQ_DTYPE_F32, rank, sizes[swaps] + 4 - rank));
    a->out         = cq_tensor_data(t);
    a->out_step[0] = a->heads * a->queries * a->v_width;
    a->out_step[1] = (swaps ? 1 : a->queries) * a->v_width;
    a->out_step[2] = (swaps ? a->heads : 1) * a->v_width;
    y              = t;
    if (swaps) {
        status = cq_rt_permute(&y, t, turned[rank - 3]);
        cq_tensor_release(t);
    }
    CQ_TRY(status);
    CQ_TRY(cq_rt_set_tensor(rt, 0, y));
    return cq_rt_spend_on_output(rt, 0, CQ_DTYPE_F32, rank, sizes[0] + 4 - rank);
}

static cq_status attend(cq_rt *rt)
{
    const cq_rt_attention *p = rt->step->prepared;
    cq_attention           a;
    uint32_t               rank;

    if (!describe(&a, &rank, rt, p))
        return run_parts(rt, p);
    CQ_TRY(cq_rt_spend_on_products(rt,
                                   (double)a.batch * (double)a.heads * (double)a.queries *
                                       (double)a.keys * (double)(a.width + a.v_width + 1),
                                   CQ_DTYPE_F32));
    CQ_TRY(make_result(rt, &a, rank, p->swaps));
    return cq_attention_run(&a);
}

const cq_rt_row cq_rt_row_attention = { "Attention", 1, attend, CQ_RT_OWN, 0 };

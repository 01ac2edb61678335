#include "runtime/kernels/chain.h"

#include "kernel/chain.h"
#include "runtime/run.h"
#include "runtime/plan/work.h"

enum { MAX_VALUES = CQ_RT_CHAIN_INPUTS + CQ_RT_CHAIN_PARTS };

/* One run of a chain. */
typedef struct call {
    const cq_rt_chain *chain;
    cq_val             values[MAX_VALUES]; /* inputs are borrowed, results owned */
    cq_rt_sizes        sizes[CQ_RT_CHAIN_PARTS];
} call;

static const cq_rt_sizes *result(const call *c)
{
    return &c->sizes[c->chain->n_parts - 1];
}

/* ---- shapes ---- */

/* Whether input i of a part is a tensor of a type that the fused operation supports. */
static bool is_readable(const call *c, const cq_rt_chain_part *part, int i)
{
    cq_val v = c->values[part->reads[i]];

    return v.kind == CQ_VAL_TENSOR &&
           v.u.tensor->dtype ==
               (part->what.op == CQ_EW_WHERE && i == 0 ? CQ_DTYPE_BOOL : CQ_DTYPE_F32);
}

static bool have_equal_sizes(const cq_rt_sizes *a, const cq_rt_sizes *b)
{
    return a->rank == b->rank && (!a->rank || !memcmp(a->at, b->at, a->rank * sizeof *a->at));
}

/* Computes the shape of every result; false if shapes do not broadcast. */
static bool find_sizes(call *c)
{
    const cq_rt_chain *chain = c->chain;

    for (int32_t p = 0; p < chain->n_parts; p++) {
        const cq_rt_chain_part *part = &chain->parts[p];
        cq_rt_sizes            *to   = &c->sizes[p], first;

        to->rank = 0;
        for (int i = 0; i < part->n_reads; i++) {
            cq_rt_sizes from;

            if (part->reads[i] >= chain->n_inputs)
                from = c->sizes[part->reads[i] - chain->n_inputs];
            else if (is_readable(c, part, i))
                cq_rt_sizes_of(&from, c->values[part->reads[i]].u.tensor);
            else
                return false;
            if (i == 0)
                first = from;
            if (!cq_rt_sizes_join(to, &from))
                return false;
        }
        if (part->what.is_like_first && !have_equal_sizes(to, &first))
            return false;
    }
    return true;
}

/* Whether a part has as many elements as the result: sizes differ at most by leading ones. */
static bool is_whole(const call *c, int32_t part)
{
    const cq_rt_sizes *a = &c->sizes[part], *b = result(c);

    for (uint32_t i = 0; i < b->rank; i++)
        if (b->at[b->rank - 1 - i] != (i < a->rank ? a->at[a->rank - 1 - i] : 1))
            return false;
    return true;
}

/* ---- unfused execution ---- */

/* The cost of one element of all parts, relative to copying an element. */
static double factor_of(const call *c)
{
    double n = 0;

    for (int32_t p = 0; p < c->chain->n_parts; p++)
        n += cq_rt_work_factor(c->chain->parts[p].step.work);
    return n;
}

static cq_status run_part(call *c, cq_rt *rt, int32_t p)
{
    const cq_rt_step *step = &c->chain->parts[p].step;
    cq_rt_run         run  = *rt->run;
    cq_val            in[CQ_RT_CHAIN_READS];
    cq_status         status;

    for (uint32_t i = 0; i < step->n_in; i++)
        in[i] = step->in[i] >= 0 ? c->values[step->in[i]] : CQ_NONE;
    run.hook = NULL; /* the hook observes the chain, not its parts */
    status   = cq_rt_step_run(&run, step, rt->frame, in, &c->values[c->chain->n_inputs + p]);

    rt->run->steps_left     = run.steps_left;
    rt->run->straight_steps = run.straight_steps;
    rt->run->products_left  = run.products_left;
    return status;
}

static cq_status run_apart(call *c, cq_rt *rt)
{
    int32_t last = c->chain->n_parts - 1;

    for (int32_t p = 0; p <= last; p++)
        CQ_TRY(run_part(c, rt, p));
    return cq_rt_set(rt, 0, cq_val_retain(c->values[c->chain->n_inputs + last]));
}

/* ---- fused execution ---- */

/* Collects the operands of a part's operations; false if there are too many. */
static bool find_reads(int *out, cq_chain *k, const call *c, const cq_rt_chain_part *part,
                       const int *made)
{
    for (int i = 0; i < part->n_reads; i++) {
        int32_t v = part->reads[i];

        out[i] = v >= c->chain->n_inputs ? made[v - c->chain->n_inputs] : -1;
        if (out[i] < 0)
            out[i] = cq_chain_operand(k, c->values[v].u.tensor);
        if (out[i] < 0)
            return false;
    }
    return true;
}

/* Parts with fewer elements than the result run first, separately: a factor per channel is computed
 * once, not for every pixel. */
static cq_status put_together(bool *fits, cq_chain *k, call *c, cq_rt *rt)
{
    const cq_rt_chain *chain = c->chain;
    int                made[CQ_RT_CHAIN_PARTS], reads[CQ_RT_CHAIN_READS];

    for (int32_t p = 0; p < chain->n_parts; p++) {
        const cq_rt_chain_part *part = &chain->parts[p];
        int                     each = cq_ew_operands(part->what.op);

        made[p] = -1;
        if (!is_whole(c, p)) {
            CQ_TRY(run_part(c, rt, p));
            continue;
        }
        *fits = find_reads(reads, k, c, part, made);
        if (!*fits)
            return CQ_OK;
        made[p] = cq_chain_op(k, part->what.op, &part->what.params, reads);
        for (int i = each; i < part->n_reads; i++)
            made[p] =
                cq_chain_op(k, part->what.op, &part->what.params, (int[]){ made[p], reads[i] });
    }
    return CQ_OK;
}

static cq_status run_together(bool *fits, call *c, cq_rt *rt)
{
    cq_chain   k = { 0 };
    cq_tensor *y;

    CQ_TRY(put_together(fits, &k, c, rt));
    if (!*fits)
        return CQ_OK;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, result(c)));
    CQ_TRY(cq_rt_spend_on_elements(rt, (double)cq_tensor_numel(y) * factor_of(c)));
    return cq_chain_run(y, &k);
}

static void release_results(call *c)
{
    for (int32_t i = c->chain->n_inputs; i < c->chain->n_inputs + c->chain->n_parts; i++) {
        cq_val_release(c->values[i]);
        c->values[i] = CQ_NONE;
    }
}

/* With the check for NaN, parts run one by one, so that it can name the part that produced a
 * NaN. */
static cq_status chain(cq_rt *rt)
{
    call      c; /* large, so only the fields that are read are initialized */
    bool      fits   = false;
    cq_status status = CQ_OK;

    c.chain = rt->step->prepared;
    memset(c.values, 0, sizeof c.values); /* NONE is 0 */
    for (int32_t i = 0; i < c.chain->n_inputs; i++)
        c.values[i] = rt->in[i];
    if (!rt->run->traps_nan && find_sizes(&c))
        status = run_together(&fits, &c, rt);
    if (status == CQ_OK && !fits) {
        release_results(&c);
        status = run_apart(&c, rt);
    }
    release_results(&c);
    return status;
}

/* The parts check types, including strings. */
const cq_rt_row cq_rt_row_chain = { "Chain", 1, chain,
                                    CQ_RT_OWN | CQ_RT_TEXT_OWN | CQ_RT_OVER_0 | CQ_RT_OVER_1, 0 };

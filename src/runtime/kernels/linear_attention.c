/* Layers of language models that carry a state from token to token: LinearAttention, whose state is
 * a matrix per head, and CausalConvWithState, whose state is the end of its input. Both compute in
 * float32. */
#include "runtime/kernels/families.h"

#include "base/thread.h"
#include "kernel/operand.h"

#include <math.h>
#include <string.h>

/* ---- linear attention ---- */

/* Sizes: inputs are [batch, length, heads * width]; each of kv_heads heads of keys and values is
 * shared by `group` heads of queries. */
typedef struct recurrence {
    int64_t      batch, length, kv_heads, group, key, value; /* key, value: width of a head */
    const float *q, *k, *v, *decay, *beta;
    int64_t      decays, betas; /* numbers per token: a decay per head or per key, a beta per
                                 * head */
    float  scale;
    float *out, *state;
} recurrence;

/* Processes one token of one head: S = exp(decay) S + k (beta (v - S^T k)). */
static void update_state(const recurrence *r, float *state, float *write, int64_t token,
                         int64_t head)
{
    const float *k = r->k + (token * r->kv_heads + head) * r->key;
    const float *v = r->v + (token * r->kv_heads + head) * r->value;

    if (r->decay) {
        const bool   each = r->decays != r->kv_heads;
        const float *g    = r->decay + token * r->decays + head * (each ? r->key : 1);

        for (int64_t i = 0; i < r->key; i++) {
            const float factor = expf(g[each ? i : 0]);

            for (int64_t j = 0; j < r->value; j++)
                state[i * r->value + j] *= factor;
        }
    }
    memcpy(write, v, (size_t)r->value * sizeof *write);
    if (r->beta) {
        const float rate = r->beta[token * r->betas + (r->betas > 1 ? head : 0)];

        for (int64_t i = 0; i < r->key; i++)
            for (int64_t j = 0; j < r->value; j++)
                write[j] -= state[i * r->value + j] * k[i];
        for (int64_t j = 0; j < r->value; j++)
            write[j] *= rate;
    }
    for (int64_t i = 0; i < r->key; i++)
        for (int64_t j = 0; j < r->value; j++)
            state[i * r->value + j] += k[i] * write[j];
}

static void read_state(const recurrence *r, const float *state, int64_t token, int64_t head)
{
    for (int64_t g = 0; g < r->group; g++) {
        const int64_t at = (token * r->kv_heads + head) * r->group + g;
        const float  *q  = r->q + at * r->key;
        float        *y  = r->out + at * r->value;

        memset(y, 0, (size_t)r->value * sizeof *y);
        for (int64_t i = 0; i < r->key; i++)
            for (int64_t j = 0; j < r->value; j++)
                y[j] += q[i] * state[i * r->value + j];
        for (int64_t j = 0; j < r->value; j++)
            y[j] *= r->scale;
    }
}

/* Processes all tokens of one head of one sample. */
static cq_status run_head(void *user, int64_t block)
{
    const recurrence *r = user;
    const int64_t     b = block / r->kv_heads, head = block % r->kv_heads;
    float            *state = r->state + block * r->key * r->value;
    float            *write = cq_alloc_array((size_t)(r->value ? r->value : 1), sizeof *write);

    if (!write)
        return CQ_E_NO_MEMORY;
    for (int64_t t = 0; t < r->length; t++) {
        update_state(r, state, write, b * r->length + t, head);
        read_state(r, state, b * r->length + t, head);
    }
    cq_free(write);
    return CQ_OK;
}

static bool is_packed(const cq_tensor *t, const recurrence *r)
{
    return t->rank == 3 && cq_size_of(t, 0) == r->batch && cq_size_of(t, 1) == r->length;
}

/* Computes the widths of heads from the sizes of the inputs, which are checked. */
static cq_status read_sizes(recurrence *r, const cq_rt *rt)
{
    const cq_tensor *q = cq_rt_in(rt, 0), *k = cq_rt_in(rt, 1), *v = cq_rt_in(rt, 2);
    const cq_tensor *past = cq_rt_in(rt, 3), *decay = cq_rt_in(rt, 4), *beta = cq_rt_in(rt, 5);
    const int64_t    heads = cq_rt_int(rt, "q_num_heads");

    r->kv_heads = cq_rt_int(rt, "kv_num_heads");
    if (q->rank != 3 || r->kv_heads < 1 || heads < 1 || heads % r->kv_heads ||
        cq_size_of(q, 2) % heads)
        return cq_rt_misfit(q, k);
    r->group  = heads / r->kv_heads;
    r->batch  = cq_size_of(q, 0);
    r->length = cq_size_of(q, 1);
    r->key    = cq_size_of(q, 2) / heads;
    if (!is_packed(k, r) || cq_size_of(k, 2) != r->kv_heads * r->key)
        return cq_rt_misfit(q, k);
    if (!is_packed(v, r) || cq_size_of(v, 2) % r->kv_heads)
        return cq_rt_misfit(q, v);
    r->value = cq_size_of(v, 2) / r->kv_heads;
    if (past &&
        (past->rank != 4 || cq_size_of(past, 0) != r->batch || cq_size_of(past, 1) != r->kv_heads ||
         cq_size_of(past, 2) != r->key || cq_size_of(past, 3) != r->value))
        return cq_rt_misfit(v, past);
    r->decays = decay && decay->rank == 3 ? cq_size_of(decay, 2) : 0;
    if (decay &&
        (!is_packed(decay, r) || (r->decays != r->kv_heads && r->decays != r->kv_heads * r->key)))
        return cq_rt_misfit(q, decay);
    r->betas = beta && beta->rank == 3 ? cq_size_of(beta, 2) : 0;
    if (beta && (!is_packed(beta, r) || (r->betas != 1 && r->betas != r->kv_heads)))
        return cq_rt_misfit(q, beta);
    return CQ_OK;
}

static cq_status check_rule(const cq_rt *rt)
{
    static const char *const rules[] = { "linear", "gated", "delta", "gated_delta" };
    const bool               decays = cq_rt_in(rt, 4), corrects = cq_rt_in(rt, 5);
    int                      rule;

    CQ_TRY(cq_rt_choose(&rule, rt, "update_rule", rules, 4));
    if (decays != (rule & 1))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the update rule '%s' expects %s decay", rules[rule],
                       rule & 1 ? "a" : "no");
    if (corrects != (rule >> 1))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the update rule '%s' expects %s beta", rules[rule],
                       rule >> 1 ? "a" : "no");
    return CQ_OK;
}

static cq_status linear_attention(cq_rt *rt)
{
    const cq_tensor *q = cq_rt_in(rt, 0), *past = cq_rt_in(rt, 3);
    cq_operands      s = { .compute = CQ_DTYPE_F32 };
    recurrence       r = { 0 };
    const float     *before;
    cq_tensor       *y, *state;

    CQ_TRY(check_rule(rt));
    CQ_TRY(read_sizes(&r, rt));
    CQ_TRY(cq_rt_out(&y, rt, 0, q->dtype, 3,
                     (int64_t[]){ r.batch, r.length, r.kv_heads * r.group * r.value }));
    CQ_TRY(cq_rt_out(&state, rt, 1, past ? past->dtype : q->dtype, 4,
                     (int64_t[]){ r.batch, r.kv_heads, r.key, r.value }));
    r.scale = (float)cq_rt_float(rt, "scale");
    r.scale = r.scale != 0 ? r.scale : 1 / sqrtf((float)r.key);
    r.q     = cq_operands_in(&s, q);
    r.k     = cq_operands_in(&s, cq_rt_in(rt, 1));
    r.v     = cq_operands_in(&s, cq_rt_in(rt, 2));
    before  = cq_operands_in(&s, past);
    r.decay = cq_operands_in(&s, cq_rt_in(rt, 4));
    r.beta  = cq_operands_in(&s, cq_rt_in(rt, 5));
    r.out   = cq_operands_out(&s, y);
    r.state = cq_operands_out(&s, state);
    if (s.status == CQ_OK) {
        const size_t size = (size_t)(r.batch * r.kv_heads * r.key * r.value) * sizeof *r.state;

        if (before)
            memcpy(r.state, before, size);
        else
            memset(r.state, 0, size);
        s.status = cq_parallel_for(r.batch * r.kv_heads, run_head, &r);
    }
    return cq_operands_close(&s);
}

/* ---- causal convolution ---- */

typedef struct causal_conv {
    int64_t      channels, length, taps;
    const float *x, *w, *bias, *past;
    bool         is_silu;
    float       *out, *state;
} causal_conv;

/* Element i of the past followed by the input. */
static float padded_at(const causal_conv *c, int64_t row, int64_t i)
{
    if (i >= c->taps - 1)
        return c->x[row * c->length + i - (c->taps - 1)];
    return c->past ? c->past[row * (c->taps - 1) + i] : 0;
}

static cq_status convolve_row(void *user, int64_t row)
{
    const causal_conv *c    = user;
    const float       *w    = c->w + row % c->channels * c->taps;
    const float        bias = c->bias ? c->bias[row % c->channels] : 0;

    for (int64_t i = 0; i < c->length; i++) {
        float sum = 0;

        for (int64_t k = 0; k < c->taps; k++)
            sum += w[k] * padded_at(c, row, i + k);
        sum += bias;
        c->out[row * c->length + i] = c->is_silu ? sum / (1 + expf(-sum)) : sum;
    }
    for (int64_t i = 0; i < c->taps - 1; i++)
        c->state[row * (c->taps - 1) + i] = padded_at(c, row, c->length + i);
    return CQ_OK;
}

static cq_status causal_conv_with_state(cq_rt *rt)
{
    static const char *const names[] = { "none", "silu", "swish" };
    const cq_tensor         *x = cq_rt_in(rt, 0), *w = cq_rt_in(rt, 1), *past = cq_rt_in(rt, 3);
    cq_operands              s = { .compute = CQ_DTYPE_F32 };
    causal_conv              c = { 0 };
    cq_tensor               *y, *state;
    int                      activation;

    CQ_TRY(cq_rt_choose(&activation, rt, "activation", names, 3));
    CQ_TRY(cq_rt_need_rank(x, "the input", 3));
    CQ_TRY(cq_rt_need_rank(w, "the weight", 3));
    c.channels = cq_size_of(x, 1);
    c.length   = cq_size_of(x, 2);
    c.taps     = cq_size_of(w, 2);
    c.is_silu  = activation != 0;
    if (cq_size_of(w, 0) != c.channels || cq_size_of(w, 1) != 1 || c.taps < 1 ||
        !cq_operands_has(cq_rt_in(rt, 2), c.channels))
        return cq_rt_misfit(x, w);
    if (past && (past->rank != 3 || cq_size_of(past, 0) != cq_size_of(x, 0) ||
                 cq_size_of(past, 1) != c.channels || cq_size_of(past, 2) != c.taps - 1))
        return cq_rt_misfit(x, past);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    CQ_TRY(cq_rt_out(&state, rt, 1, x->dtype, 3,
                     (int64_t[]){ cq_size_of(x, 0), c.channels, c.taps - 1 }));
    c.x     = cq_operands_in(&s, x);
    c.w     = cq_operands_in(&s, w);
    c.bias  = cq_operands_in(&s, cq_rt_in(rt, 2));
    c.past  = cq_operands_in(&s, past);
    c.out   = cq_operands_out(&s, y);
    c.state = cq_operands_out(&s, state);
    if (s.status == CQ_OK)
        s.status = cq_parallel_for(cq_size_of(x, 0) * c.channels, convolve_row, &c);
    return cq_operands_close(&s);
}

const cq_rt_row cq_rt_rows_linear_attention[] = {
    { "CausalConvWithState", 27, causal_conv_with_state, 0, 0 },
    { "LinearAttention", 27, linear_attention, 0, 0 },
    { 0 },
};

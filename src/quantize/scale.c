/* Searches the scale with the least squared error: ranges that are shrunken in steps, and then
 * least squares for the integers that were found. A smaller range clips the extreme number, but
 * rounds all others more finely. Lanes are blocks side by side, so that loops over them use
 * vectors and no sum depends on the width of these. */
#include "quantize/scale.h"

#include "tensor/convert.h"

#include <math.h>
#include <string.h>

#define LANES CQ_SCALE_LANES
#define EACH  for (int l = 0; l < lanes; l++)

typedef struct choice {
    float scale[LANES], low[LANES];
} choice;

typedef struct block_search {
    const float *x;
    int64_t      n;
    float        span; /* from the lowest integer to the highest */
    choice       best;
    float        error[LANES];
} block_search;

#define LANE_LOOP static inline __attribute__((always_inline)) void

/* The squared errors of a choice; moments, if not NULL: the sums for least squares. */
LANE_LOOP measure(const block_search *s, const choice *c, float *error, float (*moments)[LANES],
                  const int lanes)
{
    float inverse[LANES], high[LANES], sum[LANES] = { 0 }, xq[LANES] = { 0 }, qq[LANES] = { 0 };

    EACH inverse[l] = c->scale[l] != 0 ? 1 / c->scale[l] : 0;
    EACH high[l]    = c->low[l] + s->span;
    for (int64_t i = 0; i < s->n; i++) {
        const float *x = s->x + i * lanes;

        EACH
        {
            const float q = cq_scale_round(x[l], inverse[l], c->low[l], high[l]);
            const float d = x[l] - q * c->scale[l];

            sum[l] += d * d;
            xq[l] += x[l] * q;
            qq[l] += q * q;
        }
    }
    EACH error[l] = sum[l];
    if (moments)
        EACH
        {
            moments[0][l] = xq[l];
            moments[1][l] = qq[l];
        }
}

LANE_LOOP try_choice(block_search *s, const choice *c, const int lanes)
{
    float error[LANES];

    measure(s, c, error, NULL, lanes);
    EACH if (error[l] < s->error[l])
    {
        s->error[l]      = error[l];
        s->best.scale[l] = c->scale[l];
        s->best.low[l]   = c->low[l];
    }
}

/* The best scale for the integers that the best one gave. */
LANE_LOOP refine(block_search *s, const int lanes)
{
    float  error[LANES], moments[2][LANES];
    choice c = s->best;

    measure(s, &s->best, error, moments, lanes);
    EACH c.scale[l] = moments[1][l] > 0 ? moments[0][l] / moments[1][l] : c.scale[l];
    try_choice(s, &c, lanes);
}

static float round_to(float x, cq_dtype dtype)
{
    char bytes[8];

    if (dtype == CQ_DTYPE_F32)
        return x;
    cq_store_of(dtype, CQ_WIDE_F32)(bytes, 2, &x, 1);
    cq_load_of(dtype, CQ_WIDE_F32)(&x, bytes, 2, 1);
    return x;
}

/* Ends of the ranges, with 0 inside, and what the numbers are otherwise. */
typedef struct extremes {
    float high[LANES], low[LANES], total[LANES];
    float bad[LANES]; /* NaN if a number is not finite */
} extremes;

LANE_LOOP find_extremes(extremes *e, const float *x, int64_t n, const int lanes)
{
    *e = (extremes){ { 0 }, { 0 }, { 0 }, { 0 } };
    for (int64_t i = 0; i < n; i++)
        EACH
        {
            const float v = x[i * lanes + l];

            e->high[l] = v > e->high[l] ? v : e->high[l];
            e->low[l]  = v < e->low[l] ? v : e->low[l];
            e->bad[l] += v * 0;
            e->total[l] += v * v;
        }
}

/* The range of the numbers, shrunken, with its own zero point. */
LANE_LOOP choose_range(choice *c, const extremes *e, float shrink, float span, const int lanes)
{
    EACH
    {
        c->scale[l] = shrink * (e->high[l] - e->low[l]) / span;
        c->low[l]   = c->scale[l] > 0 ? rintf(shrink * e->low[l] / c->scale[l]) : 0;
    }
}

LANE_LOOP search(float *scales, float *lows, cq_scale_error *errors, const float *x, int64_t n,
                 const cq_scale_rule *rule, const int lanes)
{
    static const float shrink[] = { 1, 0.95F, 0.9F, 0.85F, 0.8F, 0.75F, 0.7F, 0.6F, 0.5F };
    const float        most     = (float)((1 << (rule->bits - 1)) - 1);
    block_search       s        = { .x = x, .n = n, .span = 2 * most + 1 };
    extremes           e;
    choice             c;

    find_extremes(&e, x, n, lanes);
    EACH
    {
        s.error[l]      = INFINITY;
        s.best.scale[l] = 1;
        s.best.low[l] = c.low[l] = -most - 1;
    }
    for (size_t k = 0; k < sizeof shrink / sizeof *shrink; k++) {
        if (rule->is_asymmetric) {
            choose_range(&c, &e, shrink[k], s.span, lanes);
            try_choice(&s, &c, lanes);
            EACH c.low[l] = -most - 1;
        }
        EACH c.scale[l] = shrink[k] * (e.high[l] > -e.low[l] ? e.high[l] : -e.low[l]) / most;
        try_choice(&s, &c, lanes);
        EACH c.scale[l] = shrink[k] * (e.high[l] > -e.low[l] ? e.high[l] : e.low[l]) / (-most - 1);
        if (rule->may_flip)
            try_choice(&s, &c, lanes);
    }
    refine(&s, lanes);
    refine(&s, lanes);
    EACH
    {
        const bool is_zero = e.high[l] == 0 && e.low[l] == 0;

        s.best.scale[l] = is_zero ? 1 : round_to(s.best.scale[l], rule->dtype);
        if (e.bad[l] != 0)
            s.best.scale[l] = NAN;
    }
    measure(&s, &s.best, s.error, NULL, lanes);
    EACH
    {
        scales[l] = s.best.scale[l];
        lows[l]   = s.best.low[l];
        errors[l] = (cq_scale_error){ s.error[l], e.total[l] };
    }
}

void cq_scale_search(float *scales, float *lows, cq_scale_error *errors, const float *x, int64_t n,
                     int lanes, const cq_scale_rule *rule)
{
    if (lanes == LANES)
        search(scales, lows, errors, x, n, rule, LANES); /* known to the compiler */
    else
        search(scales, lows, errors, x, n, rule, lanes);
}

/* Optimizers of ai.onnx.preview.training: one step for any number of tensors. Inputs are the
 * learning rate R, the number of updates T, then all X, all gradients, and all tensors of one or
 * two kinds of state; outputs are the new X and states. */
#include "runtime/kernels/families.h"

#include <math.h>

/* Updates one element: v holds x, gradient and states, which change in-place; p holds the node's
 * parameters. */
typedef void update_fn(double *v, const double *p);

enum { RATE, NORM, EPSILON, ALPHA, BETA, POST, NESTEROV, N_NUMBERS };
enum { WEIGHT, GRADIENT, STATE, STATE2 };

static void adagrad_one(double *v, const double *p)
{
    double g = p[NORM] * v[WEIGHT] + v[GRADIENT];

    v[STATE] += g * g;
    v[WEIGHT] -= p[RATE] * g / (sqrt(v[STATE]) + p[EPSILON]);
}

static void adam_one(double *v, const double *p)
{
    double g = p[NORM] * v[WEIGHT] + v[GRADIENT];

    v[STATE]  = p[ALPHA] * v[STATE] + (1 - p[ALPHA]) * g;
    v[STATE2] = p[BETA] * v[STATE2] + (1 - p[BETA]) * g * g;
    v[WEIGHT] -= p[RATE] * v[STATE] / (sqrt(v[STATE2]) + p[EPSILON]);
    v[WEIGHT] *= 1 - p[POST];
}

static void momentum_one(double *v, const double *p)
{
    double g = p[NORM] * v[WEIGHT] + v[GRADIENT];

    v[STATE] = p[ALPHA] * v[STATE] + p[BETA] * g;
    v[WEIGHT] -= p[RATE] * (p[NESTEROV] != 0 ? g + p[ALPHA] * v[STATE] : v[STATE]);
}

/* Updates the tensors with index i of each kind; n_kinds is 3 or 4. */
static cq_status update_tensor(cq_rt *rt, size_t i, size_t n, size_t n_kinds, update_fn *fn,
                               const double *p)
{
    cq_operands   s = { .compute = CQ_DTYPE_F64 };
    const double *from[4];
    double       *to[4];

    for (size_t k = 0; k < n_kinds; k++) {
        const cq_tensor *t = cq_rt_in(rt, 2 + k * n + i);

        if (s.status == CQ_OK && cq_tensor_numel(t) != cq_tensor_numel(cq_rt_in(rt, 2 + i)))
            s.status = cq_rt_misfit(cq_rt_in(rt, 2 + i), t);
        from[k] = cq_operands_in(&s, t);
        to[k]   = NULL;
    }
    for (size_t k = 0; k < n_kinds; k++) {
        size_t     output = (k ? k - 1 : 0) * n + i; /* gradients are not outputs */
        cq_tensor *y;

        if (k == GRADIENT || s.status != CQ_OK || !cq_rt_wants(rt, output))
            continue;
        s.status = cq_rt_out_like(&y, rt, output, cq_rt_in(rt, 2 + k * n + i));
        to[k]    = s.status == CQ_OK ? cq_operands_out(&s, y) : NULL;
    }
    for (int64_t e = 0; s.status == CQ_OK && e < cq_tensor_numel(cq_rt_in(rt, 2 + i)); e++) {
        double v[4] = { 0 };

        for (size_t k = 0; k < n_kinds; k++)
            v[k] = from[k][e];
        fn(v, p);
        for (size_t k = 0; k < n_kinds; k++)
            if (to[k])
                to[k][e] = v[k];
    }
    return cq_operands_close(&s);
}

static cq_status update(cq_rt *rt, size_t n_kinds, update_fn *fn, const double *p)
{
    size_t n = (rt->n_in - 2) / n_kinds;

    if (rt->n_in < 2 + n_kinds || (rt->n_in - 2) % n_kinds)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "%zu inputs are not 2 and groups of %zu", rt->n_in,
                       n_kinds);
    for (size_t i = 0; i < n; i++)
        CQ_TRY(update_tensor(rt, i, n, n_kinds, fn, p));
    return CQ_OK;
}

static cq_status read_common(double *p, double *count, cq_rt *rt)
{
    CQ_TRY(cq_rt_in_f64(&p[RATE], rt, 0, 0));
    CQ_TRY(cq_rt_in_f64(count, rt, 1, 0));
    p[NORM]    = cq_rt_float(rt, "norm_coefficient");
    p[EPSILON] = cq_rt_float(rt, "epsilon");
    p[ALPHA]   = cq_rt_float(rt, "alpha");
    p[BETA]    = cq_rt_float(rt, "beta");
    p[POST]    = cq_rt_float(rt, "norm_coefficient_post");
    return CQ_OK;
}

static cq_status adagrad(cq_rt *rt)
{
    double p[N_NUMBERS] = { 0 }, count;

    CQ_TRY(read_common(p, &count, rt));
    p[RATE] /= 1 + count * cq_rt_float(rt, "decay_factor");
    return update(rt, 3, adagrad_one, p);
}

static cq_status adam(cq_rt *rt)
{
    double p[N_NUMBERS] = { 0 }, count;

    CQ_TRY(read_common(p, &count, rt));
    if (count > 0)
        p[RATE] *= sqrt(1 - pow(p[BETA], count)) / (1 - pow(p[ALPHA], count));
    return update(rt, 4, adam_one, p);
}

static cq_status momentum(cq_rt *rt)
{
    double p[N_NUMBERS] = { 0 }, count;

    CQ_TRY(read_common(p, &count, rt));
    if (!(count > 0))
        p[BETA] = 1; /* the first update is not averaged */
    p[NESTEROV] = cq_rt_is(rt, "mode", "nesterov");
    return update(rt, 3, momentum_one, p);
}

const cq_rt_row cq_rt_rows_training[] = {
    { "Adagrad", 1, adagrad, 0, 0 },
    { "Adam", 1, adam, 0, 0 },
    { "Momentum", 1, momentum, 0, 0 },
    { 0 },
};

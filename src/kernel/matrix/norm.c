/* Normalisations: statistics of a part in two passes, then one pass that applies them. */
#include "kernel/matrix/norm.h"

#include "base/thread.h"
#include "kernel/isa.h"
#include "kernel/operand.h"

#include <math.h>

enum { BLOCK_WORK = 1 << 14 }; /* elements in a block */

struct norm {
    const struct norm_type *type;
    const norm_loops       *loops;
    double                  eps, momentum;
    int64_t                 outer, channels, inner; /* x as [outer, channels, inner] */
    int64_t                 groups, step;           /* step: parts in a block */
    bool                    is_rms;

    int64_t size, before; /* of local response norm */
    double  alpha, beta, k;

    const char *x, *weight, *bias, *mean, *var;
    char       *out, *save_mean, *save_rstd, *running_mean, *running_var;
};

struct norm_type {
    int64_t size;
    double (*get)(const void *x, int64_t i, double otherwise);
    void (*put)(void *x, int64_t i, double value);
    void (*response)(const struct norm *p, void *out, const void *x, int64_t channel);
};

#define T        float
#define FN(name) name##_f32
#include "kernel/norm_type.inc"

#define T        double
#define FN(name) name##_f64
#include "kernel/norm_loops.inc"
#include "kernel/norm_type.inc"

static const norm_loops loops_f64 = { sum_f64, squares_f64, scale_f64, affine_f64 };

static cq_status begin(struct norm *p, cq_operands *s, cq_tensor *out, const cq_tensor *x,
                       const cq_tensor *weight, const cq_tensor *bias, int64_t n_params,
                       const char *name)
{
    CQ_TRY(cq_operands_need_float(x, name));
    if (!cq_operands_has(out, cq_tensor_numel(x)))
        return cq_operands_misfit(name, x, out);
    if (!cq_operands_has(weight, n_params))
        return cq_operands_misfit(name, x, weight);
    if (!cq_operands_has(bias, n_params))
        return cq_operands_misfit(name, x, bias);
    s->compute = cq_compute_dtype(x->dtype);
    p->type    = s->compute == CQ_DTYPE_F64 ? &type_f64 : &type_f32;
    p->loops   = s->compute == CQ_DTYPE_F64 ? &loops_f64 : cq_isa_get()->norm;
    p->x       = cq_operands_in(s, x);
    p->weight  = cq_operands_in(s, weight);
    p->bias    = cq_operands_in(s, bias);
    p->out     = cq_operands_out(s, out);
    return CQ_OK;
}

static void channels_of(struct norm *p, const cq_tensor *x)
{
    p->outer    = cq_size_of(x, 0);
    p->channels = cq_size_of(x, 1);
    p->inner    = cq_sizes_product(x, 2, x->rank);
}

/* Runs n parts of work elements each. */
static cq_status run(struct norm *p, int64_t n, int64_t work, cq_block_fn fn)
{
    if (n == 0)
        return CQ_OK;
    p->step = BLOCK_WORK / (work + 1) + 1;
    return cq_parallel_for((n + p->step - 1) / p->step, fn, p);
}

static int64_t end_of(const struct norm *p, int64_t block, int64_t n)
{
    return (block + 1) * p->step < n ? (block + 1) * p->step : n;
}

/* --- batch norm ------------------------------------------------------------------------ */

static void apply_channel(const struct norm *p, int64_t c, double mean, double rstd)
{
    double scale = rstd * p->type->get(p->weight, c, 1);
    double shift = p->type->get(p->bias, c, 0) - mean * scale;

    for (int64_t i = 0; i < p->outer; i++) {
        int64_t at = (i * p->channels + c) * p->inner * p->type->size;

        p->loops->scale(p->out + at, p->x + at, scale, shift, p->inner);
    }
}

static cq_status batch_block(void *user, int64_t block)
{
    const struct norm *p = user;

    for (int64_t c = block * p->step; c < end_of(p, block, p->channels); c++)
        apply_channel(p, c, p->type->get(p->mean, c, 0),
                      1 / sqrt(p->type->get(p->var, c, 1) + p->eps));
    return CQ_OK;
}

cq_status cq_kernel_batch_norm(cq_tensor *out, const cq_tensor *x, const cq_tensor *weight,
                               const cq_tensor *bias, const cq_tensor *mean, const cq_tensor *var,
                               double eps)
{
    struct norm p = { .eps = eps };
    cq_operands s = { 0 };

    CQ_TRY(begin(&p, &s, out, x, weight, bias, cq_size_of(x, 1), "batch_norm"));
    channels_of(&p, x);
    if (!cq_operands_has(mean, p.channels) || !cq_operands_has(var, p.channels))
        s.status = cq_operands_misfit("batch_norm", x, mean);
    p.mean = cq_operands_in(&s, mean);
    p.var  = cq_operands_in(&s, var);
    if (s.status == CQ_OK)
        s.status = run(&p, p.channels, p.outer * p.inner, batch_block);
    return cq_operands_close(&s);
}

static void move_towards(const struct norm *p, char *running, int64_t c, double value)
{
    if (running)
        p->type->put(running, c,
                     (1 - p->momentum) * p->type->get(running, c, 0) + p->momentum * value);
}

static cq_status batch_train_block(void *user, int64_t block)
{
    const struct norm *p     = user;
    double             count = (double)(p->outer * p->inner);

    for (int64_t c = block * p->step; c < end_of(p, block, p->channels); c++) {
        double  mean = 0, squares = 0, rstd;
        int64_t from = c * p->inner * p->type->size;
        int64_t next = p->channels * p->inner * p->type->size;

        for (int64_t i = 0; i < p->outer; i++)
            mean += p->loops->sum(p->x + from + i * next, p->inner);
        mean /= count;
        for (int64_t i = 0; i < p->outer; i++)
            squares += p->loops->squares(p->x + from + i * next, mean, p->inner);
        rstd = 1 / sqrt(squares / count + p->eps);
        p->type->put(p->save_mean, c, mean);
        p->type->put(p->save_rstd, c, rstd);
        move_towards(p, p->running_mean, c, mean);
        move_towards(p, p->running_var, c, squares / (count - 1));
        apply_channel(p, c, mean, rstd);
    }
    return CQ_OK;
}

/* A running statistic, which is read and written; copied if it cannot be used in place. */
static char *running(cq_operands *s, cq_tensor *t)
{
    const char *old = cq_operands_in(s, t);
    char       *p   = cq_operands_out(s, t);

    if (p && old != p && s->status == CQ_OK)
        memcpy(p, old, (size_t)cq_tensor_numel(t) * cq_dtype_size(s->compute));
    return p;
}

cq_status cq_kernel_batch_norm_train(cq_tensor *out, cq_tensor *save_mean, cq_tensor *save_invstd,
                                     cq_tensor *running_mean, cq_tensor *running_var,
                                     const cq_tensor *x, const cq_tensor *weight,
                                     const cq_tensor *bias, double momentum, double eps)
{
    struct norm p = { .eps = eps, .momentum = momentum };
    cq_operands s = { 0 };

    CQ_TRY(begin(&p, &s, out, x, weight, bias, cq_size_of(x, 1), "batch_norm"));
    channels_of(&p, x);
    if (!cq_operands_has(save_mean, p.channels) || !cq_operands_has(save_invstd, p.channels))
        s.status = cq_operands_misfit("batch_norm", x, save_mean);
    if (!cq_operands_has(running_mean, p.channels) || !cq_operands_has(running_var, p.channels))
        s.status = cq_operands_misfit("batch_norm", x, running_mean);
    p.save_mean    = cq_operands_out(&s, save_mean);
    p.save_rstd    = cq_operands_out(&s, save_invstd);
    p.running_mean = running(&s, running_mean);
    p.running_var  = running(&s, running_var);
    if (s.status == CQ_OK)
        s.status = run(&p, p.channels, p.outer * p.inner, batch_train_block);
    return cq_operands_close(&s);
}

/* --- layer, group and rms norm ----------------------------------------------------------- */

static void statistics(const struct norm *p, int64_t part, const char *x, int64_t n, double *mean,
                       double *rstd)
{
    *mean = p->is_rms ? 0 : p->loops->sum(x, n) / (double)n;
    *rstd = 1 / sqrt(p->loops->squares(x, *mean, n) / (double)n + p->eps);
    p->type->put(p->save_mean, part, *mean);
    p->type->put(p->save_rstd, part, *rstd);
}

static cq_status layer_block(void *user, int64_t block)
{
    const struct norm *p = user;
    double             mean, rstd;

    for (int64_t i = block * p->step; i < end_of(p, block, p->outer); i++) {
        int64_t at = i * p->inner * p->type->size;

        statistics(p, i, p->x + at, p->inner, &mean, &rstd);
        p->loops->affine(p->out + at, p->x + at, mean, rstd, p->weight, p->bias, p->inner);
    }
    return CQ_OK;
}

/* mean and rstd, unless NULL, get one number per row. */
static cq_status layer(struct norm p, cq_tensor *out, cq_tensor *mean, cq_tensor *rstd,
                       const cq_tensor *x, const cq_tensor *weight, const cq_tensor *bias,
                       size_t n_axes, const char *name)
{
    cq_operands s = { 0 };

    p.outer = cq_sizes_product(x, 0, x->rank - n_axes);
    p.inner = cq_sizes_product(x, x->rank - n_axes, x->rank);
    CQ_TRY(begin(&p, &s, out, x, weight, bias, p.inner, name));
    if (!cq_operands_has(mean, p.outer) || !cq_operands_has(rstd, p.outer))
        s.status = cq_operands_misfit(name, x, mean);
    p.save_mean = cq_operands_out(&s, mean);
    p.save_rstd = cq_operands_out(&s, rstd);
    if (s.status == CQ_OK)
        s.status = run(&p, p.outer, p.inner, layer_block);
    return cq_operands_close(&s);
}

cq_status cq_kernel_layer_norm(cq_tensor *out, cq_tensor *mean, cq_tensor *rstd, const cq_tensor *x,
                               const cq_tensor *weight, const cq_tensor *bias, size_t n_axes,
                               double eps)
{
    return layer((struct norm){ .eps = eps }, out, mean, rstd, x, weight, bias, n_axes,
                 "layer_norm");
}

cq_status cq_kernel_rms_norm(cq_tensor *out, const cq_tensor *x, const cq_tensor *weight,
                             size_t n_axes, double eps)
{
    return layer((struct norm){ .eps = eps, .is_rms = true }, out, NULL, NULL, x, weight, NULL,
                 n_axes, "rms_norm");
}

static cq_status group_block(void *user, int64_t block)
{
    const struct norm *p    = user;
    int64_t            each = p->channels / p->groups; /* channels of a group */
    double             mean, rstd;

    for (int64_t i = block * p->step; i < end_of(p, block, p->outer * p->groups); i++) {
        int64_t from = i * each * p->inner * p->type->size;

        statistics(p, i, p->x + from, each * p->inner, &mean, &rstd);
        for (int64_t c = 0; c < each; c++) {
            int64_t channel = i % p->groups * each + c;
            int64_t at      = from + c * p->inner * p->type->size;
            double  scale   = rstd * p->type->get(p->weight, channel, 1);

            p->loops->scale(p->out + at, p->x + at, scale,
                            p->type->get(p->bias, channel, 0) - mean * scale, p->inner);
        }
    }
    return CQ_OK;
}

cq_status cq_kernel_group_norm(cq_tensor *out, cq_tensor *mean, cq_tensor *rstd, const cq_tensor *x,
                               const cq_tensor *weight, const cq_tensor *bias, int64_t groups,
                               double eps)
{
    struct norm p = { .eps = eps, .groups = groups };
    cq_operands s = { 0 };

    CQ_TRY(begin(&p, &s, out, x, weight, bias, cq_size_of(x, 1), "group_norm"));
    channels_of(&p, x);
    if (!cq_operands_has(mean, p.outer * groups) || !cq_operands_has(rstd, p.outer * groups))
        s.status = cq_operands_misfit("group_norm", x, mean);
    p.save_mean = cq_operands_out(&s, mean);
    p.save_rstd = cq_operands_out(&s, rstd);
    if (s.status == CQ_OK && groups > 0)
        s.status = run(&p, p.outer * groups, p.channels / groups * p.inner, group_block);
    return cq_operands_close(&s);
}

/* --- local response norm ----------------------------------------------------------------- */

static cq_status response_block(void *user, int64_t block)
{
    const struct norm *p = user;

    for (int64_t i = block * p->step; i < end_of(p, block, p->outer * p->channels); i++) {
        int64_t at = i / p->channels * p->channels * p->inner * p->type->size;

        p->type->response(p, p->out + at, p->x + at, i % p->channels);
    }
    return CQ_OK;
}

cq_status cq_kernel_local_response_norm(cq_tensor *out, const cq_tensor *x, int64_t size,
                                        int64_t before, double alpha, double beta, double k)
{
    struct norm p = { .size = size, .before = before, .alpha = alpha, .beta = beta, .k = k };
    cq_operands s = { 0 };

    CQ_TRY(begin(&p, &s, out, x, NULL, NULL, 0, "local_response_norm"));
    channels_of(&p, x);
    if (s.status == CQ_OK)
        s.status = run(&p, p.outer * p.channels, p.inner * (size < p.channels ? size : p.channels),
                       response_block);
    return cq_operands_close(&s);
}

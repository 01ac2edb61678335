/* Classification losses: of log probabilities, or of scores. Computed in double, rounded once. */
#include "runtime/kernels/families.h"

#include "kernel/reduce.h"

#include <inttypes.h>

/* Computes output 0, the loss, from log_prob [n, c, d...] and target [n, d...]. */
static cq_status negative_log_likelihood(cq_rt *rt, const cq_tensor *log_prob, cq_dtype dtype)
{
    const cq_tensor *target = cq_rt_in(rt, 1), *weight = cq_rt_in(rt, 2);
    bool             has_ignore = cq_rt_attr_given(rt, "ignore_index");
    bool             each       = cq_rt_is(rt, "reduction", "none");
    int64_t          ignore     = cq_rt_int(rt, "ignore_index");
    int64_t          classes, inner;
    double           sum = 0, weights = 0;
    cq_operands      s = { .compute = CQ_DTYPE_F64 };
    const double    *p, *w;
    double          *to;
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    if (log_prob->rank < 2 || target->rank != log_prob->rank - 1)
        return cq_rt_misfit(log_prob, target);
    for (uint32_t i = 0; i < target->rank; i++)
        if (cq_size_of(target, i) != cq_size_of(log_prob, i ? i + 1 : 0))
            return cq_rt_misfit(log_prob, target);
    classes = cq_size_of(log_prob, 1);
    inner   = cq_sizes_product(log_prob, 2, log_prob->rank);
    if (weight && !cq_operands_has(weight, classes))
        return cq_rt_misfit(log_prob, weight);
    cq_rt_sizes_of(&sizes, target);
    sizes.rank = each ? sizes.rank : 0;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, &sizes));
    p  = cq_operands_in(&s, log_prob);
    w  = cq_operands_in(&s, weight);
    to = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < cq_tensor_numel(target); i++) {
        int64_t class = cq_tensor_get_i64(target, i);
        bool   counts = !has_ignore || class != ignore;
        double by, loss;

        if (counts && (class < 0 || class >= classes)) {
            s.status = cq_fail(CQ_E_TYPE, NULL, NULL, "class %" PRId64 " is not one of %" PRId64,
                               class, classes);
            break;
        }
        by   = !counts ? 0 : w ? w[class] : 1;
        loss = counts ? -p[(i / inner * classes + class) * inner + i % inner] * by : 0;
        sum += loss;
        weights += by;
        if (each)
            to[i] = loss;
    }
    if (s.status == CQ_OK && !each)
        to[0] = cq_rt_is(rt, "reduction", "sum") ? sum : sum / weights;
    return cq_operands_close(&s);
}

static cq_status nll_loss(cq_rt *rt)
{
    return negative_log_likelihood(rt, cq_rt_in(rt, 0), cq_rt_in(rt, 0)->dtype);
}

static cq_status softmax_cross_entropy(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *log_prob, *exact;
    cq_rt_sizes      sizes;

    if (x->rank < 2)
        return cq_rt_misfit(x, NULL);
    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(cq_rt_scratch(&exact, rt, CQ_DTYPE_F64, sizes.rank, sizes.at));
    CQ_TRY(cq_kernel_log_softmax(exact, x, 1));
    if (cq_rt_wants(rt, 1)) {
        CQ_TRY(cq_rt_out_like(&log_prob, rt, 1, x));
        CQ_TRY(cq_tensor_copy_into(log_prob, exact));
    }
    return negative_log_likelihood(rt, exact, x->dtype);
}

const cq_rt_row cq_rt_rows_loss[] = {
    { "NegativeLogLikelihoodLoss", 12, nll_loss, 0, 0 },
    { "SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy, 0, 0 },
    { 0 },
};

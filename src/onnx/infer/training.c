/* Optimizers of ai.onnx.preview.training: new values have the types of the old ones. */
#include "onnx/infer/rule.h"

/* The inputs are a learning rate, a step count, and groups of n tensors: the weights, their
 * gradients, and states. All groups except the gradients are outputs. */
static cq_status optimizer(cq_rule *r, size_t groups)
{
    size_t n = r->n_inputs > 2 ? (r->n_inputs - 2) / groups : 0;

    if (r->n_inputs < 2 || n * groups != r->n_inputs - 2 || n * (groups - 1) != r->n_outputs)
        return cq_rule_fail(r, "%zu inputs and %zu outputs are not groups of equal size",
                            r->n_inputs, r->n_outputs);
    for (size_t i = 0; i < r->n_outputs; i++) {
        size_t from = 2 + i + (i >= n ? n : 0);

        if (cq_rule_has(r, from))
            cq_rule_give_type(r, i, &r->inputs[from]->type);
    }
    return CQ_OK;
}

static cq_status adagrad(cq_rule *r)
{
    return optimizer(r, 3);
}

static cq_status momentum(cq_rule *r)
{
    return optimizer(r, 3);
}

static cq_status adam(cq_rule *r)
{
    return optimizer(r, 4);
}

/* A gradient has the type of its variable. The variables are the first inputs, which xs names. */
static cq_status gradient(cq_rule *r)
{
    for (size_t i = 0; i < r->n_outputs; i++)
        if (cq_rule_has(r, i))
            cq_rule_give_type(r, i, &r->inputs[i]->type);
    return CQ_OK;
}

const cq_rule_row cq_rules_training[] = {
    { "Adagrad", 1, adagrad, NULL },   { "Adam", 1, adam, NULL }, { "Gradient", 1, gradient, NULL },
    { "Momentum", 1, momentum, NULL }, { NULL, 0, NULL, NULL },
};

/* Loads the weights of a module from a file. This is why nn depends on archive. */
#include "archive/weights.h"
#include "nn/module.h"

static cq_status add_slot(void *user, const char *name, cq_module_state *state)
{
    /* A Linear without bias has a state without a tensor: the file must not have one either. */
    return state->tensor ? cq_weights_add_slot(user, name, state->tensor, false) : CQ_OK;
}

/* The module's tensors show the mapped file from now on, so tied weights stay tied. */
static cq_status take_weights(const cq_weights_slots *slots)
{
    for (size_t i = 0; i < slots->n; i++)
        if (slots->items[i].found)
            CQ_TRY(cq_tensor_become((cq_tensor *)slots->items[i].like, slots->items[i].found));
    return CQ_OK;
}

CQ_API cq_status cq_module_load_weights(cq_module *m, cq_weights *weights, uint32_t flags)
{
    CQ_NEED(m && weights);
    cq_weights_slots slots = { 0 };
    cq_status        status;

    CQ_TRY_OR_DONE(cq_module_status(m));
    CQ_TRY_OR_DONE(cq_module_each_state(m, add_slot, &slots));
    CQ_TRY_OR_DONE(cq_weights_fit(weights, &slots, m->cls->name, flags));
    CQ_TRY_OR_DONE(take_weights(&slots));
done:
    cq_weights_slots_clear(&slots);
    return status;
}

CQ_API cq_status cq_module_load_state_dict(cq_module *m, const char *path)
{
    CQ_NEED(m && path);
    cq_weights *weights;
    cq_status   status;

    CQ_TRY(cq_weights_open(&weights, path));
    status = cq_module_load_weights(m, weights, 0);
    cq_weights_free(weights);
    return status;
}

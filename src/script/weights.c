/* Replaces the weights of a TorchScript module by those of a file. */
#include "archive/weights.h"
#include "script/script.h"

/* Files that hold each tensor once (safetensors) lack the further paths of shared modules. */
static cq_status add_slot(void *user, const char *path, cq_tensor *t, bool again)
{
    return cq_weights_add_slot(user, path, t, again);
}

CQ_API cq_status cq_script_load_weights(cq_script *script, cq_weights *weights, uint32_t flags)
{
    CQ_NEED(script && weights);
    const cq_object *root  = cq_object_of(script->root);
    cq_weights_slots slots = { 0 };
    cq_status        status;

    CQ_TRY_OR_DONE(cq_script_each_state(script, add_slot, &slots));
    CQ_TRY_OR_DONE(
        cq_weights_fit(weights, &slots, root ? cq_object_class_name(root) : "the module", flags));
    for (size_t i = 0; i < slots.n; i++)
        if (slots.items[i].found)
            CQ_TRY_OR_DONE(
                cq_tensor_become((cq_tensor *)slots.items[i].like, slots.items[i].found));
done:
    cq_weights_slots_clear(&slots);
    return status;
}

/* Replaces the weights of a TorchScript module, or of a model from Python source, by those of a
 * file. */
#include "archive/weights.h"
#include "script/python/python.h"
#include "script/script.h"

/* Adds a slot for a weight. Files that store each tensor once (safetensors) lack the further paths
 * of shared modules. */
static cq_status add_slot(void *user, const char *path, cq_tensor *t, bool again)
{
    return cq_weights_add_slot(user, path, t, again);
}

static cq_status load(cq_script *script, cq_weights *weights, uint32_t flags)
{
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

/* Models that ask whether PyTorch has scaled_dot_product_attention register the causal mask as a
 * buffer if it is missing, so a state dict of PyTorch 1 contains that buffer. Builds such a model
 * again, as PyTorch 1 would. If that does not match either, the first error is reported. */
static cq_status load_older(cq_script *script, cq_weights *weights, uint32_t flags,
                            cq_status failure)
{
    cq_python      *py   = script->program->python;
    cq_val          root = cq_val_retain(script->root);
    cq_error_record saved;
    cq_status       status;

    cq_error_save(&saved);
    py->is_older = true;
    status       = cq_script_make(script, script->entry);
    if (status == CQ_OK)
        status = load(script, weights, flags);
    if (status == CQ_OK) {
        cq_str_add(&weights->note, weights->note.len ? "; " : "");
        cq_str_add(&weights->note, "the weights were saved by a PyTorch without "
                                   "scaled_dot_product_attention, so the model was built "
                                   "without it");
        cq_val_release(root);
        return weights->note.status;
    }
    py->is_older = false;
    cq_val_release(script->root);
    script->root = root;
    cq_error_restore(&saved);
    return failure;
}

CQ_API cq_status cq_script_load_weights(cq_script *script, cq_weights *weights, uint32_t flags)
{
    CQ_NEED(script && weights);
    const cq_python *py     = script->program->python;
    const cq_status  status = load(script, weights, flags);

    if (status != CQ_OK && status != CQ_E_NO_MEMORY && py && py->asks_version && !py->is_older)
        return load_older(script, weights, flags, status);
    return status;
}

/* Replaces the initializers of an ONNX model by the weights of a file, by name. */
#include "archive/weights.h"
#include "onnx/model.h"

#include <calque/export.h>

/* Constants of the graph are initializers, too: other initializers than weights are single numbers
 * and integers. */
static bool is_constant(const cq_tensor *t)
{
    return !cq_dtype_is_float(t->dtype) || cq_tensor_numel(t) <= 1;
}

static cq_status add_slots(cq_weights_slots *slots, const cq_onnx_model *model)
{
    for (size_t i = 0; i < cq_onnx_model_n_initializers(model); i++) {
        const char *name;
        cq_tensor  *t;
        cq_status   status;

        CQ_TRY(cq_onnx_model_initializer(&t, &name, model, i));
        status = cq_weights_add_slot(slots, name, t, is_constant(t));
        if (status != CQ_OK) {
            cq_tensor_release(t);
            return status;
        }
    }
    return CQ_OK;
}

CQ_API cq_status cq_onnx_model_load_weights(cq_onnx_model *model, cq_weights *weights,
                                            uint32_t flags)
{
    CQ_NEED(model && weights);
    cq_weights_slots slots = { 0 };
    cq_status        status;

    CQ_TRY_OR_DONE(add_slots(&slots, model));
    CQ_TRY_OR_DONE(cq_weights_fit(weights, &slots, "the model", flags | CQ_WEIGHTS_OF_ONNX));
    for (size_t i = 0; i < slots.n; i++) {
        cq_onnx_tensor *t;

        if (!slots.items[i].found)
            continue;
        t = cq_onnx_tensor_new(model, slots.items[i].name, slots.items[i].found);
        CQ_TRY_OR_DONE(t ? CQ_OK : model->status);
        model->graph->initializer.items[i] = t;
    }
done:
    for (size_t i = 0; i < slots.n; i++)
        cq_tensor_release((cq_tensor *)slots.items[i].like);
    cq_weights_slots_clear(&slots);
    return status;
}
